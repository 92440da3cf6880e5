"""Statistics of gradients, from which the tree chooses its fixed-point steps.

They are taken by blocks of rows. A block is summed in order by one thread, so they do not depend on the number of threads.
"""

from spinney.jit import Member, inline, kernel
from spinney.objectives.kernels.records import STAT_BLOCK, STATS, Gradients

@inline
def block_stats(pairs, begin, end, stats, at):
    """Largest and summed |g| and h of the pairs of one block.

    Two running sums each, of even and odd rows: one alone would wait for its own last addition.
    """
    max_g = 0.0
    max_h = 0.0
    sum_g = 0.0
    sum_h = 0.0
    odd_g = 0.0
    odd_h = 0.0
    even_end = begin + (end - begin) // 2 * 2
    for i in range(begin, even_end, 2):
        g = abs(float(pairs[2 * i]))
        h = float(pairs[2 * i + 1])
        g1 = abs(float(pairs[2 * i + 2]))
        h1 = float(pairs[2 * i + 3])
        top_g = g if g > g1 else g1
        top_h = h if h > h1 else h1
        max_g = top_g if top_g > max_g else max_g
        max_h = top_h if top_h > max_h else max_h
        sum_g += g
        sum_h += h
        odd_g += g1
        odd_h += h1
    for i in range(even_end, end):
        max_g = max(max_g, abs(float(pairs[2 * i])))
        max_h = max(max_h, float(pairs[2 * i + 1]))
        sum_g += abs(float(pairs[2 * i]))
        sum_h += float(pairs[2 * i + 1])
    stats[at] = max_g
    stats[at + 1] = max_h
    stats[at + 2] = sum_g + odd_g
    stats[at + 3] = sum_h + odd_h


@kernel
def restate(team: Member, gradients: Gradients):
    """Statistics of gradients that have been changed."""
    rows = gradients.rows
    for b in range(team.rank, gradients.blocks * gradients.outputs, team.size):
        first = b // gradients.blocks * rows
        begin = b % gradients.blocks * STAT_BLOCK
        end = min(begin + STAT_BLOCK, rows)
        block_stats(gradients.pairs, first + begin, first + end, gradients.stats, STATS * b)
