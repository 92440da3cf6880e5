"""GBMRanker: the order of rows within queries."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney as sp
from ranking_problems import interleaved, lists, naive_ndcg
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, ModelFormatError, ParameterError, ParameterTypeError
from spinney.estimators.custom import RANKING
from spinney.training.holdout import held_out

FEW = {"n_estimators": 8, "max_leaves": 5, "min_child_samples": 2, "learning_rate": 0.3, "n_jobs": 1}
TRAIN, TEST = lists(40, seed=1), lists(25, seed=2)
X, Y, QID, GROUP = TRAIN


@pytest.fixture(scope="module")
def fitted():
    """A ranker of the training queries."""
    return sp.GBMRanker(**FEW).fit(X, Y, group=GROUP)


def pairwise(y_true, y_pred):
    """RankNet's loss of all pairs of a query."""
    g, h = np.zeros(len(y_true)), np.full(len(y_true), 1e-3)
    target = np.asarray(y_true)
    for query in range(int(y_true.queries.max()) + 1):
        mine = np.flatnonzero(y_true.queries == query)
        p = 1 / (1 + np.exp(y_pred[mine][:, None] - y_pred[mine]))
        p *= target[mine][:, None] > target[mine]
        g[mine] = p.sum(axis=0) - p.sum(axis=1)
        h[mine] += (p * (1 - p)).sum(axis=0) + (p * (1 - p)).sum(axis=1)
    return g, h


@pytest.mark.parametrize("objective", [*RANKING, pairwise], ids=[*RANKING, "own"])
def test_it_learns_an_order_with_every_objective(objective):
    relevance = (TRAIN.y > 2, TEST.y > 2) if objective == "rank_map" else (TRAIN.y, TEST.y)
    ranker = sp.GBMRanker(**FEW, objective=objective).fit(X, relevance[0], qid=QID)
    before = naive_ndcg(relevance[1], np.random.default_rng(0).normal(size=len(TEST.y)), TEST.qid).mean()
    after = ranker.score(TEST.X, relevance[1], qid=TEST.qid)
    assert after > before + 0.1


def test_a_ranking_has_a_penalty_of_its_own():
    assert (sp.GBMRanker().reg_lambda, sp.GBMRegressor().reg_lambda) == (1.0, 5.0)


def test_predictions_are_scores_and_stages_end_with_them(fitted):
    scores = fitted.predict(TEST.X)
    assert (scores.shape, scores.dtype) == ((len(TEST.y),), np.float64)
    np.testing.assert_array_equal(scores, fitted.model_.predict_raw(TEST.X))
    stages = list(fitted.staged_predict(TEST.X))
    assert len(stages) == fitted.n_iter_ == 8
    np.testing.assert_array_equal(stages[-1], scores)
    np.testing.assert_array_equal(stages[2], fitted.predict(TEST.X, rounds=3))
    margin = np.arange(float(len(TEST.y)))
    np.testing.assert_allclose(fitted.predict(TEST.X, base_margin=margin), margin + scores)
    assert fitted.apply(TEST.X).shape == (len(TEST.y), 8)
    assert fitted.feature_importances_.argmax() == 0


def test_sizes_and_names_of_queries_give_the_same_bytes(fitted):
    for given in (
        {"qid": QID},
        {"qid": QID.astype(str)},
        {"qid": pd.Series(-QID)},
        {"group": np.array(GROUP)},
    ):
        assert sp.GBMRanker(**FEW).fit(X, Y, **given).model_ == fitted.model_


@pytest.mark.parametrize("objective", ["rank_ndcg", "rank_map", "rank_pairwise"])
def test_rows_of_a_query_need_not_stand_together(objective):
    order = interleaved(TRAIN, seed=5)
    assert (np.diff(QID[order]) < 0).any()
    target = (Y > 1).astype(float) if objective == "rank_map" else Y
    together, mixed = sp.GBMRanker(**FEW, objective=objective), sp.GBMRanker(**FEW, objective=objective)
    together.fit(X, target, qid=QID)
    mixed.fit(X[order], target[order], qid=QID[order])
    assert together.model_ == mixed.model_
    assert together.score(X, target, qid=QID) == pytest.approx(
        mixed.score(X[order], target[order], qid=QID[order])
    )


@pytest.mark.parametrize("objective", RANKING)
def test_the_model_has_the_same_bytes_for_any_number_of_threads(objective):
    target, given = (
        (Y > 1).astype(float),
        {**FEW, "n_estimators": 3, "objective": objective, "subsample": 0.8},
    )
    found = [sp.GBMRanker(**given | {"n_jobs": jobs}).fit(X, target, qid=QID).model_ for jobs in (1, 2, 3, 8)]
    assert all(one == found[0] for one in found)


