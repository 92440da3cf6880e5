"""The records that the kernels of a growing tree share.

In the order in which a tree uses them: parameters, inputs, the axis of histograms, rows and sums, the search, nodes and tasks,
the finished tree. Python makes each of them once for a data set; kernels only write to their arrays.
"""

from spinney.binning.kernels.records import Codes
from spinney.data.kernels.records import LeafRows
from spinney.growth.kernels.packing import PLANES, SMALL_BAG
from spinney.jit import f32, f64, i32, i64, item, out, record, u8, u16

# --- Parameters of a tree


@record
class Limits:
    """Where a tree ends."""

    max_depth: i64  # 0: no limit
    max_leaves: i64
    min_count: i64  # rows of a leaf
    min_hessian: f64
    depthwise: i64  # 1: level by level
    gamma: f64
    least_gain: f64  # splits at the bottom of the finished tree that gain less are taken back


@record
class Penalties:
    """Regularization of leaf weights."""

    reg_lambda: f64
    reg_alpha: f64
    max_step: f64  # 0: no limit
    bounded: i64  # 1: weights keep to bounds, and the search compares gains instead of scores


@record
class CategoryRules:
    """How categories are split."""

    one_hot: i64  # columns of at most so many categories are split one against the rest
    most_taken: i64  # categories of a set, at most
    min_group: i64  # rows between two sets that are tried
    min_category: i64  # rows of a category that is ordered
    smooth: f64
    l2: f64
    charge: f64  # subtracted from the score of a set for each of its categories, divided by the rows of the data set


@record
class ColumnRules:
    """Constraints on columns: directions, which may meet on a path, and how many are drawn with which weights."""

    columns: i64
    group_count: i64  # 0: all may meet
    grouped: i64
    weighted: i64
    per_level: i64  # columns drawn, 0 for all
    per_node: i64
    directions: i64["columns"]
    group_starts: i64["group_count + 1"]
    group_members: i64["grouped"]
    weights: f64["columns * weighted"]


@record
class TreeRules:
    """All parameters of a tree."""

    limits: Limits
    penalties: Penalties
    categories: CategoryRules
    columns: ColumnRules


SPARE_SLOTS = 2  # for histograms that are not kept

# State of a leaf that can be split
IDLE = 0  # not split
TAKEN = 1  # a thread is splitting it
SPLIT = 2  # split speculatively: its turn has not come

# What threads do next
TOGETHER = 0  # all threads on one node
APART = 1  # every thread on a node of its own
FINISHED = 2


# --- Inputs of a tree


@item
class Control:
    """Inputs that change from tree to tree."""

    output: i64
    seed: i64
    in_bag: i64  # rows that the tree sees
    all_rows: i64  # 1: the bag is every row, in order
    rate: f64  # factor on leaf values


@record
class Gathered:
    """Copied rows of a bag, side by side: codes, the same memory as words of eight bytes, gradients."""

    codes: Codes
    row_words: out(i64["codes.rows * codes.stride * (1 + codes.wide) // 8"])
    column_words: out(i64["codes.rows * codes.groups * (1 + codes.wide) // 8"])
    pairs: out(f32["2 * codes.rows"])


@record
class Subset:
    """The rows of a binned table that a data set has: all of them, or some, which are numbered from 0."""

    some: i64  # 0: all
    count: i64
    table_rows: i64
    rows: i32["count * some"]  # ascending
    number: i32["table_rows * some"]  # position of each of these rows in `rows`


@record
class HistBag:
    """The rows that a tree sees, by their numbers in the data set."""

    rows: i64
    control: out(Control["1"])
    chosen: i32["rows"]
    subset: Subset
    row_words: i64["data.codes.rows * data.codes.stride * (1 + data.codes.wide) // 8"]
    gathered: Gathered


# --- The axis of histograms


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
class ChosenColumns:
    """The columns that a tree may be split by, where there is no axis."""

    columns: i64
    extent: Extent["1"]
    used_columns: i64["columns"]
    allowed: u8["columns"]


