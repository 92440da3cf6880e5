"""The records that the kernels of isolation trees share."""

from spinney.jit import Counter, f64, i32, i64, item, out, record, u8


@record
class Samples:
    """The values of the rows of some trees, side by side, or the stored entries of a sparse table.

    A tree's *candidates* are the columns that were drawn for it.
    """

    trees: i64
    rows: i64  # of each tree
    columns: i64
    candidates: i64  # of all trees
    dense: i64  # 1: values side by side
    entries: i64
    absent: f64  # value of an entry that is not stored
    values: f64["dense * trees * rows * columns"]
    starts: i64["trees + 1"]  # candidates of each tree
    column: i32["candidates"]
    entry_starts: i64["(candidates + 1) * (1 - dense)"]
    entry_row: i32["entries"]  # place among the rows of its tree
    entry_value: f64["entries"]
    categories: i64["columns"]  # how many a column has, 0: it holds numbers
    seeds: i64["trees"]


@record
class IsolationTrees:
    """Nodes of some trees, one tree after another; node 0 is the root, a right child follows the left one."""

    max_nodes: i64
    max_depth: i64
    max_sets: i64
    words: i64  # of a set of categories
    feature: out(i32["samples.trees * max_nodes"])
    threshold: out(f64["samples.trees * max_nodes"])
    left: out(i32["samples.trees * max_nodes"])
    default_left: out(u8["samples.trees * max_nodes"])
    count: out(i64["samples.trees * max_nodes"])
    set_node: out(i64["samples.trees * max_sets"])
    set_bits: out(i64["samples.trees * max_sets * words"])
    nodes: out(i64["samples.trees"])
    sets: out(Counter["samples.trees"])


@item
class PendingSplit:
    """A node that is to be split: its rows, and the candidates that may still split them, a range of `list`."""

    begin: i64
    end: i64
    node: i64
    depth: i64
    key: i64
    first_candidate: i64
    candidate_count: i64


@record(per_thread=True)
class IsolationScratch:
    """A thread's own memory."""

    candidates: i64  # most of a tree
    stack: out(PendingSplit["grown.max_depth + 2"])
    current: out(PendingSplit["1"])
    order: out(i32["samples.rows"])  # rows by node
    place: out(i32["samples.rows"])  # position of each row in `order`
    spare: out(i32["samples.rows"])
    values: out(f64["samples.rows"])  # of a column, in the order of `order`
    list: out(i32["(grown.max_depth + 2) * candidates"])
    seen: out(i64["grown.words"])  # categories of a node
    set: out(i64["grown.words"])  # that of the node being split
