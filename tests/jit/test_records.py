"""Records: fields under one name, checked once, the same in machine code and as plain Python."""

import numpy as np
import pytest

from spinney.errors import KernelArgumentError
from spinney.jit import (
    Member,
    allocate,
    compiler,
    f64,
    i32,
    i64,
    inline,
    item,
    kernel,
    library,
    out,
    own,
    record,
)
from spinney.jit.barrier import CELLS, Counter
from spinney.jit.intrinsics import atomic_add
from spinney.jit.kernel import REGISTRY
from spinney.jit.records import of_thread
from spinney.jit.team import run_alone
from spinney.jit.types import LINE

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
    library._python_call(walk_field, job.arguments)(0, 1, np.zeros(CELLS, np.int64))
    check(field)


def test_a_record_runs_as_numba_compiles_it_for_arrays():
    more, field = given()
    job = walk_field.bind(more, field)
    library._jit_call(walk_field, job.arguments)(0, 1, np.zeros(CELLS, np.int64))
    check(field)


def test_a_record_is_passed_field_by_field():
    names = list(walk_field.arguments)
    assert names == [
        "rank", "size", "sync", "more", "field_factor", "field_line_count", "field_line_spots", "field_line_steps",
        "field_total",
    ]  # fmt: skip
    assert walk_field.is_team
    assert list(walk_field.packed) == names[3:]
    # Machine code of every kernel has places for Numba's result and exception, rank, size, meeting place and packed arguments.
    text = compiler._internal_ir(walk_field)
    entry = next(
        line for line in text.splitlines() if line.startswith("define") and walk_field.symbol in line
    )
    assert entry.count("%") == 2 + 4


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


# --- memory of each thread


@item
class Odd:
    a: i64
    b: f64
    c: i64


@record(per_thread=True)
class Scratch:
    count: i64
    few: out(i64["1"])
    odd: out(Odd["count"])
    many: out(i32["3 * count + more"])


@kernel
def fill_scratch(team: Member, more: i64, scratch: Scratch):
    mine = own(scratch, team.rank)
    mine.few[0] = team.rank + 1
    for i in range(scratch.count):
        mine.odd[i].a = team.rank
        mine.odd[i].b = 0.5
        mine.odd[i].c = i
    for i in range(3 * scratch.count + more):
        mine.many[i] = 1000 * team.rank + i


@pytest.fixture(autouse=True, scope="module")
def _scratch_forgotten():
    yield
    del REGISTRY["fill_scratch"]


def check_scratch(scratch, threads, more):
    for rank in range(threads):
        mine = of_thread(scratch, rank)
        assert mine.few.tolist() == [rank + 1]
        assert mine.odd.a.tolist() == [rank] * scratch.count
        assert mine.odd.c.tolist() == list(range(scratch.count))
        assert mine.many.tolist() == [1000 * rank + i for i in range(3 * scratch.count + more)]


RUN = {
    "python": lambda job: library._python_call(fill_scratch, job.arguments),
    "compiled": lambda job: library._jit_call(fill_scratch, job.arguments),
}


@pytest.mark.parametrize("run", RUN.values(), ids=RUN)
@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_each_thread_has_its_own_part_of_a_per_thread_record(run, count):
    scratch = allocate(Scratch, threads=3, count=count, more=2)
    call = run(fill_scratch.bind(2, scratch))
    for rank in range(3):
        call(rank, 3, np.zeros(CELLS, np.int64))
    check_scratch(scratch, 3, 2)


def test_no_two_threads_share_a_cache_line():
    scratch = allocate(Scratch, threads=3, count=5, more=0)
    seen = []
    for rank in range(3):
        mine = of_thread(scratch, rank)
        lines = set()
        for array in (mine.few, mine.odd, mine.many):
            first = array.__array_interface__["data"][0]
            lines |= set(range(first // LINE, (first + array.nbytes - 1) // LINE + 1))
        seen.append(lines)
    assert len(seen[0] | seen[1] | seen[2]) == sum(map(len, seen))
    # Each arena begins on a line, and nothing but padding is added.
    assert scratch.few.__array_interface__["data"][0] % LINE == 0
    assert scratch.thread_bytes < 8 + 5 * 24 + 15 * 4 + 3 * 64 + np.lcm(LINE, 24)


def test_what_is_given_for_one_thread_is_given_to_all():
    scratch = allocate(Scratch, threads=2, count=1, more=0, many=np.array([7, 8, 9]))
    assert [of_thread(scratch, rank).many.tolist() for rank in (0, 1)] == [[7, 8, 9]] * 2


def test_a_team_larger_than_a_per_thread_record_is_refused():
    job = fill_scratch.bind(0, allocate(Scratch, threads=2, count=1, more=0))
    with pytest.raises(KernelArgumentError, match="fill_scratch has memory for 2 threads, and runs on 3"):
        job(0, 3, np.zeros(CELLS, np.int64))


def test_arrays_of_a_per_thread_record_must_have_its_sizes():
    scratch = allocate(Scratch, threads=2, count=1, more=0)
    with pytest.raises(KernelArgumentError, match=r"scratch\.many must hold 3 \* count \+ more = "):
        fill_scratch.bind(1, scratch)
    with pytest.raises(NameError, match="count"):
        allocate(Scratch, threads=2, more=0)


def test_items_of_their_own_line_are_a_line_apart():
    counters = Counter.zeros(3)
    assert counters.dtype.itemsize == LINE
    assert counters.__array_interface__["data"][0] % LINE == 0
    assert atomic_add(counters, 1, 5) == 0
    assert atomic_add(counters, 1, -2) == 5
    assert counters.value.tolist() == [0, 3, 0]
