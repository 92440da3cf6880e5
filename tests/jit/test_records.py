"""Records: fields under one name, checked once, the same in machine code and as plain Python."""

import numpy as np
import pytest

from spinney.errors import KernelArgumentError
from spinney.jit import Member, compiler, f64, i32, i64, inline, item, kernel, library, out, record, allocate
from spinney.jit.kernel import REGISTRY
from spinney.jit.team import run_alone

APART = 2


@item
class Spot:
    seen: i64
    weight: f64


@record
class Line:
    count: i64
    spots: out(Spot["count"])
    steps: i32["APART * count"]


@record
class Field:
    factor: f64
    line: Line
    total: out(f64["line.count + more"])


@inline
def visit(spot, by):
    spot.seen += by
    spot.weight = spot.weight + 0.5


@inline
def visit_all(line):
    for i in range(line.count):
        visit(line.spots[i], np.int64(line.steps[APART * i]))


@kernel
def walk_field(team: Member, more: i64, field: Field):
    own = Line(field.line.count, field.line.spots, field.line.steps)
    visit_all(own)
    for i in range(team.rank, field.line.count, team.size):
        field.total[i] = field.factor * field.line.spots[i].weight


@pytest.fixture(autouse=True, scope="module")
def _forgotten():
    yield
    del REGISTRY["walk_field"]


def given(count=3, more=1, **changed):
    line = (
        allocate(Line, count=count, steps=np.arange(APART * count, dtype=np.int32))
        if count
        else changed["line"]
    )
    values = {"factor": 2.0, "line": line} | changed
    return more, allocate(Field, **values, more=more)


def expected(count=3):
    return [2.0 * 0.5] * count + [0.0], list(range(0, APART * count, APART))


def check(field):
    assert (field.total.tolist(), field.line.spots.seen.tolist()) == expected(field.line.count)


def test_a_record_runs_as_plain_python():
    more, field = given()
    job = walk_field.bind(more, field)
    library._python_call(walk_field, job.arguments)(0, 1, np.zeros(32, np.int64))
    check(field)


def test_a_record_runs_as_numba_compiles_it_for_arrays():
    more, field = given()
    job = walk_field.bind(more, field)
    library._jit_call(walk_field, job.arguments)(0, 1, np.zeros(32, np.int64))
    check(field)


def test_a_record_is_passed_field_by_field():
    names = list(walk_field.arguments)
    assert names == [
        "rank", "size", "sync", "more", "field_factor", "field_line_count", "field_line_spots", "field_line_steps",
        "field_total",
    ]  # fmt: skip
    assert walk_field.is_team
    # Nothing is left of the names: arguments of machine code are numbers and pointers.
    text = compiler._internal_ir(walk_field)
    entry = next(
        line for line in text.splitlines() if line.startswith("define") and walk_field.symbol in line
    )
    assert entry.count("%") == 2 + len(names)


def refusal(more, field):
    with pytest.raises(KernelArgumentError) as caught:
        walk_field.bind(more, field)
    return str(caught.value)


def test_what_does_not_fit_is_refused_under_its_full_name():
    more, field = given()
    field.line.steps = field.line.steps.astype(np.int64)
    assert "kernel walk_field: field.line.steps must hold int32, got int64" in refusal(more, field)
    more, field = given()
    field.line.steps = field.line.steps[:-1]
    assert "field.line.steps must hold APART * count = 6 items, got 5" in refusal(more, field)
    more, field = given()
    field.line.spots = np.zeros(3, [("seen", np.int64), ("other", np.float64)])
    assert "field.line.spots must hold Spot" in refusal(more, field)
    more, field = given()
    field.line.spots.flags.writeable = False
    assert "field.line.spots is written by the kernel but read-only" in refusal(more, field)
    more, field = given()
    field.factor = "two"
    assert "field.factor must be float64, got str" in refusal(more, field)
    more, field = given()
    assert "field must be a Field, got Line" in refusal(more, field.line)
    assert "field.total must hold line.count + more = 5 items, got 4" in refusal(2, field)


def test_room_is_made_for_what_is_not_given():
    field = given()[1]
    assert field.total.tolist() == [0.0] * 4
    assert field.line.spots.dtype == Spot.dtype
    with pytest.raises(TypeError, match=r"Line\.count must be given"):
        allocate(Line)


def test_a_field_without_a_kernel_type_is_refused():
    with pytest.raises(TypeError, match=r"Untyped\.count: not a type that a kernel takes"):

        @record
        class Untyped:
            count: int


@pytest.mark.kernels
def test_the_package_s_records_are_written_where_they_are_told():
    from spinney.growth.kernels.proposal import move_codes

    moved = np.zeros(4, np.int32)
    run_alone(move_codes.bind(4, 3, np.array([2, 0, 1, 1], np.int32), np.array([7, 8, 9], np.int32), moved))
    assert moved.tolist() == [9, 7, 8, 8]
