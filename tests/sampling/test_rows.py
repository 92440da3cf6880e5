"""Rows drawn uniformly and by their gradients."""

import itertools
import zlib
from fractions import Fraction

import numpy as np
import pytest

import oracles
import spinney as sp
from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.sampling import GradientSampler, UniformSampler
from spinney.training import growers

OTHERS = 4  # what random keys are drawn for


def drawn(rows, share, seed, threads=1):
    """The rows drawn of some, or of so many."""
    eligible = np.arange(rows, dtype=np.int32) if isinstance(rows, int) else np.asarray(rows, np.int32)
    bag = np.full(len(eligible), -1, np.int32)
    with Team(threads) as team:
        return bag[: UniformSampler(eligible, bag, team).draw(share, seed)]


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 1, 2**40, 2**63 - 1])
def test_rows_are_those_of_the_oracle(seed):
    for threads in (1, 3):
        assert drawn(50, 0.4, seed, threads).tolist() == oracles.chosen_by_key(
            range(50), 20, seed, oracles.ROWS
        )


@pytest.mark.parametrize("share", [0.001, 0.4, 0.97])
def test_any_number_of_threads_draws_the_same_rows_uniformly(share):
    alone = drawn(30_000, share, 3)
    for threads in (2, 3, 8):
        assert drawn(30_000, share, 3, threads).tolist() == alone.tolist()


@pytest.mark.parametrize("bounds", [[0, 1000], [0, 1, 400, 999, 1000], [0, 250, 500, 750, 1000]])
def test_blocks_of_rows_drawn_apart_are_the_rows_drawn_together(bounds):
    # How many rows a block gets is all that it needs to know of the others.
    together = drawn(1000, 0.4, 8)
    for begin, end in itertools.pairwise(bounds):
        expected = [row for row in together.tolist() if begin <= row < end]
        if expected:
            assert drawn(range(begin, end), len(expected) / (end - begin), 8).tolist() == expected


def test_a_larger_share_holds_the_rows_of_a_smaller_one():
    assert set(drawn(500, 0.2, 4).tolist()) < set(drawn(500, 0.6, 4).tolist())


@pytest.mark.parametrize(
    ("rows", "share", "count"), [(10, 0.3, 3), (1, 0.01, 1), (7, 1.0, 7), (1000, 1e-9, 1), (8, 0.99, 8)]
)
def test_the_number_of_rows_is_exact_and_never_zero(rows, share, count):
    for seed in range(20):
        found = drawn(rows, share, seed)
        assert len(found) == count
        assert np.all(np.diff(found) > 0)
        assert 0 <= found.min() <= found.max() < rows


def test_only_eligible_rows_are_drawn_and_none_twice():
    eligible = np.arange(3, 100, 7, dtype=np.int32)
    found = drawn(eligible, 0.5, 5)
    assert len(found) == 7
    assert set(found.tolist()) <= set(eligible.tolist())
    assert len(set(found.tolist())) == 7


def test_every_row_is_drawn_equally_often():
    hits = np.zeros(20)
    for seed in range(2000):
        hits[drawn(20, 0.25, seed)] += 1
    # 500 expected; the standard deviation is 19.
    assert hits.min() > 420
    assert hits.max() < 580


def test_the_same_seed_draws_the_same_and_another_one_does_not():
    assert drawn(200, 0.5, 9).tolist() == drawn(200, 0.5, 9).tolist()
    assert drawn(200, 0.5, 9).tolist() != drawn(200, 0.5, 10).tolist()


def sample(method, pairs, *args, eligible=None, threads=1):
    """The bag and the gradients after drawing."""
    pairs = np.array(pairs, np.float32, copy=True)
    rows = pairs.shape[1]
    eligible = np.arange(rows, dtype=np.int32) if eligible is None else np.asarray(eligible, np.int32)
    bag = np.full(rows, -1, np.int32)
    with Team(threads) as team:
        count = getattr(GradientSampler(eligible, pairs, bag, team), method)(*args)
    return bag[:count].tolist(), pairs


def gradients(rows, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(size=(outputs, rows)), rng.uniform(0.1, 1, (outputs, rows))], axis=2).astype(
        np.float32
    )


