"""The cases about forests, run small; nothing here is timed or downloaded."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import data, generate
from benchmarks.bench import Bench
from benchmarks.cases import forest_accuracy, forest_categories, forest_same, forests
from benchmarks.cases.identical import THREADS
from benchmarks.data import RealTable
from benchmarks.frames import FrameTable
from benchmarks.peers import OUR_FOREST, OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.rows import Row
from benchmarks.settings import Options

# What the tests install; scikit-learn-intelex is not among it.
INSTALLED = ("sklearn-forest", "xgboost-forest", "lightgbm-forest")


def run(name, said=None):
    """Run a case on one thread: threads of other libraries wait busily for each other while tests share out the cores."""
    case = CASES[name]
    peers = [PEERS[peer]() for peer in case.peers if peer in INSTALLED]
    say = (lambda text: None) if said is None else said.append
    return case.run(Bench(Options(quick=True, threads=1), OURS(), peers, say), name)


def absent(*_):
    raise data.DataMissingError("no network")


def seven_classes(name):
    X, y = generate.make_classes(6_000, 54, 7)
    return RealTable(name, X, y, "softmax", 7)


def test_a_continuous_table_has_no_gaps_and_two_halves():
    X, y = generate.make_continuous(4_000, 28)
    assert np.isfinite(X).all()
    assert len(np.unique(X[:, 0])) > 3_900
    assert len(np.unique(X[:, 20])) < 100
    assert 0.45 < y.mean() < 0.55
    held_out, target = generate.make_continuous(4_000, 28, part=generate.TEST)
    assert not np.array_equal(X, held_out)
    assert 0.45 < target.mean() < 0.55
    numbers = generate.make_continuous_numbers(4_000, 28)
    np.testing.assert_array_equal(numbers[0], X)
    assert np.corrcoef(numbers[1], y)[0, 1] > 0.4


def test_every_plan_of_a_forest_is_a_case():
    assert {case.name for case in CASES.values() if case.run is forests.run} == set(forests.PLANS)


@pytest.mark.parametrize("plan", forests.PLANS.values(), ids=forests.PLANS)
def test_the_twin_gets_the_same_settings(plan):
    ours, theirs = (peer.estimator(plan.settings, 28) for peer in (OUR_FOREST(), PEERS["sklearn-forest"]()))
    assert type(ours).__name__ == type(theirs).__name__
    found = ours.get_params()
    assert found["tree_method"] == plan.settings.method
    assert {name: found[name] for name in theirs.get_params()} == theirs.get_params()


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("forest", "auc"),
        ("forest-exact", "auc"),
        ("forest-regression", "rmse"),
        ("forest-covtype", "accuracy"),
        ("extra-trees", "auc"),
        ("extra-trees-covtype", "accuracy"),
    ],
)
def test_a_forest_is_timed_and_judged_beside_its_twin(name, judge, monkeypatch):
    monkeypatch.setattr(forests, "real", seven_classes)
    (row,) = run(name)
    assert (row.measure, row.peer) == ("fit", "sklearn-forest")
    assert row.ours > 0
    assert row.theirs > 0
    ours, theirs = row.quality[judge]
    assert ours == pytest.approx(theirs, rel=0.25)
    assert row.holds is not None


def test_a_table_that_cannot_be_had_is_skipped_with_a_message(monkeypatch):
    monkeypatch.setattr(forests, "real", absent)
    said = []
    assert run("forest-covtype", said) == []
    assert said[-1] == "no network"


@pytest.mark.slow
def test_forests_that_need_a_limit_are_compared_with_ours_of_that_depth():
    found = {row.peer: row for row in run("forest-large")}
    assert {peer: row.measure for peer, row in found.items()} == {
        "sklearn-forest": "fit",
        "xgboost-forest": "fit: depth 20",
        "lightgbm-forest": "fit: depth 20",
    }
    for row in found.values():
        assert all(0.52 < auc < 0.9 for auc in row.quality["auc"])


def test_prediction_is_timed_with_forests_that_are_equally_good():
    (row,) = run("forest-predict")
    assert row.measure == "predict"
    assert all(0.52 < auc < 0.9 for auc in row.quality["auc"])


@pytest.mark.slow
def test_memory_and_file_are_of_forests_in_processes_of_their_own():
    memory, file = run("forest-memory")
    assert (memory.measure, memory.unit, file.measure, file.unit) == ("memory", "MB", "file", "MB")
    assert 0 < file.ours < file.theirs < 10
    assert memory.theirs < 100


def test_growth_is_of_trees_rows_and_columns():
    rows = run("forest-growth")
    assert [row.measure for row in rows] == ["trees 4 → 8", "rows 2000 → 4000", "columns 28 → 56"]
    assert all(row.ours > 0 for row in rows)


@pytest.mark.slow
def test_files_of_every_kind_of_forest_are_compared_by_threads():
    rows = run("identical-forests")
    assert [row.measure for row in rows] == list(forest_same.WAYS)
    assert [row.measure for row in rows if not row.holds] == []
    assert all(set(row.facts) == {f"n_jobs={threads}" for threads in THREADS} for row in rows)
    assert len({row.facts["n_jobs=1"] for row in rows}) == len(rows)


def test_tables_of_scikit_learn_need_no_network(monkeypatch):
    wanted = ("digits", "breast_cancer")
    monkeypatch.setattr(
        forest_accuracy,
        "TABLES",
        {name: read if name in wanted else absent for name, read in forest_accuracy.TABLES.items()},
    )
    rows = run("forest-accuracy")
    assert [row.measure for row in rows] == [
        f"{table}, {way}" for table in wanted for way in ("random forest", "extra trees")
    ]
    assert all(row.unit == "error" and 0 <= row.ours < 0.35 for row in rows)
    assert all("in deviations" in row.facts for row in rows)


def test_a_difference_is_told_in_deviations():
    row = Row(case="c", measure="m", peer="p", facts={"mean difference": 0.02, "deviation": 0.04})
    assert forest_accuracy.in_deviations(row).facts["in deviations"] == 0.5
    equal = Row(case="c", measure="m", peer="p", facts={"mean difference": 0.0, "deviation": 0.0})
    assert forest_accuracy.in_deviations(equal).facts["in deviations"] == 0.0


def test_rows_that_train_and_rows_that_judge_do_not_meet():
    train, test = forest_accuracy.split(1_000, 0, 600)
    assert (len(train), len(test)) == (600, 300)
    assert not set(train) & set(test)
    train, test = forest_accuracy.split(1_000, 0, 100_000)
    assert (len(train), len(test)) == (750, 250)


@pytest.mark.parametrize("share", forest_accuracy.SHARES)
def test_missing_values_are_as_many_as_the_row_says(share):
    for gaps in forest_accuracy.GAPS:
        X, _ = forest_accuracy.with_gaps(3_000, share, gaps, generate.TRAIN)
        # Few-valued columns have no quantile that parts them just there.
        assert np.isnan(X[:, :20]).mean() == pytest.approx(share, abs=0.01)
    full, _ = forest_accuracy.with_gaps(3_000, 0.0, "any", generate.TRAIN)
    gone = np.isnan(X[:, 0])
    assert not gone.any() or full[gone, 0].min() > full[~gone, 0].max()


def test_both_halves_of_the_library_learn_from_gaps():
    rows = run("forest-missing")
    assert [row.measure for row in rows] == [
        "0%, any",
        *(f"{share}, {gaps}" for gaps in ("any", "largest") for share in ("10%", "30%", "50%")),
    ]
    assert all(0.5 < value < 1 for row in rows for value in (row.ours, row.theirs, row.facts["boosting"]))


def test_forests_of_many_categories_are_compared_with_numbers(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"town": pd.Categorical(rng.integers(0, 30, 900).astype(str)), "age": rng.normal(size=900)}
    )
    monkeypatch.setattr(forest_categories, "adult", absent)
    monkeypatch.setattr(
        forest_categories, "flights", lambda: FrameTable("made", X, rng.integers(0, 2, 900) * 1.0)
    )
    said = []
    rows = run("forest-categories", said)
    assert "no network" in said
    assert {row.measure for row in rows if row.peer == ""} == {"bias, 50 categories"}
    pairs = [(row.measure, row.peer) for row in rows if row.peer]
    assert len(set(pairs)) == len(pairs) == 2 * (2 * len(forest_categories.GENERATED) + 1)
    assert ("made", "sklearn on numbers") in pairs
    assert all(row.reached is not None for row in rows)
