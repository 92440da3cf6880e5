"""Estimators of times that are not all known."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
import survival_oracle
from spinney.errors import DataError, ParameterError

ROWS = 300
FEW = {"n_estimators": 15, "max_leaves": 8, "learning_rate": 0.3}


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    happens = np.exp(-X[:, 0] + rng.normal(size=ROWS) * 0.4)
    censored = rng.exponential(3, ROWS)
    return X, np.minimum(happens, censored), happens <= censored


X, TIME, EVENT = problem()
COX = np.column_stack([TIME, EVENT])
AFT = np.column_stack([TIME, np.where(EVENT, TIME, np.inf)])
TARGETS = {"cox": COX, "aft": AFT}
RECORDS = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", "?"), ("time", "f8")])


@pytest.fixture(scope="module")
def fitted():
    """A fitted estimator of each objective."""
    return {name: sp.GBMRegressor(objective=name, **FEW).fit(X, y) for name, y in TARGETS.items()}


@pytest.mark.parametrize(
    ("objective", "y"),
    [
        ("cox", pd.DataFrame({"time": TIME, "event": EVENT})),
        ("cox", np.where(EVENT, TIME, -TIME)),
        ("cox", RECORDS),
        ("survival:cox", COX.tolist()),
        ("aft", pd.DataFrame({"lower": AFT[:, 0], "upper": AFT[:, 1]})),
        ("survival:aft", RECORDS),
    ],
    ids=["frame", "signs", "records", "lists", "frame of ends", "records for aft"],
)
def test_every_form_of_the_target_gives_the_same_model(fitted, objective, y):
    found = sp.GBMRegressor(objective=objective, **FEW).fit(X, y)
    same = fitted[objective.removeprefix("survival:")]
    assert found.predict(X).tobytes() == same.predict(X).tobytes()
    assert found.score(X, y) == same.score(X, RECORDS)


def test_predictions_are_hazard_ratios_and_times(fitted):
    early, late = X[:, 0] > 1, X[:, 0] < -1
    hazards, times = fitted["cox"].predict(X), fitted["aft"].predict(X)
    np.testing.assert_allclose(hazards, np.exp(fitted["cox"].predict_raw(X)), rtol=1e-14)
    assert hazards[early].min() > hazards[late].max()
    assert times[early].max() < times[late].min()
    assert np.median(times[EVENT] / TIME[EVENT]) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("objective", TARGETS)
def test_the_score_is_the_concordance(fitted, objective):
    weight = np.arange(ROWS) % 3 * 1.0
    sign = -1.0 if objective == "cox" else 1.0
    late = sign * fitted[objective].predict(X)
    for given, weights in ((None, np.ones(ROWS)), (weight, weight)):
        expected = survival_oracle.concordance(late, *AFT.T, weights)
        assert fitted[objective].score(X, TARGETS[objective], given) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ["concordance", None])
@pytest.mark.parametrize("objective", TARGETS)
def test_validation_rows_stop_the_training(objective, metric):
    y = TARGETS[objective]
    settings = {**FEW, "n_estimators": 300, "early_stopping_rounds": 3, "eval_metric": metric}
    found = sp.GBMRegressor(objective=objective, **settings)
    found.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])])
    name = metric or f"{objective}_nloglik"
    values = found.evals_result_["validation_0"][name]
    assert len(values) == found.n_iter_ < 300
    best = max(values) if metric else min(values)
    assert found.best_score_["validation_0"][name] == best
    if metric:
        assert found.score(X[200:], y[200:]) == best


@pytest.mark.parametrize("objective", TARGETS)
def test_the_same_share_of_events_is_held_out(objective):
    found = sp.GBMRegressor(objective=objective, validation_fraction=0.2, **FEW)
    found.fit(X, TARGETS[objective])
    assert len(found.evals_result_["validation_0"][f"{objective}_nloglik"]) == FEW["n_estimators"]
    held = found._strata(np.asarray(TARGETS[objective]))
    assert held.tolist() == EVENT.astype(int).tolist()


@pytest.mark.parametrize("objective", TARGETS)
def test_a_saved_estimator_predicts_and_scores_alike(fitted, objective, tmp_path):
    fitted[objective].save(tmp_path / "model")
    again = sp.load_estimator(tmp_path / "model")
    assert again.predict(X).tobytes() == fitted[objective].predict(X).tobytes()
    assert again.score(X, RECORDS) == fitted[objective].score(X, RECORDS)
    assert sp.load(tmp_path / "model").predict(X).tobytes() == again.predict(X).tobytes()


@pytest.mark.parametrize("objective", TARGETS)
def test_a_warm_start_goes_on_and_stages_end_with_the_prediction(fitted, objective):
    grown = sp.GBMRegressor(objective=objective, warm_start=True, **{**FEW, "n_estimators": 5})
    grown.fit(X, TARGETS[objective])
    grown.set_params(n_estimators=FEW["n_estimators"]).fit(X, TARGETS[objective])
    assert grown.predict(X).tobytes() == fitted[objective].predict(X).tobytes()
    *_, last = grown.staged_predict(X)
    assert last.tobytes() == grown.predict(X).tobytes()


@pytest.mark.parametrize("objective", TARGETS)
def test_any_number_of_threads_gives_the_same_file(objective, tmp_path):
    weight = np.random.default_rng(1).random(ROWS)
    files = []
    for threads in (1, 2, 3, 8):
        dataset = sp.Dataset(X, TARGETS[objective], weight=weight)
        sp.train({"objective": objective, "n_jobs": threads}, dataset, 5).save(tmp_path / "model")
        files.append((tmp_path / "model").read_bytes())
    assert len(set(files)) == 1


def test_cross_validation_and_shuffled_columns_judge_models_of_times(fitted):
    found = sp.cv({"objective": "cox", "eval_metric": "concordance"}, sp.Dataset(X, COX), 3, 5, seed=0)
    assert 0.7 < found.history["test"]["concordance"].mean[-1] < 1
    assert (found.oof > 0).all()
    for objective, y in TARGETS.items():
        drops = sp.permutation_importance(fitted[objective], X, y, metric="c_index", seed=0)
        assert drops.importances_mean[0] > 0.1 > abs(drops.importances_mean[1])


@pytest.mark.parametrize(
    ("objective", "y", "said"),
    [
        ("cox", np.column_stack([TIME, np.zeros(ROWS)]), "every row is censored"),
        ("cox", np.where(np.arange(ROWS) == 7, np.nan, TIME), "NaN.*row 7"),
        ("cox", np.column_stack([np.where(np.arange(ROWS) == 7, np.inf, TIME), EVENT]), "infinity.*row 7"),
        ("aft", TIME, "two columns, the least and the largest time"),
        ("aft", np.column_stack([TIME, np.full(ROWS, np.inf)]), "a largest time"),
        ("aft", np.array([(1.0, 2.0)], dtype=[("low", "f8"), ("high", "f8")]), "records of low, high"),
    ],
)
def test_a_target_that_does_not_fit_is_an_error_before_training(objective, y, said):
    with pytest.raises(DataError, match=said):
        sp.GBMRegressor(objective=objective, **FEW).fit(X, y)


def test_validation_rows_that_do_not_fit_are_named():
    with pytest.raises(DataError, match=r"eval_set\[0\].*every row is censored"):
        sp.GBMRegressor(objective="cox", **FEW).fit(X, COX, eval_set=[(X, np.column_stack([TIME, 0 * TIME]))])
    with pytest.raises(DataError, match=r"eval_set\[0\].*two columns"):
        sp.GBMRegressor(objective="aft", **FEW).fit(X, AFT, eval_set=[(X, TIME)])


def test_what_only_one_score_and_target_have_is_an_error():
    with pytest.raises(ParameterError, match=r"leaf_estimation='line_search'.*objective='cox'"):
        sp.GBMRegressor(objective="cox", leaf_estimation="line_search").fit(X, COX)
    with pytest.raises(ParameterError, match="aft_loss_distribution='logistic' needs objective='aft'"):
        sp.GBMRegressor(objective="cox", aft_loss_distribution="logistic").fit(X, COX)
    with pytest.raises(ParameterError, match="eval_metric='rmse' does not fit objective='aft'"):
        sp.GBMRegressor(objective="aft", eval_metric="rmse").fit(X, AFT)


@pytest.mark.parametrize("y", [[[5.0, 1.0]], [[5.0, 1.0]] * 20])
def test_one_row_or_one_time_leaves_hazards_at_one(y):
    found = sp.GBMRegressor(objective="cox", **FEW).fit(X[: len(y)], y)
    np.testing.assert_allclose(found.predict(X), 1.0, atol=1e-6)


@pytest.mark.parametrize("objective", TARGETS)
def test_no_rows_have_no_score(fitted, objective):
    with pytest.raises(DataError, match="X has no rows"):
        fitted[objective].score(X[:0], TARGETS[objective][:0])