def slow_goss(pairs, eligible, top, other, seed):
    """Sort everything, take from the ends. Sizes that share their leading 32 bits are equal."""
    size = np.sqrt((pairs[:, :, 0].astype(float) ** 2).sum(axis=0)).view(np.int64) >> 32
    by_size = sorted(eligible, key=lambda row: (-size[row], row))
    kept, rest = by_size[:top], sorted(by_size[top:])
    key = {row: (oracles.random_bits(seed, OTHERS, row) >> 33) for row in rest}
    drawn = sorted(rest, key=lambda row: (-key[row], row))[:other]
    after = np.zeros_like(pairs)
    after[:, kept] = pairs[:, kept]
    after[:, drawn] = pairs[:, drawn].astype(float) * ((len(eligible) - top) / max(other, 1))
    return sorted(kept + drawn), after


GRADIENTS = {
    "any": lambda pairs: pairs,
    "alike": np.ones_like,
    "few": np.round,
    "zero": np.zeros_like,
    "tiny": lambda pairs: pairs * 1e-35,
    "vast": lambda pairs: pairs * 1e35,
    "far apart": lambda pairs: pairs * 10 ** np.linspace(-35, 35, pairs.shape[1])[:, None],
}


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "kind", [pytest.param("far apart", marks=pytest.mark.kernels), *sorted({*GRADIENTS} - {"far apart"})]
)
@pytest.mark.parametrize(
    ("rows", "top_rate", "other_rate"),
    [
        (1, 0.2, 0.1),
        (1, 1.0, 0.1),
        (40, 0.2, 0.1),
        (57, 0.0, 0.3),
        (30, 0.9, 0.1),
        (30, 1.0, 0.0),
        (41, 0.5, 0.0),
    ],
)
def test_goss_is_that_of_the_oracle(rows, top_rate, other_rate, kind, outputs):
    pairs = GRADIENTS[kind](gradients(rows, outputs)).astype(np.float32)
    top = round(top_rate * rows)
    other = min(max(round(other_rate * rows), 1), rows - top)
    for seed, threads in ((0, 1), (5, 1), (5, 2), (6, 3), (7, 8)):
        bag, after = sample("goss", pairs, top_rate, other_rate, seed, threads=threads)
        expected, scaled = slow_goss(pairs, range(rows), top, other, seed)
        assert bag == expected
        np.testing.assert_array_equal(after, scaled)


# Models must not change: these are the draws of version 0.3.0. Numbers of rows, outputs and threads; the arguments; the draw.
DRAWS = [
    (700, 1, 2, "goss", (0.2, 0.1, 0), (900239697, 1435498819)),
    (701, 2, 1, "goss", (0.05, 0.3, 11), (1385200879, 2753311928)),
    (300, 3, 8, "goss", (0.0, 0.25, 5), (388064281, 3507141577)),
    (400, 1, 3, "goss", (0.9, 0.1, 77), (1543928157, 1810944816)),
    (600, 1, 1, "weighted", (0.3, 3), (164767699, 3746085912)),
    (601, 3, 2, "weighted", (0.01, 9), (4265144567, 3614474475)),
]


@pytest.mark.kernels
@pytest.mark.parametrize("steps", [5, 2**23], ids=["ties", "no ties"])
@pytest.mark.parametrize(("rows", "outputs", "threads", "method", "args", "draws"), DRAWS)
def test_draws_are_those_of_former_versions(rows, outputs, threads, method, args, draws, steps):
    scrambled = np.arange(2 * rows * outputs) * 2654435761 % 2**32 >> 8
    pairs = (scrambled.reshape(outputs, rows, 2) % (2 * steps) / steps).astype(np.float32)
    pairs[:, :, 0] -= 1
    eligible = [row for row in range(rows) if row % 7]
    bag, after = sample(method, pairs, *args, eligible=eligible, threads=threads)
    assert zlib.crc32(np.array(bag, "<i4").tobytes() + after.astype("<f4").tobytes()) == draws[steps == 5]


def test_goss_multiplies_the_drawn_rows_by_the_share_they_stand_for():
    bag, after = sample("goss", np.ones((1, 100, 2)), 0.2, 0.1, 0)
    assert len(bag) == 30
    assert sorted(set(after[0, bag, 0].tolist())) == [1.0, 8.0]
    assert after[0, :, 1].sum() == 100


