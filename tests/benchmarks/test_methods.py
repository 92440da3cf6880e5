"""The cases about tree methods, run small, and the comparison of trees; nothing here is timed or downloaded."""

import numpy as np
import pytest
import scipy.sparse

from benchmarks import data, parity
from benchmarks.bench import Bench
from benchmarks.cases import methods_same, small
from benchmarks.cases import parity as parity_case
from benchmarks.peers import OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.settings import Options


def run(name, peers=True):
    case = CASES[name]
    libraries = [PEERS[peer]() for peer in case.peers] if peers else []
    return case.run(Bench(Options(quick=True), OURS(), libraries, lambda text: None), name)


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        ("exact", ["train"]),
        ("approx", ["train"]),
        ("hist-exact", ["train"]),
        ("depthwise", ["train: depth 6", "train: depth 8"]),
    ],
)
def test_a_race_times_both_sides_and_judges_them(name, measures):
    rows = run(name)
    assert [row.measure for row in rows] == measures
    for row in rows:
        assert row.ours > 0
        assert row.theirs > 0
        assert all(0.5 < auc < 1 for auc in row.quality["auc"])
        assert set(row.facts) == {"dataset ours, s", "dataset theirs, s"}
        assert (row.holds is None) == (name == "depthwise")


@pytest.mark.parametrize("name", ["exact", "approx", "depthwise", "exact-parity"])
def test_a_race_without_a_rival_is_skipped(name):
    assert run(name, peers=False) == []


def test_forests_of_a_sparse_and_a_dense_table_are_compared():
    (row,) = run("exact-sparse")
    assert row.holds is True
    assert row.facts["nodes"] > 10


def test_one_value_in_a_hundred_is_stored():
    X, y = methods_same.make_sparse(2_000)
    assert X.nnz == 2_000 * 200 // 100
    assert 0.3 < y.mean() < 0.7


def test_files_of_every_method_are_compared_by_threads():
    rows = run("identical-methods")
    assert [row.measure for row in rows] == ["exact", "approx global", "approx local", "hist depthwise"]
    assert all(row.holds and len(row.facts) == 4 for row in rows)


@pytest.mark.slow
def test_every_method_is_measured_in_its_own_process():
    rows = {row.measure: row for row in run("methods")}
    assert len(rows) == 12
    assert rows["peak memory: exact"].unit == "MB"
    assert rows["train: exact"].peer == "spinney hist"
    assert 0.5 < rows["train: approx local"].quality["auc"][0] < 1


def absent(*_):
    raise data.DataMissingError("no network")


def test_small_tables_of_scikit_learn_need_no_network(monkeypatch):
    monkeypatch.setattr(small, "real", absent)
    rows = run("small-tables")
    assert [(row.measure, row.unit) for row in rows] == [
        ("breast_cancer", "log_loss"),
        ("diabetes", "rmse"),
        ("wine", "log_loss"),
        ("digits", "log_loss"),
    ]
    assert all(len(row.samples["ours"]) == 2 for row in rows)


def test_a_sample_and_the_rows_that_judge_it_do_not_meet():
    train, test = small.sampled(30_000, 0)
    assert len(train) == 1_000
    assert len(test) == 20_000
    assert not set(train) & set(test)


def one_hot(rows=300, levels=6):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, levels, rows)
    X = scipy.sparse.csr_matrix((np.ones(rows, np.float32), (np.arange(rows), codes)), shape=(rows, levels))
    return X, (codes % 2 == (rng.random(rows) < 0.9)).astype(float)


def test_parity_skips_tables_that_cannot_be_had_and_counts_the_others(monkeypatch):
    monkeypatch.setattr(parity_case, "real", absent)
    monkeypatch.setattr(parity_case, "agaricus", one_hot)
    (row,) = run("exact-parity")
    assert (row.measure, row.holds) == ("agaricus", True)
    assert row.facts["trees"] == 2 * (len(parity.SETTINGS) + 1)


def test_mirrored_splits_are_compared_below():
    found = parity.compare(*one_hot(), {}, "log_loss", 3, absent="missing")
    assert found.wrong == []
    assert found.mirrored > 0
    assert found.nodes == found.theirs > 3 * found.trees
    assert found.same == found.trees


@pytest.mark.parametrize("change", [{"reg_lambda": 40.0}, {"reg_alpha": 5.0}, {"min_child_weight": 30.0}])
def test_other_trees_are_no_ties(change, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400) > 0).astype(float)
    assert parity.compare(X, y, {}, "log_loss", 2).wrong == []
    ours_alone = parity.theirs_of
    monkeypatch.setattr(parity, "theirs_of", lambda params, objective: ours_alone(params, objective) | change)
    found = parity.compare(X, y, {}, "log_loss", 2)
    assert found.wrong
    assert found.same < found.trees


@pytest.mark.parametrize(("apart", "rounded", "wrong"), [(1e-7, 0, 0), (5e-6, 1, 0), (5e-5, 0, 1)])
def test_a_leaf_is_rounded_only_as_far_as_float32_gradients_reach(apart, rounded, wrong):
    # 102 rows of probability .99875: their gradients can be wrong by 102 * 2**-23 in all, over 1.13.
    margin, y = np.full(102, 6.680825), np.ones(102)
    params = {"learning_rate": 1.0}
    pairs = parity.gradients(margin, y, None, params, "log_loss")
    found = parity.Compared()
    parity._judge_leaf(found, 1, np.arange(102), (0.11335239, 0.11335239 + apart), pairs, params)
    assert (found.rounded, len(found.wrong)) == (rounded, wrong)