def test_without_queries_all_rows_are_one():
    alone = sp.GBMRanker(**FEW).fit(X, Y)
    assert alone.model_ == sp.GBMRanker(**FEW).fit(X, Y, group=[len(Y)]).model_
    assert alone.score(X, Y) == alone.score(X, Y, qid=np.zeros(len(Y)))


def test_the_score_is_the_mean_ndcg_of_whole_lists(fitted):
    scores = fitted.predict(TEST.X) + 1e-9 * np.arange(len(TEST.y), 0, -1)  # ties by the order of the rows
    by_query = naive_ndcg(TEST.y, scores, TEST.qid)
    assert fitted.score(TEST.X, TEST.y, group=TEST.group) == pytest.approx(by_query.mean())
    weight = np.arange(1.0, len(by_query) + 1)
    weighted = fitted.score(TEST.X, TEST.y, weight, qid=TEST.qid)
    assert weighted == pytest.approx(np.average(by_query, weights=weight))
    linear = sp.GBMRanker(**FEW, label_gain=[0, 1, 2, 3, 4]).fit(X, Y, qid=QID)
    scores = linear.predict(TEST.X) + 1e-9 * np.arange(len(TEST.y), 0, -1)
    expected = naive_ndcg(TEST.y, scores, TEST.qid, gain=lambda y: y).mean()
    assert linear.score(TEST.X, TEST.y, qid=TEST.qid) == pytest.approx(expected)


def test_a_weight_of_each_query_is_that_of_its_rows(fitted):
    by_query = np.linspace(0.5, 4.0, len(GROUP))
    one, other = (
        sp.GBMRanker(**FEW).fit(X, Y, sample_weight=weight, group=GROUP)
        for weight in (by_query, by_query[QID])
    )
    assert one.model_ == other.model_ != fitted.model_


def test_metrics_of_validation_data_go_by_their_queries():
    ranker = sp.GBMRanker(**FEW, eval_metric=["ndcg@3", "ndcg"])
    weight = np.arange(1.0, len(TEST.group) + 1)
    ranker.fit(
        X, Y, qid=QID, eval_set=[(TEST.X, TEST.y), (X, Y), (TEST.X, TEST.y)], eval_qid=[TEST.qid, QID, None],
        eval_group=[None, None, TEST.group], eval_sample_weight=[None, None, weight], eval_names=["test", "train", "weighed"],
    )  # fmt: skip
    for rounds, scores in enumerate(ranker.staged_predict(TEST.X)):
        apart = scores + 1e-9 * np.arange(len(TEST.y), 0, -1)
        found = naive_ndcg(TEST.y, apart, TEST.qid)
        assert ranker.evals_result_["test"]["ndcg"][rounds] == pytest.approx(found.mean())
        assert ranker.evals_result_["weighed"]["ndcg"][rounds] == pytest.approx(
            np.average(found, weights=weight)
        )
        at_3 = naive_ndcg(TEST.y, apart, TEST.qid, k=3).mean()
        assert ranker.evals_result_["test"]["ndcg@3"][rounds] == pytest.approx(at_3)
    assert ranker.evals_result_["train"]["ndcg"][-1] == pytest.approx(ranker.score(X, Y, qid=QID))


def test_a_pair_without_queries_is_one_query():
    ranker = sp.GBMRanker(**FEW).fit(X, Y, qid=QID, eval_set=(X, Y))
    assert ranker.evals_result_["validation_0"]["ndcg"][-1] == pytest.approx(ranker.score(X, Y))


@pytest.mark.parametrize(
    "form", [lambda sizes: sizes, lambda sizes: [sizes], lambda sizes: [np.array(sizes)]]
)
def test_one_pair_takes_its_sizes_alone_or_in_a_list(form):
    ranker = sp.GBMRanker(**FEW).fit(X, Y, qid=QID, eval_set=(TEST.X, TEST.y), eval_group=form(TEST.group))
    expected = ranker.score(TEST.X, TEST.y, group=TEST.group)
    assert ranker.evals_result_["validation_0"]["ndcg"][-1] == pytest.approx(expected)


