"""What the kernel of shuffled columns takes."""

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
class Asked:
    """Columns that some node asks for. A row's values of them make a line, and nodes know columns by their place in it."""

    columns: i64
    missing: i64  # whether a value may be missing
    column: i64["columns"]
    group: i32["columns"]  # that is shuffled with the column, or -1


@record
class Groups:
    """Columns that are shuffled together. `pair` numbers the pairs of a tree and a group that it asks for; -1 for others."""

    groups: i64
    members: i64
    trees: i64
    pairs: i64
    start: i64["groups + 1"]
    place: i64["members"]
    pair: i32["trees * groups"]


@record
class Shuffled:
    """Values of the groups' columns in other orders, and scores of all rows then: by group, repeat, member or output, and row."""

    rows: i64
    repeats: i64
    outputs: i64
    members: i64
    groups: i64
    values: f64["members * repeats * rows"]
    scores: out(f64["groups * repeats * outputs * rows"])


@record(per_thread=True)
class Desk:
    """A thread's own memory for a block of rows.

    Of every pair of a tree and a group it lists the rows that meet the group in the tree, and the node where they first do.
    """

    columns: i64
    values: i64
    width: i64
    pairs: i64
    groups: i64
    lines: out(f64["columns * BLOCK"])
    said: out(f64["values * BLOCK"])
    moved: out(f64["width * BLOCK"])
    many: out(i64["pairs"])
    listed: out(i64["pairs * BLOCK"])
    met: out(i64["groups"])
