"""How gradients and rows are packed into integers, and the limits that keep sums exact.

One *entry* per row: row number in the high 32 bits, then the quantized gradient (16 bits, signed) and hessian (16 bits).

One *cell* per bin while a block of rows is summed, a single int64 add per row and column:

    63            38 37             13 12         0
    | gradient: 26   | hessian: 25    | count: 13 |

A block has at most `BLOCK` rows, a gradient at most `LARGEST` steps either way, a hessian at most `LARGEST`: no field can
run into the next. Blocks are then added to three int32 planes (gradient, hessian, count); the steps are chosen so that the
sum over all rows fits 31 bits.

A tree that sees few rows, at most `FEW`, has steps as fine as a cell allows: the sum over all rows fits the fields, and bits
that the count does not need are theirs. A row's gradient and hessian do not fit an entry then. Its low half says instead where
in a list stands what the row adds to a cell.
"""

CELL_BITS = 64
BLOCK = 8128
LARGEST = 4095
GRADIENT_SHIFT = 38
HESSIAN_SHIFT = 13
SUM_LIMIT = 2147480000.0  # a little below 2**31
EXACT_LIMIT = 4.0e18  # a little below 2**62: sums of leaves are taken in 64-bit fixed point

# Looking up what a row adds takes time where the list is long. With one thread, trees of 28 columns took so much of the time that
# they take with 4095 steps: 1 000 rows 1.00, 2 000 1.03, 4 000 1.04, 8 000 1.07.
FEW = 1023
FEWEST_COUNT_BITS = 6  # so that no field has more than 29: sizes of gradients are summed in steps of the largest one's 29th bit

HALF = 32  # bits of half an entry
LOW_HALF = (1 << HALF) - 1

PLANES = 3
