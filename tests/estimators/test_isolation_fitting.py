"""Fitting an isolation forest, and what it says of rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn import ensemble
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney as sp


def clusters(seed, rows=1500, columns=5, odd=0.05):
    """Two clouds, and a few rows that lie anywhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + 3 * rng.integers(0, 2, (rows, 1))
    y = rng.random(rows) < odd
    X[y] = rng.uniform(-5, 8, (y.sum(), columns))
    return X, y


def skewed(seed, rows=1500):
    """Columns with long tails; odd rows break how they hang together."""
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=(rows, 1))
    X = size * rng.gamma(5.0, size=(rows, 4))
    y = rng.random(rows) < 0.04
    X[y] *= rng.choice([0.05, 12.0], (y.sum(), 4))
    return X, y


@pytest.fixture(scope="module", name="X")
def fixture_table():
    return clusters(0)[0]


@pytest.fixture(scope="module")
def forest(X):
    return sp.IsolationForest(random_state=1, contamination=0.1).fit(X)


@pytest.mark.parametrize("problem", [clusters, skewed])
def test_areas_under_the_curve_are_scikit_learns_within_the_noise_of_seeds(problem):
    X, y = problem(7)
    ours, theirs = (
        np.array([roc_auc_score(y, -make(random_state=seed).fit(X).score_samples(X)) for seed in range(10)])
        for make in (sp.IsolationForest, ensemble.IsolationForest)
    )
    error = np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / 10)
    assert abs(ours.mean() - theirs.mean()) < 4 * error
    assert ours.mean() > 0.8


def test_scores_are_those_of_scikit_learn_but_for_the_draws():
    X, _ = clusters(3)
    ours, theirs = (
        make(n_estimators=800, random_state=0).fit(X).score_samples(X)
        for make in (sp.IsolationForest, ensemble.IsolationForest)
    )
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
    np.testing.assert_allclose(ours, theirs, atol=0.03)


def test_the_signs_are_scikit_learns(X, forest):
    odd = np.full((1, 5), 30.0)
    assert (forest.score_samples(X) < 0).all()
    assert (forest.score_samples(X) >= -1).all()
    assert forest.score_samples(odd)[0] < forest.score_samples(X).min() + 0.05
    assert forest.predict(odd).tolist() == [-1]
    assert forest.predict(odd).dtype == np.int64
    np.testing.assert_array_equal(forest.decision_function(X), forest.score_samples(X) - forest.offset_)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_contamination_is_the_share_of_training_rows_that_is_called_abnormal(X, share):
    forest = sp.IsolationForest(50, contamination=share, random_state=0).fit(X)
    assert forest.offset_ == np.percentile(forest.score_samples(X), 100 * share)
    assert abs((forest.predict(X) == -1).mean() - share) < 0.002
    np.testing.assert_array_equal(forest.fit_predict(X), forest.predict(X))


def test_without_contamination_the_offset_is_a_half(X):
    forest = sp.IsolationForest(20).fit(X)
    assert forest.offset_ == -0.5
    assert (forest.max_samples_, forest.max_features_, len(forest.estimators_)) == (256, 5, 20)
    assert forest.estimators_[0].count[0] == 256


@pytest.mark.parametrize(("given", "drawn"), [("auto", 256), (40, 40), (0.1, 150), (1.0, 1500), (1e-9, 1)])
def test_a_tree_sees_as_many_rows_as_it_is_told(X, given, drawn):
    forest = sp.IsolationForest(3, max_samples=given).fit(X)
    assert forest.max_samples_ == drawn
    assert {int(tree.count[0]) for tree in forest.estimators_} == {drawn}
    assert max(tree.depth for tree in forest.estimators_) <= max(1, int(np.ceil(np.log2(drawn))))


