"""Losses of times that are not all known."""

import numpy as np
import pytest

import survival_oracle
from spinney import objectives
from spinney.data import Labels
from spinney.data.labels import allocate_gradients, by_column
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.params import Config

DISTRIBUTIONS = ["normal", "logistic", "extreme"]


def pairs_of(params, scores, target, weight=None, threads=1):
    """Gradients and hessians of rows, and the largest by block."""
    loss = objectives.get(Config(**params))
    labels = loss.prepared(Labels(by_column(np.asarray(target, float)), weight))
    made = allocate_gradients(np.array([scores], float))
    with Team(threads) as team:
        team.run(loss.gradients(labels, made, team.size))
    return made.pairs[0], made.largest[0]


def events(rows, seed, ties):
    rng = np.random.default_rng(seed)
    time = rng.exponential(size=rows)
    time = np.ceil(time * 6) if ties else time
    return rng.normal(size=rows) * 2, time, rng.integers(0, 2, rows), rng.integers(0, 4, rows) * 0.7


@pytest.mark.kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_gradients_of_cox_are_those_of_a_risk_set_for_every_event(ties, weighted):
    scores, time, event, weight = events(60, 1, ties)
    weight = weight if weighted else None
    found, largest = pairs_of({"objective": "cox"}, scores, np.column_stack([time, event]), weight)
    expected = survival_oracle.cox_pairs(scores, time, event, np.ones(60) if weight is None else weight)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)
    assert largest[0].tolist() == [np.abs(found[:, 0]).max(), found[:, 1].max()]


def test_a_risk_set_reaches_over_many_blocks():
    rng = np.random.default_rng(3)
    rows = 20_000
    time, event = rng.integers(1, 40, rows) * 1.0, rng.integers(0, 2, rows)
    scores = rng.normal(size=rows)
    found, largest = pairs_of({"objective": "cox"}, scores, np.column_stack([time, event]))
    hazards = np.exp(scores)
    at_risk = np.array([hazards[time >= t].sum() for t in range(40)])
    deaths = np.array([event[time == t].sum() for t in range(40)])
    first = np.cumsum(deaths / at_risk)[time.astype(int)]
    second = np.cumsum(deaths / at_risk**2)[time.astype(int)]
    np.testing.assert_allclose(found[:, 0], hazards * first - event, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], hazards * first - hazards**2 * second, rtol=1e-5, atol=1e-6)
    assert largest.max(axis=0).tolist() == np.abs(found).max(axis=0).tolist()


@pytest.mark.parametrize("objective", ["cox", "aft"])
def test_any_number_of_threads_gives_the_same_gradients(objective):
    rng = np.random.default_rng(4)
    time, event = rng.integers(1, 5000, 30_000) * 1.0, rng.integers(0, 2, 30_000)
    target = np.column_stack([time, event if objective == "cox" else np.where(event > 0, time, np.inf)])
    weight, scores = rng.random(30_000), rng.normal(size=30_000)
    found = [pairs_of({"objective": objective}, scores, target, weight, threads) for threads in (1, 2, 3, 8)]
    assert len({pairs.tobytes() + largest.tobytes() for pairs, largest in found}) == 1


@pytest.mark.kernels
def test_a_constant_changes_no_gradient_of_cox():
    scores, time, event, _ = events(40, 2, ties=True)
    target = np.column_stack([time, event])
    near, _ = pairs_of({"objective": "cox"}, scores, target)
    for move in (650.0, -650.0):
        far, _ = pairs_of({"objective": "cox"}, scores + move, target)
        np.testing.assert_allclose(far, near, rtol=1e-5, atol=1e-6)


