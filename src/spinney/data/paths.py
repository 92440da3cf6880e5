"""Paths that users give."""

from __future__ import annotations

import os

from spinney.errors import DataError


def check_path(path: str | os.PathLike[str], said: str) -> None:
    """Refuse what no file can be called; `said` names it in messages.

    Examples
    --------
    >>> check_path("größe.csv", "out='größe.csv'")
    """
    if "\0" in os.fsdecode(path):
        raise DataError(f"{said} holds a null character, which no path can")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise DataError(f"{said} cannot be written as a path of this system: {error}") from error
