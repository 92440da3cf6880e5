import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.jit.team import Team
from spinney.sampling.orders import shuffled_orders

CASES = [
    ("boosting", "two", "auc", lambda m, X, y: roc_auc_score(y == "yes", m.predict_proba(X)[:, 1])),
    ("boosting", "two", "logloss", lambda m, X, y: -log_loss(y, m.predict_proba(X))),
    ("boosting", "two", "accuracy", lambda m, X, y: m.score(X, y)),
    ("boosting", "three", "mlogloss", lambda m, X, y: -log_loss(y, m.predict_proba(X))),
    ("boosting", "three", "merror", lambda m, X, y: m.score(X, y) - 1),
    ("boosting", "numbers", "mae", lambda m, X, y: -mean_absolute_error(y, m.predict(X))),
    ("forest", "two", "auc", lambda m, X, y: roc_auc_score(y == "yes", m.predict_proba(X)[:, 1])),
    ("forest", "two", "log_loss", lambda m, X, y: -log_loss(y, m.predict_proba(X))),
    ("forest", "two", "error", lambda m, X, y: m.score(X, y) - 1),
    ("forest", "three", "accuracy", lambda m, X, y: m.score(X, y)),
    ("forest", "three", "auc_ovr", lambda m, X, y: roc_auc_score(y, m.predict_proba(X), multi_class="ovr")),
    ("forest", "three", "mlogloss", lambda m, X, y: -log_loss(y, m.predict_proba(X))),
    ("forest", "numbers", "r2", lambda m, X, y: r2_score(y, m.predict(X))),
]


def shuffled(frame, columns, repeat, seed=0):
    """A copy of a frame with some columns in the order that a repeat draws for the first of them."""
    order = shuffled_orders(seed, repeat, [min(columns)], len(frame), Team(1))[0]
    frame = frame.copy()
    for column in columns:
        frame.isetitem(column, frame.iloc[:, column].array[order])
    return frame


def slow(model, frame, y, score, groups, repeats=2, seed=0):
    """Importances the slow way: shuffle, predict, evaluate."""
    before = score(model, frame, y)
    return np.array(
        [[before - score(model, shuffled(frame, g, r, seed), y) for r in range(repeats)] for g in groups]
    )


@pytest.mark.parametrize(("family", "target", "metric", "score"), CASES)
def test_importances_are_losses_of_score_the_slow_way(words, fitted, family, target, metric, score):
    frame, y = words[0][200:], words[1][target][200:]
    model = fitted[family, target]
    found = sp.permutation_importance(model, frame, y, metric=metric, repeats=2)
    expected = slow(model, frame, y, score, [(0,), (1,), (2,), (3,)])
    np.testing.assert_allclose(found.importances, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, expected.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(found.importances_std, expected.std(axis=1), atol=1e-12)
    assert found.feature_names == ("width", "kind", "depth", "still")
    assert abs(found.score) == pytest.approx(abs(score(model, frame, y)) if metric not in ("merror", "error") else
                                             -score(model, frame, y))  # fmt: skip


def test_a_column_by_which_no_tree_splits_is_worth_nothing_at_all(words, fitted):
    frame, y = words[0][200:], words[1]["two"][200:]
    for family in ("boosting", "forest"):
        found = sp.permutation_importance(fitted[family, "two"], frame, y)
        assert np.array_equal(found.importances[3], np.zeros(5))
        assert found.importances_mean[0] > 0.02


@pytest.mark.parametrize("family", ["boosting", "forest"])
def test_columns_of_a_group_are_shuffled_together(words, fitted, family):
    frame, y = words[0][200:], words[1]["two"][200:]
    model = fitted[family, "two"]
    groups = {"shape": ["width", "depth"], "kind": 1, "all": [0, 1, "depth", 3]}
    found = sp.permutation_importance(model, frame, y, metric="accuracy", columns=groups, repeats=2, seed=9)
    expected = slow(model, frame, y, lambda m, X, y: m.score(X, y), [(0, 2), (1,), (0, 1, 2, 3)], seed=9)
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)
    assert found.feature_names == ("shape", "kind", "all")


