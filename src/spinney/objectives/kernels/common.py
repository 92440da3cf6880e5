"""Functions for kernels of several losses: an output's target and weight, bounds, the largest gradients of a block of rows."""

from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients
from spinney.jit import Member, inline, kernel
from spinney.jit.intrinsics import tail

# --- The column of the labels for an output: of its own, or the only one


@inline
def target_of(labels, output):
    """The column of the target that an output is fitted to."""
    return tail(labels.target, output * labels.rows if labels.targets > 1 else 0)


@inline
def weight_of(labels, output):
    """The weights of the rows for an output."""
    return tail(labels.weight, output * labels.rows if labels.weighted > 1 else 0)


# --- Keeping gradients finite


LARGEST = 1e30  # beyond any gradient of a target that can be trained on, and far from the largest float32


@inline
def bounded(x):
    """A number of 0 or more, LARGEST at most."""
    return x if x < LARGEST else LARGEST


# --- The largest gradients, from which follow the fixed-point steps of a tree; by blocks of rows while these are in the cache


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
    """The largest gradients of every block, where gradients have been changed."""
    rows = gradients.rows
    for b in range(team.rank, gradients.blocks * gradients.outputs, team.size):
        first = b // gradients.blocks * rows
        begin = b % gradients.blocks * GRADIENT_BLOCK
        end = min(begin + GRADIENT_BLOCK, rows)
        block_largest(gradients.pairs, first + begin, first + end, gradients.largest, PAIR * b)
