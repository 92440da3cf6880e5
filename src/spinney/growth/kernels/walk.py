"""Rows that did not grow a tree find their leaves: a batch of rows is partitioned from the root down, as in growing.

Batches fit the cache, and a partition has no branch to mispredict, so this is faster than walking row by row (262 000 rows, 50
trees of 255 leaves and 12 to 37 splits a row, one thread, in two runs: eight rows side by side 14.5 ms a tree, batches 9.6).
Each thread first packs the tree into two words a node, in terms of codes:

    link: left child << 32 | 1 where codes of the rule go left << 31 | group
    rule: how many codes << 32 | the first of them

Other codes go to the other side. The link of a leaf is 0. The rule of a split by a sparse or categorical column, or by more than
one run of codes, is BY_ROW: there the bin of each row is looked up.
"""

import numpy as np

from spinney.binning.kernels.records import NO_DEFAULT, Binned
from spinney.data.kernels.records import Grown
from spinney.growth.kernels.partition import has_bit
from spinney.growth.kernels.records import Subset
from spinney.jit import Member, f64, i32, i64, inline, item, kernel, out, own, record, u8, u16
from spinney.jit.intrinsics import tail

SPINE = 255  # splits of a spine (see below), at most
BY_ROW = -1  # the rule of a split that is not packed
# Estimated cost of testing a row in vectors, and of sorting it, relative to partitioning it once.
COST_OF_TEST = 0.15
COST_OF_SORTING = 3.0
BATCH = 8192  # rows, at most 65 536; 4 096 and 16 384 take about as long
SPINE_PLACES = 512  # memory for the splits of a spine, SPINE + 2 at most
SINGLE_ROWS = 8  # rows of a node up to which each one walks on alone
WINDOW = 65536  # rows of the table that a batch may span


@item
class PackedNode:
    """A packed node."""

    link: i64
    rule: i64


@item
class PendingRows:
    """Rows of a batch that have reached a node and go on later: places begin..end-1 of one half of `ids`."""

    node: i64
    half: i64
    begin: i64
    end: i64


@record
class BinTree:
    """A tree that splits by bins."""

    max_nodes: i64
    words: i64
    grown: Grown["1"]
    feature: i32["max_nodes"]
    cut_bin: i32["max_nodes"]
    left: i32["max_nodes"]
    default_left: u8["max_nodes"]
    value: f64["max_nodes"]
    count: i64["max_nodes"]
    sets: i64["max_nodes * words"]
    order: i64["max_nodes"]  # place of a node's set in `sets`


@record(per_thread=True)
class WalkScratch:
    """A thread's own memory."""

    packed: out(PackedNode["tree.max_nodes"])
    pending: out(PendingRows["tree.max_nodes"])
    ids: out(u16["2 * BATCH"])
    spine: out(i64["SPINE_PLACES"])
    ends: out(i64["SPINE_PLACES"])


@record
class WalkOutput:
    """The rows that walk, and the output: the leaf of each row, or its value added to the row's score."""

    rows: i64
    outputs: i64
    writes_leaves: i64  # 1: leaves are written, 0: values are added to scores
    subset: Subset
    leaf_of_row: out(i32["rows * writes_leaves"])
    scores: out(f64["rows * outputs"])


@record
class Walk:
    """All that one thread's walk needs."""

    tree: BinTree
    data: Binned
    output: WalkOutput
    mine: WalkScratch
    spine_length: i64
    scores: f64["1"]  # of the tree's output


# --- The side of a row at a split


