"""Mean average precision."""

from spinney.jit import inline
from spinney.metrics.kernels.rankings import by_query


@inline
def value(begin, end, rank, ranked, target, gains):
    """Mean precision at the places of relevant rows; 1 where no row is relevant."""
    found = 0.0
    total = 0.0
    relevant = 0.0
    for i in range(begin, end):
        one = 1.0 if target[ranked[i]] > 0.0 else 0.0
        relevant += one
        if i - begin < gains.depth:
            found += one
            total += one * found / float(i - begin + 1)
    return total / min(relevant, float(gains.depth)) if relevant > 0.0 else 1.0


map_values = by_query("map", value)
