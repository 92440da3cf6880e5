"""The table as documentation: the parameters page and the estimators' docstrings."""

import textwrap
from collections.abc import Iterable, Mapping

from spinney.params.adaboost import adaboost_table
from spinney.params.config import table
from spinney.params.forest import forest_table
from spinney.params.isolation import isolation_table
from spinney.params.metric_names import kind_of
from spinney.params.metrics import METRICS
from spinney.params.objectives import OBJECTIVES, Kind
from spinney.params.rows import GROUPS, Row

_INTRODUCTION = """\
# Parameters

Every hyper-parameter of `spinney.train`; those under [Data](#data) belong to `Dataset`, and [forests](#forests)
and [AdaBoost](#adaboost) have tables of their own. Each one may be given under its name or under one of its
other spellings, most of them XGBoost's and LightGBM's; an unknown name, or two spellings of one parameter, is
an error. A number may be a Python or a NumPy scalar, never a bool or a string, and must be finite.

This page is written by `python -m spinney.params > docs/parameters.md`.
"""


# What an objective predicts, in words.
_PREDICTED: Mapping[Kind, str] = {
    "numbers": "numbers",
    "positive": "numbers above 0",
    "two": "two classes",
    "many": "many classes",
    "ranks": "ranks within queries",
    "hazards": "hazard ratios",
    "times": "times",
}

_LONGEST_CHOICE = 80  # characters of a docstring's line in which all words are listed
_HEADING = (
    "| name | type | default | range | other spellings | meaning |",
    "|---|---|---|---|---|---|",
)
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
        One table for each group, then the other spellings of values, the metrics, and the tables of forests and of AdaBoost.

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
            *_HEADING,
            *(_line(row) for row in table() if row.group == group),
        ]
        parts.append("\n".join(lines) + "\n")
    parts += [_value_spellings(), _metrics(), _forests(), _adaboost(), _isolation()]
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
        words = "{" + ", ".join(map(repr, row.choices)) + "}"
        kind = words if row.kind == "str" and len(words) <= _LONGEST_CHOICE else row.kind
        lines.append(f"{row.name} : {kind}, default={row.default!r}")
        lines += textwrap.wrap(row.doc, width=100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _line(row: Row) -> str:
    words = "" if row.share else ", ".join(f"`{choice}`" for choice in row.choices)
    accepted = words or f"`{row.range}`"
    accepted += "".join(f"; {value} means {meaning}" for value, meaning in row.also.items())
    aliases = ", ".join(f"`{alias}`" for alias in row.aliases)
    return f"| `{row.name}` | {row.kind} | `{row.default!r}` | {accepted} | {aliases} | {row.doc} |"


def _value_spellings() -> str:
    lines = [
        "## Other spellings of values",
        "",
        "A spelling that stands in two lines means the metric that fits the objective. Results have a metric under the name that "
        "was given.",
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


def _forests() -> str:
    """The table of forests."""
    lines = [
        "## Forests",
        "",
        "What random forests, extra trees and single trees know. Estimators have these names and scikit-learn's defaults,",
        "and take `class_weight` in scikit-learn's forms.",
        "",
        *_HEADING,
        *(_line(row) for row in forest_table()),
    ]
    return "\n".join(lines) + "\n"


def _adaboost() -> str:
    """The table of AdaBoost."""
    lines = [
        "## AdaBoost",
        "",
        "What `AdaBoostClassifier` and `AdaBoostRegressor` know of their own trees. The estimators have these names; the",
        "regressor has the defaults `loss='linear'`, `max_depth=3` and `resample=True`, and a classifier's loss is always samme.",
        "",
        *_HEADING,
        *(_line(row) for row in adaboost_table()),
    ]
    return "\n".join(lines)


def _isolation() -> str:
    """The table of isolation forests."""
    lines = [
        "## Isolation forests",
        "",
        "What an isolation forest knows.",
        "",
        *_HEADING,
        *(_line(row) for row in isolation_table()),
    ]
    return "\n".join(lines) + "\n"


def _metrics() -> str:
    """The table of metrics, and which objectives predict what."""
    lines = [
        "## Metrics",
        "",
        "A metric looks at raw scores, at predictions (of a classifier: probabilities), at the class that the scores speak for,",
        "or at the order of the rows: by raw score, with many classes by probability. It fits objectives by what they predict:",
        "",
        "| predicted | objectives |",
        "|---|---|",
    ]
    for kind, words in _PREDICTED.items():
        found = [f"`{name}`" for name in OBJECTIVES if kind_of(name) == kind]
        if found:
            lines.append(f"| {words} | {', '.join(found)} |")
    lines += [
        "",
        "| metric | what it is | looks at | fits | target | parameters | better |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in METRICS.values():
        fits = ", ".join(words for kind, words in _PREDICTED.items() if kind in row.fits)
        parameters = ", ".join(f"`{name}`" for name in row.parameters)
        better = "higher" if row.higher_is_better else "lower"
        lines.append(
            f"| `{row.name}` | {row.doc} | {row.judges} | {fits} | {row.target} | {parameters} | {better} |"
        )
    return "\n".join(lines) + "\n"
