"""NumPy arrays and lists: every dtype and layout gives the same values, and floats are never copied."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.data import as_matrix, read_table
from spinney.errors import DataError, DataTypeError

NUMERIC = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g"]


def sample(dtype):
    return (np.arange(12).reshape(4, 3) % 5).astype(dtype)


def only_panel(X):
    (panel,) = read_table(X).panels
    return panel


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_every_numeric_dtype_and_byte_order_gives_the_values_numpy_gives(dtype, order):
    X = sample(np.dtype(dtype).newbyteorder(order))
    np.testing.assert_array_equal(as_matrix(read_table(X)), np.asarray(X, np.float64))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_the_panel_of_a_numeric_array_is_that_array(dtype):
    X = sample(dtype)
    assert np.shares_memory(only_panel(X).values, X)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "view",
    [
        lambda X: X,
        np.asfortranarray,
        lambda X: X[::-1, ::-1],
        lambda X: X[::2, 1:],
        lambda X: np.broadcast_to(X[:1], X.shape),
        lambda X: np.broadcast_to(X[:, :1], X.shape),
        lambda X: X[:1],
    ],
)
def test_floats_of_32_and_64_bits_come_whole_and_uncopied_in_any_layout(dtype, view):
    X = view(sample(dtype))
    X.flags.writeable = False
    blocks = list(only_panel(X).blocks(1))
    assert [row for row, _ in blocks] == [0]
    assert np.shares_memory(blocks[0][1], X)
    assert blocks[0][1].strides == X.strides
    np.testing.assert_array_equal(blocks[0][1], X)


def test_a_memory_mapped_array_is_read_in_place(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, sample("f4"))
    mapped = np.load(path, mmap_mode="r")
    ((_, block),) = only_panel(mapped).blocks(1)
    assert type(block) is np.ndarray
    assert np.shares_memory(block, mapped)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_an_unaligned_array_is_converted_block_by_block(dtype):
    packed = np.zeros((4, 3), dtype=[("pad", "u1"), ("value", dtype)])
    packed["value"] = sample(dtype)
    panel = only_panel(packed["value"])
    assert not panel.direct
    blocks = list(panel.blocks(3))
    assert [len(block) for _, block in blocks] == [3, 1]
    assert all(block.flags.aligned for _, block in blocks)
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), sample(dtype))


def test_aligned_floats_with_a_broken_step_are_not_handed_to_kernels():
    # Float32 is aligned to 4 bytes, so a step of 6 bytes is neither whole nor aligned.
    raw = np.zeros(64, dtype=np.uint8)
    X = np.ndarray((4, 2), dtype=np.float32, buffer=raw, strides=(12, 6))
    ((_, block),) = only_panel(X).blocks(10)
    assert all(stride % 4 == 0 for stride in block.strides)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f2", "f4"), (">f4", "f4"), ("?", "f8"), ("i1", "f8"), ("u8", "f8"), ("g", "f8")],
)
def test_blocks_are_native_floats(dtype, expected):
    for _, block in only_panel(sample(dtype)).blocks(2):
        assert block.dtype == np.dtype(expected)


def test_a_long_double_beyond_float64_becomes_infinite_without_a_warning():
    X = np.array([[np.finfo(np.longdouble).max]])
    if X[0, 0] == np.finfo(np.float64).max:
        pytest.skip("long double is float64 on this machine")
    assert as_matrix(read_table(X))[0, 0] == np.inf


@given(
    X=hnp.arrays(
        dtype=st.sampled_from(["?", "i2", ">i4", "u8", "f2", "f4", ">f8", "f8"]),
        shape=hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    ),
    data=st.data(),
    max_rows=st.integers(1, 9),
)
def test_blocks_of_any_view_tile_the_rows_with_the_same_values(X, data, max_rows):
    keys = data.draw(st.tuples(*[st.slices(side) for side in X.shape]))
    view = X[keys]
    if data.draw(st.booleans()):
        view = view.T
    if 0 in view.shape:
        with pytest.raises(DataError, match="a minimum of 1 is required"):
            read_table(view)
        return
    next_row = 0
    for row, block in only_panel(view).blocks(max_rows):
        assert row == next_row
        assert block.dtype in (np.float32, np.float64)
        assert block.flags.aligned
        np.testing.assert_array_equal(block, view[row : row + len(block)].astype(np.float64))
        next_row += len(block)
    assert next_row == len(view)


def test_lists_of_rows_may_hold_numbers_booleans_and_none():
    X = [[1, None, True], [2.5, float("nan"), False]]
    np.testing.assert_array_equal(as_matrix(read_table(X)), [[1, np.nan, 1], [2.5, np.nan, 0]])


def test_object_arrays_of_numbers_become_floats():
    X = np.array([[1, Decimal("0.1")], [np.float32(0.5), Fraction(1, 4)], [np.True_, None]], dtype=object)
    np.testing.assert_array_equal(as_matrix(read_table(X)), [[1, 0.1], [0.5, 0.25], [1, np.nan]])


def test_masked_entries_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(as_matrix(read_table(X)), [[1, np.nan], [3, 4]])


def test_a_masked_array_that_masks_nothing_is_not_copied():
    X = np.ma.array([[1.0, 2.0]])
    assert np.shares_memory(only_panel(X).values, X.data)


def test_an_object_that_numpy_can_read_is_read():
    class Readable:
        def __array__(self, dtype=None, copy=None):
            return sample("f8")

    np.testing.assert_array_equal(as_matrix(read_table(Readable())), sample("f8"))


def test_an_array_has_no_names_unless_they_are_given():
    assert read_table(sample("f8")).names is None
    assert read_table(sample("f8"), names=("a", "größe", "年齢")).names == ("a", "größe", "年齢")


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "b"], DataError, "names holds 2 names, but X has 3 columns"),
        (["a", "b", "a"], DataError, 'more than one column named "a"'),
        (["a", "b", 3], DataTypeError, "names must hold strings only, got 3"),
        ("abc", DataTypeError, "names must be a list of strings"),
        (7, DataTypeError, "names must be a list of strings"),
    ],
)
def test_given_names_that_cannot_be_used_are_refused(names, error, message):
    with pytest.raises(error, match=message):
        read_table(sample("f8"), names=names)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.arange(3.0), DataError, r"Expected 2D array, got 1D array instead(?s:.*)Reshape your data"),
        (np.float64(3), DataError, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), DataError, "Found array with dim 3"),
        (np.zeros((0, 3)), DataError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."),
        (
            np.zeros((12, 0)),
            DataError,
            r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\.",
        ),
        ([[1.0, 2.0], [3.0]], DataError, "X is a list that does not form an array"),
        (np.zeros((2, 2), dtype=complex), DataError, "Complex data not supported"),
        (np.array([[1.0, 2j]], dtype=object), DataError, "Complex data not supported: column 1 of X"),
        ([[10**400]], DataError, "column 0 of X holds a number that float64 cannot hold"),
        (np.array([["a"]]), DataTypeError, "column 0 of X holds text .*PyArrow frame"),
        ([[1, "Paris"]], DataTypeError, "column 1 of X holds text .'Paris' in row 0.*PyArrow frame"),
        (np.array([[1.0], ["2"]], dtype=object), DataTypeError, "column 0 of X holds text .'2' in row 1"),
        (np.zeros((2, 2), dtype="M8[s]"), DataTypeError, "column 0 of X holds times"),
        ([[0, datetime.date(2020, 1, 1)]], DataTypeError, "column 1 of X holds times"),
        (
            np.array([[0, np.timedelta64(1, "s")]], dtype=object),
            DataTypeError,
            "column 1 of X holds times",
        ),
        ([[0.5, {"a": 1}]], DataTypeError, "argument must be a string or a number, not 'dict'"),
        (np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]), DataTypeError, "structured array with fields a, b"),
        (np.zeros((2, 2), dtype="V4"), DataTypeError, "column 0 of X holds values that are no numbers"),
        (np.ones((1, 1)).view(np.matrix), DataTypeError, "np.matrix is not supported"),
        (None, DataTypeError, "X must be a NumPy array.* got NoneType"),
        ({"a": [1]}, DataTypeError, "got dict"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_with_words_that_help(X, error, message):
    with pytest.raises(error, match=message):
        read_table(X)


@pytest.mark.parametrize("values", [np.array([["1.5"]]), np.array([["1.5"]], dtype=object), [["1.5"]]])
def test_text_outside_of_frames_is_refused_with_the_way_to_numbers(values):
    with pytest.raises(DataTypeError, match=r"column 0 of X holds text .* as in X\.astype\(float\)"):
        read_table(values)
