"""The table as documentation: the parameters page and the estimators' docstrings."""

import textwrap
from collections.abc import Iterable

from spinney.params.config import table
from spinney.params.rows import GROUPS, Row

_INTRODUCTION = """\
# Parameters

Every hyper-parameter of `spinney.train`; those under [Data](#data) belong to `Dataset`. Each one may be given
under its name or under one of its other spellings, most of them XGBoost's and LightGBM's; an unknown name, or
two spellings of one parameter, is an error. A number may be a Python or a NumPy scalar, never a bool or a
string, and must be finite.

This page is written by `python -m spinney.params > docs/parameters.md`.
"""


# What a heading says about all parameters under it.
_NOTES = {
    "data": """\
These belong to `Dataset`, which takes them by keyword under the names of the first column. `train` takes them
only with the values that its `Dataset` has. Estimators make their own `Dataset` and take them like all others.
""",
}


def markdown() -> str:
    """Render the parameters page.

    Returns
    -------
    str
        One table for each group, then the other spellings of values.

    Examples
    --------
    >>> markdown().splitlines()[0]
    '# Parameters'
    """
    parts = [_INTRODUCTION]
    for group in GROUPS:
        lines = [
            f"## {group.capitalize()}",
            "",
            *((_NOTES[group],) if group in _NOTES else ()),
            "| name | type | default | range | other spellings | meaning |",
            "|---|---|---|---|---|---|",
            *(_line(row) for row in table() if row.group == group),
        ]
        parts.append("\n".join(lines) + "\n")
    parts.append(_value_spellings())
    return "\n".join(parts)


def numpydoc(rows: Iterable[Row]) -> str:
    """Render the Parameters section of an estimator's docstring.

    Parameters
    ----------
    rows : iterable of Row
        Parameters in the order of the section.

    Returns
    -------
    str
        The section, starting at the left margin and without a newline at its end.

    Examples
    --------
    >>> print(numpydoc(row for row in table() if row.name == "learning_rate"))
    Parameters
    ----------
    learning_rate : float, default=0.1
        Factor on what each tree adds to the score.
    """
    lines = ["Parameters", "----------"]
    for row in rows:
        kind = "{" + ", ".join(map(repr, row.choices)) + "}" if row.kind == "str" else row.kind
        lines.append(f"{row.name} : {kind}, default={row.default!r}")
        lines += textwrap.wrap(row.doc, width=100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _line(row: Row) -> str:
    accepted = ", ".join(f"`{choice}`" for choice in row.choices) or f"`{row.range}`"
    accepted += "".join(f"; {value} means {meaning}" for value, meaning in row.also.items())
    aliases = ", ".join(f"`{alias}`" for alias in row.aliases)
    return f"| `{row.name}` | {row.kind} | `{row.default!r}` | {accepted} | {aliases} | {row.doc} |"


def _value_spellings() -> str:
    lines = [
        "## Other spellings of values",
        "",
        "A spelling that stands in two lines means the metric that fits the objective.",
        "",
        "| name | value | other spellings |",
        "|---|---|---|",
    ]
    for row in table():
        for choice, others in row.choices.items():
            if others:
                spelled = ", ".join(f"`{other}`" for other in others)
                lines.append(f"| `{row.name}` | `{choice}` | {spelled} |")
    return "\n".join(lines) + "\n"