@pytest.mark.kernels
@pytest.mark.parametrize("far", [300.0, 700.0, 1e30])
@pytest.mark.parametrize("weight", [None, 1e-150])
def test_far_scores_of_cox_give_finite_gradients_that_lead_back(far, weight):
    rng = np.random.default_rng(6)
    time, event = np.arange(1.0, 25.0), np.ones(24)
    scores = np.where(np.arange(24) < 12, -far, far)  # the earlier events were thought unlikely
    weights = None if weight is None else np.where(rng.random(24) < 0.5, weight, 1.0)
    found, _ = pairs_of({"objective": "cox"}, scores, np.column_stack([time, event]), weights)
    assert np.isfinite(found).all()
    assert (found[:, 1] >= 0).all()
    assert (found[:12, 0] <= 0).all()
    assert found[:, 0].sum() == pytest.approx(0.0, abs=1e-4)


@pytest.mark.kernels
def test_one_row_and_equal_times_leave_little_to_learn():
    alone, _ = pairs_of({"objective": "cox"}, [3.0], [[2.0, 1.0]])
    assert alone.tolist() == [[0.0, np.float32(1e-10)]]
    equal, _ = pairs_of({"objective": "cox"}, np.zeros(4), [[2.0, 1.0]] * 4)
    np.testing.assert_allclose(equal, [[0.0, 0.75]] * 4, atol=1e-7)


@pytest.mark.kernels
def test_the_gradient_of_a_row_of_weight_two_is_that_of_two_rows():
    scores, time, event, _ = events(30, 7, ties=True)
    target = np.column_stack([time, event])
    doubled, _ = pairs_of({"objective": "cox"}, scores, target, np.where(np.arange(30) < 9, 2.0, 1.0))
    twice = np.append(np.arange(30), np.arange(9))
    found, _ = pairs_of({"objective": "cox"}, scores[twice], target[twice])
    found[:9] += found[30:]
    np.testing.assert_allclose(doubled[:, 0], found[:30, 0], rtol=1e-5, atol=1e-6)


@pytest.mark.kernels
def test_a_row_of_weight_zero_is_in_no_risk_set():
    scores, time, event, _ = events(30, 8, ties=True)
    scores[0] = 1e6
    weight = np.where(np.arange(30) < 5, 0.0, 2.0)
    target = np.column_stack([time, event])
    found, _ = pairs_of({"objective": "cox"}, scores, target, weight)
    alone, _ = pairs_of({"objective": "cox"}, scores[5:], target[5:], weight[5:])
    assert not found[:5].any()
    assert found[5:].tobytes() == alone.tobytes()


@pytest.mark.kernels
def test_a_sign_is_event_or_censoring():
    scores, time, event, _ = events(30, 9, ties=True)
    two, _ = pairs_of({"objective": "cox"}, scores, np.column_stack([time, event]))
    one, _ = pairs_of({"objective": "cox"}, scores, np.where(event > 0, time, -time))
    assert one.tobytes() == two.tobytes()


def intervals(rng, rows):
    """Times that are known, bounded on either side, or in an interval, some of them narrow."""
    lower = np.exp(rng.normal(size=rows) * 2)
    upper = np.choose(
        np.arange(rows) % 5,
        [lower, np.full(rows, np.inf), lower, lower * (1 + rng.random(rows) * 3), lower * (1 + 1e-7)],
    )
    return np.where(np.arange(rows) % 5 == 2, 0.0, lower), upper


