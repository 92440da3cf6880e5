"""The same model, byte for byte, on any number of threads."""

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.training import growers

RNG = np.random.default_rng(0)
ROWS, COLUMNS = 12_000, 6
X = np.where(RNG.random((ROWS, COLUMNS)) < 0.05, np.nan, RNG.normal(size=(ROWS, COLUMNS)))
SIGNAL = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 2]) + 0.3 * RNG.normal(size=ROWS)
WEIGHT = RNG.integers(0, 4, ROWS) * 0.5
CLASSES = np.digitize(SIGNAL, [-1.0, 0.0, 1.0]).astype(float)

CASES = {
    "plain": {},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 5},
    "subsample": {"subsample": 0.5},
    "small subsample": {"subsample": 0.01, "min_child_samples": 2},
    "columns by tree": {"colsample_bytree": 0.5},
    "columns by level and node": {"colsample_bylevel": 0.7, "colsample_bynode": 0.5},
    "all penalties": {"reg_alpha": 0.5, "max_delta_step": 0.7, "gamma": 0.1},
    "many leaves": {"max_leaves": 300, "min_child_samples": 3},
    "weights": {"weight": WEIGHT},
    "weights and sampling": {"weight": WEIGHT, "subsample": 0.7, "colsample_bynode": 0.5},
    "logistic": {"y": SIGNAL > 0, "objective": "log_loss", "scale_pos_weight": 2.0},
    "many classes": {"y": CLASSES, "objective": "softmax", "num_class": 4, "subsample": 0.8},
    "wide bins": {"max_bin": 300},
    "few bins": {"max_bin": 4},
}


@pytest.fixture(autouse=True)
def share_all_work(monkeypatch):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)


def model_bytes(n_jobs, y=SIGNAL, weight=None, max_bin=255, **params):
    data = sp.Dataset(X, y, weight=weight, max_bin=max_bin, n_jobs=n_jobs)
    return sp.train(params | {"n_jobs": n_jobs}, data, rounds=3).to_bytes()


@pytest.mark.parametrize("case", CASES)
def test_any_number_of_threads_gives_the_same_bytes(case):
    expected = model_bytes(1, **CASES[case])
    for n_jobs in (2, 3, 8):
        assert model_bytes(n_jobs, **CASES[case]) == expected


def test_validation_and_early_stopping_are_the_same_on_any_number_of_threads():
    found = []
    for n_jobs in (1, 2, 3, 8):
        data = sp.Dataset(X[:10_000], SIGNAL[:10_000], n_jobs=n_jobs)
        test = sp.Dataset(X[10_000:], SIGNAL[10_000:], reference=data, n_jobs=n_jobs)
        history = sp.History()
        params = {
            "early_stopping_rounds": 2,
            "learning_rate": 1.0,
            "n_jobs": n_jobs,
            "eval_metric": ["mae", "rmse"],
        }
        model = sp.train(params, data, rounds=30, valid={"test": test}, callbacks=[history])
        found.append((model.to_bytes(), model.best_round, repr(history.evals)))
    assert len(set(found)) == 1


def test_predictions_are_the_same_on_any_number_of_threads():
    data = sp.Dataset(X, CLASSES)
    model = sp.train({"objective": "softmax", "num_class": 4}, data, rounds=3)
    for method in (model.predict, model.predict_raw, model.predict_leaf):
        assert len({method(X, n_jobs=n_jobs).tobytes() for n_jobs in (1, 2, 3, 8, None, -1)}) == 1


def test_the_same_seed_gives_the_same_model_and_another_one_does_not():
    params = {"subsample": 0.5, "random_state": 4}
    assert model_bytes(None, **params) == model_bytes(None, **params)
    assert model_bytes(None, **params) != model_bytes(None, **params | {"random_state": 5})


def test_threads_together_have_no_more_memory_than_a_sparse_table():
    rows, columns = 30_000, 400
    rng = np.random.default_rng(0)
    column = rng.integers(0, columns, (rows, 20)).ravel()
    table = sparse.csr_array(
        (rng.random(20 * rows), (np.repeat(np.arange(rows), 20), column)), shape=(rows, columns)
    )
    data = sp.Dataset(table, np.arange(rows))
    codes = data.describe()["bins"]
    budget = max(data.binned.matrix().nbytes, 16 * 2**20)
    for n_jobs in (1, 2, 1000):
        threads = growers.threads_of(sp.params.Config(n_jobs=n_jobs), data.binned)
        assert 1 <= threads <= n_jobs
        assert threads == n_jobs or 20 * codes * threads <= 1.1 * budget
    assert 2 < growers.threads_of(sp.params.Config(n_jobs=1000), data.binned) < 1000
