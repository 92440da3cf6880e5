"""A model of a fold is the one that its train rows alone would give."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from problems import part_of

ROWS = 240
BASE = {"max_leaves": 6, "min_child_samples": 3, "n_jobs": 1}


def numbers(rng, rows=ROWS):
    return rng.normal(size=(rows, 4))


def holes(rng):
    """Values are missing, and in one column those of test rows alone, if rows are dealt out in order."""
    table = np.where(rng.random((ROWS, 4)) < 0.1, np.nan, rng.normal(size=(ROWS, 4)))
    table[:, 3] = np.where(np.arange(ROWS) < 10, np.nan, rng.normal(size=ROWS))
    return table


def one_hot(rng):
    """Bundled and sparse columns."""
    owner = rng.integers(0, 30, ROWS)
    other = np.where(rng.random(ROWS) < 0.1, 30, 31)
    stored = np.concatenate([rng.integers(1, 4, ROWS), np.ones(ROWS)]).astype(float)
    places = np.tile(np.arange(ROWS), 2), np.concatenate([owner, other])
    return scipy.sparse.csr_array((stored, places), shape=(ROWS, 32))


def categories(rng):
    return pd.DataFrame(
        {
            "tree": pd.Categorical(rng.choice([f"kind {k}" for k in range(12)], ROWS)),
            "x": rng.normal(size=ROWS),
        }
    )


def target_of(table, rng, kind):
    first = table.iloc[:, 1].to_numpy() if isinstance(table, pd.DataFrame) else table[:, [0]]
    first = np.nan_to_num(first.toarray() if scipy.sparse.issparse(first) else first).reshape(-1)
    value = first + rng.normal(size=len(first))
    if kind == "two classes":
        return (value > 0).astype(float)
    if kind == "three classes":
        return np.digitize(value, [-0.5, 0.5]).astype(float)
    return value


def some(table, rows):
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]


CASES = {
    "numbers": (numbers, {}, "number"),
    "two classes": (numbers, {"objective": "log_loss"}, "two classes"),
    "three classes": (numbers, {"objective": "softmax", "num_class": 3}, "three classes"),
    "missing values": (holes, {}, "number"),
    "one-hot columns": (one_hot, {"min_child_samples": 1, "min_child_weight": 0.0}, "number"),
    "categories": (categories, {"min_data_per_group": 2, "cat_smooth": 1.0}, "number"),
    "some rows of each tree": (numbers, {"subsample": 0.5}, "number"),
    "few rows of each tree": (numbers, {"subsample": 0.2}, "number"),
    "rows by gradient": (numbers, {"sampling_method": "goss", "goss_warm_up": False}, "number"),
    "values of all rows": (numbers, {"subsample": 0.5, "leaf_values": "all"}, "number"),
    "medians": (numbers, {"objective": "absolute_error"}, "number"),
    "searched values": (numbers, {"objective": "log_loss", "leaf_estimation": "line_search"}, "two classes"),
    "drawn columns": (numbers, {"colsample_bytree": 0.5, "colsample_bynode": 0.6}, "number"),
    "every value a cut": (numbers, {"tree_method": "exact"}, "number"),
    "every value a cut, some rows": (numbers, {"tree_method": "exact", "subsample": 0.5}, "number"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_it_has_the_bytes_of_a_training_on_the_rows_of_the_fold(case, weighted):
    make, params, kind = CASES[case]
    rng = np.random.default_rng(5)
    table = make(rng)
    target = target_of(table, rng, kind)
    weight = np.where(rng.random(ROWS) < 0.1, 0.0, rng.integers(1, 5, ROWS) * 0.7) if weighted else None
    whole = sp.Dataset(table, target, weight=weight, keep_table=True)
    found = sp.cv(BASE | params, whole, folds=3, rounds=3, shuffle=False)
    for model, fold in zip(found.models, found.folds, strict=True):
        rows = fold.train
        own = sp.Dataset(
            some(table, rows), target[rows], weight=None if weight is None else weight[rows], reference=whole
        )
        assert model == sp.train(BASE | params, own, rounds=3)
        assert model.predict(some(table, fold.test)).tobytes() == found.oof[fold.test].tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_copies_among_test_rows_decide_nothing(seed):
    """A few train rows stand among the test rows too; the folds of a target encoding must not follow from their targets."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(2000, 3)), columns=list("abc"))
    table["town"] = [f"t{k}" for k in rng.integers(0, 200, 2000)]
    target = (table["a"] + rng.normal(size=2000) > 0).to_numpy(float)
    copied = rng.choice(1000, 24, replace=False)
    table = pd.concat([table, table.iloc[copied]], ignore_index=True)
    train, test = np.arange(1600), np.arange(1600, len(table))
    target = np.append(target, target[copied])
    other = np.where(np.arange(len(table)) < 1600, target, 1.0 - target)
    params = {"objective": "log_loss", "max_leaves": 8, "target_stats": 50, "n_jobs": 1}
    whole = sp.Dataset(table, target)
    (model,) = sp.cv(params, whole, [(train, test)], rounds=3).models
    assert model == sp.cv(params, sp.Dataset(table, other), [(train, test)], rounds=3).models[0]
    assert model == sp.train(params, sp.Dataset(table.iloc[train], target[train], reference=whole), rounds=3)


