"""The records that the kernels of a growing forest share.

The rows of a tree are *records* side by side in memory: the codes of the row, a byte each, its number, weight and target. A split
moves records, both sides in the order of the table. So the rows of a node are always one range, which is read from front to back,
and a deep node is in cache whole. With more than 128 columns, more than 256 codes or sparse columns, records have no codes; these
are looked up by the row's number.
"""

import numpy as np

from spinney.jit import Counter, f64, i32, i64, inline, item, out, record, u8, u16

PAYLOAD = 3  # int32 at the end of a record: number of the row, weight, target
ROW = 3  # places of these, counted back from a record's end
WEIGHT = 2
TARGET = 1
STACK = 64  # nodes that can be pending: the larger child is, so their sizes halve
BATCH = 4  # columns whose cells are summed in one pass
CHOSEN = 8  # most columns of a small node that are searched together
DRAWN = 32  # columns whose drawn cuts are scored in one pass
# Rows of a node up to which their values are compared with drawn numbers: with 8, 12 and 16 trees of numbers take 48.5, 47.5 and
# 47.9 ms, those of two classes as long as each other (100 000 × 28, AMD EPYC).
COMPARED_ROWS = 12
SEARCHED = 256  # values behind the last one that a search may read
SLACK = 320  # words behind the last record: sixteen records are read at once
PLACES = 16  # that the threshold of a drawn cut can have in the gap between two values, a power of two
# Rows of a small node, which are sorted by code: as many as the largest sorting network takes; fewer were not measured.
SMALL_NODE_ROWS = 64
POOL = 256  # subtrees that can wait for another thread

# Where the codes of a record are
MOVED = 0  # a byte each, in the record
BYTES = 1  # in the table, a byte each
PAIRS_OF_BYTES = 2  # in the table, two bytes each
RANKS = 3  # in a table of ranks, four bytes each

# Formulas of impurity
SQUARES = 0  # sum of squares over weight: Gini's impurity, squared error
LOGS = 1  # sum of x log(x / weight): entropy
POISSON = 2  # the same for sums of numbers that must be above 0
ABSOLUTE = 3  # absolute error around the median


# --- Inputs of trees


@record
class RowCodes:
    """Codes by row in other layouts: the table's bytes as words of eight, and the rank of every value among the distinct values
    of its column. The rank of a missing value is the number of these. Entries have the column and the bin itself.
    """

    word_count: i64
    words: i64["word_count"]
    ranked: i64  # rows with ranks, 0: none
    columns: i64
    ranks: i32["ranked * columns"]
    listed: i64  # entries of sparse columns, row after row
    entry_columns: i32["listed"]
    entry_bins: u16["listed"]


@record
class BinValues:
    """A value for each bin, by column; for a rank, the value itself."""

    columns: i64
    total: i64
    starts: i64["columns + 1"]
    values: f64["total"]
    codes: i64["columns"]  # bins or distinct values, and the code of missing ones


@record
class Target:
    """The targets, which are class numbers, or numbers in steps, and the weights of rows."""

    rows: i64
    outputs: i64
    channels: i64  # sums that a node has beside its weight
    classes: i64  # 1: targets are classes
    weighted: i64  # 1: rows have weights
    values: i64  # numbers that a leaf has
    steps: i32["rows * outputs"]  # a class's number, or a number in steps
    first: i64["outputs"]  # the first value of each output
    numbers: f64["rows * outputs * (1 - classes)"]
    centers: f64["outputs"]  # the number that 0 steps stand for, and the size of a step
    units: f64["outputs"]
    weights: f64["rows * weighted"]


@record
class ForestRules:
    """All parameters of trees."""

    columns: i64
    trees: i64  # of this call
    first_tree: i64
    seed: i64
    drawn: i64  # rows of a bag
    replace: i64  # 1: a row may be drawn again
    every_row: i64  # 1: the bag is every row
    balanced: i64  # 1: classes have the same weight in each bag
    per_split: i64  # columns that a node tries
    max_depth: i64
    max_leaves: i64  # 0: no limit
    min_split: i64
    min_leaf: i64
    min_weight: f64  # share of the tree's weight that a leaf must have
    min_decrease: f64
    prune: f64  # cost of a leaf, below 0: none
    gain_unit: f64  # real gain of one unit of score
    formula: i64
    random: i64  # 1: one cut a column, drawn at random
    target_bits: i64  # of a target's steps
    access: i64  # where the codes of a record are
    keep_rows: i64  # 1: rows are listed by leaf
    bounded: i64  # 1: a column has a direction
    directions: i64["columns"]


