"""Keeping gradients finite."""

from spinney.jit import inline

LARGEST = 1e30  # beyond any gradient of a target that can be trained on, and far from the largest float32


@inline
def bounded(x):
    """A number of 0 or more, LARGEST at most."""
    return x if x < LARGEST else LARGEST
