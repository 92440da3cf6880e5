"""The records that the kernels of prediction share: those of nodes that are packed, then those of compact forests."""

from spinney.jit import f32, f64, i32, i64, out, record, u8, u16, u32

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


# --- Compact forests. Arrays that are kept in the narrowest possible type come as one array for each type, of which all but one
# are empty.


BLOCK = 256  # rows whose leaves are found before the values of leaves are added


@record
class CompactTrees:
    """The splits of a compact forest; `place` is the position of each column among the codes of a row."""

    trees: i64
    splits: i64
    sets: i64
    words: i64
    columns: i64
    columns16: i64
    columns32: i64
    cuts16: i64
    cuts32: i64
    split_start: i64["trees + 1"]
    leaf_start: i64["trees + 1"]
    column16: u16["columns16"]
    column32: u32["columns32"]
    cut16: u16["cuts16"]
    cut32: u32["cuts32"]
    default_left: u8["splits"]
    children: i32["2 * splits"]
    set_start: i64["sets + 1"]
    set_bits: i64["words"]
    place: i32["columns"]


@record
class CompactLeafValues:
    """The values of all leaves; `shares` is 1 if they are divided by the leaf's weight."""

    leaves: i64
    values: i64
    shares: i64
    value_span8: i64
    value_span16: i64
    value_span32: i64
    value_span64: i64
    weight_span8: i64
    weight_span16: i64
    weight_span32: i64
    weight_span64: i64
    value8: u8["value_span8"]
    value16: u16["value_span16"]
    value32: u32["value_span32"]
    value64: f64["value_span64"]
    weight8: u8["weight_span8"]
    weight16: u16["weight_span16"]
    weight32: u32["weight_span32"]
    weight64: f64["weight_span64"]


@record
class UsedCuts:
    """The cuts of the used columns, which some split uses; a categorical column has none."""

    used: i64
    cuts: i64
    column: i32["used"]  # ascending
    categorical: u8["used"]
    start: i64["used + 1"]
    cut: f64["cuts"]


@record
class CodedRows:
    """Rows of codes: a place for each used column, or two if values are missing (see `compact_walk`).

    The number of rows is rounded up to a multiple of eight.
    """

    rows: i64
    width: i64
    copies: i64
    top: i64
    span8: i64
    span16: i64
    span32: i64
    codes8: out(u8["span8"])
    codes16: out(u16["span16"])
    codes32: out(i32["span32"])


@record(per_thread=True)
class CutSearch:
    """A thread's memory to search the cuts of a column for a block of values."""

    values: out(f64["BLOCK"])
    first: out(i64["BLOCK"])


@record(per_thread=True)
class CompactScratch:
    """A thread's memory for the nodes of a tree of `most` splits, and for the leaves of a block of rows."""

    most: i64
    nodes: out(i64["2 * most + 1"])
    leaf_at: out(i32["2 * most + 1"])
    position: out(i32["most + 1"])
    found: out(i32["BLOCK"])


@record
class LeafOutput:
    """Sums of values of the rows, or numbers of their leaves: `summed` and `numbered` are numbers of rows, 0 if not needed.

    Trees first..last-1 are walked. A row has the leaves of `many` trees, of which tree `begin` is the first.
    """

    first: i64
    last: i64
    begin: i64
    many: i64
    summed: i64
    numbered: i64
    sums: out(f64["summed * leaves.values"])
    numbers: out(i32["numbered * many"])
