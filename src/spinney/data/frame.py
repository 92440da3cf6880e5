"""pandas, Polars and PyArrow objects as tables and vectors, read by narwhals, which is imported only here."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import (
    ADVICE,
    VECTOR_ADVICE,
    array_table,
    check_size,
    content_of,
    not_a_vector,
    numeric,
    plain_array,
    refusal,
)
from spinney.data.categories import kept_as
from spinney.data.table import Panel, Table, check_names, column_title
from spinney.errors import DataError, DataTypeError

FRAME_PACKAGES = frozenset({"pandas", "polars", "pyarrow", "modin", "cudf", "narwhals"})


def packages_of(value: object) -> set[str]:
    """Names of the packages of a value's class and its bases."""
    return {base.__module__.partition(".")[0] for base in type(value).__mro__}


def is_frame(value: object) -> bool:
    """Whether a value is a frame or a column of one, which narwhals reads and not NumPy.

    Examples
    --------
    >>> is_frame([[1, 2]])
    False
    """
    if isinstance(value, np.ndarray | list | tuple):
        return False
    return not FRAME_PACKAGES.isdisjoint(packages_of(value)) or hasattr(value, "__arrow_c_stream__")


def refuse_duplicate_names(value: Any, what: str) -> None:
    """Refuse a frame with two columns of the same name, which pandas and PyArrow allow."""
    packages = packages_of(value)
    if "pyarrow" in packages:
        names = getattr(getattr(value, "schema", None), "names", ())
    else:
        names = () if packages.isdisjoint({"pandas", "modin", "cudf"}) else getattr(value, "columns", ())
    twice = next((name for name, often in Counter(names).items() if often > 1), None)
    if twice is not None:
        raise DataError(f'{what} has more than one column named "{twice}"; column names must be distinct')


def frame_table(value: Any, what: str, *, allow_empty: bool = False) -> Table:
    """Read a frame as a table: pandas' single block as one panel, else one panel a column.

    Parameters
    ----------
    value : frame
        A pandas, Polars or PyArrow frame, or any object with an Arrow stream.
    what : str
        Name of the argument, for messages.
    allow_empty : bool, default=False
        Whether a table may have no rows.

    Returns
    -------
    Table
        With the frame's column names.
    """
    import narwhals as nw

    frame = _native(value, what)
    if isinstance(frame, np.ndarray):
        return array_table(frame, what, allow_empty=allow_empty)
    check_size(frame.shape, allow_empty=allow_empty)
    rows, columns = frame.shape
    names = _names(frame, what)
    block = _pandas_block(frame)
    if block is not None:
        return Table(rows, columns, names, (Panel(0, block, any_kind=True),))
    panels = tuple(
        _column(series, column, f"{column_title(names, column)} of {what}")
        for column, series in enumerate(nw.from_native(frame, eager_only=True).iter_columns())
    )
    return Table(rows, columns, names, panels)


def frame_vector(value: Any, what: str) -> NDArray[Any]:
    """Read a series, or a frame of one column, as a NumPy array of any dtype.

    Parameters
    ----------
    value : series or frame
        From pandas, Polars or PyArrow.
    what : str
        Name of the argument, for messages.

    Returns
    -------
    ndarray
        Missing values are NaN, None or pandas' NA.
    """
    found = frame_vectors(value, what)
    if len(found) != 1:
        raise not_a_vector((len(found[0]) if found else 0, len(found)), what)
    return found[0]


def frame_vectors(value: Any, what: str) -> list[NDArray[Any]]:
    """Read a series, or every column of a frame, as NumPy arrays of any dtype, like those of `frame_vector`.

    Examples
    --------
    >>> import pandas
    >>> [vector.tolist() for vector in frame_vectors(pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}), "y")]
    [[1, 2], ['x', 'y']]
    """
    import narwhals as nw

    native = _native(value, what)
    if isinstance(native, np.ndarray):
        return [native]
    return [
        _array(series, what, VECTOR_ADVICE)
        for series in nw.from_native(native, eager_only=True).iter_columns()
    ]


