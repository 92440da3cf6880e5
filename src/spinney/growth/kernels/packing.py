"""How gradients and rows are packed into integers, and the limits that keep sums exact.

Floating-point sums depend on their order, and the order depends on threads. So g and h become whole numbers once per tree, and
all that decides a tree is a sum of whole numbers: histograms, counts, sums of leaves. This makes training deterministic on any
number of threads.

One *entry* per row: row number (or its place in a gathered bag) in the high 32 bits, then the quantized gradient (16 bits,
signed) and hessian (16 bits).

One *packed sum* per bin while a block of rows is summed, a single int64 add per row and column:

    63            38 37             13 12         0
    | gradient: 26   | hessian: 25    | count: 13 |

A block has at most `SUM_BLOCK` rows, a gradient at most `LARGEST` steps either way, a hessian at most `LARGEST`: no field can
overflow into the next. Blocks are then added to the histogram, three int32 planes (gradient, hessian, count); the steps are
chosen so that the sum over all rows fits 31 bits.

With a *small bag*, at most `SMALL_BAG` rows of all ranks, a tree has steps as fine as a packed sum allows: the sum over all rows
fits the fields, and the bits that the count does not need (it takes 10 for 1023 rows, 6 for 63) go to gradient and hessian. Where
the fields begin stands in the tree's `Packing`. A row's gradient and hessian do not fit an entry then. The low half of the entry
is a place in the list `cells` instead, which has what each row adds to a packed sum: adding is a single instruction still.
"""

CELL_BITS = 64
SUM_BLOCK = 8128
# Steps of a gradient either way. LambdaMART's gradients have long tails, so its steps were narrowed to see what they cost.
# NDCG@10 of held-out queries, paired by seed, less that of these 12 bits: on 40 000 × 136 generated rows (ten seeds)
# -.000 ± .002 with 6 bits, -.002 ± .002 with 8, -.003 ± .002 with 10; on 10 000 rows of web search (eleven splits)
# -.004 ± .005, -.007 ± .006, -.004 ± .006. There the exact grower has .005 ± .005 less with 31 bits than with 12.
LARGEST = 4095
GRADIENT_SHIFT = 38
HESSIAN_SHIFT = 13
SUM_LIMIT = 2147480000.0  # a little below 2**31
EXACT_LIMIT = 4.0e18  # a little below 2**62: sums of leaves are taken in 64-bit fixed point

# Most rows of a small bag: looking up what a row adds is slow where the list is long. Time of trees of 28 columns, one thread,
# relative to trees with 4095 steps: 1 000 rows 1.00, 2 000 1.03, 4 000 1.04, 8 000 1.07. Finer steps matter to few rows: a weight
# of 2 and the row twice, whose rounding differs, then choose the same splits but for near ties. Predictions of regression on 60
# rows of distinct values (`tests/training/test_few_rows.py`) differ by 5e-9 at most; with 4095 steps they differed by up to .03.
SMALL_BAG = 1023
MIN_COUNT_BITS = 6  # so that no field has more than 29: sizes of gradients are summed in steps of the largest one's 29th bit

HALF = 32  # bits of half an entry
LOW_HALF = (1 << HALF) - 1

PLANES = 3  # of a histogram: gradients, hessians, rows

# Where sums are 64-bit integers that are not packed: a number and a sum have these limits.
WIDE_LARGEST = 2147483000.0  # a little below 2**31
WIDE_SUM_LIMIT = 4.5e15  # a little below 2**52