@pytest.mark.parametrize("method", ["goss", "weighted", "gradient_based"])
@pytest.mark.parametrize("ties", [False, True])
def test_any_number_of_threads_draws_the_same_rows_by_their_gradients(method, ties):
    pairs = gradients(20_000, 2)
    if ties:
        pairs[:] = np.round(pairs)
    eligible = np.flatnonzero(np.random.default_rng(1).random(20_000) < 0.8)
    args = {"goss": (0.1, 0.1, 3), "weighted": (0.2, 3), "gradient_based": (0.2, 1.0, 3)}[method]
    bag, after = sample(method, pairs, *args, eligible=eligible)
    assert set(bag) <= set(eligible.tolist())
    assert bag == sorted(set(bag))
    for threads in (2, 3, 8):
        again, changed = sample(method, pairs, *args, eligible=eligible, threads=threads)
        assert again == bag
        assert changed.tobytes() == after.tobytes()


def test_tied_gradients_are_kept_in_the_order_of_the_rows():
    pairs = np.ones((1, 10, 2))
    bag, after = sample("goss", pairs, 0.4, 0.1, 0)
    assert [row for row in bag if after[0, row, 0] == 1.0][:4] == [0, 1, 2, 3]


@pytest.mark.parametrize("method", ["goss", "weighted", "gradient_based"])
def test_gradients_of_zero_can_be_drawn_from(method):
    args = {"goss": (0.2, 0.2, 0), "weighted": (0.4, 0), "gradient_based": (0.4, 1.0, 0)}[method]
    bag, after = sample(method, np.zeros((1, 10, 2)), *args)
    assert 1 <= len(bag) <= 10
    assert not after.any()


def test_weighted_draws_are_in_proportion_to_the_gradient():
    pairs = np.ones((1, 20, 2))
    pairs[0, :10, 0] = -3.0
    hits = np.zeros(20)
    for seed in range(4000):
        bag, after = sample("weighted", pairs, 0.05, seed)
        assert len(bag) == 1
        hits[bag] += 1
        assert after[0, bag[0]].tolist() == pairs[0, bag[0]].tolist()
    # One row is drawn: 300 of 4 000 expected for the large ones, 100 for the others; deviations of 17 and 10.
    assert 240 < hits[:10].min() <= hits[:10].max() < 360
    assert 60 < hits[10:].min() <= hits[10:].max() < 140


@pytest.mark.parametrize(("method", "args"), [("gradient_based", (0.3, 1.0)), ("goss", (0.1, 0.2))])
def test_expected_sums_are_those_of_all_rows(method, args):
    pairs = gradients(200)
    whole = pairs[0].astype(float).sum(axis=0)
    sums = np.array(
        [sample(method, pairs, *args, seed)[1][0].astype(float).sum(axis=0) for seed in range(3000)]
    )
    error = np.abs(sums.mean(axis=0) - whole)
    assert (error < 4.5 * sums.std(axis=0) / np.sqrt(len(sums))).all()


def test_rows_without_a_gradient_can_be_drawn_even_without_a_penalty():
    pairs = gradients(200)
    pairs[0, ::2, 0] = 0.0
    whole = pairs[0, :, 1].astype(float).sum()
    sums = np.array(
        [
            sample("gradient_based", pairs, 0.5, 0.0, seed)[1][0, :, 1].astype(float).sum()
            for seed in range(3000)
        ]
    )
    assert abs(sums.mean() - whole) < 4.5 * sums.std() / np.sqrt(len(sums))


def test_the_number_of_rows_by_chance_is_right_on_average():
    pairs = gradients(2_000)
    pairs[0, :50] *= 100
    counts = [len(sample("gradient_based", pairs, 0.2, 0.0, seed)[0]) for seed in range(100)]
    assert 396 < np.mean(counts) < 404


def slow_chances(sizes, wanted):
    """Make the largest sizes certain one after another until the chance of the next one is below 1, in exact numbers."""
    exact = [Fraction(size) for size in sizes]
    falling = sorted(exact, reverse=True)
    certain, rest = 0, sum(exact)
    while rest > 0 and (wanted - certain) * falling[certain] >= rest:
        rest -= falling[certain]
        certain += 1
    factor = (wanted - certain) / rest if rest > 0 else 1 / min(size for size in exact if size > 0)
    return np.array([float(min(factor * size, 1)) for size in exact])


def sizes_of(pairs, reg_lambda):
    g, h = np.moveaxis(pairs.astype(np.float32).astype(float), 2, 0)
    return np.sqrt((g * g + reg_lambda * (h * h)).sum(axis=0))


def with_one_huge(pairs):
    pairs[:, 7] *= 1e30
    return pairs


def with_steps_of_a_thousand(pairs):
    return pairs * 1000.0 ** -(np.arange(pairs.shape[1]) % 10)[:, None]


