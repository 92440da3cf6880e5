"""Normalised discounted cumulative gain."""

import numpy as np

from spinney.data.kernels.queries import best_gain
from spinney.jit import inline
from spinney.metrics.kernels.rankings import by_query


@inline
def value(begin, end, rank, ranked, target, gains):
    """Gain as a share of the best order's; 1 where no order gains anything."""
    best = best_gain(begin, end, rank, ranked, target, gains)
    found = 0.0
    for place in range(min(end - begin, gains.depth)):
        found += gains.gains[np.int64(target[ranked[begin + place]])] * gains.discounts[place]
    return found / best if best > 0.0 else 1.0


ndcg_values = by_query("ndcg", value)
