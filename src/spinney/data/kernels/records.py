"""What kernels know of the rows of a table besides its columns."""

from spinney.jit import f64, i64, record


@record
class LabelArrays:
    """Target and weights; see `Labels`. The columns of a target of several stand one after another."""

    rows: i64
    targets: i64
    weighted: i64  # columns of weights; 0: every row weighs 1
    target: f64["rows * targets"]
    weight: f64["rows * weighted"]