@inline
def listed_code(row, first, codes, sparse):
    """The code of a row in a sparse column, -1 if it has no entry; `first` is the column's first place on the axis."""
    low = sparse.row_starts[row]
    high = sparse.row_starts[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if sparse.row_codes[middle] < first:
            low = middle + 1
        else:
            high = middle
    if low < sparse.row_starts[row + 1] and sparse.row_codes[low] < first + codes:
        return np.int64(sparse.row_codes[low]) - first
    return np.int64(-1)


@inline
def bin_of_row(row, column, columns, data):
    """Bin of a row in a column."""
    features = data.features
    group = features.group_of[column]
    if group < 0:
        code = listed_code(row, features.low[column], features.codes[column], data.sparse)
    else:
        code = np.int64(columns[group * data.codes.rows + row]) - features.low[column]
    default = features.default[column]
    if code < 0 or code >= features.codes[column]:
        return default
    return code + (1 if code >= default else 0)


@inline
def side_of_row(row, node, columns, walk):
    """1 if a row goes left at a node, else 0, for any kind of column."""
    tree = walk.tree
    features = walk.data.features
    column = tree.feature[node]
    b = bin_of_row(row, column, columns, walk.data)
    if b >= features.bins[column]:
        return np.int64(tree.default_left[node])
    if tree.words > 0 and features.categorical[column] != 0:
        return np.int64(has_bit(tail(tree.sets, tree.order[node] * tree.words), b))
    return np.int64(1 if b <= tree.cut_bin[node] else 0)


@inline
def side(code, link, rule):
    """1 if a code goes left by a packed split, else 0."""
    inside = 1 if np.uint64(code - (rule & 4294967295)) < np.uint64(rule >> 32) else 0
    return 1 ^ inside ^ ((link >> 31) & 1)


# --- Packing a tree


@inline
def pack_split(node, tree, features):
    """Link and rule of a split."""
    column = tree.feature[node]
    child = np.int64(tree.left[node])
    if features.group_of[column] < 0 or features.categorical[column] != 0:
        return child << 32, np.int64(BY_ROW)
    cut = np.int64(tree.cut_bin[node])
    bins = features.bins[column]
    default = features.default[column]
    codes = features.codes[column]
    go_left = cut + 1 - (1 if cut >= default else 0)
    has_missing = codes > bins or (codes == bins and default < bins)
    missing_left = tree.default_left[node] != 0
    # Codes of other columns in the bundle stand for the default bin. A single column has none.
    rest_left = missing_left if default == bins else default <= cut or default >= NO_DEFAULT
    if rest_left:
        first = go_left
        length = codes - go_left - (1 if has_missing and missing_left else 0)
    elif has_missing and missing_left:
        return child << 32, np.int64(BY_ROW)
    else:
        first = np.int64(0)
        length = go_left
    link = (child << 32) | ((0 if rest_left else 1) << 31) | features.group_of[column]
    return link, (length << 32) | (features.low[column] + first)


@inline
def pack(tree, features, packed):
    """Pack a tree."""
    for node in range(tree.grown[0].nodes):
        link = np.int64(0)
        rule = np.int64(0)
        if tree.feature[node] >= 0:
            link, rule = pack_split(node, tree, features)
        packed[node].link = link
        packed[node].rule = rule


# --- The spine of a tree: the way down that most rows take.
#
# One-hot columns make trees like chains: each split takes a few rows away, and most rows pass dozens of splits. A batch of rows
# is tested against all splits of the spine, in vectors, from the last split to the first; what is left in `exits` is the first
# split at which a row leaves the spine. Then the rows are sorted by it.


@inline
def larger_child(child, counts):
    """The child of two that has more rows."""
    return child if counts[child] >= counts[child + 1] else child + 1


@inline
def find_spine(packed, counts, spine):
    """List the splits of the spine; returns how many, 0 where it does not pay."""
    node = np.int64(0)
    length = 0
    saved = -COST_OF_SORTING
    while length < SPINE:
        link = packed[node].link
        rule = packed[node].rule
        share = float(counts[node]) / float(max(counts[0], 1))
        if link == 0 or rule == BY_ROW or rule >> 32 > 65535 or share < COST_OF_TEST:
            break
        spine[length] = node
        length += 1
        saved += share - COST_OF_TEST
        node = larger_child(link >> 32, counts)
    return length if saved > 0.0 else 0


@inline
def find_exits(first, count, columns, rows, length, spine, packed, counts, exits):
    """Write the number of the split at which each row leaves the spine, `length` for none."""
    for i in range(count):
        exits[i] = length
    for back in range(length):
        k = length - 1 - back
        node = spine[k]
        link = packed[node].link
        rule = packed[node].rule
        low = rule & 65535
        codes = np.uint16(rule >> 32)
        number = np.uint16(k)
        # Codes of the rule go right, or left where bit 31 is set.
        larger_left = larger_child(link >> 32, counts) == link >> 32
        stay = larger_left == ((link >> 31) & 1 == 1)
        at = (link & 1073741823) * rows + first
        for i in range(count):
            # All in 16 bits, so that a vector holds as many rows as possible.
            inside = np.uint16((np.int64(columns[at + i]) - low) & 65535) < codes
            before = exits[i]
            exits[i] = before if inside == stay else number


@inline
def sort_exits(count, length, exits, ids, ends):
    """Write rows in the order of their exits; `ends` is where the rows of each exit end."""
    for k in range(length + 2):
        ends[k] = 0
    for i in range(count):
        ends[exits[i] + 1] += 1
    for k in range(length + 1):
        ends[k + 1] += ends[k]
    for i in range(count):
        to = exits[i]
        ids[ends[to]] = i
        ends[to] += 1


# --- Leading batches of rows to their leaves


@inline
def divide(begin, end, source, target, codes, link, rule):
    """Partition the rows source[begin:end] into `target`: left ones from the front, right ones from the back.

    Returns where the right ones begin. Every row is written to both places, and one of them counts.
    """
    to = begin
    back = end - 1
    for i in range(begin, end):
        row = source[i]
        left = side(np.int64(codes[row]), link, rule)
        target[to] = row
        target[back] = row
        to += left
        back -= 1 - left
    return to


@inline
def divide_by_row(begin, end, source, target, first, node, columns, walk):
    """As `divide`, for splits whose rule is BY_ROW."""
    to = begin
    back = end - 1
    for i in range(begin, end):
        row = source[i]
        left = side_of_row(first + np.int64(row), node, columns, walk)
        target[to] = row
        target[back] = row
        to += left
        back -= 1 - left
    return to


@inline
def leaf_below(node, row, columns, walk):
    """The leaf below a node that one row reaches."""
    link = walk.mine.packed[node].link
    while link != 0:
        rule = walk.mine.packed[node].rule
        if rule == BY_ROW:
            left = side_of_row(row, node, columns, walk)
        else:
            left = side(np.int64(columns[(link & 1073741823) * walk.data.codes.rows + row]), link, rule)
        node = (link >> 32) + 1 - left
        link = walk.mine.packed[node].link
    return node


@inline
def write_leaf(row, leaf, walk):
    """Write a row's leaf, or add its value to the row's score."""
    subset = walk.output.subset
    number = np.int64(subset.number[row]) if subset.some != 0 else row
    if walk.output.writes_leaves != 0:
        walk.output.leaf_of_row[number] = leaf
    else:
        walk.scores[number] += walk.tree.value[leaf]


@inline
def put_pending(place, node, half, begin, end, pending):
    """Store the rows of a node that go on later."""
    pending[place].node = node
    pending[place].half = half
    pending[place].begin = begin
    pending[place].end = end


@inline
def batch_from(number, end, subset):
    """First row of the batch that begins with a row's number, and how many rows it has; numbers end before `end`."""
    most = min(BATCH, end - number)
    if subset.some == 0:
        return np.int64(number), most
    first = np.int64(subset.rows[number])
    count = most
    # A window has at most as many of them as it has rows, so halving soon finds the last one.
    while np.int64(subset.rows[number + count - 1]) - first >= WINDOW:
        count = (count + 1) >> 1
    return first, count


@inline
def start_batch(number, first, count, columns, walk):
    """Put the rows of a batch at the root, or where they leave the spine; returns how many nodes are pending then."""
    length = walk.spine_length
    ids = walk.mine.ids
    counts = walk.tree.count
    if length == 0:
        subset = walk.output.subset
        for i in range(count):
            ids[i] = i if subset.some == 0 else np.int64(subset.rows[number + i]) - first
        put_pending(0, np.int64(0), np.int64(0), np.int64(0), count, walk.mine.pending)
        return 1
    exits = tail(ids, BATCH)
    find_exits(
        first, count, columns, walk.data.codes.rows, length, walk.mine.spine, walk.mine.packed, counts, exits
    )
    sort_exits(count, length, exits, ids, walk.mine.ends)
    begin = np.int64(0)
    for k in range(length + 1):
        child = walk.mine.packed[walk.mine.spine[min(k, length - 1)]].link >> 32
        larger = larger_child(child, counts)
        node = larger if k == length else 2 * child + 1 - larger
        put_pending(k, node, np.int64(0), begin, walk.mine.ends[k], walk.mine.pending)
        begin = walk.mine.ends[k]
    return length + 1


@inline
def walk_batch(number, first, count, columns, walk):
    """Lead a batch of rows, from `first` on, to their leaves. Partition moves rows from one half of `ids` to the other."""
    pending = walk.mine.pending
    nodes_left = start_batch(number, first, count, columns, walk)
    while nodes_left > 0:
        nodes_left -= 1
        node = pending[nodes_left].node
        half = pending[nodes_left].half
        begin = pending[nodes_left].begin
        end = pending[nodes_left].end
        while begin < end:
            link = walk.mine.packed[node].link
            rule = walk.mine.packed[node].rule
            source = tail(walk.mine.ids, half * BATCH)
            if link == 0 or end - begin <= SINGLE_ROWS:
                for i in range(begin, end):
                    row = first + np.int64(source[i])
                    write_leaf(row, leaf_below(node, row, columns, walk) if link != 0 else node, walk)
                break
            half = 1 - half
            target = tail(walk.mine.ids, half * BATCH)
            if rule == BY_ROW:
                middle = divide_by_row(begin, end, source, target, first, node, columns, walk)
            else:
                codes = tail(columns, (link & 1073741823) * walk.data.codes.rows + first)
                middle = divide(begin, end, source, target, codes, link, rule)
            node = link >> 32
            put_pending(nodes_left, node + 1, half, middle, end, pending)
            nodes_left += 1
            end = middle


@kernel
def add_tree(team: Member, data: Binned, tree: BinTree, scratch: WalkScratch, output: WalkOutput):
    """Add the tree's leaf values to the scores of the rows, or only write their leaves."""
    rank = team.rank
    rows = output.rows
    subset = output.subset
    mine = own(scratch, rank)
    pack(tree, data.features, mine.packed)
    # The vectors of a spine need rows that are side by side.
    length = find_spine(mine.packed, tree.count, mine.spine) if subset.some == 0 else 0
    walk = Walk(tree, data, output, mine, length, tail(output.scores, rows * tree.grown[0].output))
    number = rows * rank // team.size
    end = rows * (rank + 1) // team.size
    while number < end:
        first, count = batch_from(number, end, subset)
        if data.codes.wide != 0:
            walk_batch(number, first, count, data.codes.by_column16, walk)
        else:
            walk_batch(number, first, count, data.codes.by_column8, walk)
        number += count
