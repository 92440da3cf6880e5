"""The largest gradients, from which a tree chooses its fixed-point steps, by blocks of rows while these are in cache."""

from spinney.jit import Member, inline, kernel
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


@inline
def block_largest(pairs, begin, end, largest, at):
    """Largest |g| and h of the rows begin..end-1."""
    max_g = 0.0
    max_h = 0.0
    for i in range(begin, end):
        g = abs(float(pairs[PAIR * i]))
        h = float(pairs[PAIR * i + 1])
        max_g = g if g > max_g else max_g
        max_h = h if h > max_h else max_h
    largest[at] = max_g
    largest[at + 1] = max_h


@kernel
def find_largest(team: Member, gradients: Gradients):
    """The largest of gradients that have been changed."""
    rows = gradients.rows
    for b in range(team.rank, gradients.blocks * gradients.outputs, team.size):
        first = b // gradients.blocks * rows
        begin = b % gradients.blocks * BLOCK
        end = min(begin + BLOCK, rows)
        block_largest(gradients.pairs, first + begin, first + end, gradients.largest, PAIR * b)
