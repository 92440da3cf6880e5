"""Mean reciprocal rank."""

from spinney.jit import inline
from spinney.metrics.kernels.rankings import by_query


@inline
def value(begin, end, rank, ranked, target, gains):
    """1 over the place of the first relevant row, 0 if it is too far down; 1 where no row is relevant."""
    place = begin
    while place < end and target[ranked[place]] <= 0.0:
        place += 1
    if place == end:
        return 1.0
    return 1.0 / float(place - begin + 1) if place - begin < gains.depth else 0.0


mrr_values = by_query("mrr", value)
