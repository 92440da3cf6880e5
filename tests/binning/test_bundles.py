"""Which columns share a group, and what is kept of them."""

import numpy as np
import pytest
from scipy import sparse

import oracles
import spinney as sp
from spinney.binning import plan as plan_module
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import Bundling, find_bundles
from spinney.data.table import starts_of
from spinney.errors import ParameterError, ParameterTypeError


def slow_bundles(sets, order, rows, most_conflicts):
    """Greedy colouring, word for word: the first bundle in which the conflicts stay within the limit."""
    bundles, found = [], {}
    for column in order:
        hits = [len(sets[column] & bundle["rows"]) for bundle in bundles]
        fits = [
            number
            for number, bundle in enumerate(bundles)
            if bundle["conflicts"] + hits[number] <= most_conflicts
        ]
        number = fits[0] if fits else len(bundles)
        if not fits:
            bundles.append({"rows": set(), "conflicts": 0})
            hits.append(0)
        bundles[number]["rows"] |= sets[column]
        bundles[number]["conflicts"] += hits[number]
        found[column] = number
    return [found[column] for column in range(len(sets))], sum(b["conflicts"] for b in bundles)


def slow_order(sets, order):
    count = len(sets)
    degree = [sum(bool(sets[a] & sets[b]) for b in range(count) if b != a) for a in range(count)]
    key = {
        "degree": lambda column: (-degree[column], -len(sets[column]), column),
        "nonzero": lambda column: (-len(sets[column]), column),
    }
    return sorted(range(count), key=key[order])


def entries_of(sets):
    counts = np.array([len(rows) for rows in sets], np.int64)
    rows = np.array([row for members in sets for row in sorted(members)], np.int32)
    return SparseEntries(
        np.arange(len(sets)),
        starts_of(counts),
        rows,
        np.ones(len(rows), np.uint16),
        np.zeros(len(sets), np.int64),
    )


@pytest.mark.kernels
@pytest.mark.parametrize("order", ["degree", "nonzero"])
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_bundles_are_those_of_the_oracle(seed, rate, order):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 80)), int(rng.integers(1, 15))
    sets = [
        set(np.flatnonzero(rng.random(rows) < rng.choice([0.0, 0.05, 0.2])).tolist()) for _ in range(columns)
    ]
    found = find_bundles(entries_of(sets), np.ones(columns, np.int64), rows, 0, Bundling(order, rate))
    expected, conflicts = slow_bundles(sets, slow_order(sets, order), rows, int(rate * rows))
    assert found.bundle.tolist() == expected
    assert found.conflicts.sum() == conflicts


def test_columns_beyond_the_bundles_that_can_be_open_stay_out(monkeypatch):
    monkeypatch.setattr(plan_module, "MOST_OPEN", 2)
    sets = [{0, 1}, {0, 1}, {0, 1}, {2}]
    found = find_bundles(entries_of(sets), np.ones(4, np.int64), 3, 0, Bundling("nonzero", 0.0))
    assert found.bundle.tolist() == [0, 1, -1, 0]


def test_a_bundle_has_no_more_codes_than_fit(monkeypatch):
    monkeypatch.setattr(plan_module, "WIDE", 5)
    X = np.eye(6).repeat(10, axis=0)
    assert sp.Dataset(X).describe()["bundles"] == 2
    assert sp.Dataset(X).binned.matrix().features.group_codes.max() <= 5


def test_codes_of_the_second_column_are_shifted_past_those_of_the_first():
    a = np.concatenate([np.arange(11), np.zeros(40)])
    b = np.concatenate([np.zeros(11), np.arange(21), np.zeros(19)])
    matrix = sp.Dataset(np.stack([a, b], axis=1), bundle_order="nonzero").binned.matrix()
    assert matrix.groups == 1
    assert matrix.by_column[0].tolist() == np.where(b > 0, b + 10, a).tolist()
    assert matrix.features.group_codes.tolist() == [31]


def table(rows=500, seed=0):
    rng = np.random.default_rng(seed)
    blocks = [np.eye(levels)[rng.integers(0, levels, rows)] for levels in (3, 12, 40)]
    odd = np.where(rng.random((rows, 3)) < 0.03, np.where(rng.random((rows, 3)) < 0.3, np.nan, -2.5), 0.0)
    return np.hstack([rng.normal(size=(rows, 1)), *blocks, odd])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("bundle", [True, False])
def test_every_bin_can_be_read_back(make, bundle):
    X = table()
    data = sp.Dataset(make(X), bundle=bundle)
    cuts = [data.cuts.values[a:b] for a, b in zip(data.cuts.starts[:-1], data.cuts.starts[1:], strict=True)]
    bins = np.stack([oracles.bins_of(X[:, j], its) for j, its in enumerate(cuts)], axis=1)
    assert np.array_equal(oracles.bins_of_matrix(data.binned.matrix()), bins)


