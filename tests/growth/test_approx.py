"""The approximate grower: its bins against an obvious version, and its trees where these are known from the others."""

import numpy as np
import pytest
import scipy.sparse

import problems
import spinney as sp
from spinney.binning.cuts import find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.data import read_table
from spinney.growth.approx import ApproxGrower
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag


def propose_slowly(codes, hessian, bins, most, zero):
    """New bin of every fine bin of one column; missing values have the number `bins`."""
    if bins <= most:
        return list(range(bins))
    mass = [float(hessian[codes == b].sum()) for b in range(bins)]
    parts = most - 2 if 0 <= zero < bins else most
    found, before, number, part = [], 0.0, 0, 0
    for b in range(bins):
        now = min(int(before / sum(mass) * parts), parts - 1)
        if b > 0 and (now != part or zero in (b, b - 1)):
            number += 1
        part = now
        found.append(number)
        before += mass[b]
    return found


def proposed(table, hessian, most, threads, missing=False):
    """(fine codes, fine bins, zero's bins, grower) after one tree on a table."""
    with Team(threads) as team:
        given = read_table(table)
        absent = np.nan if missing else 0.0
        cuts = find_cuts(given, None, 65_536, team, absent)
        _, matrix = plan_and_encode(given, cuts, team, absent=absent)
        zero = np.full(given.columns, -1) if missing else cuts.bins_of(0.0)
        pairs = np.stack([np.linspace(-1, 1, given.rows), hessian], axis=1).astype(np.float32)
        scores = np.zeros((1, given.rows))
        grower = ApproxGrower(
            matrix,
            cuts,
            zero,
            most,
            Config.parse({"max_leaves": 4}),
            problems.gradients_record(scores, pairs),
            Bag.of_all(given.rows),
            team,
        )
        problems.grown(grower, seed=1)
    return cuts, zero, grower


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("most", [3, 4, 16, 255, 256])
def test_bins_are_those_of_the_obvious_version(most, threads):
    rng = np.random.default_rng(most)
    rows = 900
    columns = [problems.column(rng, rows, kind) for kind in problems.KINDS]
    X = np.stack(
        [*columns, rng.normal(size=rows), rng.exponential(size=rows), np.arange(rows) - 400.0], axis=1
    )
    # Hessians whose sums are exact in any order.
    hessian = rng.integers(0, 64, rows) / 64
    cuts, zero, grower = proposed(X, hessian, most, threads)
    for column in range(X.shape[1]):
        fine = grower._fine.by_column[column].astype(int)
        expected = np.array(
            [*propose_slowly(fine, hessian, int(cuts.bins[column]), most, int(zero[column])), -1]
        )
        found = grower._coarse.by_column[column].astype(int)
        missing = fine == cuts.bins[column]
        np.testing.assert_array_equal(found[~missing], expected[fine[~missing]])
        assert (found[missing] == min(cuts.bins[column], most)).all()
        assert found[~missing].max(initial=0) < max(most, 1)


@pytest.mark.parametrize("missing", [False, True])
def test_stored_columns_have_the_bins_of_the_same_columns_made_dense(missing):
    rng = np.random.default_rng(8)
    X = scipy.sparse.random(2_000, 7, 0.1, random_state=rng).tocsr()
    X.data = np.round(X.data * 400) - 130
    X.data[::9] = np.nan
    dense = np.full(X.shape, np.nan if missing else 0.0)
    entries = X.tocoo()
    dense[entries.row, entries.col] = entries.data
    hessian = rng.integers(1, 64, 2_000) / 64
    _, _, stored = proposed(X, hessian, 16, 2, missing)
    _, _, plain = proposed(dense, hessian, 16, 2, missing)
    assert (stored._coarse.features.group < 0).all()
    np.testing.assert_array_equal(stored._cuts.last, plain._cuts.last)
    np.testing.assert_array_equal(stored._coarse.features.bins, plain._coarse.features.bins)


