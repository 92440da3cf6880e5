"""Frames with text and gaps, sparse matrices, missing values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import spinney as sp

KINDS = [
    sp.RandomForestClassifier,
    sp.RandomForestRegressor,
    sp.ExtraTreesClassifier,
    sp.ExtraTreesRegressor,
    sp.DecisionTreeClassifier,
    sp.DecisionTreeRegressor,
]


@pytest.fixture(scope="module")
def frame(table):
    words = np.array(["ash", "beech", "elm", "fir", "oak", "yew"], dtype=object)
    kind = words[np.random.default_rng(2).integers(0, 6, 200)]
    kind[::17] = None
    return pd.DataFrame({"wood": kind, "age": table[:, 0], "height": table[:, 1]})


@pytest.fixture(scope="module")
def hard(frame):
    """Woods that are hard: a set of categories that no order has side by side."""
    return frame["wood"].isin(["beech", "oak", "yew"]).to_numpy().astype(int)


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize("kind", KINDS)
def test_text_and_gaps_are_split_as_categories(kind, method, frame, hard):
    fitted = kind(tree_method=method, max_features=None).fit(frame, hard)
    assert fitted.score(frame, hard) == 1
    assert fitted.feature_importances_[0] > 0.5
    if "Extra" not in kind.__name__:
        assert fitted.feature_importances_[0] == pytest.approx(1, abs=1e-6)


def test_frames_of_other_libraries_give_the_same_forest(frame, hard):
    mine = sp.RandomForestClassifier(3).fit(frame, hard)
    assert mine.model_ == sp.RandomForestClassifier(3).fit(pl.from_pandas(frame), pl.Series(hard)).model_
    assert mine.feature_names_in_.tolist() == ["wood", "age", "height"]


def test_whole_numbers_may_be_named_categories(hard, frame):
    codes = frame["wood"].astype("category").cat.codes.to_numpy().reshape(-1, 1).astype(float)
    tree = sp.DecisionTreeClassifier(categorical=[0]).fit(codes, hard)
    assert tree.get_depth() == 1


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_matrix_gives_the_forest_of_a_dense_one(kind, method, two):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((200, 30)) < 0.1, rng.normal(size=(200, 30)), 0.0)
    y = (X[:, 0] + X[:, 1] + X[:, 2] > 0).astype(int)
    dense = kind(tree_method=method).fit(X, y)
    for layout in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        sparse = kind(tree_method=method).fit(layout(X), y)
        assert sparse.model_ == dense.model_
        np.testing.assert_array_equal(sparse.predict(layout(X)), dense.predict(X))


def test_absent_entries_may_be_missing(two):
    X = np.full((200, 1), np.nan)
    X[two == 1] = 0.0
    stored = scipy.sparse.csr_array(
        (np.zeros(two.sum()), (np.flatnonzero(two), np.zeros(two.sum(), int))), X.shape
    )
    tree = sp.DecisionTreeClassifier(absent="missing").fit(stored, two)
    assert tree.score(stored, two) == 1
    assert tree.score(X, two) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_go_to_the_better_side(kind, table, two):
    X = np.where(two[:, None] == 1, np.nan, np.nan_to_num(table))
    fitted = kind().fit(X, two)
    assert fitted.score(X, two) == 1


def test_an_unseen_category_is_missing_or_an_error(frame, hard):
    other = frame.assign(wood="teak")
    forest = sp.RandomForestClassifier(3).fit(frame, hard)
    missing = frame.assign(wood=pd.Series([None] * 200, dtype=object))
    np.testing.assert_array_equal(forest.predict_proba(other), forest.predict_proba(missing))
    with pytest.raises(ValueError, match="teak"):
        sp.RandomForestClassifier(3, unseen="error").fit(frame, hard).predict(other)


def test_nothing_is_printed_unless_it_is_asked_for(table, two, capsys):
    quiet = sp.RandomForestClassifier(3).fit(table, two)
    assert capsys.readouterr() == ("", "")
    loud = sp.RandomForestClassifier(3, verbose=1).fit(table, two)
    assert "growing" in capsys.readouterr().out
    assert loud.model_ == quiet.model_


@pytest.mark.parametrize("tree_method", ["hist", "exact"])
@pytest.mark.parametrize("levels", [64, 128, 192, 256])
def test_columns_of_full_words_of_categories_stand_beside_small_ones_with_gaps(levels, tree_method):
    rng = np.random.default_rng(levels)
    X = np.column_stack([np.arange(1024) % levels, rng.integers(0, 3, 1024), np.arange(1024) // 8 * 1.0])
    X[rng.random(1024) < 0.1, 0] = np.nan
    y = 3 * np.isnan(X[:, 0]) + X[:, 1] + rng.normal(size=1024)
    trees = sp.DecisionTreeRegressor(categorical=[0, 1], tree_method=tree_method, random_state=0).fit(X, y)
    assert np.bincount(trees.apply(X)).max() <= 8
    assert trees.score(X, y) > 0.9
    forest = sp.RandomForestRegressor(4, categorical=[0, 1], tree_method=tree_method, random_state=0)
    one, three = (forest.set_params(n_jobs=n).fit(X, y).model_.to_bytes() for n in (1, 3))
    assert one == three
