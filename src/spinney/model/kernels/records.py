"""What the kernels of prediction share."""

from spinney.jit import f32, f64, i32, i64, out, record

LANES = 8  # walks that go on at once


@record
class PackedForest:
    """All trees of a forest; see `walk` for how their nodes are packed."""

    trees: i64
    nodes: i64
    words: i64
    starts: i64["trees + 1"]
    depths: i64["trees"]
    packed: i64["2 * nodes"]
    sets: i64["words"]
    value: f64["nodes"]


@record
class Values:
    """Rows of values: float32 or float64, the other one is empty."""

    rows: i64
    columns: i64
    row_step: i64
    column_step: i64
    span32: i64
    span64: i64
    values32: f32["span32"]
    values64: f64["span64"]


@record
class StoredRows:
    """Rows of stored entries, and where the columns that some node asks for stand in a line."""

    rows: i64
    columns: i64
    asked: i64
    entries: i64
    span32: i64
    span64: i64
    absent: f64
    row_starts: i64["rows + 1"]
    indices: i32["entries"]
    values32: f32["span32"]
    values64: f64["span64"]
    place: i32["columns"]


@record
class Paths:
    """The paths of a row of absent values down all trees, their nodes by the column that they ask for."""

    asks: i64
    rest: i32["forest.trees"]  # where the row comes to rest
    ends: i64["forest.trees + 1"]  # nodes of the paths of the trees before
    starts: i64["table.asked + 1"]
    tree: i32["asks"]
    node: i32["asks"]
    onward: i32["asks"]


@record(per_thread=True)
class Seen:
    """A thread's own note of what it has met among the values of its rows."""

    met: out(i64["1"])


@record(per_thread=True)
class Batch:
    """A thread's own memory for a batch of rows."""

    batch: i64
    trees: i64
    asked: i64
    lines: out(f64["batch * asked"])
    where: out(i32["batch * trees"])
    movers: out(i64["batch * trees + LANES"])


@record
class Wanted:
    """Scores of the rows, or leaves, or both: `scored` and `numbered` are rows, or 0 where they are not wanted."""

    outputs: i64
    scored: i64
    numbered: i64
    scores: out(f64["scored * outputs"])
    leaves: out(i32["numbered * batch.trees"])