def test_by_row_and_by_column_hold_the_same():
    matrix = sp.Dataset(sparse.csr_array(table()), bundle=False).binned.matrix()
    stored, features = matrix.sparse, matrix.features
    assert np.array_equal(matrix.by_row[:, : matrix.groups], matrix.by_column.T)
    by_row = {
        (row, int(place))
        for row in range(matrix.rows)
        for place in stored.row_codes[stored.row_starts[row] : stored.row_starts[row + 1]]
    }
    by_column = {
        (int(stored.column_rows[k]), int(features.low[column] + stored.column_codes[k] - 1))
        for column in range(matrix.columns)
        for k in range(stored.starts[column], stored.starts[column + 1])
    }
    assert by_row == by_column
    assert len(stored.row_codes) == len(by_row)
    for row in range(matrix.rows):
        assert (np.diff(stored.row_codes[stored.row_starts[row] : stored.row_starts[row + 1]]) > 0).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_one_hot_blocks_become_one_group_each(make):
    rng = np.random.default_rng(0)
    X = np.hstack([np.eye(levels)[rng.permutation(2_100) % levels] for levels in (30, 300, 7)])
    facts = sp.Dataset(make(X)).describe()
    assert facts["bundles"] == facts["groups"] == 3
    assert facts["bundled_columns"] == facts["columns"] == 337
    assert (facts["rows"], facts["bins"], facts["conflicts"]) == (2_100, 674, 0)
    assert facts["sparse_columns"] == facts["stored_entries"] == 0
    assert facts["bytes"] == sp.Dataset(make(X)).nbytes


def test_describe_tells_of_conflicts_and_stored_entries():
    rng = np.random.default_rng(0)
    X = (rng.random((1_000, 40)) < 0.05).astype(float)
    assert sp.Dataset(X).describe()["conflicts"] == 0
    loose = sp.Dataset(X, max_conflict_rate=0.1).describe()
    assert loose["conflicts"] > 0
    assert loose["groups"] + loose["sparse_columns"] < 40
    apart = sp.Dataset(sparse.csr_array(X), bundle=False).describe()
    assert (apart["groups"], apart["sparse_columns"], apart["stored_entries"]) == (0, 40, int(X.sum()))


def test_conflicts_of_bundles_that_are_not_kept_do_not_count():
    A, B = np.zeros((1000, 3)), np.zeros((1000, 2))
    A[:333, 0] = A[333:666, 1] = A[666:, 2] = 1
    B[:100, 0] = B[95:195, 1] = 1
    facts = sp.Dataset(np.hstack([A, B]), max_conflict_rate=0.01).describe()
    assert (facts["bundles"], facts["sparse_columns"], facts["conflicts"]) == (1, 2, 0)


def test_conflicts_change_the_model_a_little_and_alike_for_dense_and_sparse_tables():
    rng = np.random.default_rng(0)
    X = (rng.random((2_000, 30)) < 0.08).astype(float)
    y = X @ rng.normal(size=30) + 0.1 * rng.normal(size=2_000)
    models = [
        sp.train({}, sp.Dataset(given, y, max_conflict_rate=0.05), 20) for given in (X, sparse.csr_array(X))
    ]
    assert models[0] == models[1]
    exact = sp.train({}, sp.Dataset(X, y), 20)
    error = [np.sqrt(np.mean((model.predict(X) - y) ** 2)) for model in (models[0], exact)]
    assert error[1] < error[0] < 1.5 * error[1]


def test_memory_is_in_proportion_to_the_stored_entries():
    rng = np.random.default_rng(0)
    X = sparse.random_array((2_000, 100_000), density=2e-4, rng=rng, format="csr")
    data = sp.Dataset(X, rng.normal(size=2_000))
    assert data.nbytes < 8 * (X.nnz + X.shape[0] + X.shape[1]) * 3
    assert sp.train({"max_leaves": 4}, data, 1).rounds == 1


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"bundle": "yes"}, ParameterTypeError, "bundle='yes' must be True or False"),
        ({"bundle_order": "size"}, ParameterError, "bundle_order='size' is unknown"),
        ({"max_conflict_rate": 1.5}, ParameterError, "max_conflict_rate=1.5 is out of range"),
        ({"absent": 0}, ParameterTypeError, "absent=0 must be a str"),
    ],
)
def test_wrong_values_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset(np.eye(3), **given)


def test_train_takes_the_parameters_of_the_data_only_where_they_are_the_same():
    data = sp.Dataset(np.eye(3), np.arange(3.0), max_conflict_rate=0.5)
    with pytest.raises(ParameterError, match=r"max_conflict_rate = 0\.1 differs from the Dataset's 0\.5"):
        sp.train({"max_conflict_rate": 0.1}, data, 1)
    assert sp.train({"max_conflict_rate": 0.5}, data, 1).params.max_conflict_rate == 0.5
    with pytest.raises(ParameterError, match="bundle = False differs from the reference's True"):
        sp.Dataset(np.eye(3), reference=data, bundle=False)
