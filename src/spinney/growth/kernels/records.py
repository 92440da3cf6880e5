"""The records that the kernels of a growing tree share. Each is made by the object that owns its memory."""

from spinney.binning.kernels.records import Codes
from spinney.growth.packing import FEW
from spinney.jit import f32, f64, i32, i64, item, out, record, u8, u16
from spinney.objectives.kernels.records import LeafRows

PLANES = 3  # of a histogram: gradients, hessians, rows
SPARE_SLOTS = 2  # for histograms that are not kept

# State of a leaf that can be split
IDLE = 0
TAKEN = 1  # a thread is splitting it
SPLIT = 2  # done; its turn has not come

# How threads go on
TOGETHER = 0  # all threads on one node
APART = 1  # every thread on a node of its own
FINISHED = 2


# --- what a tree is grown from


@item
class Control:
    """What changes from tree to tree."""

    output: i64
    seed: i64
    in_bag: i64  # rows that the tree sees
    all_rows: i64  # 1: the bag is every row, in order
    rate: f64  # factor on leaf values


@record
class Gathered:
    """Memory for the rows of a small bag, side by side: codes, the same memory in words of eight bytes, gradients."""

    codes: Codes
    row_words: out(i64["codes.rows * codes.stride * (1 + codes.wide) // 8"])
    column_words: out(i64["codes.rows * codes.groups * (1 + codes.wide) // 8"])
    pairs: out(f32["2 * codes.rows"])


@record
class Subset:
    """Which rows of a binned table a data set is: all, or some of them, which have numbers of their own."""

    some: i64  # 0: all
    count: i64
    table_rows: i64
    rows: i32["count * some"]  # ascending
    number: i32["table_rows * some"]  # of each of these rows among them


@record
class HistBag:
    """The rows that a tree sees, by their numbers in the data set."""

    rows: i64
    control: out(Control["1"])
    chosen: i32["rows"]
    subset: Subset
    row_words: i64["data.codes.rows * data.codes.stride * (1 + data.codes.wide) // 8"]
    gathered: Gathered


# --- the axis of histograms


@item
class Unit:
    """A unit of search: columns side by side on the histogram's axis."""

    begin: i64
    end: i64
    packed: i64  # where its packed sums begin
    member: i64  # position of its first column in `members`
    columns: i64  # 0: a single column of any kind; else a run of so many columns that have one code each
    cost: i64


@item
class Extent:
    """How much of the data a tree uses."""

    groups: i64
    columns: i64
    units: i64
    sparse_at: i64  # where the codes of sparse columns begin on the axis
    sparse_packed: i64  # and where their packed sums begin


@record
class Axis:
    """The codes of a tree's groups one after another, then those of the sparse columns."""

    groups: i64
    columns: i64
    member_count: i64
    unit_count: i64
    total: i64  # codes
    extent: Extent["1"]
    used_groups: i64["groups"]
    starts: i64["groups + 1"]
    group_units: i64["groups + 1"]
    used_columns: i64["columns"]
    allowed: u8["columns"]
    low: i64["columns"]
    members: i64["member_count"]
    units: Unit["unit_count"]


@record
class Chosen:
    """The columns that a tree may be split by, where there is no axis."""

    columns: i64
    extent: Extent["1"]
    used_columns: i64["columns"]
    allowed: u8["columns"]


# --- rows and sums


@item
class Range:
    """The rows of a node that a thread owns: places in `entries`."""

    begin: i64
    end: i64


@record(per_thread=True)
class NodeRanges:
    """A thread's rows of each node."""

    of_node: out(Range["table.max_nodes"])


@record
class Rows:
    """The rows of a tree by node: an entry each, which holds the row and its quantized gradient and hessian.

    Where a tree sees few rows, an entry holds the row and where in `cells` stands what it adds to a packed sum.
    """

    rows: i64
    ranges: NodeRanges
    entries: out(i64["rows"])
    cells: out(i64[f"{FEW}"])
    spare: out(i64["rows"])
    line: out(u16["data.codes.rows * data.sparse.present"])
    by_leaf: LeafRows


@record(per_thread=True)
class PackedSums:
    """A thread's packed sums by code, and what was flushed from them."""

    size: i64
    packed: out(i64["size"])
    flushed: out(i32["PLANES * axis.total"])


@record
class Sums:
    """Sums by code: those of each thread, and histograms that are kept."""

    threads: i64
    slots: i64
    by_thread: PackedSums
    # Filled cells are looked for 64 at a time, so the last ones have some behind them.
    histograms: out(i32["(slots + SPARE_SLOTS) * PLANES * axis.total + 64"])
    alive: out(u8["(slots + SPARE_SLOTS) * axis.unit_count"])


@record(per_thread=True)
class Parts:
    """Two sums of a thread's rows."""

    sums: out(i64["2"])


@item
class Packing:
    """Where packed sums hold their parts; the count is in the lowest bits."""

    few: i64  # 1: the tree sees few rows, and entries say where stands what they add
    gradient_shift: i64
    hessian_shift: i64
    hessian_mask: i64
    count_mask: i64


