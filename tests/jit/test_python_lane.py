"""Kernels as plain Python behave as compiled ones do, and are stricter about what those would do silently."""

import numpy as np
import pytest

from spinney.jit import f64, i32, i64, kernel, library, out, u8


@pytest.fixture(autouse=True)
def plain_python(monkeypatch):
    monkeypatch.setattr(library, "_runtime", library.Runtime("python"))


@kernel
def pick(count: i64, at: i64, values: u8["count"], result: out(i64["1"])):
    result[0] = values[at] + 1000


@kernel
def put(count: i64, at: i64, result: out(i32["count"])):
    result[at] = 7


@kernel
def divide(count: i64, by: f64, result: out(f64["count"])):
    for i in range(count):
        result[i] = result[i] / by


def test_small_whole_numbers_grow_as_they_do_in_machine_code():
    result = np.zeros(1, np.int64)
    pick(3, 2, np.array([1, 2, 255], np.uint8), result)
    assert result[0] == 1255


@pytest.mark.parametrize("at", [-1, -3, 3])
def test_an_index_outside_is_an_error(at):
    with pytest.raises(IndexError):
        pick(3, at, np.zeros(3, np.uint8), np.zeros(1, np.int64))
    with pytest.raises(IndexError):
        put(3, at, np.zeros(3, np.int32))


def test_arrays_of_any_shape_are_flat():
    table = np.zeros((2, 2), np.int32)
    put(4, 3, table)
    assert table.tolist() == [[0, 0], [0, 7]]


def test_a_division_by_zero_is_no_error_and_leaves_the_user_s_settings():
    result = np.array([1.0, 0.0])
    with np.errstate(all="raise"):
        divide(2, 0.0, result)
        assert np.geterr()["divide"] == "raise"
    assert result[0] == np.inf
    assert np.isnan(result[1])


def test_a_whole_number_given_for_a_real_one_becomes_real():
    result = np.array([1.0])
    divide(1, 0, result)
    assert result[0] == np.inf
