"""How gradients and rows are packed into integers, and the limits that keep sums exact.

One *entry* per row: row number in the high 32 bits, then the quantized gradient (16 bits, signed) and hessian (16 bits).

One *cell* per bin while a block of rows is summed, a single int64 add per row and column:

    63            38 37             13 12         0
    | gradient: 26   | hessian: 25    | count: 13 |

A block has at most `BLOCK` rows, a gradient at most `LARGEST` steps either way, a hessian at most `LARGEST`: no field can
run into the next. Blocks are then added to three int32 planes (gradient, hessian, count); the steps are chosen so that the
sum over all rows fits 31 bits.
"""

BLOCK = 8128
LARGEST = 4095
GRADIENT_SHIFT = 38
HESSIAN_SHIFT = 13
HESSIAN_MASK = (1 << 25) - 1
COUNT_MASK = (1 << 13) - 1
SUM_LIMIT = 2147480000.0  # a little below 2**31
EXACT_LIMIT = 4.0e18  # a little below 2**62: sums of leaves are taken in 64-bit fixed point

PLANES = 3
