"""Classifiers of rows that may have several labels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
Y = (
    np.column_stack([X[:, 0], X[:, 1] ** 2 - 1, X[:, 2] + X[:, 3]]) + 0.3 * RNG.normal(size=(240, 3)) > 0
).astype(int)
SMALL = {"n_estimators": 8, "max_leaves": 5, "learning_rate": 0.3}


@pytest.fixture(scope="module")
def fitted():
    return sp.GBMClassifier(**SMALL).fit(X, Y)


def test_every_label_has_the_trees_of_a_classifier_of_its_own(fitted):
    alone = [sp.GBMClassifier(**SMALL).fit(X, Y[:, k]) for k in range(3)]
    scores = np.column_stack([one.decision_function(X) for one in alone])
    assert np.array_equal(fitted.decision_function(X), scores)
    assert np.array_equal(
        fitted.predict_proba(X), np.column_stack([one.predict_proba(X)[:, 1] for one in alone])
    )
    said = fitted.predict(X)
    assert said.dtype == np.int64
    assert np.array_equal(said, np.column_stack([one.predict(X) for one in alone]))


def test_attributes_and_score_are_those_of_several_labels(fitted):
    assert fitted.classes_.tolist() == [[0, 1]] * 3
    assert fitted.n_classes_ == [2, 2, 2]
    assert fitted.model_.params.num_target == 3
    assert fitted.score(X, Y) == accuracy_score(Y, fitted.predict(X))
    assert fitted.score(X, Y) < np.mean(fitted.predict(X) == Y) < 1


@pytest.mark.parametrize(
    "form",
    [
        lambda y: y.astype(bool),
        lambda y: y * 1.0,
        pd.DataFrame,
        lambda y: y.tolist(),
        lambda y: y.astype(object),
    ],
)
def test_labels_may_be_numbers_or_truth_values_in_any_table(fitted, form):
    found = sp.GBMClassifier(**SMALL).fit(X, form(Y))
    assert found.model_ == fitted.model_
    assert found.predict(X).dtype == np.int64


def test_scorers_of_scikit_learn_see_every_label():
    found = cross_val_score(sp.GBMClassifier(**SMALL), X, Y, cv=2, scoring="roc_auc")
    first, second = np.arange(240) < 120, np.arange(240) >= 120
    by_hand = [
        roc_auc_score(Y[test], sp.GBMClassifier(**SMALL).fit(X[train], Y[train]).predict_proba(X[test]))
        for train, test in ((second, first), (first, second))
    ]
    assert found.tolist() == by_hand


def test_labels_that_all_rows_have_or_none_are_certain():
    target = np.column_stack([Y[:, 0], np.ones(240, int), np.zeros(240, int)])
    found = sp.GBMClassifier(**SMALL).fit(X, target)
    assert found.predict(X)[:, 1:].tolist() == [[1, 0]] * 240
    assert found.decision_function(X)[:, 1:].tolist() == [[40.0, -40.0]] * 240
    assert found.score(X, target) > 0.8


def test_evaluation_stopping_and_metrics_judge_all_labels():
    def wrong(y_true, y_pred):
        assert y_true.shape == y_pred.shape == (80, 3)
        assert y_true.dtype == np.int64
        return np.mean((y_pred > 0.5) != y_true)

    estimator = sp.GBMClassifier(**SMALL, eval_metric=["logloss", "error", wrong], early_stopping_rounds=3)
    estimator.fit(X[:160], Y[:160], eval_set=[(X[160:], pd.DataFrame(Y[160:]))])
    found = estimator.best_score_["validation_0"]
    shares = estimator.predict_proba(X[160:])
    expected = pytest.approx(np.mean((shares > 0.5) != Y[160:]))
    assert found["error"] == expected
    assert found["wrong"] == expected
    assert estimator.best_iteration_ is not None
    held = sp.GBMClassifier(**SMALL, validation_fraction=0.25, eval_metric="auc").fit(X, Y)
    assert 0.5 < held.best_score_["validation_0"]["auc"] <= 1


def test_scorers_may_be_metrics():
    from sklearn.metrics import get_scorer

    scorers = [get_scorer("roc_auc"), get_scorer("accuracy")]
    estimator = sp.GBMClassifier(**SMALL, eval_metric=scorers).fit(X, Y, eval_set=(X, Y))
    found = list(estimator.best_score_["validation_0"].values())
    assert found == [roc_auc_score(Y, estimator.predict_proba(X)), estimator.score(X, Y)]


@pytest.mark.parametrize("form", ["balanced", {1: 3.0}, [{1: 3.0}, {0: 2.0}, {}]], ids=str)
def test_weights_of_labels_are_multiplied(form):
    factors = np.ones(240)
    for k in range(3):
        own = form if isinstance(form, dict | str) else form[k]
        share = Y[:, k].mean()
        both = (0.5 / (1 - share), 0.5 / share) if own == "balanced" else (own.get(0, 1.0), own.get(1, 1.0))
        factors *= np.where(Y[:, k] == 1, both[1], both[0])
    found = sp.GBMClassifier(**SMALL, class_weight=form).fit(X, Y)
    by_row = sp.GBMClassifier(**SMALL).fit(X, Y, sample_weight=factors)
    assert np.allclose(found.decision_function(X), by_row.decision_function(X), rtol=1e-6)


def test_weights_of_validation_labels_count_in_metrics():
    estimator = sp.GBMClassifier(**SMALL, eval_metric="error")
    found = estimator.fit(X, Y, eval_set=[(X, Y)], eval_class_weight=[[{1: 3.0}, {}, {}]])
    weight = np.where(Y[:, 0] == 1, 3.0, 1.0)
    wanted = np.average((found.predict(X) != Y).mean(axis=1), weights=weight)
    assert found.best_score_["validation_0"]["error"] == pytest.approx(wanted)


def test_margins_stages_and_rounds_have_a_column_for_each_label(fitted):
    margin = np.random.default_rng(1).normal(size=(240, 3))
    estimator = sp.GBMClassifier(**SMALL).fit(X, Y, base_margin=margin)
    assert np.array_equal(estimator.decision_function(X, base_margin=margin, rounds=0), margin)
    stages = list(fitted.staged_predict_proba(X))
    assert len(stages) == 8
    assert np.array_equal(stages[-1], fitted.predict_proba(X))
    assert np.array_equal(list(fitted.staged_predict(X))[-1], fitted.predict(X))


def test_a_file_gives_the_estimator_back_and_it_can_go_on(fitted, tmp_path):
    path = tmp_path / "labels.safetensors"
    fitted.save(path)
    found = sp.load_estimator(path)
    assert np.array_equal(found.predict_proba(X), fitted.predict_proba(X))
    assert [one.tolist() for one in found.classes_] == [[0, 1]] * 3
    assert found.n_classes_ == [2, 2, 2]
    longer = sp.GBMClassifier(**SMALL | {"n_estimators": 11}).fit(X, Y)
    on = sp.GBMClassifier(**SMALL | {"n_estimators": 3}).fit(X, Y, init_model=path)
    warm = found.set_params(warm_start=True, n_estimators=11).fit(X, Y)
    assert np.array_equal(on.decision_function(X), longer.decision_function(X))
    assert np.array_equal(warm.decision_function(X), longer.decision_function(X))


def test_a_function_as_loss_trains_all_labels(fitted):
    def logistic(y_true, y_pred):
        p = 1 / (1 + np.exp(-y_pred))
        return p - y_true, p * (1 - p)

    own = sp.GBMClassifier(**SMALL, objective=logistic).fit(X, Y)
    named = sp.GBMClassifier(**SMALL, base_score=0.0).fit(X, Y)
    assert np.allclose(own.decision_function(X), named.decision_function(X), atol=0.05)
    assert own.predict(X).shape == (240, 3)
    assert not hasattr(own, "predict_proba")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            np.column_stack([Y, np.arange(240) % 3]),
            "column 3 of y holds 2; .*train a classifier for each column",
        ),
        (np.where(Y == 1, "a", "b"), "column 0 of y holds 'a'"),
        (Y + 0.5, "column 0 of y: Unknown label type: continuous"),
        (np.where(Y == 1, np.nan, 0.0), "column 0 of y: .*NaN"),
        (Y[:10], "column 0 of y: .*10 values, but X has 240 rows"),
        (Y[:, :0], "y"),
    ],
)
def test_columns_that_are_no_labels_are_refused(target, said):
    with pytest.raises(DataError, match=said):
        sp.GBMClassifier(**SMALL).fit(X, target)


def test_other_columns_are_refused_wherever_labels_are_known(fitted):
    with pytest.raises(
        DataError, match=r"eval_set\[0\]: y has 2 columns, but the training rows have 3 labels"
    ):
        sp.GBMClassifier(**SMALL).fit(X, Y, eval_set=[(X, Y[:, :2])])
    with pytest.raises(DataError, match="y has 1 column, but the training rows have 3 labels"):
        sp.GBMClassifier(**SMALL).fit(X, Y[:, 0], init_model=fitted)
    single = sp.GBMClassifier(**SMALL).fit(X, Y[:, 0])
    with pytest.raises(ParameterError, match="num_target=3 differs from init_model's 1"):
        sp.GBMClassifier(**SMALL).fit(X, Y, init_model=single)


def test_weights_that_fit_no_labels_are_refused():
    with pytest.raises(ParameterError, match="class_weight is a list of 2 dicts, but y has 3 labels"):
        sp.GBMClassifier(class_weight=[{1: 2}, {1: 2}]).fit(X, Y)
    with pytest.raises(ParameterTypeError, match="class_weight=3 must be"):
        sp.GBMClassifier(class_weight=3).fit(X, Y)
    with pytest.raises(ParameterTypeError, match="class_weight="):
        sp.GBMClassifier(class_weight=[{1: 2}]).fit(X, Y[:, 0])


def test_tags_tell_which_classifiers_take_several_labels():
    def tells(objective):
        return sp.GBMClassifier(objective=objective).__sklearn_tags__().classifier_tags.multi_label

    assert [tells(one) for one in (None, "focal", "softmax", "one_vs_rest")] == [True, True, False, False]


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_scikit_learn_predicts_out_of_fold(labels, method):
    found = cross_val_predict(sp.GBMClassifier(n_estimators=2), X, Y[:, :labels], cv=2, method=method)
    assert found.shape == (240, labels)


@pytest.mark.parametrize("dtype", ["Int64", "category", "boolean"])
def test_every_frame_that_can_be_fitted_can_be_scored(fitted, dtype):
    weight = np.arange(240) % 3
    frame = pd.DataFrame(Y).astype(dtype)
    assert fitted.score(X, frame) == accuracy_score(Y, fitted.predict(X))
    assert fitted.score(X, frame, weight) == pytest.approx(
        accuracy_score(Y, fitted.predict(X), sample_weight=weight)
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_only_row_with_a_label_is_never_held_out(seed):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 3))
    labels = (rng.random((60, 2)) < 0.5).astype(int)
    labels[:, 1] = 0
    labels[7, 1] = 1
    fitted = sp.GBMClassifier(n_estimators=2, validation_fraction=0.3, random_state=seed).fit(table, labels)
    assert (fitted.model_.base_score > -10).all()  # the label has a row among those that were fitted