def frame_names(value: Any) -> tuple[str, ...]:
    """Names of the columns of a frame, as text; a series has none.

    Examples
    --------
    >>> import pandas
    >>> frame_names(pandas.DataFrame({"a": [1, 2], 7: ["x", "y"]}))
    ('a', '7')
    """
    names = getattr(value, "column_names" if "pyarrow" in packages_of(value) else "columns", ())
    return tuple(str(name) for name in names)


def _native(value: Any, what: str) -> Any:
    """A native eager frame, or a NumPy array for a value that is not a frame."""
    import narwhals as nw

    refuse_duplicate_names(value, what)
    known = nw.from_native(value, pass_through=True, allow_series=True)
    if isinstance(known, nw.LazyFrame):
        raise DataTypeError(
            f"{what} is a {type(value).__name__}, which holds no values: call .collect() first"
        )
    if isinstance(known, nw.Series):
        return _array(known, what, VECTOR_ADVICE)
    if isinstance(known, nw.DataFrame):
        return known.to_native()
    if hasattr(value, "__arrow_c_stream__"):
        try:
            return nw.from_arrow(value, backend="pyarrow").to_native()
        except nw.exceptions.DuplicateError as error:
            raise DataError(f"{what} has more than one column of the same name. {error}") from error
        except ModuleNotFoundError as error:
            raise DataTypeError(
                f"{what} is a {type(value).__name__} with an Arrow stream, and reading one needs PyArrow: "
                "install pyarrow, or turn it into a NumPy array"
            ) from error
    return plain_array(value, what)


def _names(frame: Any, what: str) -> tuple[str, ...] | None:
    names = list(frame.column_names if "pyarrow" in packages_of(frame) else frame.columns)
    if names == list(range(len(names))):
        return None
    kinds = {type(name) for name in names}
    if len({issubclass(kind, str) for kind in kinds}) > 1:
        raise DataTypeError(
            "Feature names are only supported if all input features have string names, but "
            f"{what} has {sorted(kind.__name__ for kind in kinds)} as column name types; "
            f"use {what}.columns = {what}.columns.astype(str)"
        )
    return check_names([str(name) for name in names], len(names), what)


def _pandas_block(frame: Any) -> NDArray[Any] | None:
    """A pandas frame of one numeric dtype as a matrix, if that is the frame's own memory."""
    if "pandas" not in packages_of(frame):
        return None
    dtypes = set(frame.dtypes)
    dtype = dtypes.pop()
    if dtypes or not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
        return None
    # One row is enough to see whether the columns share a block; with the whole frame a copy could be made.
    probe = frame.iloc[:1]
    if not np.shares_memory(probe.to_numpy(), probe.iloc[:, 0].to_numpy()):
        return None
    block: NDArray[Any] = frame.to_numpy()
    return block


def _array(series: Any, where: str, advice: Mapping[str, str] = ADVICE) -> NDArray[Any]:
    import narwhals as nw

    if series.dtype.is_nested():
        raise refusal(where, "nested values", f"dtype {series.dtype}", advice)
    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)
    elif series.dtype == nw.Boolean and series.null_count():
        series = series.cast(nw.Int8)
    array: NDArray[Any] = np.asarray(series.to_numpy())
    return array


