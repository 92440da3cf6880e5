"""The losses that the benchmarks measure: formulas, names, tables, and the cases run small; nothing here is timed."""

import numpy as np
import pytest
from sklearn import metrics

import spinney as sp
from benchmarks import generate, quality
from benchmarks.bench import Bench
from benchmarks.cases import areas, identical_losses, losses
from benchmarks.cases.accuracy import compared
from benchmarks.cases.identical import THREADS
from benchmarks.data import DataMissingError
from benchmarks.losses import LOSSES
from benchmarks.peers import OURS, PEERS, WeighingPeer
from benchmarks.settings import Options, Settings
from benchmarks.tasks import TASKS, Task
from spinney.params import Config
from spinney.params.objectives import OBJECTIVES
from spinney.training.growers import threads_of

RNG = np.random.default_rng(0)
NUMBERS, FOUND = RNG.normal(size=200) * 3, RNG.normal(size=200) * 3
AMOUNTS, EXPECTED = RNG.gamma(2.0, size=200), RNG.gamma(2.0, size=200)
COUNTS, LABELS = RNG.poisson(1.0, 200).astype(float), RNG.integers(0, 2, 200)
CHANCES = RNG.uniform(0.01, 0.99, 200)
WEIGHT = RNG.uniform(0.5, 2.0, 200)
JUDGES = {
    "squared_error": (metrics.mean_squared_error, NUMBERS, FOUND, {}),
    "absolute_error": (metrics.mean_absolute_error, NUMBERS, FOUND, {}),
    "quantile 0.1": (metrics.mean_pinball_loss, NUMBERS, FOUND, {"alpha": 0.1}),
    "quantile 0.9": (metrics.mean_pinball_loss, NUMBERS, FOUND, {"alpha": 0.9}),
    "mape": (metrics.mean_absolute_percentage_error, 1.0 + AMOUNTS, EXPECTED, {}),
    "squared_log_error": (metrics.mean_squared_log_error, AMOUNTS, EXPECTED, {}),
    "poisson": (metrics.mean_poisson_deviance, COUNTS, EXPECTED, {}),
    "gamma": (metrics.mean_gamma_deviance, AMOUNTS, EXPECTED, {}),
    "tweedie": (metrics.mean_tweedie_deviance, COUNTS, EXPECTED, {"power": 1.5}),
    "log_loss": (metrics.log_loss, LABELS, CHANCES, {}),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_loss_is_judged_as_scikit_learn_does(name):
    judge, target, prediction, given = JUDGES[name]
    found = LOSSES[name].mean(target, prediction)
    assert found == pytest.approx(judge(target, prediction, **given))
    weighted = LOSSES[name].mean(target, prediction, WEIGHT)
    assert weighted == pytest.approx(judge(target, prediction, sample_weight=WEIGHT, **given))


@pytest.mark.parametrize(
    ("name", "target", "prediction", "expected"),
    [
        ("huber", 0.0, 0.5, 0.125),
        ("huber", 0.0, -3.0, 2.5),
        ("pseudo_huber", 1.0, 1.0 - np.sqrt(8.0), 2.0),
        ("fair", 1.0, 3.0, 2.0 - np.log(3.0)),
        ("mape", 0.25, 0.5, 0.25),
        ("mape", 4.0, 5.0, 0.25),
        ("expectile 0.9", 2.0, 0.0, 3.6),
        ("expectile 0.9", 0.0, 2.0, 0.4),
        ("squared_log_error", 0.0, -5.0, np.log(1e-6) ** 2),
        ("focal", 1.0, 0.25, -(0.75**2) * np.log(0.25)),
        ("focal", 0.0, 0.25, -(0.25**2) * np.log(0.75)),
    ],
)
def test_a_loss_of_one_row_is_what_its_formula_says(name, target, prediction, expected):
    assert LOSSES[name].mean(np.array([target]), np.array([prediction])) == pytest.approx(expected)


def test_classes_are_judged_by_the_probability_of_the_right_one():
    chances = np.array([[0.2, 0.8], [0.5, 0.5]])
    target = np.array([1.0, 0.0])
    expected = -(np.log(0.8) + np.log(0.5)) / 2
    assert LOSSES["one_vs_rest"].mean(target, chances) == pytest.approx(expected)
    assert quality.scores("softmax", target, chances) == {
        "log_loss": pytest.approx(expected),
        "accuracy": 1.0,
    }


def test_each_loss_names_an_objective_of_ours():
    assert {loss.names["spinney"]["objective"] for loss in LOSSES.values()} <= set(OBJECTIVES)


def test_each_loss_of_the_cases_is_known():
    used = {loss for _, named in TASKS.values() for loss in named} | set(losses.TIMED)
    assert used | set(losses.STAND_INS.values()) <= set(LOSSES)


def test_peers_are_asked_for_a_loss_by_their_own_words():
    lightgbm = PEERS["lightgbm"]()
    assert isinstance(lightgbm, WeighingPeer)
    assert lightgbm.has("huber")
    assert not lightgbm.has("squared_log_error")
    assert lightgbm.loss(Settings(objective="quantile 0.9")) == {"objective": "quantile", "alpha": 0.9}
    assert lightgbm.loss(Settings(objective="one_vs_rest", classes=3)) == {
        "objective": "multiclassova",
        "num_class": 3,
    }


@pytest.fixture(scope="module")
def policies():
    """Counts in proportion to exposures, most of which are small."""
    X, y = generate.make_counts(3_000, 6)
    exposure = np.random.default_rng(1).uniform(0.05, 1.0, 3_000)
    return Task(X, np.round(y * exposure), exposure=exposure)


@pytest.mark.parametrize("name", ["spinney", "lightgbm", "xgboost"])
def test_every_library_starts_from_the_scores_that_it_is_given(name, policies):
    peer = OURS() if name == "spinney" else PEERS[name]()
    # A learning rate so small that predictions are where they start.
    settings = Settings(objective="poisson", rounds=1, learning_rate=1e-7, leaves=2, threads=1)
    margin, _ = losses.first_scores(policies, policies)
    dataset = peer.build(policies.X, policies.y, settings, peer.modes[0], None, margin)
    found = peer.predict_from(peer.train(dataset, settings, peer.modes[0]), policies.X, settings, margin)
    np.testing.assert_allclose(found, np.exp(margin), rtol=1e-5)
    assert found.sum() == pytest.approx(policies.y.sum(), rel=1e-5)


def test_probabilities_of_one_against_the_rest_are_shares_in_every_library():
    X, y = generate.make_classes(500, 6, 3)
    settings = Settings(objective="one_vs_rest", classes=3, rounds=3, threads=1)
    for peer in (OURS(), PEERS["lightgbm"]()):
        model = peer.train(peer.dataset(X, y, settings, peer.modes[0]), settings, peer.modes[0])
        np.testing.assert_allclose(peer.predict(model, X, settings).sum(axis=1), 1.0)


def test_a_task_without_exposures_starts_where_the_libraries_do():
    task = Task(np.zeros((4, 1), np.float32), np.ones(4))
    assert losses.first_scores(task, task) == (None, None)


def test_taken_rows_keep_their_weights_and_exposures():
    numbers = np.arange(5.0)
    task = Task(numbers[:, None].astype(np.float32), numbers, numbers, numbers, 3).take(np.array([3, 1]))
    for part in (task.X[:, 0], task.y, task.weight, task.exposure):
        assert part.tolist() == [3, 1]
    assert task.classes == 3


def make_bench(peers=(), ours=True):
    said = []
    return Bench(
        Options(quick=True), OURS() if ours else None, [PEERS[p]() for p in peers], said.append
    ), said


@pytest.fixture(scope="module")
def judged():
    """Two tables in the place of real ones, one of which cannot be had."""

    def missing():
        raise DataMissingError("nowhere is skipped, it could not be downloaded")

    X, y = generate.make_numbers(2_000, 6)
    named = ("absolute_error", "squared_log_error", "expectile 0.9")
    tasks = {
        "nowhere": (missing, ("gamma",)),
        "numbers": (lambda: Task(X, np.abs(y).astype(float)), named),
    }
    bench, said = make_bench(["lightgbm", "xgboost"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "TASKS", tasks)
        return losses.run_real(bench, "losses-real"), said


def test_a_table_that_cannot_be_had_is_skipped_with_a_message(judged):
    rows, said = judged
    assert "nowhere is skipped, it could not be downloaded" in said
    assert {row.measure.partition(":")[0] for row in rows} == {"numbers"}


def test_a_peer_without_a_loss_has_no_row_and_a_loss_without_peers_a_stand_in(judged):
    rows, _ = judged
    assert [(row.measure.partition(": ")[2], row.peer) for row in rows] == [
        ("absolute_error", "lightgbm"),
        ("absolute_error", "xgboost"),
        ("squared_log_error", "xgboost"),
        ("expectile 0.9", "spinney squared_error"),
    ]


def test_held_out_losses_are_compared_split_by_split(judged):
    rows, _ = judged
    row = rows[0]
    assert row.unit == "mae"
    assert len(row.samples["ours"]) == len(row.samples["theirs"]) == 2
    assert row.ours == pytest.approx(np.mean(row.samples["ours"]))
    assert 0.9 < row.facts["ours / theirs"] < 1.1


def test_the_ratio_of_losses_is_the_mean_over_splits():
    ours, theirs = [{"mae": 1.0}, {"mae": 3.0}], [{"mae": 2.0}, {"mae": 2.0}]
    row = compared("c", "m", ("p", "a note"), ours, theirs)
    assert row.facts["ours / theirs"] == 1.0
    assert (row.peer, row.note, row.reached) == ("p", "a note", True)


@pytest.mark.slow
def test_training_times_of_losses_have_the_held_out_loss_beside_them(monkeypatch):
    monkeypatch.setattr(losses, "TIMED", ("huber", "poisson"))
    rows = losses.run_timed(make_bench(["lightgbm"])[0], "losses")
    assert [row.measure for row in rows] == ["huber", "poisson"]
    assert [list(row.quality) for row in rows] == [["huber"], ["poisson deviance"]]
    assert all(str(row.target) == "≥ 1.3x" for row in rows)


def test_models_of_every_loss_are_compared_by_threads():
    named = {params["objective"] for _, params, _ in identical_losses.ways()}
    assert named == set(OBJECTIVES) - {"own"}


def test_even_the_small_tables_of_the_comparison_by_threads_are_worth_them():
    dataset = sp.Dataset(*identical_losses.made("numbers", identical_losses.FEWEST_ROWS))
    assert threads_of(Config(n_jobs=max(THREADS)), dataset.binned) == max(THREADS)


def test_a_loss_whose_files_differ_is_told(monkeypatch):
    few = [way for way in identical_losses.ways() if way[0] in ("quantile", "gamma, line_search")]
    monkeypatch.setattr(identical_losses, "ways", lambda: few)
    bench, _ = make_bench()
    rows = identical_losses.run(bench, "identical-losses")
    assert [(row.measure, row.reached) for row in rows] == [("quantile", True), ("gamma, line_search", True)]
    monkeypatch.setattr(identical_losses, "_digest", lambda params, table, rounds, threads: str(threads // 8))
    assert [row.reached for row in identical_losses.run(bench, "identical-losses")] == [False, False]


@pytest.mark.slow
def test_areas_are_those_of_scikit_learn():
    rows = areas.run(make_bench()[0], "auc")
    assert [row.measure for row in rows] == ["auc", "auc, weighted", "average precision"]
    assert all(row.holds for row in rows)


@pytest.mark.parametrize("run", [identical_losses.run, areas.run])
def test_a_case_about_ours_alone_is_skipped_without_it(run):
    bench, said = make_bench(ours=False)
    assert run(bench, "c") == []
    assert "needs spinney" in said[0]


@pytest.mark.parametrize("make", [generate.make_numbers, generate.make_counts])
def test_generated_targets_do_not_depend_on_the_length_of_the_table(make):
    X, y = make(300, 12)
    longer, more = make(2_000, 12)
    np.testing.assert_array_equal(X, longer[:300])
    np.testing.assert_array_equal(y, more[:300])
    assert not np.array_equal(make(300, 12, part=generate.TEST)[1], y)


def test_generated_numbers_have_outliers_and_counts_are_counts():
    _, numbers = generate.make_numbers(5_000, 12)
    _, counts = generate.make_counts(5_000, 12)
    spread = np.subtract(*np.quantile(numbers, [0.75, 0.25]))
    assert np.abs(numbers - np.median(numbers)).max() > 5 * spread
    assert (counts == np.rint(counts)).all()
    assert counts.min() == 0.0
    assert counts.max() > 5.0


def test_counts_of_chances_are_those_of_the_distribution():
    chance = (np.arange(20_000) + 0.5) / 20_000
    found = generate._poisson_counts(np.full(20_000, 2.0), chance)
    assert found.mean() == pytest.approx(2.0, rel=0.01)
    assert found.var() == pytest.approx(2.0, rel=0.01)
    assert (found == 0).mean() == pytest.approx(np.exp(-2.0), abs=1e-3)
