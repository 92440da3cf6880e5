"""Names for the positions in the small arrays that a tree kernel shares with Python and between its threads."""

# control (int64): what changes from tree to tree
CLASS = 0  # which output the tree is for
SEED = 1
IN_BAG = 2  # rows the tree sees
ALL_ROWS = 3  # 1: the bag is every row, in order
NODES = 4  # OUT: nodes of the tree
CONTROLS = 8

# limits (int64)
MAX_DEPTH = 0
MAX_LEAVES = 1
MIN_COUNT = 2
DEPTHWISE = 3
SLOTS = 4  # histograms kept for later subtraction
LEVEL_COLUMNS = 5  # columns drawn per level, 0 for all
NODE_COLUMNS = 6  # columns drawn per node, 0 for all
ONE_HOT = 7  # most categories of which one is taken
MOST_TAKEN = 8  # categories of a set
MIN_GROUP = 9  # rows between two sets that are tried
MIN_CATEGORY = 10  # rows of a category that is ordered
BOUNDED = 11  # 1: weights keep to bounds, and the search compares gains instead of scores
MOST_AHEAD = 12  # leaves that may be split before their turn, 0: none
LIMITS = 13

# extent (int64): how much of the data a tree uses
GROUPS_USED = 0
COLUMNS_USED = 1
SPARSE_AT = 2  # where the codes of sparse columns begin on the histogram's axis
SPARSE_CELLS = 3  # and where their cells begin
UNITS_USED = 4
EXTENTS = 5

# a unit of search (int64): columns side by side on the histogram's axis
AXIS_BEGIN = 0
AXIS_END = 1
AXIS_CELLS = 2  # where its cells begin
AXIS_MEMBER = 3  # position of its first column in `members`
AXIS_COLUMNS = 4  # 0: a single column of any kind; else a run of so many columns that have one code each
AXIS_UNIT_WIDTH = 5

# rules (float64)
REG_LAMBDA = 0
REG_ALPHA = 1
MAX_STEP = 2
GAMMA = 3
MIN_HESSIAN = 4
LEARNING_RATE = 5
CAT_SMOOTH = 6
CAT_L2 = 7
RULES = 8

# node table (int64), one row per node
COUNT = 0  # rows, of all threads
OF_SET = 1  # 1: made by splitting a set of categories, so that cat_l2 holds its value back
DEPTH = 2
SLOT = 3
SUM_G = 4
SUM_H = 5
CUT_COLUMN = 6
CUT_BIN = 7
CUT_DEFAULT = 8
LEFT_G = 9
LEFT_H = 10
LEFT_COUNT = 11
CHILD = 12
EXACT_G = 13
EXACT_H = 14
LOWER = 15  # bounds of the weight: bits of float64, real units
UPPER = 16
PARENT = 17
CUT_ABOVE = 18  # rank of the value above the cut, -1 for none; only where every value is looked at
STATE = 19  # of a leaf that can be split: IDLE, TAKEN or SPLIT
ORDER = 20  # the node's number in the tree, -1 before its parent's turn has come
NODE_WIDTH = 21

IDLE = 0
TAKEN = 1  # a thread is splitting it
SPLIT = 2  # done; its turn has not come

# shared (int64): the state of the tree
FREE = 0  # slots on the free list
MADE = 1  # rows of the node table in use
USED_NODES = 2  # nodes of the tree
LEAVES = 3
WAITING = 4  # leaves in the queue
OPEN = 5  # leaves that are TAKEN or SPLIT
MODE = 6  # how threads go on after the meeting
CALLED = 7  # 1: threads that work apart are to come together
BEING_SPLIT = 8  # leaves that are TAKEN
APART_BELOW = 9  # rows below which one thread splits a node
SHARED = 16

# modes
TOGETHER = 0  # all threads on one node
APART = 1  # every thread on a node of its own
FINISHED = 2

# a task (int64): the node that one thread works on, or all together
CURRENT = 0  # -1: none
SMALL = 1  # child whose histogram is built
LARGE = 2  # child that gets the rest
SEARCH_SMALL = 3
SEARCH_LARGE = 4
FROM_PARENT = 5  # 1: the larger child is found by subtraction
BY_ROWS = 6  # 1: each thread sums its own rows of all groups, 0: all rows of its own groups
LIVE_FIRST = 7  # groups outside LIVE_FIRST .. LIVE_LAST - 1 can split neither child
LIVE_LAST = 8
TASK_WIDTH = 16

# scales (float64)
SCALE_G = 0
SCALE_H = 1
EXACT_SCALE_G = 2
EXACT_SCALE_H = 3
UNIT = 4  # real gain of one unit of score
STOCHASTIC = 5  # 1: gradients are rounded up or down at random
SCALES = 8

# a split found by one thread (int64), beside its gain
FOUND_COLUMN = 0
FOUND_BIN = 1
FOUND_DEFAULT = 2
FOUND_G = 3
FOUND_H = 4
FOUND_COUNT = 5
FOUND_ABOVE = 6
FOUND_WIDTH = 8

# statistics of one block of rows (float64)
STAT_MAX_G = 0
STAT_MAX_H = 1
STAT_SUM_G = 2
STAT_SUM_H = 3
STATS = 4
