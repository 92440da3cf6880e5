"""The records that the kernels of binning share, and those of a binned table for other kernels."""

from spinney.jit import f32, f64, i32, i64, item, out, record, u8, u16

NO_DEFAULT = 1 << 30  # instead of a default bin: the column has a code for every bin
SHORTEST_ROW = 16  # bytes of codes; longer rows are multiples of it


# --- Inputs of binning


@record
class Block:
    """Rows of a dense panel in strided memory: float32 or float64, the array that is not in use empty."""

    rows: i64
    columns: i64
    row_step: i64
    column_step: i64
    span32: i64
    span64: i64
    values32: f32["span32"]
    values64: f64["span64"]


@record
class StoredValues:
    """Stored values of a sparse table, column after column, rows ascending: float32 where `single` is 1, else float64."""

    columns: i64
    stored: i64
    single: i64
    starts: i64["columns + 1"]
    rows: i32["stored"]
    values32: f32["stored * single"]
    values64: f64["stored * (1 - single)"]


@record
class CutLists:
    """The cuts of all columns; see `Cuts`."""

    columns: i64
    total: i64
    values: f64["total"]
    starts: i64["columns + 1"]


# --- The binned table


@record
class BinLines:
    """Bins of some columns, or codes of some groups, for all rows: bytes, or two bytes each where `wide` is 1."""

    rows: i64
    columns: i64
    wide: i64
    lines8: out(u8["rows * columns * (1 - wide)"])
    lines16: out(u16["rows * columns * wide"])


@record
class EntryLists:
    """Entries of some columns; see `SparseEntries`."""

    columns: i64
    entries: i64
    starts: i64["columns + 1"]
    rows: i32["entries"]
    bins: u16["entries"]
    default: i64["columns"]


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
    """Entries of sparse columns as codes: by rows, as places on the axis of sparse columns, and by columns, counted from 1."""

    present: i64  # 0: no column is sparse
    entries: i64
    axis: i64  # codes of all sparse columns
    row_starts: i64["(codes.rows + 1) * present"]
    row_codes: i32["entries"]
    starts: i64["features.columns + 1"]
    column_rows: i32["entries"]
    column_codes: u16["entries"]


@record
class Columns:
    """Where the bins of each column are; see `ColumnLayout`."""

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


@item
class SearchUnit:
    """A unit of search: columns whose codes are side by side on the histogram's axis."""

    group: i64  # SPARSE for none
    # Its first code, counted from the group's first; for sparse columns from the sparse axis' first
    begin: i64
    end: i64
    member: i64  # position of its first column in `members`
    columns: i64  # 0: a single column of any kind; else a run of so many columns that have one code each


@record
class SortedColumns:
    """Every column's entries, sorted by value.

    A value is given by its *rank* among the distinct values of its column; a missing value ranks after all of them.
    """

    columns: i64
    listed: i64
    entries: i64["listed"]  # rank << 32 | row
    starts: i64["columns + 1"]
    rest: i64[
        "columns"
    ]  # rank of the rows that are not listed: that of 0 in a sparse table, else that of missing values
    ranks: i64["columns"]  # number of distinct values, which is the rank of a missing one
    zero: i64["columns"]  # rank of 0, which candidates keep apart; -1 where it is no value of the column