SIZES = GRADIENTS | {"one huge": with_one_huge, "in steps": with_steps_of_a_thousand}


@pytest.mark.kernels
@pytest.mark.parametrize("kind", sorted({*SIZES} - {"zero"}))
@pytest.mark.parametrize(("share", "outputs"), [(0.02, 1), (0.3, 2), (0.97, 1)])
def test_chances_are_in_proportion_to_the_size_and_add_up_to_the_rows_wanted(kind, share, outputs):
    rows = 100
    pairs = SIZES[kind](gradients(rows, outputs).astype(float)).astype(np.float32)
    sizes = sizes_of(pairs, 2.0)
    wanted = round(share * rows)
    chance = slow_chances(sizes, wanted)
    assert chance.sum() == pytest.approx(min(wanted, np.count_nonzero(sizes)))
    for seed in range(3):
        bag, after = sample("gradient_based", pairs, share, 2.0, seed)
        assert set(np.flatnonzero(chance == 1.0)) <= set(bag)
        expected = np.zeros_like(pairs)
        with np.errstate(over="ignore"):
            expected[:, bag] = pairs[:, bag] / chance[bag][:, None]
        np.testing.assert_allclose(after, expected, rtol=1e-6)


@pytest.mark.kernels
@pytest.mark.parametrize("kind", ["any", "few", "far apart", "in steps"])
def test_chances_depend_neither_on_the_order_of_the_rows_nor_on_threads(kind):
    pairs = SIZES[kind](gradients(500).astype(float)).astype(np.float32)
    _, after = sample("gradient_based", pairs, 0.4, 1.0, 0)
    order = np.random.default_rng(0).permutation(500)
    for seed, threads in ((1, 1), (2, 2), (3, 5)):
        _, moved = sample("gradient_based", pairs[:, order], 0.4, 1.0, seed, threads=threads)
        # Other rows are drawn, as the draw depends on the row's number. What is drawn both times has the same chance.
        before, both = after[0, order], (moved[0, :, 1] != 0) & (after[0, order, 1] != 0)
        assert both.sum() > 20
        assert before[both].tobytes() == moved[0, both].tobytes()


# Theorem 3.2 of the LightGBM paper


def real_gradients():
    """Gradients of a half-trained model on a real table, and the side of a split that each row is on."""
    from sklearn.datasets import load_breast_cancer, load_digits

    cancer, digits = load_breast_cancer(), load_digits()
    for X, y, column in ((cancer.data, cancer.target, 0), (digits.data, digits.target % 2, 20)):
        model = sp.train({"objective": "log_loss"}, sp.Dataset(X, y.astype(float)), 40)
        yield model.predict(X) - y, X[:, column] <= np.median(X[:, column])


def variance_gain(g, left):
    """n times the gain of Definition 3.1, in the sums that the sample gives, with counts of all rows."""
    return g[left].sum() ** 2 / left.sum() + g[~left].sum() ** 2 / (~left).sum()


def estimated(method, g, left, args, seed):
    pairs = np.stack([g, np.ones(len(g))], axis=1)[None]
    _, after = sample(method, pairs, *args, seed)
    return variance_gain(after[0, :, 0].astype(float), left)


def test_the_error_of_the_gain_is_within_the_bound_and_below_that_of_uniform_sampling():
    a, b, delta = 0.2, 0.2, 0.05
    for g, left in real_gradients():
        n = len(g)
        exact = variance_gain(g, left) / n
        goss = np.array([estimated("goss", g, left, (a, b), seed) / n - exact for seed in range(300)])
        uniform = np.array(
            [estimated("goss", g, left, (0.0, a + b), seed) / n - exact for seed in range(300)]
        )
        rest = np.sort(np.abs(g))[: n - round(a * n)]
        c = (1 - a) / np.sqrt(b) * rest.max()
        d = max(np.abs(g[left]).mean(), np.abs(g[~left]).mean())
        spread = max(1 / left.sum(), 1 / (~left).sum())
        bound = c * c * np.log(1 / delta) * spread + 2 * d * c * np.sqrt(np.log(1 / delta) / n)
        assert np.quantile(np.abs(goss), 1 - delta) <= bound
        assert np.sqrt(np.mean(goss**2)) < np.sqrt(np.mean(uniform**2))


# In training


def problem(rows=3_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 8))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.2 * rng.normal(size=rows)