# --- Trees that grow


@item
class ForestNode:
    """A node of a growing tree."""

    begin: i32  # its records
    end: i32
    column: i32  # -1: a leaf
    cut: i32  # the last code that goes left, or the number of a set of categories
    above: i32  # the first code of the node that goes right, which only ranks need; of a drawn cut its place in the gap
    default_left: i32
    child: i32  # the left one; the right one follows
    gain: f64
    lower: f64  # bounds of its value
    upper: f64


@item(own_line=True)
class TreeFacts:
    """Counts of a growing tree."""

    rows: i64  # distinct ones
    weight: i64  # of all, in steps
    weight_unit: f64  # real weight of a step
    heaviest: i64  # weight of one row, in steps
    parts: i64  # of the tree that are being grown, or wait to be
    splits: i64  # of the finished tree
    full: i64  # 1: there was no memory for a set of categories


@record
class Slots:
    """Memory of trees that grow at the same time, one a slot."""

    slots: i64
    capacity: i64  # records of one tree
    words: i64  # of eight bytes, in a record
    max_nodes: i64
    max_sets: i64
    set_words: i64
    table_rows: i64
    values: i64
    facts: out(TreeFacts["slots"])
    node_counts: out(Counter["slots"])  # nodes in use
    set_counts: out(Counter["slots"])
    idle: out(Counter["1"])  # threads that wait for work
    nodes: out(ForestNode["slots * max_nodes"])
    sets: out(i64["slots * max_sets * set_words"])
    memory: out(i64["slots * capacity * words + SLACK"])
    ints: out(i32["(slots * capacity * words + SLACK) * 2"])  # the same memory
    bytes: out(u8["(slots * capacity * words + SLACK) * 8"])  # the same memory
    counts: out(i32["slots * table_rows"])  # how often each row is in the bag
    factors: out(f64["slots * values"])  # on the weights of classes
    spares: i64  # one for each thread or, if these are fewer, for each tree
    by_thread: i64  # 1: they are for threads
    spare: out(i64["spares * capacity * words"])  # buffers for partition


@record
class FinishedTrees:
    """Finished trees, one a slot: splits in preorder, leaves from left to right."""

    max_splits: i64
    values: i64  # numbers of a leaf
    kept: i64  # 1: rows are listed by leaf
    pruned: i64
    column: out(i32["slots.slots * max_splits"])
    cut: out(i32["slots.slots * max_splits"])
    above: out(i32["slots.slots * max_splits"])
    default_left: out(u8["slots.slots * max_splits"])
    children: out(i32["slots.slots * max_splits * 2"])
    gain: out(f64["slots.slots * max_splits"])
    value: out(f64["slots.slots * (max_splits + 1) * values"])
    weight: out(f64["slots.slots * (max_splits + 1)"])
    count: out(i32["slots.slots * (max_splits + 1)"])
    rows: out(i32["slots.slots * slots.capacity * kept"])
    # Scratch while a tree is finished, by node.
    below: out(i32["slots.slots * slots.max_nodes"])
    number: out(i32["slots.slots * slots.max_nodes"])
    leaf: out(i32["slots.slots * slots.max_nodes"])
    # Impurity that the splits below save, less the cost of leaves
    saved: out(f64["slots.slots * slots.max_nodes * pruned"])


@item
class PendingNode:
    """A node that is to be split."""

    slot: i64
    node: i64
    begin: i64
    end: i64
    key: i64  # of its random numbers, made from its path
    depth: i64
    mixed: i64  # 0: all targets are the same
    lower: f64
    upper: f64


@item
class PoolState:
    """Progress of the trees of a call."""

    next_tree: i64
    waiting: i64  # subtrees in the pool
    unfinished: i64  # trees that are not finished


