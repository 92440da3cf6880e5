"""The records of the kernels that inspect a forest."""

from spinney.jit import f64, i32, i64, out, record, u8


@record
class LeafEntries:
    """Training rows of all leaves, how often each counts, and their weights, if they have any."""

    leaves: i64
    entries: i64
    weights: i64
    start: i64["leaves + 1"]
    rows: i32["entries"]
    counts: u8["entries"]
    weight: f64["weights"]


@record
class Ranked:
    """Targets of the training rows, ascending, and the rank of every row among them."""

    rows: i64
    targets: f64["rows"]
    rank: i32["rows"]


@record(per_thread=True)
class Masses:
    """A thread's memory: the mass that a prediction gives to every target, and the ranks whose mass is above 0."""

    rows: i64
    mass: out(f64["rows"])
    touched: out(i32["rows"])


@record
class PlainTree:
    """A tree of a compact forest: thresholds of its splits, and where the words of their sets begin, -1 without a set."""

    splits: i64
    words: i64
    column: i32["splits"]
    threshold: f64["splits"]
    set_at: i64["splits"]
    default_left: u8["splits"]
    children: i32["2 * splits"]
    set_bits: i64["words"]


@record
class Shuffles:
    """Rows among which some columns are shuffled, the order of each column, and the leaf of each row before and after.

    `place` is the number of each column of the table among the shuffled ones, or -1.
    """

    rows: i64
    columns: i64
    table_columns: i64
    row: i64["rows"]
    column: i64["columns"]
    place: i32["table_columns"]
    orders: i32["columns * rows"]
    before: out(i32["rows"])
    leaves: out(i32["columns * rows"])


@record(per_thread=True)
class OnPath:
    """A thread's memory: which of the shuffled columns are on the path of a row."""

    columns: i64
    visited: out(i64["columns"])
    listed: out(i32["columns"])