def _column(series: Any, column: int, where: str) -> Panel:
    """A column as numbers, or as positions among its categories."""
    import narwhals as nw

    dtype = series.dtype
    native = series.to_native()
    if getattr(native, "dtype", None) == np.dtype(object):
        # pandas has no type for the values of such a column, so they are tested one by one.
        values = series.to_numpy()
        return _text(series, column, where) if _is_text(values) else _plain(values, column, where)
    if dtype == nw.Binary:
        raise refusal(where, "text", f"dtype {dtype}")
    if dtype in (nw.Categorical, nw.Enum):
        if getattr(getattr(native, "dtype", None), "name", "") == "category":
            return _pandas_categories(native, column, where)
        return replace(_listed(series.to_list(), column, where), declared=True)
    if dtype == nw.String:
        return _text(series, column, where)
    if dtype.is_temporal():
        error = refusal(where, "times", f"dtype {dtype}")
        if _loses_nanoseconds(series):
            raise error
        return _perhaps_categories(series.to_list, column, where, error)
    return _plain(_array(series, where), column, where)


def _plain(values: NDArray[Any], column: int, where: str) -> Panel:
    try:
        return Panel(column, numeric(values, lambda _: where).reshape(-1, 1), any_kind=True)
    except DataTypeError as error:
        if values.dtype != np.dtype(object):
            raise
        return _perhaps_categories(values.tolist, column, where, error)


def _perhaps_categories(
    values: Callable[[], list[Any]], column: int, where: str, error: DataTypeError
) -> Panel:
    """A column that cannot be numbers, such as dates, as categories; and the error for it if it is not to be categorical."""
    try:
        return replace(_listed(values(), column, where), refused=str(error))
    except (OverflowError, TypeError, ValueError):
        raise error from None


def _loses_nanoseconds(series: Any) -> bool:
    """Whether times are finer than the Python values for them: all of Polars', and Arrow's times of day."""
    import narwhals as nw

    native = series.to_native()
    if "polars" in packages_of(native):
        fine = series.dtype == nw.Time or getattr(series.dtype, "time_unit", "") == "ns"
    else:
        fine = str(getattr(native, "type", getattr(native, "dtype", ""))).startswith("time64[ns]")
    return fine and bool(np.any(series.drop_nulls().cast(nw.Int64).to_numpy() % 1000))


def _text(series: Any, column: int, where: str) -> Panel:
    return replace(_listed(series.to_list(), column, where), as_numbers=_as_numbers(series))


def _as_numbers(series: Any) -> str:
    """The call that makes numbers of a column of text, with the column's label in the frame."""
    packages = packages_of(series.to_native())
    label = repr(series.name.item() if isinstance(series.name, np.generic) else series.name)
    if "polars" in packages:
        return f"pl.col({label}).cast(pl.Float64)"
    return f"X[{label}]" + (".cast('float64')" if "pyarrow" in packages else ".astype(float)")


def _is_text(values: NDArray[Any]) -> bool:
    """Whether some value is text; mixed columns are refused later, by name."""
    return any(isinstance(value, str) for value in values)


def _listed(values: list[Any], column: int, where: str) -> Panel:
    """Values as positions among the distinct ones in the order of their first appearance, -1 for missing."""
    places: dict[Any, int] = {}
    try:
        codes = np.array([places.setdefault(value, len(places)) for value in values], np.int64)
    except TypeError as error:
        raise refusal(where, "nested values", str(error)) from error
    known = [value for value in places if not _is_missing(value)]
    categories, text_kind = kept_as(known, where)
    lookup = np.full(len(places), -1, np.int64)
    lookup[[places[value] for value in known]] = np.arange(len(known))
    return Panel(column, lookup[codes].reshape(-1, 1), categories, text_kind)


def _is_missing(value: Any) -> bool:
    return content_of(type(value)) == "missing" or bool(value != value)


def _pandas_categories(series: Any, column: int, where: str) -> Panel:
    """pandas' codes as positions among the categories that occur."""
    codes: NDArray[np.int64] = series.cat.codes.to_numpy().astype(np.int64)
    places = np.unique(codes[codes >= 0])
    lookup = np.full(len(series.cat.categories) + 1, -1, np.int64)
    lookup[places] = np.arange(len(places))
    categories, text_kind = kept_as(series.cat.categories[places].tolist(), where)
    return Panel(column, lookup[codes].reshape(-1, 1), categories, text_kind, declared=True)