def test_with_a_bin_for_every_value_the_trees_are_those_of_hist():
    splits = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        rows, columns = int(rng.integers(2, 200)), int(rng.integers(1, 6))
        X = problems.table(rng, rows, columns)
        params = problems.parameters(rng, columns) | {
            "objective": "squared_error",
            "gamma": 0.0,
            "random_state": seed,
        }
        data = sp.Dataset(X, rng.normal(size=rows), weight=problems.weights(rng, rows, "plain"))
        hist = sp.train(params | {"tree_method": "hist"}, data, 3)
        approx = sp.train(params | {"tree_method": "approx"}, data, 3)
        assert approx.forest.equal(hist.forest), seed
        splits += int((hist.forest.feature >= 0).sum())
    assert splits > 300


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_sparse_and_dense_tables_give_the_same_bytes(absent):
    rng = np.random.default_rng(3)
    rows, columns = 3_000, 8
    stored = rng.random((rows, columns)) < np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.6, 0.9, 1.0])
    values = rng.normal(size=(rows, columns)).round(3)
    values[rng.random((rows, columns)) < 0.05] = np.nan
    at = np.nonzero(stored)
    sparse = scipy.sparse.coo_array((values[at], at), shape=(rows, columns)).tocsr()
    dense = np.where(stored, values, np.nan if absent == "missing" else 0.0)
    y = (np.nan_to_num(dense).sum(axis=1) + rng.normal(size=rows) > 0).astype(float)
    params = {"objective": "log_loss", "tree_method": "approx", "min_child_samples": 3}
    expected = None
    for extra in ({}, {"subsample": 0.5}, {"proposal": "local"}):
        for X in (dense, sparse):
            data = sp.Dataset(X, y, absent=absent, max_bin=24)
            for threads in (1, 2, 3):
                history = sp.History()
                valid = {"train": data, "same": sp.Dataset(X, y, reference=data)}
                model = sp.train(
                    params | extra | {"n_jobs": threads}, data, 4, valid=valid, callbacks=[history]
                )
                assert history.evals["train"] == history.evals["same"]
                expected = model if expected is None else expected
                assert model.forest.equal(expected.forest)
        assert expected.forest.nodes > 100
        expected = None


def skewed(rng, rows):
    """Rare positives whose chance changes only in the tail of a skewed column: that is where the hessian is."""
    x = rng.exponential(size=(rows, 2))
    raw = -6 + 1.3 * np.maximum(x[:, 0] - 3, 0) * 3 + np.sin(6 * np.maximum(x[:, 0] - 3, 0)) * 2
    return x, (rng.random(rows) < 1 / (1 + np.exp(-raw))).astype(float)


def held_out_loss(method, bins, train, test):
    params = {"objective": "log_loss", "tree_method": method, "max_leaves": 15}
    p = sp.train(params, sp.Dataset(*train, max_bin=bins), 60).predict(test[0])
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return -np.mean(test[1] * np.log(p) + (1 - test[1]) * np.log(1 - p))


def test_weighted_candidates_beat_unweighted_ones_where_the_hessian_varies():
    gains, halved = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        train, test = skewed(rng, 30_000), skewed(rng, 30_000)
        unweighted = held_out_loss("hist", 16, train, test)
        gains.append(unweighted - held_out_loss("approx", 16, train, test))
        # Half the bins are as good as all of them.
        halved.append(unweighted - held_out_loss("approx", 8, train, test))
    assert min(gains) > 0
    assert np.mean(gains) > 0.002
    assert min(halved) > 0


def test_too_few_bins_are_refused():
    data = sp.Dataset(np.arange(20.0)[:, None], np.arange(20.0), max_bin=2)
    with pytest.raises(ValueError, match="tree_method='approx' needs max_bin of 3 or more"):
        sp.train({"tree_method": "approx"}, data, 1)


def test_fewer_candidates_by_sketch_eps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 1))
    data = sp.Dataset(X, np.sin(3 * X[:, 0]))
    for proposal in ("global", "local"):
        params = {
            "tree_method": "approx",
            "sketch_eps": 0.1,
            "max_leaves": 0,
            "min_child_samples": 1,
            "proposal": proposal,
        }
        tree = sp.train(params, data, 1).forest.tree(0)
        cuts = len(np.unique(tree.threshold[tree.feature >= 0]))
        assert (cuts < 10) if proposal == "global" else (cuts > 10)


@pytest.mark.parametrize("proposal", ["global", "local"])
def test_what_absent_means_does_not_matter_to_a_dense_table(proposal):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 4)).round(2)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[::9, 0] = 0.0
    y = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + rng.normal(size=1_000)
    params = {"tree_method": "approx", "proposal": proposal}
    expected = sp.train(params, sp.Dataset(X, y, max_bin=16), 3).forest
    at = np.nonzero(~np.isnan(X))
    stored = scipy.sparse.csr_array((X[at], at), shape=X.shape)
    for table in (X, stored):
        assert sp.train(params, sp.Dataset(table, y, max_bin=16, absent="missing"), 3).forest.equal(expected)


def test_a_table_that_has_become_infinite_is_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    data = sp.Dataset(X, X[:, 0].copy())
    X[3, 1] = np.inf
    for method in ("exact", "approx"):
        with pytest.raises(ValueError, match="has changed its values"):
            sp.train({"tree_method": method}, data, 1)