def test_places_are_told_to_the_constructor_or_to_fit():
    sets = {"eval_set": (TEST.X, TEST.y), "eval_qid": TEST.qid}
    by_parameter = sp.GBMRanker(**FEW, eval_at=[1, 5]).fit(X, Y, qid=QID, **sets).evals_result_
    assert list(by_parameter["validation_0"]) == ["ndcg@1", "ndcg@5"]
    assert sp.GBMRanker(**FEW).fit(X, Y, qid=QID, eval_at=[1, 5], **sets).evals_result_ == by_parameter
    overruled = sp.GBMRanker(**FEW, eval_at=9).fit(X, Y, qid=QID, eval_at=(1, 5), **sets)
    assert overruled.evals_result_ == by_parameter
    assert overruled.eval_at == 9
    with pytest.raises(ParameterError, match="eval_at"):
        sp.GBMRanker(**FEW).fit(X, Y, qid=QID, eval_at=[0], **sets)


def test_early_stopping_keeps_the_best_round():
    given = FEW | {
        "n_estimators": 60,
        "learning_rate": 0.8,
        "early_stopping_rounds": 4,
        "eval_metric": "ndcg@5",
    }
    ranker = sp.GBMRanker(**given).fit(X, Y, qid=QID, eval_set=[(TEST.X, TEST.y)], eval_group=[TEST.group])
    values = ranker.evals_result_["validation_0"]["ndcg@5"]
    assert ranker.n_iter_ == len(values) < 60
    assert ranker.best_iteration_ == np.argmax(values) + 1 == ranker.n_iter_ - 4
    assert ranker.best_score_["validation_0"]["ndcg@5"] == max(values)


def test_a_fraction_holds_out_whole_queries():
    order = interleaved(TRAIN, seed=9)
    mixed, table, target = QID[order], X[order], Y[order]
    labels = Labels(target, queries=sp.Dataset(table, qid=mixed).queries)
    chosen = held_out(labels, np.zeros(len(target), np.int64), 0.25, 0)
    assert len(set(mixed[chosen])) == 10
    assert not set(mixed[chosen]) & set(mixed[~chosen])
    ranker = sp.GBMRanker(**FEW, validation_fraction=0.25).fit(table, target, qid=mixed)
    by_hand = sp.GBMRanker(**FEW).fit(
        table[~chosen], target[~chosen], qid=mixed[~chosen],
        eval_set=(table[chosen], target[chosen]), eval_qid=mixed[chosen],
    )  # fmt: skip
    assert ranker.model_ == by_hand.model_
    assert ranker.evals_result_ == by_hand.evals_result_
    other = held_out(labels, np.zeros(len(target), np.int64), 0.25, 1)
    assert set(mixed[other]) != set(mixed[chosen])


def test_queries_of_weight_zero_are_never_held_out():
    labels = Labels(
        np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0, 1.0, 0.0]), queries=np.array([0, 0, 1, 2, 3, 3])
    )
    for seed in range(5):
        assert not held_out(labels, np.zeros(6, np.int64), 0.5, seed)[:3].any()
    with pytest.raises(
        DataError, match=r"validation_fraction=0.5 holds out 1 of 1 query, but a query must be left"
    ):
        sp.GBMRanker(validation_fraction=0.5).fit(X, Y, group=[len(Y)])


def test_functions_see_the_queries():
    seen = []

    def loss(y_true, y_pred, weight):
        seen.append((y_true.queries.tolist(), weight.tolist()))
        g, h = pairwise(y_true, y_pred)
        return g * weight, h * weight

    def spread(y_true, y_pred):
        return "spread", float(np.ptp(y_true.queries)), True

    by_query = np.arange(1.0, len(GROUP) + 1)
    ranker = sp.GBMRanker(**FEW, objective=loss, eval_metric=[spread, "ndcg"])
    ranker.fit(X, Y, by_query, qid=QID, eval_set=(TEST.X, TEST.y), eval_qid=TEST.qid)
    assert seen[0] == (QID.tolist(), by_query[QID].tolist())
    assert ranker.evals_result_["validation_0"]["spread"] == [24.0] * 8
    expected = ranker.score(TEST.X, TEST.y, qid=TEST.qid)
    assert ranker.evals_result_["validation_0"]["ndcg"][-1] == pytest.approx(expected)
    unweighed = sp.GBMRanker(**FEW, objective=pairwise).fit(X, Y, by_query, qid=QID)
    assert unweighed.model_ == sp.GBMRanker(**FEW, objective=loss).fit(X, Y, by_query, qid=QID).model_


