"""What kernels know of a binned table."""

from spinney.jit import i32, i64, record, u8, u16


@record
class Codes:
    """Codes of all groups, by rows and by columns: bytes, or two bytes each where `wide` is 1."""

    rows: i64
    groups: i64
    stride: i64  # codes from one row to the next
    wide: i64
    by_row8: u8["rows * stride * (1 - wide)"]
    by_row16: u16["rows * stride * wide"]
    by_column8: u8["rows * groups * (1 - wide)"]
    by_column16: u16["rows * groups * wide"]


@record
class SparseCodes:
    """Codes of sparse columns: by rows, as places on the axis of sparse columns, and by columns, counted from 1."""

    present: i64  # 0: no column is sparse
    stored: i64
    axis: i64  # codes of all sparse columns
    row_starts: i64["(codes.rows + 1) * present"]
    row_codes: i32["stored"]
    starts: i64["features.columns + 1"]
    column_rows: i32["stored"]
    column_codes: u16["stored"]


@record
class Columns:
    """Where the bins of each column are; see `Features`."""

    columns: i64
    groups: i64
    group_of: i64["columns"]
    low: i64["columns"]
    codes: i64["columns"]
    bins: i64["columns"]
    default: i64["columns"]
    group_codes: i64["groups"]
    categorical: u8["columns"]


@record
class Binned:
    """A binned table."""

    codes: Codes
    sparse: SparseCodes
    features: Columns


@record
class SortedColumns:
    """Every column's entries, sorted by value; see `ColumnBlocks`."""

    columns: i64
    listed: i64
    entries: i64["listed"]  # rank << 32 | row
    starts: i64["columns + 1"]
    rest: i64["columns"]
    ranks: i64["columns"]
    zero: i64["columns"]
