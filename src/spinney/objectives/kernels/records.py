"""What losses fill and growers read."""

from spinney.jit import f32, f64, i64, out, record

STAT_BLOCK = 8192  # rows
STATS = 4  # of a block of rows: largest |g|, largest h, sum of |g|, sum of h


@record
class Gradients:
    """Scores of all rows by output, their gradients and hessians side by side, and statistics of these by block of rows."""

    rows: i64
    outputs: i64
    blocks: i64
    scores: out(f64["rows * outputs"])
    pairs: out(f32["2 * rows * outputs"])
    stats: out(f64["STATS * blocks * outputs"])
