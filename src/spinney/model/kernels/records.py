"""The records that the kernels of prediction share."""

from spinney.jit import f32, f64, i32, i64, out, record

LANES = 8  # walks at the same time


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
    """Rows of stored entries. `place` is the position of a column among the used ones, which some node splits by, or -1."""

    rows: i64
    columns: i64
    used: i64
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
    """The paths of a row of absent values down all trees, their nodes grouped by the column that they split by."""

    path_nodes: i64
    rest: i32["forest.trees"]  # leaf of this row
    ends: i64["forest.trees + 1"]  # nodes on the paths of the trees before
    starts: i64["table.used + 1"]
    tree: i32["path_nodes"]
    node: i32["path_nodes"]
    next_node: i32["path_nodes"]


@record(per_thread=True)
class ValueFlags:
    """What a thread has found among the values of its rows: 1 for missing values, 2 for infinite ones (see each kernel)."""

    flags: out(i64["1"])


@record(per_thread=True)
class EntryBatch:
    """A thread's memory for a batch of rows of entries (see `sparse`)."""

    batch: i64
    trees: i64
    used: i64
    lines: out(f64["batch * used"])
    node_at: out(i32["batch * trees"])
    moved_rows: out(i64["batch * trees + LANES"])


@record
class EntryOutput:
    """Scores of the rows, or leaves, or both: `scored` and `numbered` are numbers of rows, 0 for what is not needed."""

    outputs: i64
    scored: i64
    numbered: i64
    scores: out(f64["scored * outputs"])
    leaves: out(i32["numbered * batch.trees"])