@pytest.mark.kernels
@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_gradients_of_aft_are_derivatives_of_the_loss_within_limits(distribution, scale):
    rng = np.random.default_rng(1)
    lower, upper = intervals(rng, 40)
    scores = rng.normal(size=40) * 2
    params = {
        "objective": "aft",
        "aft_loss_distribution": distribution,
        "aft_loss_distribution_scale": scale,
    }
    found, _ = pairs_of(params, scores, np.column_stack([lower, upper]))
    expected = [
        survival_oracle.aft_pair(*row, distribution, scale) for row in zip(scores, lower, upper, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_far_out_derivatives_of_aft_still_have_their_digits(distribution):
    # Both ends in a tail where the distribution function is 0 or 1 in float64.
    ends = [(np.exp(z), np.exp(z + width)) for z in (-14.0, -9.0, 9.0, 14.0) for width in (0.01, 0.5, 2.0)]
    ends += [(0.0, np.exp(-14.0)), (np.exp(14.0), np.inf)]
    params = {"objective": "aft", "aft_loss_distribution": distribution}
    found, _ = pairs_of(params, np.zeros(len(ends)), ends)
    expected = []
    for lower, upper in ends:
        expected.append(survival_oracle.aft_pair(0.0, lower, upper, distribution, 1.0))
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("far", [50.0, 700.0, 1e6, 1e30])
def test_far_scores_of_aft_give_finite_gradients_that_lead_back(distribution, far):
    lower, upper = intervals(np.random.default_rng(2), 40)
    params = {"objective": "aft", "aft_loss_distribution": distribution}
    target = np.column_stack([lower, upper])
    for score in (far, -far):
        found, _ = pairs_of(params, np.full(40, score), target)
        assert np.abs(found[:, 0]).max() <= 15
        assert ((found[:, 1] > 0) & (found[:, 1] <= 15)).all()
        assert (found[:, 0] * np.sign(score) >= -1e-9).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_scores_of_aft_start_where_the_sum_of_gradients_is_zero(distribution, weighted):
    rng = np.random.default_rng(5)
    lower, upper = intervals(rng, 200)
    upper[:120] = np.inf  # so many are censored that the best constant lies beyond most ends
    weight = rng.integers(0, 3, 200) * 1.0 if weighted else None
    params = {"objective": "aft", "aft_loss_distribution": distribution}
    target = by_column(np.column_stack([lower, upper]))
    loss = objectives.get(Config(**params))
    (start,) = loss.base_score(loss.prepared(Labels(target, weight)))
    sums = [
        pairs_of(params, np.full(200, start + move), target, weight)[0][:, 0].astype(float).sum()
        for move in (-1e-3, 0, 1e-3)
    ]
    assert sums[0] < 0 < sums[2]
    assert abs(sums[1]) < 1e-3


def test_scores_of_cox_start_at_zero():
    loss = objectives.get(Config(objective="survival:cox"))
    assert loss.base_score(Labels(np.array([[1.0, 1.0]]))).tolist() == [0.0]


@pytest.mark.parametrize(
    ("objective", "target", "message"),
    [
        ("cox", [[1.0, 1.0], [-2.0, 1.0]], r"y\[1, 0\] = -2"),
        ("cox", [[1.0, 1.0], [2.0, 0.5]], r"1 \(seen\) or 0 \(censored\).*y\[1, 1\] = 0.5"),
        ("cox", [1.0, 0.0], r"y\[1\] = 0; give y of two columns, time and event"),
        ("cox", [[1.0, 1.0, 1.0]], "needs y of two columns, got 3"),
        ("aft", [1.0, 2.0], "the least and the largest time.*got one"),
        ("aft", [[1.0, 2.0], [3.0, 2.0]], r"not above the largest, got y\[1\] = \(3, 2\)"),
        ("aft", [[-1.0, 2.0]], r"times of 0 or more, got y\[0\] = \(-1, 2\)"),
        ("aft", [[0.0, 0.0]], r"largest times above 0, got y\[0\] = \(0, 0\)"),
    ],
)
def test_a_target_that_does_not_fit_is_an_error_that_names_row_and_value(objective, target, message):
    with pytest.raises(DataError, match=message):
        objectives.get(Config(objective=objective)).prepared(Labels(by_column(np.array(target))))


@pytest.mark.parametrize(
    ("objective", "target", "message"),
    [
        ("cox", [[1.0, 0.0], [2.0, 1.0]], "every row is censored"),
        ("aft", [[1.0, np.inf], [2.0, 2.0]], "a largest time and a weight above 0.*too long"),
        ("aft", [[0.0, 1.0], [2.0, 2.0]], "a least time above 0 and a weight above 0.*too short"),
    ],
)
def test_rows_without_a_known_end_are_an_error(objective, target, message):
    loss = objectives.get(Config(objective=objective))
    with pytest.raises(DataError, match=message):
        loss.base_score(Labels(np.array(target), np.array([1.0, 0.0])))
