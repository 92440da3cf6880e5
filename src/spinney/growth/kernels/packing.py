"""How gradients and rows are packed into integers, and the limits that keep sums exact.

One *entry* per row: row number in the high 32 bits, then the quantized gradient (16 bits, signed) and hessian (16 bits).

One *cell* per bin while a block of rows is summed, a single int64 add per row and column:

    63            38 37             13 12         0
    | gradient: 26   | hessian: 25    | count: 13 |

A block has at most `SUM_BLOCK` rows, a gradient at most `LARGEST` steps either way, a hessian at most `LARGEST`: no field can
overflow into the next. Blocks are then added to three int32 planes (gradient, hessian, count); the steps are chosen so that the
sum over all rows fits 31 bits.

With a *small bag*, at most `SMALL_BAG` rows, a tree has steps as fine as a cell allows: the sum over all rows fits the fields,
and the bits that the count does not need go to gradient and hessian. A row's gradient and hessian do not fit an entry then. The
low half of the entry is a place in the list `cells` instead, which has what each row adds to a cell.
"""

CELL_BITS = 64
SUM_BLOCK = 8128
LARGEST = 4095
GRADIENT_SHIFT = 38
HESSIAN_SHIFT = 13
SUM_LIMIT = 2147480000.0  # a little below 2**31
EXACT_LIMIT = 4.0e18  # a little below 2**62: sums of leaves are taken in 64-bit fixed point

# Most rows of a small bag: looking up what a row adds is slow where the list is long. Time of trees of 28 columns, one thread,
# relative to trees with 4095 steps: 1 000 rows 1.00, 2 000 1.03, 4 000 1.04, 8 000 1.07.
SMALL_BAG = 1023
MIN_COUNT_BITS = 6  # so that no field has more than 29: sizes of gradients are summed in steps of the largest one's 29th bit

HALF = 32  # bits of half an entry
LOW_HALF = (1 << HALF) - 1

PLANES = 3  # of a histogram: gradients, hessians, rows

# Where sums are 64-bit integers that are not packed: a number and a sum have these limits.
WIDE_LARGEST = 2147483000.0  # a little below 2**31
WIDE_SUM_LIMIT = 4.5e15  # a little below 2**52