@record
class SubtreePool:
    """Subtrees that any thread may take."""

    state: out(PoolState["1"])
    nodes: out(PendingNode["POOL"])
    totals: out(i64["POOL * (target.channels + 1)"])


# --- The search


@item
class BestSplit:
    """The best split of a node so far."""

    score: f64
    column: i64  # -1: none
    tried: i64  # columns that were searched
    cut: i64
    above: i64
    default_left: i64
    is_set: i64


@item
class DrawnCut:
    """A cut that is drawn for a column."""

    number: f64  # uniform between the values of the lowest and the highest code
    values_at: i64  # where the column's values begin
    low: i64
    high: i64
    cut: i64  # the last code whose value is not above the number; not set in nodes of few rows
    place: i64  # of the column's code in a record
    separate: i64  # 1: searched separately, for its categories or missing values in the node


@record(per_thread=True)
class TreeScratch:
    """A thread's own memory."""

    width: i64  # most codes of a column, with that of missing values
    list_length: i64  # most items of a list of cells
    cell_columns: i64  # columns that have cells at the same time
    capacity: i64
    set_words: i64
    sorted: i64  # keys to sort
    chunks: i64  # of four words, of which records hold codes
    stack: out(PendingNode["STACK"])
    current: out(PendingNode["1"])
    best: out(BestSplit["1"])
    totals: out(i64["STACK * (target.channels + 1)"])
    node_totals: out(i64["target.channels + 1"])
    left: out(i64["target.channels + 1"])
    half_left: out(i64["target.channels + 1"])
    half_totals: out(i64["target.channels + 1"])
    low: out(u8["chunks * 32"])  # least code of each column in the node
    high: out(u8["chunks * 32"])  # largest one
    best_set: out(i64["set_words"])
    present: out(i64["set_words"])  # categories that a node has
    order: out(i32["rules.columns"])  # the columns that can be drawn; always put back in order
    swaps: out(i32["rules.columns"])
    chosen: out(i64["DRAWN"])
    chosen_draw: out(i64["DRAWN"])
    drawn: out(DrawnCut["DRAWN"])
    drawn_cuts: out(u8["chunks * 32"])  # by column, as records hold codes
    left_sums: out(i64["DRAWN + 1"])  # packed; with sparse columns, place BATCH has that of all rows
    left_classes: out(i64["DRAWN * 8"])
    drawn_scores: out(f64["DRAWN"])
    row_sums: out(i64["COMPARED_ROWS"])  # of the rows of a small node, packed
    below: out(i64["32"])  # sums left of the cuts of 32 columns
    below_classes: out(u8["32 * 8"])
    # Always zeros between columns; 64 are read at once
    cells: out(i64["cell_columns * width * (target.channels + 1) + 64"])
    cell_rows: out(i32["cell_columns * width"])  # always zeros too
    touched: out(i64["width // 64 + 2"])
    touched_words: out(i64["width // 4096 + 2"])
    list_code: out(i32["list_length"])
    list_sums: out(i64["list_length * (target.channels + 1)"])
    list_rows: out(i32["list_length"])
    # Of cuts; behind them those by all rows, where a half of them evaluates
    scores: out(f64["2 * list_length + 8"])
    keys: out(i64["sorted * 2"])
    # Of a small node: codes by column, the weight of each row and its product with the target; of a column the rows by code, the
    # sums of both up to each row, and scores.
    small_chunks: out(i64["1"])  # chunks of columns whose codes have been transposed, a bit each
    small_codes: out(u8["chunks * 32 * SMALL_NODE_ROWS"])
    small_weights: out(f64["SMALL_NODE_ROWS"])
    small_sums: out(f64["SMALL_NODE_ROWS"])
    small_keys: out(u16["SMALL_NODE_ROWS + 16"])
    left_weights: out(f64["SMALL_NODE_ROWS"])
    left_totals: out(f64["SMALL_NODE_ROWS"])
    small_scores: out(f64["SMALL_NODE_ROWS"])
    # Of a small node of several classes: the weight of each row in the byte of its class, the first bit of that byte, sums of
    # squares.
    small_words: out(i64["SMALL_NODE_ROWS"])
    small_shifts: out(i64["SMALL_NODE_ROWS"])
    left_squares: out(f64["SMALL_NODE_ROWS"])
    node_codes: out(i32["capacity"])  # codes of a node's rows in a column
    # Entries of a node's rows in sparse columns: listed column after column, or those found in one column (see `entries`).
    sparse_columns: i64  # number of all columns, 0: none of them is sparse
    sparse_rows: i64  # number of all rows, or 0
    entry_capacity: i64  # entries that can be listed
    live: out(i64["1"])  # sparse columns that have an entry in the node, WALKED: entries are not listed
    live_columns: out(i32["sparse_columns + 1"])  # these columns
    # Entries of each column, 0 between nodes; of a column that is not sparse always 1
    entry_counts: out(i32["sparse_columns"])
    entry_ends: out(i32["sparse_columns"])  # where those of each column end
    entry_places: out(i32["entry_capacity"])  # place of an entry's row in the node
    entry_bins: out(u16["entry_capacity"])
    place_of: out(i32["sparse_rows"])  # record of a row, where nothing is listed