def test_the_order_of_a_column_does_not_depend_on_which_others_are_requested(words, fitted):
    frame, y = words[0][200:], words[1]["numbers"][200:]
    model = fitted["boosting", "numbers"]
    everything = sp.permutation_importance(model, frame, y, seed=4)
    some = sp.permutation_importance(model, frame, y, columns=["depth", 0], seed=4, repeats=3)
    assert np.array_equal(some.importances, everything.importances[[2, 0], :3])
    assert some.feature_names == ("depth", "width")
    other = sp.permutation_importance(model, frame, y, seed=5)
    assert not np.array_equal(other.importances, everything.importances)


@pytest.mark.parametrize("family", ["boosting", "forest"])
def test_importances_do_not_depend_on_threads(family):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=12_000)
    kind = sp.GBMRegressor if family == "boosting" else sp.RandomForestRegressor
    model = kind(n_estimators=4, max_depth=4).fit(X[:1000], y[:1000])
    weight = rng.random(12_000)
    found = [
        sp.permutation_importance(model, X, y, weight=weight, n_jobs=n, repeats=2).importances.tobytes()
        for n in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]


def test_a_model_counts_classes_from_0(words, fitted):
    frame, y = words[0][200:], words[1]["three"][200:]
    for family in ("boosting", "forest"):
        estimator = fitted[family, "three"]
        by_label = sp.permutation_importance(estimator, frame, y, metric="accuracy")
        codes = np.searchsorted(estimator.classes_.tolist(), y.tolist())
        by_code = sp.permutation_importance(estimator.model_, frame, codes, metric="accuracy")
        assert np.array_equal(by_label.importances, by_code.importances)


@pytest.mark.parametrize("kind", ["polars", "array", "csr", "csc"])
def test_any_kind_of_table_has_the_same_importances(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (300, 4)) * 1.0
    y = X[:, 0] + X[:, 1] * X[:, 2]
    names = ["a", "b", "c", "d"]
    model = sp.GBMRegressor(n_estimators=5).fit(pd.DataFrame(X, columns=names) if kind == "polars" else X, y)
    forms = {
        "polars": lambda: pl.DataFrame(X, schema=names),
        "array": lambda: X.tolist(),
        "csr": lambda: scipy.sparse.csr_array(X),
        "csc": lambda: scipy.sparse.csc_matrix(X),
    }
    plain = sp.permutation_importance(model.model_, X, y)
    found = sp.permutation_importance(model, forms[kind](), y)
    assert np.array_equal(found.importances, plain.importances)


def test_weights_are_those_of_the_metric(words, fitted):
    frame, y = words[0][200:], words[1]["two"][200:]
    weight = np.arange(100) % 3
    model = fitted["forest", "two"]
    found = sp.permutation_importance(model, frame, y, weight=weight, repeats=2)
    expected = slow(
        model, frame, y, lambda m, X, y: accuracy_score(y, m.predict(X), sample_weight=weight), [(0,), (1,)]
    )
    np.testing.assert_allclose(found.importances[:2], expected, atol=1e-12)


def test_a_metric_may_be_a_function_or_a_scorer(words, fitted):
    frame, y = words[0][200:], words[1]["two"][200:]
    model = fitted["boosting", "two"]
    by_name = sp.permutation_importance(model, frame, y, metric="auc", repeats=2)
    scorer = sp.permutation_importance(model, frame, y, metric=get_scorer("roc_auc"), repeats=2)
    np.testing.assert_allclose(scorer.importances, by_name.importances, atol=1e-12)
    higher = sp.permutation_importance(
        model, frame, y, metric=lambda y, p: ("area", roc_auc_score(y, p), True), repeats=2
    )
    np.testing.assert_allclose(higher.importances, by_name.importances, atol=1e-12)
    assert higher.metric == "area"
    lower = sp.permutation_importance(
        model, frame, y, metric=lambda y, p: float(np.mean((y - p) ** 2)), repeats=2
    )
    brier = sp.permutation_importance(model, frame, y, metric="brier", repeats=2)
    np.testing.assert_allclose(lower.importances, brier.importances, atol=1e-12)
    labels = sp.permutation_importance(
        fitted["forest", "three"],
        frame,
        words[1]["three"][200:],
        metric=make_scorer(accuracy_score),
        repeats=2,
    )
    plain = sp.permutation_importance(fitted["forest", "three"], frame, words[1]["three"][200:], repeats=2)
    np.testing.assert_allclose(labels.importances, plain.importances, atol=1e-12)


