"""Hashes are equal for rows of the same bins; duplicates are not confused with rows that are alike because columns are few."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import spinney as sp
from block_data import in_blocks
from problems import part_of
from spinney.data import Labels
from spinney.target_encoding.duplicates import Duplicates, RowHasher
from spinney.target_encoding.fit import fit_target_encoding

ROWS = 900


def same_rows(table):
    """The number of the first row that is the same, by loops."""
    first = {}
    return [first.setdefault(tuple(row), k) for k, row in enumerate(np.asarray(table).tolist())]


def same_numbers(numbers):
    """The number of the first row that has the same number."""
    first = {}
    return [first.setdefault(number, k) for k, number in enumerate(numbers.tolist())]


def duplicates_of(dataset, columns=()):
    return Duplicates(dataset.binned, columns).of(dataset.binned, dataset.labels())


def few_values(seed=0, empty=0.0):
    """A table in which many rows are the same."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    X[rng.random(X.shape) < empty] = 0.0
    return X


def hashes_of(dataset, apart=()):
    return RowHasher(dataset.binned.matrix().features, apart).of(dataset.binned.matrix())


def test_rows_have_the_same_hash_if_they_have_the_same_bins():
    X = few_values()
    X[::17, 1] = np.nan
    named = np.where(np.isnan(X), -1.0, X)
    hashes, others = hashes_of(sp.Dataset(X), apart=[1])
    assert same_numbers(hashes) == same_rows(named)
    assert same_numbers(others) == same_rows(named[:, [0, 2, 3]])


def test_hashes_do_not_depend_on_how_columns_are_kept():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((300, 40)) < 0.03, rng.integers(1, 3, (300, 40)), 0).astype(float)
    few = X[:, :5]
    wide = [sp.Dataset(X), sp.Dataset(sparse.csr_array(X)), sp.Dataset(X, bundle=False)]
    described = [dataset.describe() for dataset in wide]
    assert len({(one["groups"], one["sparse_columns"]) for one in described}) > 1
    for table, kept in [(X, wide), (few, [sp.Dataset(few), sp.Dataset(few, bundle=False)])]:
        hashes = [hashes_of(dataset)[0] for dataset in kept]
        assert same_numbers(hashes[0]) == same_rows(table)
        assert all(np.array_equal(hashes[0], one) for one in hashes)