@record
class TreeRows:
    """The records of one tree, and how often each row is in its bag."""

    words: i64
    leaves_at: i64  # where its finished leaves begin
    memory: out(i64["1"])
    ints: out(i32["1"])
    bytes: out(u8["1"])
    counts: out(i32["1"])
    factors: out(f64["1"])
    spare: out(i64["1"])  # buffer for partition
    # 1: A node uses the part of it at its records' positions, because other threads use other parts
    spare_step: i64


@record
class NodeFacts:
    """The node that is being split: its records, totals, and limits for its children."""

    begin: i64
    end: i64
    key: i64
    weight: i64
    heaviest: i64  # weight of a row of the tree
    min_weight: f64
    lower: f64
    upper: f64
    totals: i64["1"]  # weight, then channels
    perfect: f64  # score of a split that leaves one class on either side; none is higher
    shift: i64  # of targets in packed sums
    bits: i64  # of the weight in packed sums


@record
class Medians:
    """Ranks, weights and scratch of a node's rows where the impurity is the absolute error."""

    rows: i64
    ranks: i64["rows"]  # of each row, by output
    levels: i64["rows"]  # targets in the order of their ranks, by output
    weights: i64["rows"]  # of each row
    order: out(i64["rows"])  # the rows by code of a column
    left: out(i64["rows"])  # errors on the left of cuts
    middles: out(i64["rows"])  # twice the medians there
    tree: out(i64["2 * rows + 2"])  # the Fenwick tree: weight and sum of each node


# --- The numbers of a record (row, weight and target), and how many columns are searched together


TOGETHER_ROWS = 512  # of a node, from which four columns are summed in one pass


@inline
def payload_of(i, words):
    """Place behind the three numbers at the end of a record."""
    return (i + 1) * words * 2


@inline
def row_of(i, rows):
    """Number of a record's row in the table."""
    return np.int64(rows.ints[payload_of(i, rows.words) - ROW])


@inline
def weight_of(i, rows):
    """Weight of a record, in steps."""
    return np.int64(rows.ints[payload_of(i, rows.words) - WEIGHT])


@inline
def target_of(i, rows):
    """Target of a record: class or steps of its first output."""
    return np.int64(rows.ints[payload_of(i, rows.words) - TARGET])


@inline
def differs(i, first, target, rows):
    """1 where an output of a record differs from that of the first one, else 0."""
    if target.outputs == 1:
        # Records have their first target; the list of all targets is not in the cache.
        return 1 if target_of(i, rows) != target_of(first, rows) else 0
    own = row_of(i, rows) * target.outputs
    other = row_of(first, rows) * target.outputs
    found = 0
    for o in range(target.outputs):
        found |= 1 if target.steps[own + o] != target.steps[other + o] else 0
    return found


@inline
def columns_at_once(size, node, rules):
    """How many columns of a node of some rows are searched together."""
    if rules.access != MOVED:
        return np.int64(1)
    if rules.random != 0:
        return np.int64(DRAWN) if size > 2 else np.int64(1)
    return np.int64(BATCH) if size > TOGETHER_ROWS else np.int64(1)