def test_the_metric_is_that_of_the_objective_or_accuracy_or_r2(words, fitted):
    frame, targets = words
    found = {
        key: sp.permutation_importance(model, frame[200:], targets[key[1]][200:], repeats=1, columns=0).metric
        for key, model in fitted.items()
    }
    assert found == {
        ("boosting", "two"): "logloss",
        ("boosting", "three"): "mlogloss",
        ("boosting", "numbers"): "rmse",
        ("forest", "two"): "accuracy",
        ("forest", "three"): "accuracy",
        ("forest", "numbers"): "r2",
    }


def test_several_outputs_are_evaluated_by_their_mean():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    Y = np.stack([X[:, 0] + X[:, 1], X[:, 1] - X[:, 2]], axis=1)
    model = sp.RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    found = sp.permutation_importance(model, X, Y, repeats=2)
    frame = pd.DataFrame(X)
    expected = slow(
        model, frame, Y, lambda m, X, Y: r2_score(Y, m.predict(np.asarray(X))), [(0,), (1,), (2,)]
    )
    np.testing.assert_allclose(found.importances, expected, atol=1e-12)
    labels = np.where(Y > 0, "up", "down")
    classes = sp.RandomForestClassifier(n_estimators=5, random_state=0).fit(X, labels)
    assert sp.permutation_importance(classes, X, labels).importances_mean[1] > 0.1
    with pytest.raises(DataError, match=r"y has 1 output\(s\); the model has 2"):
        sp.permutation_importance(model, X, Y[:, 0])


def test_a_forest_of_one_class_owes_nothing_to_any_column():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for kind in (sp.RandomForestClassifier, sp.GBMClassifier):
        model = kind(n_estimators=3).fit(X, ["oak"] * 30)
        found = sp.permutation_importance(model, X, ["oak"] * 30, metric="accuracy")
        assert found.score == 1.0
        assert not found.importances.any()


def estimators_of_others():
    plain = FunctionTransformer()
    return {
        "numbers": (make_pipeline(plain, sp.GBMRegressor(n_estimators=5)), "r2", "r2"),
        "line": (LinearRegression(), "r2", "r2"),
        "two": (LogisticRegression(), "auc", "roc_auc"),
        "labels": (LinearSVC(), "accuracy", "accuracy"),
        "pipeline": (make_pipeline(plain, sp.GBMClassifier(n_estimators=5)), "accuracy", "accuracy"),
    }


def rows_of_others(scoring):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 5, (200, 3)) * 1.0
    y = X[:, 0] - X[:, 1]
    return X, y if scoring == "r2" else np.where(y > 0, "yes", "no")


@pytest.mark.parametrize("name", list(estimators_of_others()))
def test_estimators_that_are_not_ours_have_the_importances_of_scikit_learn(name):
    estimator, metric, scoring = estimators_of_others()[name]
    X, y = rows_of_others(scoring)
    estimator.fit(X, y)
    found = sp.permutation_importance(estimator, X, y, metric=metric, repeats=20)
    theirs = sklearn_importance(estimator, X, y, scoring=scoring, n_repeats=20, random_state=0)
    noise = np.sqrt((found.importances_std**2 + theirs.importances_std**2) / 20)
    assert (abs(found.importances_mean - theirs.importances_mean) <= 4 * noise + 1e-12).all()
    assert found.importances_mean[:2].min() > 0.02