def test_rounding_at_random_goes_by_the_rows_of_the_fold():
    rng = np.random.default_rng(6)
    table = rng.normal(size=(20_000, 2))
    target = table[:, 0] + rng.normal(size=20_000)
    whole = sp.Dataset(table, target, max_bin=300)
    found = sp.cv({"max_leaves": 8}, whole, folds=2, rounds=2, train_metrics=False)
    rows = found.folds[1].train
    own = sp.Dataset(table[rows], target[rows], reference=whole)
    assert found.models[1] == sp.train({"max_leaves": 8}, own, rounds=2)


@pytest.mark.parametrize("params", [{}, {"subsample": 0.3}], ids=["all rows", "some rows"])
def test_test_rows_far_apart_reach_their_leaves(params):
    rng = np.random.default_rng(7)
    table = rng.normal(size=(150_000, 1))
    target = np.sign(table[:, 0])
    test = np.array([3, 9, 70_000, 70_001, 140_000])
    fold = np.setdiff1d(np.arange(150_000), test), test
    found = sp.cv(
        {"max_leaves": 4} | params, sp.Dataset(table, target), [fold], rounds=2, train_metrics=False
    )
    assert found.models[0].predict(table[test]).tolist() == found.oof[test].tolist()


@pytest.mark.parametrize("margin", [False, True], ids=["plain", "margin"])
def test_it_knows_nothing_of_the_targets_of_test_rows(margin):
    rng = np.random.default_rng(8)
    table = numbers(rng)
    target = (table[:, 0] > 0).astype(float)
    starts = rng.normal(size=ROWS) if margin else None
    folds = [(np.arange(100, ROWS), np.arange(100))]
    other = np.where(np.arange(ROWS) < 100, 1.0 - target, target)
    params = BASE | {"objective": "log_loss"}
    one, two = (
        sp.cv(params, sp.Dataset(table, y, base_margin=starts), folds, rounds=3).models[0]
        for y in (target, other)
    )
    assert one == two


@pytest.mark.parametrize("proposal", ["global", "local"])
def test_approximate_trees_are_grown_on_the_train_rows_alone(proposal):
    rng = np.random.default_rng(9)
    table = rng.normal(size=(ROWS, 2))
    target = table[:, 0] + rng.normal(size=ROWS)
    folds = [(np.arange(80, ROWS), np.arange(80))]
    params = BASE | {"tree_method": "approx", "proposal": proposal, "max_bin": 16}
    models = []
    for y in (target, np.where(np.arange(ROWS) < 80, 1e6, target)):
        found = sp.cv(params, sp.Dataset(table, y, max_bin=16, keep_table=True), folds, rounds=3)
        assert found.models[0].predict(table[:80]).tobytes() == found.oof[:80].tobytes()
        assert found.models[0].forest.tree(0).count[0] == ROWS - 80
        models.append(found.models[0])
    assert models[0] == models[1]


@pytest.mark.parametrize("params", [{}, {"subsample": 0.4}, {"max_leaves": 40}], ids=str)
def test_threads_leave_models_predictions_and_history_alone(params):
    rng = np.random.default_rng(10)
    table = rng.normal(size=(12_000, 8))
    target = (table[:, 0] + rng.normal(size=12_000) > 0).astype(float)
    data = sp.Dataset(table, target)
    found = []
    for threads in (1, 2, 3):
        one = sp.cv({"objective": "log_loss", "n_jobs": threads} | params, data, folds=2, rounds=2)
        found.append(
            (
                [model.to_bytes() for model in one.models],
                one.oof.tobytes(),
                [values.folds.tobytes() for values in one.history["test"].values()],
            )
        )
    assert found[0] == found[1] == found[2]


def test_no_codes_are_copied(monkeypatch):
    def refuse(*args):
        raise AssertionError("codes were copied")

    monkeypatch.setattr("spinney.binning.binned.take_codes", refuse)
    rng = np.random.default_rng(11)
    table = numbers(rng)
    sp.cv(BASE | {"subsample": 0.5}, sp.Dataset(table, table[:, 0]), folds=3, rounds=2)


def test_a_part_has_the_codes_of_its_rows():
    rng = np.random.default_rng(12)
    rows = np.flatnonzero(rng.random(ROWS) < 0.4)
    for table in (numbers(rng), one_hot(rng)):
        whole = sp.Dataset(table, np.zeros(ROWS), bundle=False)
        part, own = (
            part_of(whole, rows, "part").binned.matrix(),
            sp.Dataset(table[rows], reference=whole).binned.matrix(),
        )
        assert part.rows == len(rows)
        copied = part_of(whole, rows, "part").binned.matrix().sparse
        assert np.array_equal(copied.row_starts, part.sparse.row_starts)
        for column in range(whole.columns):
            assert bins_of(part, column).tolist() == bins_of(own, column).tolist()


def bins_of(matrix, column):
    """Bin of every row in a column; rows of a sparse one are told by its list."""
    features = matrix.features
    group = int(features.group[column])
    if group >= 0:
        return matrix.by_column[group].astype(int)
    found = np.full(matrix.rows, -1)
    listed = slice(matrix.sparse.starts[column], matrix.sparse.starts[column + 1])
    found[matrix.sparse.column_rows[listed]] = matrix.sparse.column_codes[listed]
    return found
