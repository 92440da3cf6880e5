"""Data sets on disk beside the same rows in memory."""

import hashlib
import json

import numpy as np

import spinney as sp

FEATURES = ("group", "low", "codes", "bins", "default")


def batches_of(X, y=None, size=97, **more):
    """A source that gives the rows of a table, some at a time; arrays of `more` are cut likewise."""
    rows = X.shape[0]

    def cut(values, first):
        return values.iloc[first : first + size] if hasattr(values, "iloc") else values[first : first + size]

    def source():
        for first in range(0, rows, size):
            batch = {name: cut(values, first) for name, values in more.items()}
            yield {"X": cut(X, first), **batch} if y is None else {
                "X": cut(X, first), "y": cut(y, first), **batch,
            }  # fmt: skip

    return source


def paged(X, y=None, size=97, more=None, **given):
    """A data set on disk."""
    return sp.Dataset.from_batches(batches_of(X, y, size, **(more or {})), **given)


def codes_of(dataset):
    """Codes of all blocks, in the order of the rows."""
    found = {
        block: [
            array.copy()
            for array in (
                matrix.by_row, matrix.by_column, matrix.sparse.row_codes, np.diff(matrix.sparse.row_starts),
                matrix.sparse.column_codes, matrix.sparse.column_rows + dataset.binned.codes.begins[block],
                np.diff(matrix.sparse.starts),
            )
        ]
        for block, matrix in dataset.binned.codes.scan()
    }  # fmt: skip
    assert sorted(found) == list(range(len(dataset.binned.codes.begins) - 1))
    return [found[block] for block in sorted(found)]


def check_same(dataset, memory):
    """Whether a data set on disk is what the same rows are in memory."""
    assert dataset.schema == memory.schema
    assert dataset.cuts.same(memory.cuts)
    for name in FEATURES:
        assert np.array_equal(
            getattr(dataset.binned.plan.features, name), getattr(memory.binned.plan.features, name)
        ), name
    assert dataset.binned.plan.conflicts == memory.binned.plan.conflicts
    assert dataset.binned.plan.absent == memory.binned.plan.absent or np.isnan(memory.binned.plan.absent)
    for name in ("target", "weight", "margin", "queries"):
        one, two = getattr(dataset, name), getattr(memory, name)
        assert (one is None) == (two is None), name
        assert one is None or np.array_equal(one, two), name
    check_same_codes(dataset, memory.binned.matrix())


def check_same_codes(dataset, matrix):
    by_row, by_column, row_codes, lengths, column_codes, column_rows, counts = zip(
        *codes_of(dataset), strict=True
    )
    assert {block.dtype for block in by_row} == {matrix.by_row.dtype}
    assert np.array_equal(np.vstack(by_row), matrix.by_row)
    assert np.array_equal(np.hstack(by_column), matrix.by_column)
    sparse = matrix.sparse
    assert np.array_equal(np.concatenate(row_codes), sparse.row_codes)
    assert np.array_equal(np.concatenate(lengths), np.diff(sparse.row_starts))
    # Entries by column come column by column within each block.
    column = np.concatenate([np.repeat(np.arange(len(count)), count) for count in counts])
    order = np.argsort(column, kind="stable")
    assert np.array_equal(np.concatenate(column_codes)[order], sparse.column_codes)
    assert np.array_equal(np.concatenate(column_rows)[order], sparse.column_rows)
    assert np.array_equal(sum(counts), np.diff(sparse.starts))


def key_of(told):
    """The key of a header, as somebody would make it who knows the format."""
    facts = {name: value for name, value in told.items() if name not in ("kind", "format", "key")}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