@pytest.mark.parametrize("form", ["csr", "pandas", "polars"])
def test_estimators_that_are_not_ours_may_have_any_table(form):
    X, y = rows_of_others("r2")
    given = {
        "csr": lambda: scipy.sparse.csr_matrix(X),
        "pandas": lambda: pd.DataFrame(X, columns=list("abc"), index=np.arange(200)[::-1]),
        "polars": lambda: pl.DataFrame(X, schema=list("abc")),
    }[form]()
    estimator = LinearRegression().fit(given, y)
    found = sp.permutation_importance(estimator, given, y, columns={"both": [0, 2], "one": 1})
    kept = given.toarray() if form == "csr" else np.asarray(given)
    assert np.array_equal(kept, X)  # the user's table is left alone
    plain = sp.permutation_importance(LinearRegression().fit(X, y), X, y, columns={"both": [0, 2], "one": 1})
    np.testing.assert_allclose(found.importances, plain.importances, rtol=1e-9)


def test_a_detector_of_outliers_is_evaluated_by_its_decisions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:20, 0] += 6
    y = np.where(np.arange(200) < 20, -1, 1)
    detector = IsolationForest(random_state=0, n_estimators=20).fit(X)
    found = sp.permutation_importance(detector, X, y, metric="auc")
    assert found.importances_mean.argmax() == 0
    assert found.score == pytest.approx(roc_auc_score(y, detector.decision_function(X)))


def test_anything_that_predicts_can_be_evaluated(words, fitted):
    class Bare:
        """What has no more than predict."""

        def __init__(self, predict):
            self.predict = predict

    frame, y = words[0][200:], words[1]["numbers"][200:]
    model = fitted["forest", "numbers"].model_
    bare = sp.permutation_importance(Bare(model.predict), frame, y)
    np.testing.assert_array_equal(bare.importances, sp.permutation_importance(model, frame, y).importances)
    model = fitted["forest", "three"].model_
    codes = np.searchsorted(["low", "middle", "top"], words[1]["three"][200:])
    bare = sp.permutation_importance(Bare(model.predict), frame, codes, metric="mlogloss")
    plain = sp.permutation_importance(model, frame, codes, metric="mlogloss")
    np.testing.assert_allclose(bare.importances, plain.importances, atol=1e-12)


def test_an_objective_of_the_users_own_needs_a_metric_by_name():
    X = np.random.default_rng(0).normal(size=(60, 2))
    data = sp.Dataset(X, X[:, 0])
    model = sp.train({}, data, 5, objective=lambda scores, labels: (scores - labels, np.ones(60)))
    with pytest.raises(ParameterError, match="an objective of your own has no metric; name one by metric"):
        sp.permutation_importance(model, X, X[:, 0])
    assert sp.permutation_importance(model, X, X[:, 0], metric="rmse").importances_mean[0] > 0.1


def test_the_result_is_shown_short_and_as_a_table(words, fitted):
    frame, y = words[0][200:], words[1]["numbers"][200:]
    found = sp.permutation_importance(fitted["forest", "numbers"], frame, y)
    table = found.to_frame()
    assert list(table.columns) == ["feature", "importance_mean", "importance_std"]
    assert table["importance_mean"].is_monotonic_decreasing
    assert table.loc[0, "feature"] == found.feature_names[found.importances_mean.argmax()]
    assert repr(found).startswith(f"PermutationImportance(r2; {table.loc[0, 'feature']}: ")
    assert len(repr(found)) < 200
    wide = np.random.default_rng(0).normal(size=(50, 9))
    model = sp.GBMRegressor(n_estimators=2).fit(wide, wide[:, 0])
    assert repr(sp.permutation_importance(model, wide, wide[:, 0])).endswith("and 4 more)")