@item
class Scales:
    """Steps of quantized gradients, and penalties in their terms."""

    g: f64
    h: f64
    exact_g: f64  # of the sums that leaf values come from
    exact_h: f64
    unit: f64  # real gain of one unit of score
    stochastic: f64  # 1: gradients are rounded up or down at random
    reg_lambda: f64
    reg_alpha: f64
    max_step: f64
    min_hessian: f64
    noise: f64  # score that a split of no use has on average, times the rows


# --- the search


@item
class Split:
    """The best split that a thread has found for a node."""

    gain: f64  # below 0: none
    column: i64
    cut: i64
    default_left: i64
    g: i64  # sums of the left side
    h: i64
    count: i64
    above: i64  # rank of the value above the cut, -1 for none; only where every value is looked at


@record(per_thread=True)
class Found:
    """The best splits that a thread has found for two children, with their sets, and columns drawn for them."""

    columns: i64
    words: i64  # of 64 bits, for a set of categories
    splits: out(Split["2"])
    sets: out(i64["2 * words"])
    drawn: out(i64["columns"])
    mask: out(u8["2 * columns"])
    keys: out(f64["columns * rules.columns.weighted"])


@record(per_thread=True)
class Line:
    """A thread's left sides of the cuts of a column: gradients, hessians and rows, the bins they end with, and gains."""

    width: i64
    g: out(i32["width"])
    h: out(i32["width"])
    count: out(i32["width"])
    bin: out(i32["width"])
    gains: out(f64["width"])


@record
class Histogram:
    """One node's sums by code."""

    g: out(i32["1"])
    h: out(i32["1"])
    count: out(i32["1"])


# --- the table


@item
class Node:
    """A node of the growing tree."""

    count: i64  # rows, of all threads
    depth: i64
    path: i64  # of turns from the root, scrambled
    slot: i64  # of its histogram, -1 for none
    sum_g: i64
    sum_h: i64
    lower: f64  # bounds of the weight, in real units
    upper: f64
    gain: f64  # of its best split, 0 for none
    column: i64
    cut: i64
    default_left: i64
    left_g: i64
    left_h: i64
    left_count: i64
    above: i64
    child: i64  # the left one; the right one follows
    parent: i64
    of_set: i64  # 1: made by splitting a set of categories, so that cat_l2 holds its value back
    state: i64
    order: i64  # its number in the tree, -1 before its parent's turn has come


@item
class TreeState:
    """How far a tree has grown."""

    free: i64  # slots on the free list
    made: i64  # nodes in use
    used: i64  # nodes of the tree
    leaves: i64
    waiting: i64  # leaves in the queue
    open: i64  # leaves that are TAKEN or SPLIT
    being_split: i64  # leaves that are TAKEN
    mode: i64  # how threads go on after the meeting
    called: i64  # 1: threads that work apart are to come together
    apart_below: i64  # rows below which one thread splits a node


@record
class Table:
    """The nodes of a growing tree and the queue of its leaves."""

    max_nodes: i64
    slots: i64
    most_ahead: i64  # leaves that may be split before their turn, 0: none
    words: i64
    state: out(TreeState["1"])
    scales: out(Scales["1"])
    packing: out(Packing["1"])
    nodes: out(Node["max_nodes"])
    exact_g: out(i64["max_nodes"])
    exact_h: out(i64["max_nodes"])
    sets: out(i64["max_nodes * words"])
    heap: out(i64["max_nodes"])
    order: out(i64["max_nodes"])  # of the finished tree: the node behind each number
    free: out(i64["slots"])


@item(own_line=True)
class Task:
    """One split that is being made: all that those who hold rows must know of it."""

    node: i64  # -1: none
    child: i64  # the left one; 0: the root is searched, nothing is split
    column: i64
    cut: i64
    default_left: i64
    count: i64
    left_count: i64
    small: i64  # child whose histogram is built
    large: i64  # child that gets the rest
    small_slot: i64  # where their histograms go
    large_slot: i64
    search_small: i64
    search_large: i64
    from_parent: i64  # 1: the larger child is found by subtraction


@item(own_line=True)
class Schedule:
    """How threads share out a task."""

    by_rows: i64  # 1: each thread sums its own rows of all groups, 0: all rows of its own groups
    live_first: i64  # groups outside live_first .. live_last - 1 can split neither child
    live_last: i64
    in_slot: i64  # 1: the histograms of the children that are summed are in their slots already


@record(per_thread=True)
class TaskScratch:
    """What threads that work on a task ask for."""

    columns: i64
    words: i64
    sides_size: i64
    set: out(i64["words"])
    sides: out(u8["sides_size"])  # for each code of the split column whether it goes left
    permitted: out(u8["columns"])


@record
class Tasks:
    """The tasks of all threads; where all work together, it is the first one's."""

    threads: i64
    parts: Parts
    of_task: TaskScratch
    tasks: out(Task["threads"])
    schedules: out(Schedule["threads"])
    units: i64
    costs: out(i64["units + 1"])
    bounds: out(i64["threads + 1"])


@record
class TreeArrays:
    """A finished tree."""

    max_nodes: i64
    feature: out(i32["max_nodes"])
    cut_bin: out(i32["max_nodes"])
    left: out(i32["max_nodes"])
    default_left: out(u8["max_nodes"])
    value: out(f64["max_nodes"])
    gain: out(f64["max_nodes"])
    cover: out(f64["max_nodes"])
    count: out(i64["max_nodes"])
