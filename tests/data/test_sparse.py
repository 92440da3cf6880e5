"""Sparse matrices are read as SciPy means them, and damaged ones refused."""

import numpy as np
import pytest
from scipy import sparse

import spinney as sp
from spinney.data import read_table
from spinney.errors import DataError, DataTypeError

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, np.nan], [0.0, 0.0, 3.0], [4.0, 5.0, 0.0]])


def read_back(X):
    """The table as a dense matrix, absent entries as 0."""
    return read_table(X).sparse.matrix.toarray()


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_format_holds_the_same_numbers(form, kind, dtype):
    X = getattr(sparse, f"{form}_{kind}")(DENSE.astype(dtype))
    assert np.array_equal(read_back(X), DENSE, equal_nan=True)
    assert read_table(X).sparse.matrix.dtype == dtype


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.int32, np.longdouble])
def test_every_kind_of_number_is_read(dtype):
    whole = np.nan_to_num(DENSE).astype(dtype)
    assert np.array_equal(read_back(sparse.csr_array(whole)), whole.astype(float))


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (bool, np.float32),
        (np.uint8, np.float32),
        (np.int16, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
    ],
)
def test_whole_numbers_become_the_smallest_floats_that_hold_them(dtype, expected):
    whole = np.nan_to_num(DENSE).astype(dtype)
    starts, rows, values = read_table(sparse.csr_array(whole)).sparse.by_column
    assert values.dtype == expected
    assert np.array_equal(sparse.csc_array((values, rows, starts), shape=whole.shape).toarray(), whole)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_long_and_unsorted_indices_and_twice_stored_entries_mean_what_scipy_means(form):
    make = getattr(sparse, f"{form}_array")
    index = np.array([2, 0, 2, 1], np.int64)
    X = make((np.array([1.0, 2.0, 3.0, 4.0]), index, np.array([0, 3, 4, 4], np.int64)), shape=(3, 3))
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    assert np.array_equal(read_back(X), X.toarray())
    assert all(np.array_equal(a, b) for a, b in zip(before, (X.data, X.indices, X.indptr), strict=True))


def test_a_flag_that_lies_about_order_is_not_believed():
    X = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    X.has_canonical_format = X.has_sorted_indices = True
    assert read_back(X).tolist() == [[2.0, 4.0], [0.0, 0.0]]


def test_read_only_memory_is_read():
    X = sparse.csr_array(DENSE)
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    assert np.array_equal(read_back(X), DENSE, equal_nan=True)
    sp.train({"min_child_samples": 1}, sp.Dataset(X, np.arange(4.0)), 2).predict(X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint32, np.uint64, np.int64])
def test_indices_of_every_type_are_read(form, kind):
    X = getattr(sparse, f"{form}_array")(DENSE)
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    model = sp.train({"min_child_samples": 1}, sp.Dataset(DENSE, np.arange(4.0)), 2)
    assert np.array_equal(read_back(X), DENSE, equal_nan=True)
    assert model.predict(X).tolist() == model.predict(DENSE).tolist()


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_empty_lines_are_no_reason_to_sort(form):
    X = getattr(sparse, f"{form}_array")(np.diag([0.0, 1.0, 0.0, 2.0, 3.0, 0.0]))
    assert np.shares_memory(read_table(X).sparse.indices, X.indices)


