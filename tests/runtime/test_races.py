"""A race looks like a good model; it shows when threads are held up at random and there are more of them than cores."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.binning import ingest
from spinney.jit import barrier
from spinney.jit.library import runs_as_python
from spinney.jit.team import Team
from spinney.training import growers


@pytest.fixture(autouse=True)
def share_all_work(monkeypatch):
    if runs_as_python():
        pytest.skip("plain Python runs on one thread")
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    monkeypatch.setattr(ingest, "SHARE_VALUES", 0)


@pytest.fixture
def delays(monkeypatch):
    """Hold every thread up for a random while before each meeting; counts the teams that it was done to."""
    seeds, enter = itertools.count(1), Team.__enter__

    def delayed(team):
        enter(team)
        team.sync[barrier.DELAY] = next(seeds)
        return team

    monkeypatch.setattr(Team, "__enter__", delayed)
    return seeds


def table(rows, columns, holes=0.0):
    rng = np.random.default_rng(rows + columns)
    X = rng.normal(size=(rows, columns))
    X[:, 0] = np.round(X[:, 0])
    X[rng.random(X.shape) < holes] = np.nan
    full = np.nan_to_num(X)
    return X, full[:, 0] * full[:, -1] + np.sin(full[:, 1]) + rng.normal(size=rows) * 0.2


# Rows × columns, parameters. Large nodes are partitioned by all threads; where a row has few groups, their histograms are shared
# by rows, else by columns.
CASES = {
    "narrow": ((20_000, 3), {}),
    "missing values": ((20_000, 4, 0.3), {"objective": "log_loss"}),
    "wide": ((1_500, 90), {"max_leaves": 15}),
    "few rows": ((70, 6), {"min_child_samples": 2}),
    "fewer columns than threads": ((9_000, 2), {"grow_policy": "depthwise", "max_depth": 4}),
    "many bins": ((9_000, 3, 0.1), {"max_bin": 1000}),
    "subsample": ((12_000, 4, 0.1), {"subsample": 0.5}),
    "columns drawn": (
        (6_000, 12),
        {"colsample_bytree": 0.7, "colsample_bylevel": 0.7, "colsample_bynode": 0.7},
    ),
    "goss": ((12_000, 4, 0.1), {"sampling_method": "goss", "goss_warm_up": False}),
    "gradient_based": ((12_000, 4), {"sampling_method": "gradient_based", "subsample": 0.3}),
    "weighted": ((12_000, 4), {"sampling_method": "weighted", "subsample": 0.3}),
    "leaf values of all rows": ((12_000, 4, 0.1), {"subsample": 0.2, "leaf_values": "all"}),
    "approx": ((6_000, 4, 0.1), {"tree_method": "approx", "max_bin": 40}),
    "exact": ((6_000, 4, 0.1), {"tree_method": "exact", "subsample": 0.5, "leaf_values": "all"}),
    "softmax": ((6_000, 4, 0.1), {"objective": "softmax", "num_class": 3}),
}


def one_hot(X):
    """The first column's whole numbers as sparse columns, beside the others."""
    levels = np.nan_to_num(X[:, 0]).astype(int) - int(np.nanmin(X[:, 0]))
    hot = sparse.csr_array((np.ones(len(X)), (np.arange(len(X)), levels)))
    return sparse.hstack([hot, sparse.csr_array(np.nan_to_num(X[:, 1:]))], format="csr")


def train(shape, params, n_jobs, rounds=2, sparsely=None):
    X, y = table(*shape)
    if params.get("objective") == "log_loss":
        y = (y > 0).astype(float)
    if params.get("objective") == "softmax":
        y = np.digitize(y, [-0.5, 0.5]).astype(float)
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.5, 1.0)
    X = X if sparsely is None else one_hot(X)
    data = sp.Dataset(
        X, y, weight=weight, n_jobs=n_jobs, max_bin=params.get("max_bin"), keep_table=True, **sparsely or {}
    )
    held_out = sp.Dataset(X[::3], y[::3], reference=data, n_jobs=n_jobs)
    history = sp.History()
    valid = {"train": data, "held out": held_out}
    model = sp.train(params | {"n_jobs": n_jobs}, data, rounds, valid=valid, callbacks=[history])
    return (
        model.to_bytes(),
        data.binned.matrix().by_row.tobytes(),
        history.evals,
        model.predict(X, n_jobs=n_jobs).tobytes(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_delays_and_too_many_threads_change_nothing(case, delays):
    alone = train(*CASES[case], n_jobs=1)
    for n_jobs in (2, 3, 8):
        assert train(*CASES[case], n_jobs=n_jobs) == alone
    assert next(delays) > 4 * 3


@pytest.mark.parametrize("bundle", [True, False])
@pytest.mark.parametrize(
    "more", [{}, {"sampling_method": "goss", "goss_warm_up": False, "leaf_values": "all"}]
)
def test_delays_change_nothing_on_sparse_tables(more, bundle, delays):
    case = ((9_000, 4), more | {"min_child_samples": 50})
    alone = train(*case, n_jobs=1, sparsely={"bundle": bundle})
    for n_jobs in (2, 3, 8):
        assert train(*case, n_jobs=n_jobs, sparsely={"bundle": bundle}) == alone


def test_thirty_threads_change_nothing():
    shape, params = CASES["narrow"]
    assert train(shape, params, n_jobs=30, rounds=1) == train(shape, params, n_jobs=1, rounds=1)
