"""What kernels know of the rows of a table besides its columns."""

from spinney.jit import f64, i64, record


@record
class LabelArrays:
    """Target and weights; see `Labels`."""

    rows: i64
    weighted: i64  # 0: every row weighs 1
    target: f64["rows"]
    weight: f64["rows * weighted"]