def problem(kind, seed=0):
    """A table with a column of 60 categories, and a target that is 1 for one of ten rows."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, 60, ROWS)
    columns = {"city": pd.Categorical(city)}
    if kind == "numbers":
        columns["x"] = rng.normal(size=ROWS)
    if kind == "names":
        columns = {"name": pd.Categorical(np.arange(ROWS)), "x": rng.normal(size=ROWS)}
    if kind == "shops":
        columns["goods"] = pd.Categorical(rng.integers(0, 4, ROWS))
    chance = rng.uniform(0.0, 0.4, (60, 4))[
        city, rng.integers(0, 4, ROWS) if kind != "shops" else columns["goods"].codes
    ]
    return pd.DataFrame(columns), (rng.random(ROWS) < chance).astype(float)


def balanced(X, y):
    """Rows of class 1 again and again, until there are as many as of class 0."""
    rng = np.random.default_rng(5)
    ones = np.flatnonzero(y == 1)
    rows = np.concatenate([np.arange(len(y)), rng.choice(ones, int((y == 0).sum()) - len(ones))])
    rng.shuffle(rows)
    return X.iloc[rows].reset_index(drop=True), y[rows], rows


def drawn(X, y):
    """Rows drawn with replacement."""
    rows = np.random.default_rng(6).integers(0, len(y), len(y))
    return X.iloc[rows].reset_index(drop=True), y[rows], rows


@pytest.mark.parametrize("kind", ["numbers", "names"])
@pytest.mark.parametrize("copied", [balanced, drawn])
def test_duplicates_share_a_number_and_other_rows_do_not(kind, copied):
    X, y, rows = copied(*problem(kind))
    dataset = sp.Dataset(X, y, max_bin=65_000)
    assert same_numbers(duplicates_of(dataset, [0])) == same_numbers(rows)


def test_duplicates_of_rows_with_a_number_or_several_for_a_target_are_found_too():
    X, y = problem("numbers")
    y = y + np.random.default_rng(1).normal(size=ROWS)
    X, y, rows = drawn(X, y)
    for target in (y, np.column_stack([y, -y])):
        dataset = sp.Dataset(X, target, max_bin=65_000)
        assert same_numbers(duplicates_of(dataset, [0])) == same_numbers(rows)


@pytest.mark.parametrize("kind", ["numbers", "names", "city", "shops"])
def test_a_table_without_duplicates_has_none(kind):
    X, y = problem(kind)
    dataset = sp.Dataset(X, y)
    assert duplicates_of(dataset, [0]) is None


@pytest.mark.parametrize("kind", ["city", "shops"])
def test_rows_that_only_share_their_few_categories_are_not_taken_for_duplicates(kind):
    X, y = problem(kind)
    many = [pd.concat([X] * 3, ignore_index=True), np.random.default_rng(2).permutation(np.tile(y, 3))]
    dataset = sp.Dataset(*many)
    assert len(np.unique(hashes_of(dataset)[0])) < 0.2 * dataset.rows
    assert duplicates_of(dataset, [0]) is None


def test_rows_of_a_category_that_determines_the_target_are_no_duplicates():
    city = np.random.default_rng(0).integers(0, 60, ROWS)
    dataset = sp.Dataset(pd.DataFrame({"city": pd.Categorical(city)}), np.sin(city))
    assert duplicates_of(dataset, [0]) is None
    assert duplicates_of(dataset) is None


def test_rows_of_weight_0_do_not_make_duplicates():
    X, y, rows = drawn(*problem("numbers"))
    _, first = np.unique(rows, return_index=True)
    weight = np.isin(np.arange(ROWS), first).astype(float)
    dataset = sp.Dataset(X, y, weight=weight)
    assert duplicates_of(dataset, [0]) is None
    dataset = sp.Dataset(X, y)
    assert duplicates_of(dataset, [0]) is not None


def test_classes_that_were_balanced_are_found_however_many_there_are():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 3))
    kinds = np.repeat(np.arange(6), [650, 50, 50, 50, 50, 50])
    rows = np.concatenate([rng.choice(np.flatnonzero(kinds == one), 650) for one in range(1, 6)])
    rows = np.concatenate([np.arange(650), rows])
    dataset = sp.Dataset(X[rows], kinds[rows].astype(float), max_bin=65_000)
    assert same_numbers(duplicates_of(dataset)) == same_numbers(rows)


def test_duplicates_are_those_of_blocks_and_of_parts():
    X, y, _ = balanced(*problem("numbers"))
    dataset = sp.Dataset(X, y)
    found = duplicates_of(dataset, [0])
    assert np.array_equal(duplicates_of(in_blocks(dataset), [0]), found)
    rows = np.flatnonzero(np.arange(len(y)) % 7)
    for whole in (dataset, in_blocks(dataset)):
        part = part_of(whole, rows)
        assert np.array_equal(duplicates_of(part, [0]), found[rows])


@pytest.mark.parametrize("most", [ROWS, 300])
def test_a_sample_of_the_rows_decides(monkeypatch, most):
    monkeypatch.setattr("spinney.target_encoding.duplicates.ROWS", most)
    X, y = problem("numbers")
    dataset = sp.Dataset(X, y)
    assert duplicates_of(dataset, [0]) is None
    X, y, _ = balanced(X, y)
    dataset = sp.Dataset(X, y)
    assert duplicates_of(dataset, [0]) is not None


def test_one_row_and_no_other_target_have_no_duplicates():
    one = sp.Dataset(np.zeros((1, 2)), np.zeros(1))
    assert duplicates_of(one) is None
    many = sp.Dataset(np.zeros((50, 2)), np.zeros(50))
    assert duplicates_of(many) is None


def test_duplicates_are_encoded_alike_and_not_with_each_others_target():
    X, y, rows = balanced(*problem("numbers"))
    dataset, labels = sp.Dataset(X, y), Labels(y)
    fitted = fit_target_encoding(dataset.binned, labels, y[None], [0], 10.0, seed=4)
    fold_of = dict(zip(rows.tolist(), fitted.fold.tolist(), strict=True))
    assert fitted.fold.tolist() == [fold_of[row] for row in rows.tolist()]
    assert len(set(fold_of.values())) == 5
    # Another target of one row and its copies leaves their encoded values.
    row = int(np.bincount(rows).argmax())
    changed = np.where(rows == row, 1.0 - y, y)
    again = fit_target_encoding(dataset.binned, Labels(changed), changed[None], [0], 0.0, seed=4)
    before = fit_target_encoding(dataset.binned, labels, y[None], [0], 0.0, seed=4)
    fold, code = fold_of[row], dataset.binned.matrix().by_column[0][rows == row][0]
    assert again.by_fold[0][fold, code] == before.by_fold[0][fold, code]


@pytest.mark.parametrize("blocks", [False, True])
def test_rows_are_hashed_once_for_searches_among_all_and_parts_of_them(blocks, monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(300), rng.integers(1, 4, 300))
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    whole = sp.Dataset(X[rows], y[rows])
    whole = in_blocks(whole) if blocks else whole
    part = whole.binned.take(np.flatnonzero(rng.random(len(rows)) < 0.8))
    less = part.take(np.flatnonzero(rng.random(part.rows) < 0.5))
    for all_rows in (whole.binned, part):
        duplicates = Duplicates(all_rows)
        numbers = duplicates.of(less, less.labels)
        monkeypatch.setattr(RowHasher, "of", None)  # no row is hashed again
        assert np.array_equal(duplicates.of(less, less.labels), numbers)
        assert same_numbers(numbers) == same_numbers(rows[less.selected])
        assert same_numbers(duplicates.of(part, part.labels)) == same_numbers(rows[part.selected])
        monkeypatch.undo()
        duplicates.forget()
        assert np.array_equal(duplicates.of(less, less.labels), numbers)


def test_all_rows_are_searched_once(monkeypatch):
    rows = np.repeat(np.arange(200), 2)
    X, y = np.random.default_rng(0).normal(size=(2, 200, 2))
    data = sp.Dataset(X[rows], y[rows, 0]).binned
    duplicates = Duplicates(data)
    assert duplicates.of(data, data.labels, 0.2) is not None
    monkeypatch.setattr(Duplicates, "_search", None)
    assert duplicates.of(data, data.labels) is not None


def test_only_the_rows_of_a_search_decide_whether_they_hold_duplicates():
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.arange(900), np.arange(100)])  # a tenth of the rows repeat others
    X, y = rng.normal(size=(900, 4)), rng.normal(size=900)
    data = sp.Dataset(X[rows], y[rows]).binned
    duplicates = Duplicates(data)
    assert duplicates.of(data, data.labels, 0.1) is not None
    assert duplicates.of(data, data.labels, 0.11) is None
    apart = data.take(np.arange(900))
    assert duplicates.of(apart, apart.labels) is None