def test_training_goes_on_from_a_ranker_and_from_itself(fitted):
    half = sp.GBMRanker(**FEW | {"n_estimators": 4}).fit(X, Y, qid=QID)
    assert (
        sp.GBMRanker(**FEW | {"n_estimators": 4}).fit(X, Y, qid=QID, init_model=half).model_ == fitted.model_
    )
    warm = sp.GBMRanker(**FEW | {"n_estimators": 4}, warm_start=True).fit(X, Y, qid=QID)
    assert warm.set_params(n_estimators=8).fit(X, Y, qid=QID).model_ == fitted.model_
    with pytest.raises(
        ParameterTypeError, match="init_model is a GBMRegressor; a GBMRanker goes on from one of its own"
    ):
        sp.GBMRanker(**FEW).fit(X, Y, init_model=sp.GBMRegressor(n_estimators=1).fit(X, Y))


def test_a_ranker_comes_back_from_its_file(tmp_path):
    path = tmp_path / "ranker.safetensors"
    ranker = sp.GBMRanker(**FEW, label_gain=[0, 1, 2, 3, 9], eval_at=(3, 5), eval_metric="ndcg")
    ranker.fit(X, Y, qid=QID, eval_set=(TEST.X, TEST.y), eval_qid=TEST.qid)
    ranker.save(path)
    loaded = sp.load_estimator(path)
    assert type(loaded) is sp.GBMRanker
    assert loaded.get_params() == ranker.get_params() | {"n_jobs": None}
    assert loaded.evals_result_ == ranker.evals_result_
    np.testing.assert_array_equal(loaded.predict(TEST.X), ranker.predict(TEST.X))
    assert loaded.score(TEST.X, TEST.y, qid=TEST.qid) == ranker.score(TEST.X, TEST.y, qid=TEST.qid)
    again = tmp_path / "again.safetensors"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert clone(loaded).fit(X, Y, qid=QID).model_ == ranker.model_
    assert loaded.fit(X, Y, qid=QID).model_ == ranker.model_
    assert sp.load(path) == ranker.model_


def test_a_file_must_not_call_another_model_a_ranker(tmp_path):
    path = tmp_path / "other.safetensors"
    other = sp.GBMRanker(**FEW).fit(X, Y, qid=QID)
    other._set_model(sp.GBMRegressor(**FEW).fit(X, Y).model_)
    other.save(path)
    with pytest.raises(ModelFormatError, match="a GBMRanker has no objective 'squared_error'"):
        sp.load_estimator(path)


def test_a_function_is_left_out_of_the_file_and_asked_for_again(tmp_path):
    path = tmp_path / "own.safetensors"
    ranker = sp.GBMRanker(**FEW, objective=pairwise).fit(X, Y, qid=QID)
    with pytest.warns(UserWarning, match="GBMRanker.save left out objective"):
        ranker.save(path)
    with pytest.warns(UserWarning, match="was saved without objective"):
        loaded = sp.load_estimator(path)
    with pytest.raises(ParameterError, match="before another fit call set_params"):
        loaded.fit(X, Y, qid=QID)
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))


def test_a_frame_with_text_and_gaps_is_ranked():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=np.where(Y > 2, "long", "short"))
    frame.loc[::7, "kind"] = None
    frame.loc[::5, "a"] = np.nan
    relevance = pd.Series(Y.astype(int), index=range(5, 5 + len(Y)))
    ranker = sp.GBMRanker(**FEW).fit(frame, relevance, qid=pd.Series(QID).astype(str).astype("category"))
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "d", "kind"]
    assert ranker.score(frame, relevance, qid=QID) > 0.9
    assert ranker.feature_importances_[4] > 0.1


def test_scikit_learn_sees_neither_a_classifier_nor_a_regressor(fitted):
    ranker = sp.GBMRanker()
    assert not is_classifier(ranker)
    assert not is_regressor(ranker)
    assert ranker.__sklearn_tags__().target_tags.required
    assert clone(sp.GBMRanker(eval_at=[3], label_gain=[0, 1])).get_params()["eval_at"] == [3]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_a_pipeline_hands_queries_on():
    pipeline = make_pipeline(StandardScaler(), sp.GBMRanker(**FEW))
    pipeline.fit(X, Y, gbmranker__qid=QID)
    alone = sp.GBMRanker(**FEW).fit(StandardScaler().fit_transform(X), Y, qid=QID)
    assert pipeline[-1].model_ == alone.model_


