"""The table as documentation: the parameters page and the estimators' docstrings."""

import textwrap
from collections.abc import Mapping, Sequence

from spinney.params.config import table
from spinney.params.names import find, spellings
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


def default_of(name: str) -> object:
    """Return the default of a parameter.

    Examples
    --------
    >>> default_of("max_leaves")
    31
    """
    return find(name).default


def doc(name: str) -> str:
    """Return the meaning of a parameter in words.

    Examples
    --------
    >>> doc("reg_lambda")
    'L2 penalty on leaf values.'
    """
    return find(name).doc


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


def numpydoc(names: Sequence[str], overrides: Mapping[str, str] | None = None) -> str:
    """Render the Parameters section of an estimator's docstring.

    Parameters
    ----------
    names : sequence of str
        Parameters in the order of the section.
    overrides : mapping of str to str, optional
        Text in place of the table's, by name. For a parameter of the table it replaces the meaning. For
        any other name its first line is the type and default, the rest the meaning.

    Returns
    -------
    str
        The section, starting at the left margin and without a newline at its end.

    Raises
    ------
    ParameterError
        If a name is neither in the table nor in `overrides`.

    Examples
    --------
    >>> print(numpydoc(["n_estimators", "eta"], {"n_estimators": "int, default=100\\nNumber of rounds."}))
    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds.
    eta : float, default=0.1
        Factor on what each tree adds to the score.
    """
    replaced = overrides or {}
    lines = ["Parameters", "----------"]
    for name in names:
        if name in replaced and name not in spellings():
            head, _, meaning = replaced[name].partition("\n")
        else:
            row = find(name)
            kind = "{" + ", ".join(map(repr, row.choices)) + "}" if row.kind == "str" else row.kind
            head, meaning = f"{kind}, default={row.default!r}", replaced.get(name, row.doc)
        lines.append(f"{name} : {head}")
        lines += textwrap.wrap(meaning, width=100, initial_indent="    ", subsequent_indent="    ")
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
