"""Paths that users give."""

from __future__ import annotations

import os

from spinney.errors import DataError


def check_path(path: str | os.PathLike[str], title: str) -> None:
    """Refuse a path that no file can have; `title` names it in messages.

    Examples
    --------
    >>> check_path("größe.csv", "out='größe.csv'")
    """
    if "\0" in os.fsdecode(path):
        raise DataError(f"{title} holds a null character, which no path can")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise DataError(f"{title} cannot be written as a path of this system: {error}") from error