def test_wrong_arguments_are_refused_before_any_work(words, fitted):
    frame, y = words[0][200:], words[1]["two"][200:]
    model = fitted["boosting", "two"]

    def refused(kind, match, model=model, frame=frame, y=y, **given):
        with pytest.raises(kind, match=match):
            sp.permutation_importance(model, frame, y, **given)

    refused(
        ParameterError,
        "metric='r3' does not fit predictions of two classes; the metrics that fit are logloss",
        metric="r3",
    )
    refused(ParameterError, "metric='mlogloss' does not fit predictions of two", metric="mlogloss")
    refused(ParameterError, "does not fit predictions of more than two", fitted["forest", "three"],
            y=words[1]["three"][200:], metric="rmse")  # fmt: skip
    refused(ParameterError, "does not fit predictions of numbers", fitted["forest", "numbers"],
            y=words[1]["numbers"][200:], metric="accuracy")  # fmt: skip
    refused(ParameterTypeError, "metric=7 must be a name, a function or a scorer", metric=7)
    refused(DataError, "metric='auc' needs rows of both classes", y=["yes"] * 100, metric="auc")
    refused(DataError, "y holds the label 'maybe', which no training row has", y=["maybe"] * 100)
    refused(DataError, "y has 99 values, but X has 100 rows", y=y[:99])
    refused(DataError, "weight has 3 values, but X has 100 rows", weight=[1, 2, 3])
    refused(DataError, "weight holds only zeros", weight=np.zeros(100))
    refused(ParameterError, "repeats=0 is out of range: it must be 1 or more", repeats=0)
    refused(ParameterTypeError, "repeats=2.5 must be a whole number", repeats=2.5)
    refused(ParameterError, "seed=-1 is out of range", seed=-1)
    refused(ParameterError, "n_jobs = 0 has no meaning", n_jobs=0)
    refused(ParameterError, "columns names the unknown column 'height'", columns=["height"])
    refused(ParameterError, "columns names column 4, but there are 4 columns", columns=4)
    refused(ParameterError, r"columns=\[0, 'width'\] names 'width' twice", columns=[0, "width"])
    refused(ParameterError, "columns names no column", columns=[])
    refused(ParameterError, "columns names no column", columns={"none": []})
    refused(ParameterError, "must have a group or more", columns={})
    refused(ParameterTypeError, "columns=2.5 must be a column's name", columns=2.5)
    refused(DataError, "Feature names seen at fit time, yet now missing", frame=frame[["width"]])
    refused(DataError, "X has no rows", frame=frame[:0], y=y[:0])
    refused(ParameterTypeError, "'oak' is no model; give a Model", model="oak")
    refused(NotFittedError, "not fitted", model=LinearRegression())
    refused(OwnFunctionError, "the metric 'broken' failed with ZeroDivisionError", metric=broken)
    refused(OwnFunctionError, "the metric '<lambda>' must return", metric=lambda y, p: "much")


def broken(y, prediction):
    return 1 / 0


def test_the_model_of_an_isolation_forest_is_evaluated_like_its_estimator():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(6, 2)) + 9])
    y = np.array([1] * 60 + [-1] * 6)
    forest = sp.IsolationForest(20, random_state=0).fit(X)
    one, other = (sp.permutation_importance(model, X, y, repeats=2) for model in (forest, forest.model_))
    assert other.metric == one.metric == "accuracy"
    assert np.array_equal(other.importances, one.importances)


class LogTarget:
    """A regressor of the logarithm of the target, with its model as `model_`."""

    def fit(self, X, y):
        self.model_ = sp.train({}, sp.Dataset(X, np.log(y)), 20)
        return self

    def predict(self, X):
        return np.exp(self.model_.predict(X))


class ClippedRegressor(sp.GBMRegressor):
    """Predicts in a way of its own."""

    def predict(self, X, **given):
        return np.clip(super().predict(X, **given), 0.0, 3.0)


@pytest.mark.parametrize("kind", [LogTarget, ClippedRegressor])
def test_an_estimator_that_predicts_by_methods_of_its_own_is_measured_by_these(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    y = np.exp(X[:, 0] + 0.1 * rng.normal(size=300))
    model = (kind(n_estimators=20) if kind is ClippedRegressor else kind()).fit(X, y)
    found = sp.permutation_importance(model, X, y, metric="r2", repeats=2)
    assert found.score == pytest.approx(r2_score(y, model.predict(X)))
