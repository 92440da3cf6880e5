"""LambdaMART: pairs weigh what swapping them would cost of the normalised discounted gain."""

from spinney.jit import inline
from spinney.objectives.kernels.pairs import ranking


@inline
def weigh_places(count, gains, discounts, above, below):
    """Discounts; the difference of two is what a swap costs for each unit of gain."""
    for k in range(count):
        above[k] = discounts[k]
        below[k] = -discounts[k]


@inline
def pair_weight(gain, other, above, below):
    """Difference of gains times that of discounts."""
    return (gain - other) * (above + below)


rank_ndcg_gradients = ranking("rank_ndcg", weigh_places, pair_weight)
