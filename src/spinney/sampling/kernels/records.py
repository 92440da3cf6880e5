"""Records of drawing rows."""

from spinney.jit import f32, f64, i32, i64, out, record, u8

PLACES = 10272  # of `counts`; listed in `kernels/rows.py`


@record(per_thread=True)
class DrawScratch:
    """Memory of a thread: counts of its rows by digits of their keys, and of those that are marked."""

    counts: out(i32["PLACES"])


@record
class Drawing:
    """Rows that may be drawn, their keys and marks, and the bag for the drawn rows."""

    count: i64
    rows: i64
    first: i64  # number of row 0 in the whole table: draws by row depend on it
    eligible: i32["count"]
    keys: out(i32["count"])
    chosen: out(u8["count"])
    scratch: DrawScratch
    drawn: out(i64["1"])  # number of rows in the bag
    bag: out(i32["rows"])


@record
class Pairs:
    """Gradients and hessians of all rows, side by side, by output."""

    rows: i64
    outputs: i64
    values: out(f32["2 * rows * outputs"])


@record(per_thread=True)
class SizeSums:
    """Memory of a thread: the largest size of its rows, and the sums of two turns."""

    largest: out(f64["1"])
    sums: out(i64["4"])


@record
class Chances:
    """The sizes of gradients, and the sums of each thread."""

    count: i64
    sizes: out(f64["count"])
    found: SizeSums


@record
class Orders:
    """Orders of rows, one for each of some columns."""

    rows: i64
    columns: i64
    column: i64["columns"]
    orders: out(i32["columns * rows"])