def test_more_rows_than_there_are_are_warned_of(X):
    with pytest.warns(UserWarning, match="max_samples=5000 is more than the 1500 rows"):
        forest = sp.IsolationForest(3, max_samples=5000).fit(X)
    assert forest.max_samples_ == 1500


def test_trees_see_the_columns_that_they_are_told():
    X, _ = clusters(1)
    for given, many in ((2, 2), (0.5, 2), (0.01, 1), (1.0, 5)):
        forest = sp.IsolationForest(30, max_features=given).fit(X)
        used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in forest.estimators_]
        assert forest.max_features_ == many == max(map(len, used))
        assert set().union(*used) == set(range(5))


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(X):
    models = [
        sp.IsolationForest(60, random_state=4, contamination=0.1, n_jobs=jobs).fit(X).model_
        for jobs in (1, 2, 3, 8)
    ]
    assert len({model.to_bytes() for model in models}) == 1
    assert sp.IsolationForest(60, random_state=5, contamination=0.1).fit(X).model_ != models[0]


def test_a_random_state_draws_its_seed(X):
    one, two = (sp.IsolationForest(5, random_state=np.random.RandomState(3)).fit(X) for _ in range(2))
    assert one.model_ == two.model_


def test_trees_are_added_to_those_of_an_earlier_fit(X):
    whole = sp.IsolationForest(12, random_state=1, contamination=0.2).fit(X)
    grown = sp.IsolationForest(5, random_state=1, contamination=0.2, warm_start=True).fit(X)
    assert grown.set_params(n_estimators=12).fit(X).model_ == whole.model_
    for given, offset in (({}, whole.offset_), ({"contamination": "auto"}, -0.5)):
        with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees"):
            assert grown.set_params(**given).fit(X).offset_ == offset
        np.testing.assert_array_equal(grown.score_samples(X), whole.score_samples(X))


def test_copies_and_searches_and_pipelines_work(X, forest):
    assert clone(forest).get_params() == forest.get_params()
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(again.score_samples(X), forest.score_samples(X))
    assert set(make_pipeline(StandardScaler(), sp.IsolationForest(10)).fit(X).predict(X)) == {-1, 1}
    search = GridSearchCV(
        sp.IsolationForest(5), {"max_samples": [16, 32]}, scoring=lambda est, X, y=None: est.offset_
    )
    assert search.fit(X).best_params_["max_samples"] == 16


def test_weights_are_chances_of_being_drawn():
    X = np.r_[np.zeros((50, 1)), np.ones((50, 1))] + np.linspace(0, 1e-3, 100)[:, None]
    weight = np.r_[np.full(50, 9.0), np.full(50, 1.0)]
    forest = sp.IsolationForest(200, max_samples=16, random_state=0).fit(X, sample_weight=weight)
    upper = np.mean([path_count(tree, 0.5) for tree in forest.estimators_])
    assert abs(upper / 16 - 0.1) < 0.03
    assert forest.score_samples([[1.0005]])[0] < forest.score_samples([[0.0005]])[0]


def path_count(tree, value):
    """Training rows of a tree above a value, as far as its splits tell."""
    above, waiting = 0, [(0, -np.inf)]
    while waiting:
        node, low = waiting.pop()
        if tree.feature[node] < 0:
            above += int(tree.count[node]) if low >= 1e-3 else 0
        else:
            left, cut = int(tree.left[node]), tree.threshold[node]
            waiting += [(left, low), (left + 1, max(low, cut))]
    return above


def test_equal_weights_are_none(X, forest):
    weight = np.full(len(X), 0.3)
    again = sp.IsolationForest(random_state=1, contamination=0.1).fit(X, sample_weight=weight)
    assert again.model_ == forest.model_


