"""The records of drawing rows."""

from spinney.jit import f32, f64, i32, i64, out, record, u8

PLACES = 10272  # of a thread in `counts`; `largest` says for what


@record
class Drawing:
    """Rows that may be drawn, their keys and marks, scratch of each thread, and the bag that drawn rows are written to."""

    count: i64
    rows: i64
    threads: i64
    first: i64  # number of row 0, for what is drawn by row
    eligible: i32["count"]
    keys: out(i32["count"])
    chosen: out(u8["count"])
    counts: out(i32["PLACES * threads"])
    bag: out(i32["rows"])


@record
class Pairs:
    """Gradients and hessians of all rows, side by side, by output."""

    rows: i64
    outputs: i64
    values: out(f32["2 * rows * outputs"])


@record
class Chances:
    """The sizes of gradients; of each thread's rows the largest size, and the sums of two turns."""

    count: i64
    threads: i64
    sizes: out(f64["count"])
    largest: out(f64["threads"])
    sums: out(i64["4 * threads"])


@record
class Orders:
    """Orders of rows, one for each of some columns."""

    rows: i64
    columns: i64
    column: i64["columns"]
    orders: out(i32["columns * rows"])
