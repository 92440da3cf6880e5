"""Duplicate rows are found however often they occur, and rows that are alike by chance are not taken for them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import spinney as sp
from block_data import in_blocks
from duplicate_data import REPEATED, repeated, table
from problems import part_of
from spinney.target_encoding.duplicates import Duplicates, Repeats, cells_of, column_bins

ROWS = 1_200


def same_numbers(numbers):
    """The number of the first row that has the same number."""
    first = {}
    return [first.setdefault(number, k) for k, number in enumerate(np.asarray(numbers).tolist())]


def duplicates_of(dataset, columns):
    return Duplicates(dataset.binned, columns).of(dataset.binned, dataset.labels())


def found(X, y, columns=(0,), **given):
    dataset = sp.Dataset(X, y, **given)
    return duplicates_of(dataset, list(columns))


@pytest.mark.parametrize("how", REPEATED)
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_that_occur_several_times_share_a_number(how, kind):
    X, y = table(ROWS, 300)
    if kind == "numbers":
        y = y + np.random.default_rng(1).normal(size=ROWS)
    rows = repeated(how, ROWS)
    assert same_numbers(found(X.iloc[rows], y[rows])) == same_numbers(rows)


@pytest.mark.parametrize("how", REPEATED)
@pytest.mark.parametrize("categories", [300, 800])
def test_duplicates_are_found_among_rows_of_coarse_columns(how, categories):
    X, y = table(4 * ROWS, categories, coarse=True)
    assert found(X, y) is None
    rows = repeated(how, 4 * ROWS)
    assert found(X.iloc[rows], y[rows]) is not None


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_few_copies_are_found_too(share):
    X, y = table(4 * ROWS, 300)
    assert found(X, y) is None
    rows = np.concatenate([np.arange(4 * ROWS), np.arange(int(share * 4 * ROWS))])
    assert same_numbers(found(X.iloc[rows], y[rows])) == same_numbers(rows)


def test_a_table_that_was_copied_whole_is_found_even_if_each_row_has_a_name():
    X, y = table(ROWS, 300)
    X["name"] = pd.Categorical(np.arange(ROWS))
    for times in (2, 3):
        rows = np.tile(np.arange(ROWS), times)
        assert same_numbers(found(X.iloc[rows], y[rows], max_bin=65_000)) == same_numbers(rows)


def price_list(kind, rng, rows=4_000):
    """Codes of a table whose rows determine the target, of which each was seen several times."""
    item = rng.integers(0, 1_000, rows)
    if kind == "a key and its attributes":
        return np.column_stack([item, *(rng.integers(0, k, 1_000)[item] for k in (50, 20, 30))])
    shop, goods = rng.integers(0, 40, rows), rng.integers(0, 30, rows)
    if kind == "shops and goods":
        return np.column_stack([shop, goods])
    if kind == "shops, goods and their attributes":
        return np.column_stack([shop, goods, rng.integers(0, 30, 40)[shop], rng.integers(0, 25, 30)[goods]])
    if kind == "a balanced plan":
        return np.column_stack([np.arange(rows) % 40, np.arange(rows) // 40 % 20])
    hidden = rng.integers(0, 2, (4, 20))[rng.integers(0, 4, rows)]
    return hidden ^ (rng.random(hidden.shape) < 0.05)


PRICE_LISTS = [
    "a key and its attributes", "shops and goods", "shops, goods and their attributes", "a balanced plan", "bits of four kinds",
]  # fmt: skip


@pytest.mark.parametrize("kind", PRICE_LISTS)
@pytest.mark.parametrize("classes", [False, True])
def test_rows_of_few_values_that_determine_the_target_are_no_duplicates(kind, classes):
    rng = np.random.default_rng(4)
    X = price_list(kind, rng)
    cells, number = np.unique(X, axis=0, return_inverse=True)
    assert len(cells) < 0.5 * len(X)
    y = rng.normal(size=len(cells))[number.ravel()]
    frame = pd.DataFrame(X.astype(float))
    if "key" in kind:
        frame[0] = pd.Categorical(X[:, 0])
    assert found(frame, (y > 0) * 1.0 if classes else y, ()) is None


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("target", ["number", "class", "likely class"])
def test_no_coarse_table_is_taken_for_duplicates(skew, target):
    rng = np.random.default_rng(6)
    for _ in range(40):
        rows, columns = int(rng.integers(300, 4_000)), []
        for size in rng.integers(2, 60, int(rng.integers(1, 5))):
            chance = np.exp(skew * rng.normal(size=size))
            columns.append(rng.choice(size, rows, p=chance / chance.sum()))
        codes = np.column_stack([*columns, rng.integers(0, 20, 60)[columns[0]]]).astype(np.int32)
        cells, number = np.unique(codes, axis=0, return_inverse=True)
        kinds = rng.random(len(cells)) if target == "number" else rng.integers(0, 2, len(cells))
        y = kinds[number.ravel()]
        if target == "likely class":
            y = np.where(rng.random(rows) < 0.05, 1 - y, y)
        repeats = Repeats.of(number.ravel(), np.unique(y, return_inverse=True)[1], 1.0)
        assert not (
            repeats.counts.reach(0.01)
            and (repeats.whole_table or (repeats.likely and repeats.beyond_chance(codes, True)))
        )


@pytest.mark.parametrize("how", ["1 to 4 times", "twice as many draws"])
def test_duplicates_are_those_of_blocks_and_of_parts(how):
    X, y = table(ROWS, 300)
    rows = repeated(how, ROWS)
    dataset = sp.Dataset(X.iloc[rows], y[rows])
    numbers = duplicates_of(dataset, [0])
    assert np.array_equal(duplicates_of(in_blocks(dataset), [0]), numbers)
    some = np.flatnonzero(np.arange(len(rows)) % 7)
    for whole in (dataset, in_blocks(dataset)):
        part = part_of(whole, some)
        assert np.array_equal(duplicates_of(part, [0]), numbers[some])


@pytest.mark.parametrize("how", ["1 to 4 times", "twice as many draws"])
def test_a_sample_of_the_rows_is_enough(monkeypatch, how):
    monkeypatch.setattr("spinney.target_encoding.duplicates.ROWS", 600)
    X, y = table(ROWS, 300)
    rows = repeated(how, ROWS)
    assert found(X, y) is None
    assert found(X.iloc[rows], y[rows]) is not None
    X, y = np.random.default_rng(0).integers(0, 12, (4 * ROWS, 2)) * 1.0, np.zeros(4 * ROWS)
    assert found(X, X[:, 0] * 12 + X[:, 1], ()) is None


def test_bins_are_the_same_however_columns_are_kept():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((300, 40)) < 0.03, rng.integers(1, 3, (300, 40)), 0).astype(float)
    rows, columns = np.flatnonzero(rng.random(300) < 0.5), np.array([5, 0, 39])
    for dataset in (sp.Dataset(X), sp.Dataset(sparse.csr_array(X)), sp.Dataset(X, bundle=False)):
        bins = column_bins(dataset.binned.matrix(), columns, rows)
        for place, column in enumerate(columns):
            assert np.array_equal(bins[:, place], np.searchsorted(np.unique(X[:, column]), X[rows, column]))


def test_columns_that_others_determine_add_no_cells():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 12, (2, 5_000))
    name = rng.permutation(144)[a * 12 + b]
    assert cells_of(np.column_stack([a, b]).astype(np.int32), 1.0)[0] == pytest.approx(144, rel=0.03)
    assert cells_of(np.column_stack([a, b, a % 5, b // 2]).astype(np.int32), 1.0)[1] == 2
    assert cells_of(np.column_stack([a, name, b]).astype(np.int32), 1.0) == (pytest.approx(144, rel=0.05), 1)
