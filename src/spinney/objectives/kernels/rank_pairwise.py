"""RankNet: all pairs weigh the same."""

from spinney.jit import inline
from spinney.objectives.kernels.pairs import ranking


@inline
def weigh_places(count, gains, discounts, above, below):
    """Places do not matter."""
    for k in range(count):
        above[k] = 0.0
        below[k] = 0.0


@inline
def pair_weight(gain, other, above, below):
    """Which of two rows is the more relevant."""
    return 1.0 if gain > other else (-1.0 if gain < other else 0.0)


rank_pairwise_gradients = ranking("rank_pairwise", weigh_places, pair_weight)