SAMPLED = {
    "goss": {"sampling_method": "goss", "top_rate": 0.1, "other_rate": 0.2, "goss_warm_up": False},
    "gradient_based": {"sampling_method": "gradient_based", "subsample": 0.3},
    "weighted": {"sampling_method": "weighted", "subsample": 0.3},
}


@pytest.mark.parametrize("method", SAMPLED)
@pytest.mark.parametrize("objective", ["squared_error", "log_loss", "softmax"])
def test_models_learn_and_are_the_same_on_any_number_of_threads(monkeypatch, method, objective):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    X, y = problem()
    target = {"squared_error": y, "log_loss": y > 0, "softmax": np.digitize(y, [-1, 1])}[objective]
    params = SAMPLED[method] | {"objective": objective, "num_class": 3 if objective == "softmax" else 0}
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    data = sp.Dataset(X, np.asarray(target, float), weight=weight)
    history = sp.History()
    models = [
        sp.train(params | {"n_jobs": n}, data, 30, valid={"train": data}, callbacks=[history])
        for n in (1, 2, 3, 8)
    ]
    assert len({model.to_bytes() for model in models}) == 1
    losses = next(iter(history.evals["train"].values()))[:30]
    assert losses[-1] < 0.8 * losses[0]


def test_the_first_rounds_of_goss_use_all_rows_unless_set_otherwise():
    X, y = problem()
    data = sp.Dataset(X, y)
    params = {"sampling_method": "goss", "learning_rate": 0.25}
    counts = [sp.train(params, data, 6).forest.tree(t).count[0] for t in range(6)]
    assert counts == [3_000] * 4 + [900] * 2
    plain = sp.train({"learning_rate": 0.25}, data, 4)
    assert sp.train(params, data, 4).forest.equal(plain.forest)
    cold = sp.train(params | {"goss_warm_up": False}, data, 2)
    assert [cold.forest.tree(t).count[0] for t in range(2)] == [900, 900]


@pytest.mark.parametrize(
    ("rate", "full"), [(0.1, 10), (0.15, 6), (0.3, 3), (1 / 3, 3), (0.7, 1), (1.0, 1), (1 / 49, 49)]
)
def test_goss_warms_up_for_as_many_rounds_as_lightgbm(rate, full):
    X, y = problem(rows=300)
    model = sp.train(
        {"sampling_method": "goss", "learning_rate": rate, "max_leaves": 4}, sp.Dataset(X, y), 51
    )
    assert sum(model.forest.tree(t).count[0] == 300 for t in range(51)) == full


def test_rows_that_were_not_drawn_have_their_scores_moved_by_the_tree():
    X, y = problem()
    data = sp.Dataset(X, y)
    history = sp.History()
    for params in SAMPLED.values():
        model = sp.train(params, data, 3, valid={"train": data}, callbacks=[history])
        rmse = float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
        assert history.evals["train"]["rmse"][-1] == pytest.approx(rmse, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sampling_method": "goss", "top_rate": 0.7, "other_rate": 0.4}, "add up to more than 1"),
        ({"sampling_method": "goss", "subsample": 0.5}, "subsample=0.5 contradicts"),
        ({"sampling_method": "weighted"}, "needs subsample below 1"),
        ({"sampling_method": "gradient_based"}, "needs subsample below 1"),
        ({"sampling_method": "gos"}, "did you mean 'goss'"),
        ({"top_rate": -0.1}, "top_rate=-0.1 is out of range"),
        ({"sampling_method": "goss", "other_rate": 0.0}, "other_rate=0.0 is out of range"),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    X, y = problem(50)
    with pytest.raises(ParameterError, match=message):
        sp.train(given, sp.Dataset(X, y), 1)


@pytest.mark.parametrize("power", [-80, 70, 90])
@pytest.mark.parametrize("method", ["goss", "weighted"])
def test_the_size_of_the_target_does_not_matter(method, power):
    X, y = problem()
    params = SAMPLED[method] | {"reg_lambda": 0.0}
    usual, scaled = (sp.train(params, sp.Dataset(X, y * 2.0**p), 5).forest for p in (0, power))
    assert scaled.feature.tolist() == usual.feature.tolist()
    assert (scaled.value / 2.0**power).tolist() == usual.value.tolist()


def test_gradients_too_large_to_be_squared_in_32_bits_are_drawn_by_chance():
    X, y = problem()
    model = sp.train(SAMPLED["gradient_based"], sp.Dataset(X, y * 2.0**70), 20)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.8
