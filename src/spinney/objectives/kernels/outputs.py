"""Which column of the labels belongs to an output: its own, or the one there is."""

from spinney.jit.inline import inline
from spinney.jit.intrinsics import tail


@inline
def target_of(labels, output):
    """The column of the target that an output is fitted to."""
    return tail(labels.target, output * labels.rows if labels.targets > 1 else 0)


@inline
def weight_of(labels, output):
    """The weights of the rows for an output."""
    return tail(labels.weight, output * labels.rows if labels.weighted > 1 else 0)
