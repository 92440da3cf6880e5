"""Drawing rows that all have the same chance."""

from spinney.jit import Member, i64, kernel
from spinney.sampling.kernels.largest import mark_largest
from spinney.sampling.kernels.marks import DRAWN, RANDOM_SHIFT, clear_marks, fill_bag, random_keys
from spinney.sampling.kernels.purposes import PURPOSE_ROWS
from spinney.sampling.kernels.records import Drawing


@kernel
def draw_uniform(team: Member, drawing: Drawing, wanted: i64, seed: i64):
    """Draw `wanted` of the rows, every set equally likely: those of the largest random keys, of equal ones the first.

    A row's key depends on the seed and its number alone, and counts of keys are whole numbers. So blocks of rows can be drawn
    apart once their counts are joined.
    """
    begin, end = clear_marks(team, drawing)
    random_keys(begin, end, drawing, seed, PURPOSE_ROWS)
    if mark_largest(team, drawing, RANDOM_SHIFT, wanted, DRAWN):
        fill_bag(team, drawing)