def test_rows_of_weight_0_are_never_drawn(X):
    weight = np.zeros(len(X))
    weight[:40] = 2.0
    forest = sp.IsolationForest(10, random_state=0).fit(X, sample_weight=weight)
    assert forest.max_samples_ == 40
    np.testing.assert_array_equal(
        forest.score_samples(X), sp.IsolationForest(10, random_state=0).fit(X[:40]).score_samples(X)
    )
    drawn = sp.IsolationForest(10, bootstrap=True, max_samples=100).fit(X, sample_weight=weight)
    assert drawn.max_samples_ == 100


def test_frames_matrices_and_arrays_give_the_same_forest(X, forest):
    names = [f"c{k}" for k in range(5)]
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), np.asfortranarray(X)):
        other = sp.IsolationForest(random_state=1, contamination=0.1).fit(table)
        np.testing.assert_array_equal(other.score_samples(table), forest.score_samples(X))
    sparse = scipy.sparse.csc_array(X)
    other = sp.IsolationForest(random_state=1, contamination=0.1).fit(sparse)
    assert other.model_ == forest.model_


def test_a_sparse_table_is_never_made_dense():
    # A dense copy would take 40 GB.
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((50_000, 100_000), density=1e-5, rng=rng).tocsr()
    forest = sp.IsolationForest(2, max_samples=64, n_jobs=1).fit(X)
    assert forest.score_samples(X[:500]).shape == (500,)
    assert sum(tree.nodes for tree in forest.estimators_) > 10


def test_categories_that_are_rare_stand_out():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["ash", "oak"], 600), "size": rng.normal(size=600)})
    frame.loc[7, "town"] = "elm"
    frame["town"] = frame["town"].astype("category")
    forest = sp.IsolationForest(300, random_state=0, max_samples=600).fit(frame)
    plain = frame.assign(size=0.0)
    scores = forest.score_samples(plain)
    common = scores[frame["town"] != "elm"]
    assert scores[7] < common.min() - 0.02
    assert forest.explain_path(plain)[7].argmax() == 0


def test_an_unseen_category_is_as_strange_as_the_rarest_or_missing_or_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["ash", "oak", "elm"], 300, p=[0.6, 0.39, 0.01])})
    strange, rarest, missing = (pd.DataFrame({"town": [one]}) for one in ("fir", "elm", None))
    forest = sp.IsolationForest(50, random_state=0).fit(frame)
    assert forest.score_samples(strange) == forest.score_samples(rarest)
    forest = sp.IsolationForest(50, random_state=0, unseen="missing").fit(frame)
    assert forest.score_samples(strange) == forest.score_samples(missing.astype("object"))
    forest = sp.IsolationForest(50, random_state=0, unseen="error").fit(frame)
    with pytest.raises(ValueError, match="'fir', a category that training did not see"):
        forest.score_samples(strange)


def test_missing_values_alone_make_no_row_strange(X):
    holes = X.copy()
    rng = np.random.default_rng(1)
    holes[rng.random(X.shape) < 0.05] = np.nan
    forest = sp.IsolationForest(200, random_state=0).fit(holes)
    full = forest.score_samples(X)
    nothing = forest.score_samples(np.full((1, 5), np.nan))[0]
    assert np.quantile(full, 0.1) < nothing < np.quantile(full, 0.95)


def test_the_column_that_makes_a_row_strange_is_named(X, forest):
    row = np.median(X, axis=0)[None].repeat(5, axis=0)
    row[range(5), range(5)] = 40.0
    shares = forest.explain_path(row)
    np.testing.assert_array_equal(shares.argmax(axis=1), range(5))
    expected = sp.average_path_length(256)
    np.testing.assert_allclose(
        -(2 ** (shares.sum(axis=1) / expected - 1)), forest.score_samples(row), rtol=1e-12
    )


@pytest.mark.parametrize("verbose", [1, True])
def test_a_bar_shows_progress_and_changes_nothing(X, forest, capsys, verbose):
    shown = sp.IsolationForest(random_state=1, contamination=0.1, verbose=verbose).fit(X)
    assert "growing" in capsys.readouterr().out
    assert shown.model_ == forest.model_
