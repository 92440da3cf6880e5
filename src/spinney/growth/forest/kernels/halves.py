"""The rows of a node in two halves: one orders the categories of a column, the other judges the sets that follow.

An order by the targets of a few rows a category puts luck in order: its best set looks far better than it is, and wins
against columns that tell more. Judged by rows that had no part in the order, a set is worth what it will be for new rows.
Of few categories there are no more sets than a column of numbers has cuts, so all rows order and judge them.
"""

from spinney.growth.forest.kernels.access import row_of
from spinney.jit.inline import inline
from spinney.sampling.kernels.purposes import PURPOSE_HALF, PURPOSE_ORDER
from spinney.sampling.kernels.random import random_bits

# Categories of a node up to which all of its rows order and judge. With 8 instead, explained variance of a classifier of 400
# categories falls from .128 to .119 (8 000 rows); with 0, that of 12 categories from .417 to .410 (3 000 rows).
FEW_CATEGORIES = 4


@inline
def orders(i, node, rows):
    """1 for a record of the half that orders categories, 0 for one that judges."""
    return random_bits(node.key, PURPOSE_HALF, row_of(i, rows)) & 1


@inline
def direction(node):
    """1 or -1 by chance: whether the order of a node's categories runs up or down.

    Categories of the same mean, as those that the ordering half lacks, are in the order of their codes, frequent ones first.
    In an order that always runs up, rare ones would stand beside the larger targets, and their predictions be too large.
    """
    return 1.0 - 2.0 * float(random_bits(node.key, PURPOSE_ORDER, 0) & 1)