# --- Rows and sums


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
class NodeRows:
    """The rows of a tree by node: an entry each, which holds the row and its quantized gradient and hessian.

    With a small bag, an entry holds the row and a place in `cells`, which has what each row adds to a packed sum.
    """

    rows: i64
    ranges: NodeRanges
    entries: out(i64["rows"])
    cells: out(i64[f"{SMALL_BAG}"])
    spare: out(i64["rows"])
    sparse_codes: out(u16["data.codes.rows * data.sparse.present"])  # of each row in the split column
    by_leaf: LeafRows


@record(per_thread=True)
class PackedSums:
    """A thread's packed sums by code, and what was flushed from them."""

    size: i64
    packed: out(i64["size"])
    flushed: out(i32[f"{PLANES} * axis.total"])


@record
class Sums:
    """Sums by code: those of each thread, and histograms that are kept."""

    threads: i64
    slots: i64
    by_thread: PackedSums
    # 64 cells are read at a time, so there is memory behind the last ones.
    histograms: out(i32["(slots + SPARE_SLOTS) * PLANES * axis.total + 64"])
    alive: out(u8["(slots + SPARE_SLOTS) * axis.unit_count"])


@record(per_thread=True)
class PartialSums:
    """Two sums over a thread's rows: of gradients and of hessians."""

    sums: out(i64["2"])


@item
class Packing:
    """Where packed sums hold their parts; the count is in the lowest bits."""

    small_bag: i64  # 1: at most SMALL_BAG rows, whose entries hold places in `cells`
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
    noise: f64  # score that a useless split has on average, times the rows


# --- The search


@item
class Split:
    """A thread's best split of a node."""

    gain: f64  # below 0: none
    column: i64
    cut: i64
    default_left: i64
    g: i64  # sums of the left side
    h: i64
    count: i64
    above: i64  # rank of the value above the cut, -1 for none; only set on sorted columns


@record(per_thread=True)
class ThreadSplits:
    """A thread's best splits of two children, their sets of categories, and the columns drawn for them."""

    columns: i64
    words: i64  # of 64 bits, for a set of categories
    splits: out(Split["2"])
    sets: out(i64["2 * words"])
    drawn: out(i64["columns"])
    mask: out(u8["2 * columns"])
    keys: out(f64["columns * rules.columns.weighted"])


@record(per_thread=True)
class CutSums:
    """A thread's sums on the left of each cut of a column (gradients, hessians, rows), the last bin on the left, and gains."""

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


# --- Nodes and tasks


@item
class Node:
    """A node of the growing tree."""

    count: i64  # rows, of all threads
    depth: i64
    path: i64  # hash of the path from the root
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
    of_set: i64  # 1: child of a split by a set of categories, so cat_l2 shrinks its weight
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
    mode: i64  # what threads do after the next barrier: TOGETHER, APART or FINISHED
    called: i64  # 1: threads that work apart must come together
    apart_below: i64  # rows below which one thread splits a node


@record
class NodeTable:
    """The nodes of a growing tree and the queue of its leaves."""

    max_nodes: i64
    slots: i64
    max_speculative: i64  # leaves that may be split speculatively, 0: none
    words: i64
    state: out(TreeState["1"])
    scales: out(Scales["1"])
    packing: out(Packing["1"])
    nodes: out(Node["max_nodes"])
    exact_g: out(i64["max_nodes"])
    exact_h: out(i64["max_nodes"])
    sets: out(i64["max_nodes * words"])
    heap: out(i64["max_nodes"])
    order: out(i64["max_nodes"])  # the node of each number of the finished tree
    free: out(i64["slots"])


@item(own_line=True)
class SplitTask:
    """A split that is being made: all that partition and histograms need."""

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
    """How threads share the work of a task."""

    by_rows: i64  # 1: each thread sums its own rows of all groups, 0: all rows of its own groups
    live_first: i64  # groups outside live_first .. live_last - 1 can split neither child
    live_last: i64
    in_slot: i64  # 1: the histograms of the children that are summed are in their slots already


@record(per_thread=True)
class TaskScratch:
    """Arrays of a task, for the threads that work on it."""

    columns: i64
    words: i64
    goes_left_size: i64
    set: out(i64["words"])
    goes_left: out(u8["goes_left_size"])  # for each code of the split column whether it goes left
    permitted: out(u8["columns"])


@record
class Tasks:
    """A task for each thread; where all threads work on one node, the first of them."""

    threads: i64
    partial_sums: PartialSums
    of_task: TaskScratch
    tasks: out(SplitTask["threads"])
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