def csr(indices=(0, 1), indptr=(0, 1, 2), data=(1.0, 2.0), shape=(2, 2), form="csr"):
    """A matrix with whatever index arrays, past SciPy's own checks."""
    X = getattr(sparse, f"{form}_array")(shape)
    X.indices, X.indptr, X.data = np.array(indices), np.array(indptr), np.array(data)
    return X


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("kind", [np.uint32, np.uint64, np.int64])
@pytest.mark.parametrize("indptr", [(0, 4_000_000, 2), (0, 2, 1), (0, 2**31 - 1, 2)])
def test_starts_that_fall_are_refused_whatever_their_type(form, kind, indptr):
    X = csr(form=form)
    X.indptr = np.array(indptr, kind)
    with pytest.raises(DataError, match="never fall"):
        sp.Dataset(X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
@pytest.mark.parametrize("change", ["strided", "swapped", "unaligned"])
def test_parts_of_any_layout_are_read(form, part, change):
    X = getattr(sparse, f"{form}_array")(DENSE)
    array = getattr(X, part)
    odd = {
        "strided": np.repeat(array, 2)[::2],
        "swapped": array.astype(array.dtype.newbyteorder()),
        "unaligned": np.frombuffer(b"." + array.tobytes(), array.dtype, offset=1),
    }[change]
    setattr(X, part, odd)
    y = np.arange(4.0)
    params = {"min_child_samples": 1}
    model = sp.train(params, sp.Dataset(X, y), 2)
    assert model == sp.train(params, sp.Dataset(DENSE, y), 2)
    assert model.predict(X).tolist() == model.predict(DENSE).tolist()


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
@pytest.mark.parametrize("value", [None, [1.0, 2.0], np.ones((2, 2))])
def test_parts_that_are_no_arrays_of_one_dimension_are_refused(part, value):
    X = csr()
    setattr(X, part, value)
    with pytest.raises(DataError, match="damaged"):
        sp.Dataset(X)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"indices": (0, 2)}, "index 2 is out of range"),
        ({"indices": (0, -1)}, "index -1 is out of range"),
        ({"indices": (0, 2**40)}, "out of range"),
        ({"indices": (0.0, 1.0)}, "no whole numbers"),
        ({"indptr": (0, 2, 1)}, "never fall"),
        ({"indptr": (1, 1, 2)}, "start at 0"),
        ({"indptr": (0, 2)}, "indptr must be 3 numbers"),
        ({"indptr": (0, 1, 3)}, "counts 3 entries"),
        ({"data": (1.0,)}, "1 values"),
    ],
)
def test_a_damaged_matrix_is_refused_before_anything_is_done_with_it(form, damage, message):
    X = csr(**damage, form=form)
    model = sp.train({}, sp.Dataset(np.eye(2), np.arange(2.0)), 1)
    for use in (sp.Dataset, model.predict):
        with pytest.raises(DataError, match=message):
            use(X)


def test_a_damaged_coo_matrix_is_refused():
    X = sparse.coo_array(np.eye(3))
    X.coords = (np.array([0, 1, 7]), np.array([0, 1, 2]))
    with pytest.raises(DataError, match="row index 7 is out of range"):
        sp.Dataset(X)
    X.coords = (np.array([0, 1]), np.array([0, 1, 2]))
    with pytest.raises(DataError, match="2 rows, 3 columns"):
        sp.Dataset(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (sparse.csr_array(np.eye(2, dtype=complex)), DataError, "Complex data not supported"),
        (sparse.csr_array((0, 3)), DataError, "0 sample"),
        (sparse.csr_array((3, 0)), DataError, "0 feature"),
        (sparse.coo_array(np.array([1.0, 2.0])), DataError, "1 dimensions"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        sp.Dataset(X)


def test_more_columns_than_a_tree_can_name_are_refused():
    with pytest.raises(DataError, match="a Dataset can hold 1073741823"):
        sp.Dataset(sparse.csr_array((3, 2**31 + 5)))


def test_objects_are_refused():
    X = sparse.csr_array(np.eye(2))
    X.data = np.array([1.0, "a"], dtype=object)
    with pytest.raises(DataTypeError, match="dtype object"):
        sp.Dataset(X)


def test_a_sparse_target_is_refused():
    with pytest.raises(DataTypeError, match=r"y\.toarray\(\)"):
        sp.Dataset(np.eye(3), sparse.csr_array(np.ones((3, 1))))


def test_a_sparse_margin_is_refused():
    data = sp.Dataset(np.eye(3), np.arange(3.0))
    model = sp.train({"objective": "softmax", "num_class": 3}, data, 1)
    with pytest.raises(DataTypeError, match="sparse"):
        model.predict(np.eye(3), base_margin=sparse.csr_array(np.eye(3)))


def test_infinite_entries_are_refused_by_column():
    X = sparse.csr_array(np.array([[0.0, 1.0], [np.inf, 2.0]]))
    with pytest.raises(DataError, match="column 0 holds an infinite value"):
        sp.Dataset(X)
    with pytest.raises(DataError, match='column "a" holds an infinite value'):
        sp.Dataset(X, names=["a", "b"])
    model = sp.train({}, sp.Dataset(np.eye(2), np.arange(2.0)), 1)
    with pytest.raises(DataError, match="column 0 holds an infinite value"):
        model.predict(X)


def test_another_number_of_columns_is_refused_at_prediction():
    model = sp.train({}, sp.Dataset(sparse.csr_array(np.eye(3)), np.arange(3.0)), 1)
    with pytest.raises(DataError, match="X has 2 features"):
        model.predict(sparse.csr_array(np.eye(2)))
