"""What losses fill and growers read."""

from spinney.jit import f32, f64, i64, out, record

BLOCK = 8192  # rows of which the largest gradients are found together
PAIR = 2  # gradient and hessian of a row, side by side


@record
class Gradients:
    """Scores of all rows by output, their gradients and hessians side by side, and the largest of these by block."""

    rows: i64
    outputs: i64
    blocks: i64
    scores: out(f64["rows * outputs"])
    pairs: out(f32["PAIR * rows * outputs"])
    largest: out(f64["PAIR * blocks * outputs"])
