"""The records that kernels of several packages read: labels, gradients, and the rows of leaves."""

from spinney.jit import f32, f64, i32, i64, item, out, record

# --- Labels


@record
class LabelArrays:
    """Target and weights; see `Labels`. The columns of the target stand one after another."""

    rows: i64
    targets: i64
    weighted: i64  # columns of weights; 0: every row weighs 1
    target: f64["rows * targets"]
    weight: f64["rows * weighted"]


# --- Between losses and growers: gradients, and the rows of leaves


GRADIENT_BLOCK = 8192  # rows of which the largest gradients are found together
PAIR = 2  # gradient and hessian of a row, side by side


@record
class Gradients:
    """Scores of all rows by output, their gradients and hessians side by side, and the largest of these by block."""

    rows: i64
    outputs: i64
    blocks: i64
    unit: f64  # what penalties are divided by, because weights were; a power of two
    scores: out(f64["rows * outputs"])
    pairs: out(f32["PAIR * rows * outputs"])
    largest: out(f64["PAIR * blocks * outputs"])


@item
class Grown:
    """The latest tree."""

    output: i64  # the one that it was grown for
    nodes: i64


@record
class LeafRows:
    """The rows that grew a tree, by leaf: those of node k stand from begin[k] to end[k] - 1. Inner nodes have none."""

    rows: i64
    max_nodes: i64
    grown: out(Grown["1"])
    members: out(i32["rows"])
    begin: out(i64["max_nodes"])
    end: out(i64["max_nodes"])
