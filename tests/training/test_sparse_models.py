"""The same model, byte for byte, however a table is kept: dense or sparse, bundled or not."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

import oracles
import problems
import spinney as sp
from spinney.binning import ingest
from spinney.binning import plan as plan_module
from spinney.training import growers


@pytest.fixture(autouse=True)
def share_all_work(monkeypatch):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    monkeypatch.setattr(ingest, "SHARE_VALUES", 0)


def one_hot(rng, rows, levels):
    return np.eye(levels)[rng.integers(0, levels, rows)]


def sparse_table(rng, rows, columns, density):
    X = np.where(rng.random((rows, columns)) < density, rng.integers(-3, 4, (rows, columns)), 0.0)
    return np.where(rng.random(X.shape) < 0.01, np.nan, X)


def mixed(seed=0, rows=600):
    """Numbers, one-hot blocks, sparse columns with gaps, empty and constant columns."""
    rng = np.random.default_rng(seed)
    X = np.hstack([
        rng.normal(size=(rows, 2)), one_hot(rng, rows, 9), sparse_table(rng, rows, 6, 0.08), one_hot(rng, rows, 4),
        np.zeros((rows, 1)), np.full((rows, 1), np.nan), sparse_table(rng, rows, 3, 0.6),
        np.where(rng.random((rows, 2)) < 0.9, np.nan, 1.0),
    ])  # fmt: skip
    full = np.nan_to_num(X)
    y = full[:, 0] + full[:, 3] - 2 * full[:, 5] + full[:, 12] + full[:, 17] * full[:, 1]
    return X, y + 0.1 * rng.normal(size=rows)


def bytes_of(X, y, params=None, rounds=3, weight=None, **data):
    dataset = sp.Dataset(X, y, weight=weight, **data)
    return sp.train({"min_child_samples": 3} | (params or {}), dataset, rounds).to_bytes()


PARAMS = {
    "plain": {},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 4},
    "columns by tree": {"colsample_bytree": 0.4},
    "columns by level and node": {"colsample_bylevel": 0.6, "colsample_bynode": 0.5},
    "rows": {"subsample": 0.5},
    "penalties": {"reg_alpha": 0.4, "max_delta_step": 0.5, "gamma": 0.05},
    "goss": {"sampling_method": "goss", "goss_warm_up": False},
}


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_dense_and_sparse_bundled_and_not_give_the_same_bytes(params, form):
    X, y = mixed()
    given = getattr(sparse, f"{form}_array")(X)
    expected = bytes_of(X, y, PARAMS[params], bundle=False)
    for bundle in (True, False):
        for order in ("degree", "nonzero"):
            assert bytes_of(given, y, PARAMS[params], bundle=bundle, bundle_order=order) == expected
            assert bytes_of(X, y, PARAMS[params], bundle=bundle, bundle_order=order) == expected


@pytest.mark.parametrize("dense_share", [0.0, 0.25, 2.0])
def test_what_is_kept_for_all_rows_does_not_change_the_model(monkeypatch, dense_share):
    X, y = mixed()
    expected = bytes_of(X, y, bundle=False)
    monkeypatch.setattr(plan_module, "DENSE_SHARE", dense_share)
    for given in (X, sparse.csr_array(X)):
        assert bytes_of(given, y) == expected
        assert bytes_of(given, y, {"n_jobs": 3, "subsample": 0.5}) == bytes_of(
            X, y, {"subsample": 0.5}, bundle=False
        )


@pytest.mark.slow
@pytest.mark.parametrize("params", PARAMS)
def test_any_number_of_threads_gives_the_same_bytes(params):
    X, y = mixed(rows=9_000)
    given = sparse.csr_array(X)
    expected = bytes_of(given, y, PARAMS[params] | {"n_jobs": 1}, n_jobs=1)
    for n_jobs in (2, 3, 8):
        for bundle in (True, False):
            threads = PARAMS[params] | {"n_jobs": n_jobs}
            assert bytes_of(given, y, threads, bundle=bundle, n_jobs=n_jobs) == expected


def test_weights_are_the_same_dense_and_sparse():
    X, y = mixed()
    rng = np.random.default_rng(1)
    for kind in problems.WEIGHTS[1:]:
        weight = problems.weights(rng, len(y), kind)
        for max_bin in (3, 255):
            expected = bytes_of(X, y, weight=weight, max_bin=max_bin, bundle=False)
            assert bytes_of(sparse.csr_array(X), y, weight=weight, max_bin=max_bin) == expected


def test_more_rows_than_cuts_are_found_from(monkeypatch):
    from spinney.binning import cuts

    monkeypatch.setattr(cuts, "SAMPLE", 150)
    X, y = mixed()
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    for w in (None, weight):
        assert bytes_of(sparse.csr_array(X), y, weight=w) == bytes_of(X, y, weight=w, bundle=False)


def test_float32_and_float64_entries_give_the_same_bytes():
    X, y = mixed()
    X = X.astype(np.float32)
    assert bytes_of(sparse.csr_array(X), y) == bytes_of(sparse.csr_array(X.astype(np.float64)), y)


def test_absent_entries_may_be_missing():
    X, y = mixed()
    stored = ~np.isnan(X) & (X != 0)
    rows, columns = np.nonzero(stored)
    given = sparse.csr_array((X[stored], (rows, columns)), shape=X.shape)
    holes = np.where(stored, X, np.nan)
    model = sp.train({"min_child_samples": 3}, sp.Dataset(given, y, absent="missing"), 3)
    dense = sp.train({"min_child_samples": 3}, sp.Dataset(holes, y, absent="missing"), 3)
    assert model == dense
    assert model.predict(given).tolist() == model.predict(holes).tolist()
    zero = sp.train({"min_child_samples": 3}, sp.Dataset(given, y), 3)
    assert zero.predict(given).tolist() == zero.predict(np.nan_to_num(holes)).tolist()
    assert not zero.forest.equal(model.forest)


def test_explicit_zeros_and_missing_entries_mean_what_they_say():
    X, y = mixed()
    rows, columns = np.nonzero(np.random.default_rng(3).random(X.shape) < 0.5)
    explicit = sparse.csr_array(X)
    more = sparse.coo_array((np.zeros(len(rows)), (rows, columns)), shape=X.shape)
    both = sparse.coo_array(
        (np.concatenate([explicit.data, more.data]),
         (np.concatenate([explicit.tocoo().row, more.row]), np.concatenate([explicit.tocoo().col, more.col]))),
        shape=X.shape,
    ).tocsr()  # fmt: skip
    assert both.nnz > explicit.nnz
    assert bytes_of(both, y) == bytes_of(explicit, y) == bytes_of(X, y)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_predictions_leaves_and_validation_are_the_same_dense_and_sparse(form):
    X, y = mixed()
    X_test, y_test = mixed(seed=5, rows=200)
    make = getattr(sparse, f"{form}_array")
    data = sp.Dataset(make(X), y)
    found = []
    for given in (X_test, make(X_test)):
        history = sp.History()
        test = sp.Dataset(given, y_test, reference=data)
        model = sp.train({}, data, 4, valid={"test": test}, callbacks=[history])
        found.append((
            model.predict(given).tobytes(), model.predict_leaf(given).tobytes(), repr(history.evals),
            model.predict(given[:1] if form != "coo" else given).tobytes(),
        ))  # fmt: skip
    assert found[0] == found[1]
    np.testing.assert_allclose(oracles.raw_scores(model, X_test)[:, 0], model.predict_raw(make(X_test)))


def test_validation_rows_may_conflict_where_training_rows_do_not():
    rng = np.random.default_rng(0)
    X = one_hot(rng, 400, 5)
    y = X @ np.arange(5.0)
    X_test = rng.integers(0, 2, (100, 5)).astype(float)
    X_test[::7, 2] = np.nan
    data = sp.Dataset(X, y)
    assert data.describe()["bundles"] == 1
    found = []
    for reference in (data, sp.Dataset(X, y, bundle=False)):
        history = sp.History()
        test = sp.Dataset(X_test, X_test[:, 1], reference=reference)
        model = sp.train({}, reference, 5, valid={"test": test}, callbacks=[history])
        found.append((model.to_bytes(), repr(history.evals)))
    assert found[0] == found[1]
    rmse = float(np.sqrt(np.mean((model.predict(X_test) - X_test[:, 1]) ** 2)))
    assert history.evals["test"]["rmse"][-1] == pytest.approx(rmse, rel=1e-12)


def test_a_column_order_by_name_is_followed():
    X, y = mixed()
    names = [f"c{j}" for j in range(X.shape[1])]
    data = sp.Dataset(sparse.csr_array(X), y, names=names)
    order = np.random.default_rng(0).permutation(X.shape[1])
    shuffled = sp.Dataset(sparse.csr_array(X[:, order]), y, names=[names[j] for j in order], reference=data)
    assert np.array_equal(
        oracles.bins_of_matrix(shuffled.binned.matrix()), oracles.bins_of_matrix(data.binned.matrix())
    )


@pytest.mark.slow
@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(
    st.integers(0, 2**32), st.integers(1, 120), st.integers(1, 12), st.sampled_from([0.02, 0.1, 0.4])
)
def test_random_sparse_tables_give_the_same_model_bundled_or_not(seed, rows, columns, density):
    rng = np.random.default_rng(seed)
    X = sparse_table(rng, rows, columns, density)
    if rng.random() < 0.5:
        X = np.hstack([X, one_hot(rng, rows, 7)])
    y = np.nan_to_num(X) @ rng.normal(size=X.shape[1]) + rng.normal(size=rows)
    params = problems.parameters(rng, X.shape[1])
    expected = sp.train(params, sp.Dataset(X, y, bundle=False), 2)
    for given in (X, sparse.csc_array(X)):
        for order in ("degree", "nonzero"):
            assert sp.train(params, sp.Dataset(given, y, bundle_order=order), 2) == expected
    assert sp.train(params, sp.Dataset(sparse.csr_array(X), y, bundle=False), 2) == expected


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_estimators_take_sparse_tables(kind):
    X, y = mixed()
    labels = (y > 0).astype(int)
    options = {"n_estimators": 4, "min_child_samples": 3}
    dense = kind(**options).fit(X, labels)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        fitted = kind(**options).fit(make(X), labels)
        assert fitted.model_ == dense.model_
        assert fitted.predict(make(X)).tolist() == dense.predict(X).tolist()
    held = kind(**options, validation_fraction=0.3, early_stopping_rounds=2)
    assert held.fit(sparse.csr_array(X), labels).model_ == held.fit(X, labels).model_
    watched = kind(**options).fit(sparse.csr_array(X), labels, eval_set=(sparse.csr_array(X), labels))
    assert watched.evals_result_ == kind(**options).fit(X, labels, eval_set=(X, labels)).evals_result_
    staged = [stage.tobytes() for stage in fitted.staged_predict(sparse.csr_array(X))]
    assert staged == [stage.tobytes() for stage in dense.staged_predict(X)]
