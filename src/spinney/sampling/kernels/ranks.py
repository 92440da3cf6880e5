"""Drawing rows that several ranks hold: the steps between the collective calls of `sampling/ranks.py`.

Keys and sizes depend on the row alone. Which rows have the largest keys, and the factor of chances, follow from counts and sums
of whole numbers over all ranks.
"""

from spinney.jit import Member, f64, i64, kernel, own
from spinney.sampling.kernels.gradient import (
    draw_chances,
    gradient_keys,
    measure_sizes,
    scale_rows,
    sum_sizes,
    waiting_keys,
)  # fmt: skip
from spinney.sampling.kernels.records import Chances, Drawing, Pairs
from spinney.sampling.kernels.rows import clear_marks, fill_bag, random_keys, share_of


@kernel
def find_random_keys(team: Member, drawing: Drawing, seed: i64, purpose: i64):
    """Random keys for rows that are not marked, -1 for the others."""
    begin = share_of(drawing.count, team.rank, team.size)
    random_keys(begin, share_of(drawing.count, team.rank + 1, team.size), drawing, seed, purpose)


@kernel
def find_gradient_keys(team: Member, drawing: Drawing, pairs: Pairs):
    """Clear all marks, and give rows keys in the order of their gradients."""
    begin, end = clear_marks(team, drawing)
    gradient_keys(begin, end, drawing, pairs)


@kernel
def find_waiting_keys(team: Member, drawing: Drawing, pairs: Pairs, seed: i64):
    """Clear all marks, and give rows keys by waiting times at a rate of their gradients."""
    begin, end = clear_marks(team, drawing)
    waiting_keys(begin, end, drawing, pairs, seed)


@kernel
def take_marked(team: Member, drawing: Drawing):
    """Write the marked rows to the bag; `drawn[0]` becomes their number."""
    fill_bag(team, drawing)


@kernel
def scale_marked(team: Member, drawing: Drawing, pairs: Pairs, factors: f64["3"]):
    """Multiply the rows' gradients by the factor of their mark."""
    begin = share_of(drawing.count, team.rank, team.size)
    scale_rows(begin, share_of(drawing.count, team.rank + 1, team.size), drawing, pairs, factors)


@kernel
def measure_rows(team: Member, drawing: Drawing, pairs: Pairs, chances: Chances, reg_lambda: f64):
    """Sizes of the rows' gradients, and the largest of each thread's."""
    begin, end = clear_marks(team, drawing)
    measure_sizes(team, begin, end, drawing, pairs, reg_lambda, chances)


@kernel
def sum_rest(team: Member, drawing: Drawing, chances: Chances, factor: f64, scale: f64):
    """For each thread's rows: how many have a chance of 1 by a factor, and the sum of the other rows' sizes in steps."""
    begin = share_of(drawing.count, team.rank, team.size)
    end = share_of(drawing.count, team.rank + 1, team.size)
    mine = own(chances.found, team.rank)
    mine.sums[0], mine.sums[1] = sum_sizes(begin, end, chances.sizes, factor, scale)


@kernel
def draw_with_factor(team: Member, drawing: Drawing, pairs: Pairs, chances: Chances, factor: f64, seed: i64):
    """Draw each row with the chance that the factor gives, and divide its gradients by the chance."""
    begin = share_of(drawing.count, team.rank, team.size)
    end = share_of(drawing.count, team.rank + 1, team.size)
    draw_chances(begin, end, drawing, pairs, chances.sizes, factor, seed)
    fill_bag(team, drawing)
