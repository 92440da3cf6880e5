"""Pairs weigh what swapping them would cost of the average precision; a row is relevant, 1, or not, 0."""

from spinney.jit import inline
from spinney.objectives.kernels.pairs import ranking
from spinney.objectives.kernels.rank_ndcg import pair_weight


@inline
def weigh_places(count, gains, discounts, above, below):
    """Precision that a relevant row adds at its place, and what it adds to those of relevant rows between the two places."""
    found = 0.0
    between = 0.0
    for k in range(count):
        place = float(k + 1)
        above[k] = (found + 1.0) / place
        found += gains[k]
        below[k] = between - found / place
        between += gains[k] / place
        above[k] -= between


rank_map_gradients = ranking("rank_map", weigh_places, pair_weight)
