"""Which columns of a table are meant."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable
from spinney.params.per_column import resolve_column


def column_groups(
    columns: object, names: Sequence[str] | None, count: int
) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """Read columns, or groups of columns.

    Parameters
    ----------
    columns : None, column, iterable of columns, or mapping of titles to a column or several
        Columns by name or position. None stands for all.
    names : sequence of str, or None
        Names of the table's columns.
    count : int
        Number of the table's columns.

    Returns
    -------
    titles : tuple of str
        What to call each group: its title, or the name of its one column ("x0" and so on where columns have no names).
    groups : list of tuple of int
        Positions of the columns of each group.

    Examples
    --------
    >>> column_groups(["b", 0], ("a", "b", "c"), 3)
    (('b', 'a'), [(1,), (0,)])
    >>> column_groups({"both": ["a", "c"], "b": 1}, ("a", "b", "c"), 3)
    (('both', 'b'), [(0, 2), (1,)])
    """
    titles = [f"x{column}" for column in range(count)] if names is None else list(names)
    if columns is None:
        return tuple(titles), [(column,) for column in range(count)]
    if isinstance(columns, Mapping):
        found = {str(title): _places(members, names, count) for title, members in columns.items()}
        if not found or len(found) < len(columns):
            raise ParameterError(
                f"columns={shown(columns)} must have a group or more, each with a title of its own"
            )
        return tuple(found), list(found.values())
    places = _places(columns, names, count)
    return tuple(titles[place] for place in places), [(place,) for place in places]


def _places(columns: object, names: Sequence[str] | None, count: int) -> tuple[int, ...]:
    """Positions of one column or several, none of them twice."""
    if isinstance(columns, str | numbers.Integral):
        columns = [columns]
    if not is_iterable(columns) or isinstance(columns, bytes):
        raise ParameterTypeError(
            f"columns={shown(columns)} must be a column's name or position, a list of them, or a mapping of titles to such"
        )
    places = tuple(resolve_column("columns", key, names, count) for key in columns)
    if not places:
        raise ParameterError("columns names no column; give one or more, or None for all of them")
    for at, place in enumerate(places):
        if place in places[:at]:
            said = f"column {place}" if names is None else repr(names[place])
            raise ParameterError(f"columns={shown(columns)} names {said} twice; give it once")
    return places
