"""A kernel is a raw call into machine code: what does not fit its signature must be refused before."""

import numpy as np
import pytest

from spinney.errors import KernelArgumentError
from spinney.jit import f32, f64, i32, i64, kernel, out, u8, u64
from spinney.jit.kernel import REGISTRY
from spinney.jit.team import Team, run_alone


@kernel
def double_all(
    rows: i64, columns: i64, factor: f64, values: f64["rows * columns"], result: out(f64["rows * columns"])
):
    for i in range(rows * columns):
        result[i] = values[i] * factor


@kernel
def many_types(a: i32, b: u64, c: u8, d: f32, bytes_: u8["max(a, 0)"], words: i32["2"]):
    """Never runs."""


@kernel
def for_a_team(rank: i64, size: i64, sync: out(i64["32"]), rows: i64, result: out(i64["rows"])):
    for i in range(rank, rows, size):
        result[i] = rank


def arguments(**changed):
    given = {"rows": 2, "columns": 3, "factor": 2.0, "values": np.arange(6.0), "result": np.zeros(6)}
    return (given | changed).values()


def refusal(bound_kernel, given):
    with pytest.raises(KernelArgumentError) as caught:
        bound_kernel.bind(*given)
    assert isinstance(caught.value, TypeError)
    return str(caught.value)


def test_fitting_arguments_are_taken():
    double_all.bind(*arguments())
    double_all.bind(*arguments(values=np.zeros((2, 3)), result=np.zeros((3, 2))))
    double_all.bind(*arguments(rows=np.int32(2), columns=np.uint8(3), factor=np.float32(0.5)))
    double_all.bind(*arguments(factor=7))
    double_all.bind(*arguments(rows=0, values=np.empty(0), result=np.empty((0, 3))))


@pytest.mark.parametrize("name", ["values", "result"])
@pytest.mark.parametrize("wrong", ["float32", "int64", ">f8", "bool", "complex128", "object"])
def test_an_array_of_another_dtype_is_refused(name, wrong):
    message = refusal(double_all, arguments(**{name: np.zeros(6, wrong)}))
    assert f"kernel double_all: {name} must hold float64" in message


@pytest.mark.parametrize("name", ["values", "result"])
@pytest.mark.parametrize("wrong", [[0.0] * 6, None, 1.0, memoryview(np.zeros(6)), "values", np.float64(3.0)])
def test_what_is_no_array_is_refused(name, wrong):
    assert f"{name} must be a NumPy array" in refusal(double_all, arguments(**{name: wrong}))


@pytest.mark.parametrize("name", ["values", "result"])
@pytest.mark.parametrize("size", [0, 5, 7, 12])
def test_an_array_of_another_size_is_refused(name, size):
    message = refusal(double_all, arguments(**{name: np.zeros(size)}))
    assert f"{name} must hold rows * columns = 6 items, got {size}" in message


@pytest.mark.parametrize("name", ["values", "result"])
def test_an_array_that_is_not_contiguous_is_refused(name):
    for wrong in (np.zeros(12)[::2], np.zeros((3, 2)).T, np.zeros((2, 4))[:, :3], np.zeros(6)[::-1]):
        assert "must be C-contiguous" in refusal(double_all, arguments(**{name: wrong}))


@pytest.mark.parametrize("name", ["values", "result"])
def test_an_array_that_is_not_aligned_is_refused(name):
    crooked = np.zeros(6 * 8 + 1, np.uint8)[1:].view(np.float64)
    assert "aligned" in refusal(double_all, arguments(**{name: crooked}))


def test_only_what_the_kernel_writes_must_be_writable():
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    double_all.bind(*arguments(values=fixed))
    assert "result is written by the kernel but read-only" in refusal(double_all, arguments(result=fixed))


@pytest.mark.parametrize("wrong", [2.0, "2", None, True, np.float64(2), np.array(2), 2 + 0j, np.bool_(True)])
def test_a_whole_number_must_be_one(wrong):
    assert "rows must be int64, got" in refusal(double_all, arguments(rows=wrong))


@pytest.mark.parametrize("wrong", ["2.0", None, True, 1j, np.array(2.0), np.bool_(False)])
def test_a_number_must_be_one(wrong):
    assert "factor must be float64, got" in refusal(double_all, arguments(factor=wrong))


def test_a_number_beyond_its_type_is_refused():
    words, none = np.zeros(2, np.int32), np.zeros(0, np.uint8)
    many_types.bind(0, 2**64 - 1, 255, 1.0, none, words)
    many_types.bind(-(2**31), 0, 0, -1, none, words)
    for place, wrong in ((0, 2**31), (0, -(2**31) - 1), (1, 2**64), (1, -1), (2, 256), (2, -1), (3, 10**400)):
        given = [0, 0, 0, 0.0, none, words]
        given[place] = wrong
        refusal(many_types, given)
    refusal(double_all, arguments(rows=2**63))


def test_a_negative_size_fits_no_array():
    assert "= -3 items" in refusal(double_all, arguments(rows=-1, values=np.empty(0)))


@pytest.mark.parametrize("given", [(), (2, 3), (*arguments(), 1)])
def test_the_number_of_arguments_must_be_right(given):
    assert f"takes 5 arguments, got {len(given)}" in refusal(double_all, given)


def test_a_call_checks_as_bind_does():
    with pytest.raises(KernelArgumentError):
        double_all(*arguments(values=np.zeros(5)))


def test_a_team_adds_the_first_three_arguments():
    assert "takes 2 arguments, got 5" in refusal(
        for_a_team, (0, 1, np.zeros(32, np.int64), 4, np.zeros(4, np.int64))
    )
    assert for_a_team.is_team
    assert not double_all.is_team


def test_a_size_is_an_expression_over_the_scalars_and_nothing_else():
    @kernel
    def reaches_out(count: i64, values: f64["__import__(count)"]):
        """Never runs."""

    with pytest.raises(NameError):
        reaches_out.bind(1, np.zeros(1))


def test_two_modules_cannot_name_a_kernel_alike():
    def namesake(count: i64):
        """Never runs."""

    kernel(namesake)
    kernel(namesake)
    namesake.__module__ = "another"
    with pytest.raises(ValueError, match="two kernels are called namesake"):
        kernel(namesake)
    del REGISTRY["namesake"]


def test_an_argument_without_a_kernel_type_is_refused():
    @kernel
    def untyped(count: int):
        """Never runs."""

    with pytest.raises(TypeError, match="not a kernel type"):
        untyped.bind(1)


@pytest.mark.kernels
def test_the_package_s_kernels_write_where_they_are_told():
    from spinney.objectives.kernels.links import log_all, sigmoid_all

    given, result = np.array([0.0, 1.0, np.e, np.nan]), np.zeros((2, 2))
    log_all(4, given, result)
    assert result[0, 0] == -np.inf
    assert result[0, 1] == 0.0
    assert np.isclose(result[1, 0], 1.0)
    assert np.isnan(result[1, 1])
    given.flags.writeable = False
    run_alone(sigmoid_all.bind(4, given, result))
    assert result[0, 0] == 0.5
    with Team(3) as team:
        again = np.zeros(4)
        team.run(sigmoid_all.bind(4, given, again))
    assert again.tobytes() == result.tobytes()
    none = np.zeros(0)
    none.flags.writeable = False
    log_all(0, none, np.zeros(0))
