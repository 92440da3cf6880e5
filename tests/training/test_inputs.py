"""The same numbers give the same model, however they lie in memory."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spinney as sp

RNG = np.random.default_rng(11)
X32 = np.where(RNG.random((300, 4)) < 0.1, np.nan, RNG.normal(size=(300, 4))).astype(np.float32)
X = X32.astype(np.float64)
Y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1])
NAMES = ["a", "b", "c", "d"]


def bytes_of(table, y=Y, **given):
    data = sp.Dataset(table, y, max_bin=30, **given)
    return sp.train({"max_leaves": 8, "min_child_samples": 3}, data, rounds=4).to_bytes()


def strided(a):
    """The same values, far apart in a larger array."""
    wide = np.zeros((2 * a.shape[0], 3 * a.shape[1]), a.dtype)
    wide[::2, 1::3] = a
    return wide[::2, 1::3]


def read_only(a):
    copy = a.copy()
    copy.flags.writeable = False
    return copy


def unaligned(a):
    memory = np.zeros(a.nbytes + 1, np.uint8)
    view = memory[1:].view(a.dtype).reshape(a.shape)
    view[:] = a
    return view


LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "objects": lambda a: a.astype(object),
    "lists": lambda a: a.tolist(),
    "masked": lambda a: np.ma.masked_invalid(a),
    "long double": lambda a: a.astype(np.longdouble),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layout_and_width_of_the_numbers_do_not_matter(layout, dtype):
    assert bytes_of(LAYOUTS[layout](X.astype(dtype))) == bytes_of(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_mapped_into_memory_gives_the_same_model(tmp_path, dtype):
    np.save(tmp_path / "x.npy", X.astype(dtype))
    assert bytes_of(np.load(tmp_path / "x.npy", mmap_mode="r")) == bytes_of(X)


def test_frames_of_all_makes_give_the_same_model():
    expected = bytes_of(X, names=NAMES)
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    assert bytes_of(pd.DataFrame(X, columns=NAMES)) == expected
    assert bytes_of(pd.DataFrame(columns)) == expected
    assert bytes_of(pd.DataFrame({n: v.astype(np.float32) for n, v in columns.items()})) == expected
    assert bytes_of(pl.DataFrame(columns)) == expected
    assert bytes_of(pl.DataFrame(columns, nan_to_null=True)) == expected
    assert bytes_of(pa.table(columns)) == expected


def test_columns_of_different_types_give_the_same_model_as_floats():
    whole = RNG.integers(0, 50, 300)
    flags = RNG.random(300) < 0.5
    mixed = pd.DataFrame({"a": whole, "b": flags, "c": X[:, 0], "d": X32[:, 1]})
    floats = np.column_stack([whole, flags, X[:, 0], X[:, 1]]).astype(np.float64)
    assert bytes_of(mixed) == bytes_of(floats, names=NAMES)
    assert bytes_of(pl.from_pandas(mixed)) == bytes_of(floats, names=NAMES)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint32, np.float16, bool])
def test_integers_booleans_and_half_floats_count_as_the_numbers_they_are(dtype):
    table = (np.abs(np.nan_to_num(X)) * 2).astype(dtype)
    assert bytes_of(table) == bytes_of(table.astype(np.float64))


def test_one_row_repeated_without_memory_of_its_own_can_be_trained_on():
    table = np.broadcast_to(X[:1], (300, 4))
    assert bytes_of(table) == bytes_of(table.copy())


def test_targets_and_weights_of_any_kind_give_the_same_model():
    y, weight = RNG.integers(0, 9, 300), RNG.integers(1, 4, 300)
    expected = bytes_of(X, y.astype(np.float64), weight=weight.astype(np.float64))
    assert bytes_of(X, y.tolist(), weight=weight.astype(np.float32)) == expected
    assert bytes_of(X, pd.Series(y), weight=pl.Series(weight)) == expected
    assert bytes_of(X, y[:, None], weight=np.repeat(weight, 2)[::2]) == expected