def test_scikit_learns_cross_validation_hands_queries_on_where_it_is_asked_to():
    with config_context(enable_metadata_routing=True):
        ranker = sp.GBMRanker(**FEW).set_fit_request(qid=True).set_score_request(qid=True)
        given = {"params": {"qid": QID, "groups": QID}, "return_indices": True}
        found = cross_validate(ranker, X, Y, cv=GroupKFold(3), **given)
    for value, train, test in zip(found["test_score"], *found["indices"].values(), strict=True):
        by_hand = sp.GBMRanker(**FEW).fit(X[train], Y[train], qid=QID[train])
        assert value == by_hand.score(X[test], Y[test], qid=QID[test])


@pytest.mark.parametrize(
    ("y", "given", "kind", "message"),
    [
        (Y - 1, {"qid": QID}, DataError, "relevances that are whole numbers from 0 to 30.* got y"),
        (Y + 0.5, {"qid": QID}, DataError, "relevances that are whole numbers"),
        (Y * 20, {"qid": QID}, DataError, "give label_gain more places"),
        (Y.astype(str), {"qid": QID}, DataTypeError, "y holds text"),
        (np.where(Y > 3, np.nan, Y), {"qid": QID}, DataError, "Input y contains NaN"),
        (Y, {"qid": QID[1:]}, DataError, "qid has .* values, but X has"),
        (Y, {"group": GROUP[1:]}, DataError, "group adds up to"),
        (Y, {"group": QID}, DataError, "if it is the query of each row, give it as qid"),
        (Y, {"group": GROUP, "qid": QID}, DataError, "group and qid are both given"),
        (Y, {"qid": QID, "sample_weight": np.ones(7)}, DataError, "sample_weight has 7 values; give one for each of the"),
        (Y, {"eval_group": GROUP}, ParameterError, "eval_group is given without an eval_set"),
        (Y, {"eval_set": (X, Y), "eval_group": [3]}, DataError, "eval_set: eval_group adds up to 3 rows, but X has"),
        (Y, {"eval_set": [(X, Y)], "eval_qid": [QID[1:]]}, DataError, r"eval_set\[0\]: eval_qid has .* values, but X has"),
        (Y, {"eval_set": [(X, Y)], "eval_qid": QID}, DataError, "eval_qid must be a list with an entry, or None, for each"),
        (Y, {"eval_set": (X, Y), "eval_qid": QID, "eval_group": GROUP}, DataError, "eval_group and eval_qid are both given"),
        (Y, {"eval_set": (X, Y - 1), "eval_qid": QID}, DataError, "validation_0|eval_set"),
        (Y, {"query_id": QID}, ParameterTypeError, "GBMRanker.fit has no argument query_id: it is called qid here"),
        (Y, {"eval_class_weight": 1}, ParameterTypeError, "GBMRanker.fit has no argument eval_class_weight"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused(y, given, kind, message):
    with pytest.raises(kind, match=message):
        sp.GBMRanker(**FEW).fit(X, y, **given)


def test_objectives_belong_to_one_estimator():
    with pytest.raises(
        ParameterError, match="objective='rank:ndcg' belongs to GBMRanker; GBMRegressor has squared_error"
    ):
        sp.GBMRegressor(objective="rank:ndcg").fit(X, Y)
    with pytest.raises(
        ParameterError, match="objective='lambdarank' belongs to GBMRanker; GBMClassifier has log_loss"
    ):
        sp.GBMClassifier(objective="lambdarank").fit(X, Y)
    with pytest.raises(
        ParameterError, match="objective='poisson' belongs to GBMRegressor; GBMRanker has rank_ndcg"
    ):
        sp.GBMRanker(objective="poisson").fit(X, Y)
    with pytest.raises(
        ParameterError, match="objective='softmax' belongs to GBMClassifier; GBMRanker has rank_ndcg"
    ):
        sp.GBMRanker(objective="softmax").fit(X, Y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sp.GBMRanker(qid=QID), "GBMRanker has no parameter qid=.*: give it to `fit` as its argument `qid=`"),
        (lambda: sp.GBMRegressor(group=GROUP), "`group=` is an argument of GBMRanker's `fit`, so leave it out"),
        (lambda: sp.GBMRegressor(eval_at=3), "GBMRegressor has no parameter eval_at=3: it belongs to GBMRanker"),
        (lambda: sp.GBMRegressor().fit(X, Y, qid=QID), "qid belongs to the `fit` of GBMRanker, so leave it out"),
        (lambda: sp.GBMRanker().predict(X, output_margin=True), "GBMRanker.predict has no argument output_margin: `predict`"),
    ],
)  # fmt: skip
def test_names_of_other_places_are_explained(call, message):
    with pytest.raises(ParameterTypeError, match=message):
        call()
