"""The records of the kernel of shuffled columns."""

from spinney.jit import f64, i32, i64, out, record

BLOCK = 256  # rows


@record
class SomeTrees:
    """Trees side by side, packed as in `model.kernels.walk`. A node has `width` values, for outputs `output` and on."""

    trees: i64
    nodes: i64
    words: i64
    width: i64
    starts: i64["trees + 1"]
    output: i64["trees"]
    packed: i64["2 * nodes"]
    sets: i64["words"]
    value: f64["nodes * width"]


@record
class UsedColumns:
    """Columns that some node splits by. In packed nodes a column is its position among these."""

    columns: i64
    missing: i64  # whether a value may be missing
    column: i64["columns"]
    group: i32["columns"]  # group with which the column is shuffled, or -1


@record
class Groups:
    """Columns that are shuffled together. `pair` numbers the pairs of a tree and a group that it splits by; -1 for others."""

    groups: i64
    members: i64
    trees: i64
    pairs: i64
    start: i64["groups + 1"]
    place: i64["members"]
    pair: i32["trees * groups"]


@record
class Shuffled:
    """Shuffled values of the groups' columns, and scores of all rows with them: by group, repeat, member or output, row."""

    rows: i64
    repeats: i64
    outputs: i64
    members: i64
    groups: i64
    values: f64["members * repeats * rows"]
    scores: out(f64["groups * repeats * outputs * rows"])


@record(per_thread=True)
class ShuffleScratch:
    """A thread's memory for a block of rows.

    For every pair of a tree and a group it lists the rows whose path in the tree splits by the group, and the first such node.
    """

    columns: i64
    values: i64
    width: i64
    pairs: i64
    groups: i64
    row_values: out(f64["columns * BLOCK"])
    unshuffled: out(f64["values * BLOCK"])
    moved: out(f64["width * BLOCK"])
    counts: out(i64["pairs"])
    listed: out(i64["pairs * BLOCK"])
    visited: out(i64["groups"])
