"""The declarations as documentation: the page of parameters and the estimators' docstrings."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from spinney.params.adaboost import AdaBoostConfig
from spinney.params.boosting import Config
from spinney.params.forest import ForestConfig
from spinney.params.isolation import IsolationConfig
from spinney.params.metrics import METRICS, kind_of
from spinney.params.objectives import OBJECTIVES, Kind
from spinney.params.parameter import GROUPS, Parameter

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

_HEADING = (
    "| name | type | default | range | other spellings | meaning |",
    "|---|---|---|---|---|---|",
)
# What stands under a heading, about all of its parameters.
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
            *(_line(parameter) for parameter in Config.table() if parameter.group == group),
        ]
        parts.append("\n".join(lines) + "\n")
    parts += [_value_spellings(), _metrics(), _forests(), _adaboost(), _isolation()]
    return "\n".join(parts)


def numpydoc(parameters: Iterable[Parameter[Any]]) -> str:
    """Render the Parameters section of an estimator's docstring.

    Parameters
    ----------
    parameters : iterable of Parameter
        Those of the section, in its order.

    Returns
    -------
    str
        The section, starting at the left margin and without a newline at its end.

    Examples
    --------
    >>> print(numpydoc([Config.parameter("learning_rate")]))
    Parameters
    ----------
    learning_rate : float, default=0.1
        Factor on what each tree adds to the score.
    """
    lines = ["Parameters", "----------"]
    for parameter in parameters:
        lines.append(f"{parameter.name} : {parameter.docstring_kind}, default={parameter.default!r}")
        lines += textwrap.wrap(parameter.doc, width=100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _line(parameter: Parameter[Any]) -> str:
    """The line of a parameter in a table of the page."""
    aliases = ", ".join(f"`{alias}`" for alias in parameter.aliases)
    default, accepted = parameter.default, parameter.accepted
    return f"| `{parameter.name}` | {parameter.kind} | `{default!r}` | {accepted} | {aliases} | {parameter.doc} |"


def _value_spellings() -> str:
    lines = [
        "## Other spellings of values",
        "",
        "A spelling that stands in two lines means the metric that fits the objective. Results have a metric under the name",
        "that was given.",
        "",
        "| name | value | other spellings |",
        "|---|---|---|",
    ]
    for parameter in Config.table():
        for choice, others in parameter.choices.items():
            if others:
                spellings = ", ".join(f"`{other}`" for other in others)
                lines.append(f"| `{parameter.name}` | `{choice}` | {spellings} |")
    return "\n".join(lines) + "\n"


def _forests() -> str:
    """The table of forests."""
    lines = [
        "## Forests",
        "",
        "The parameters of random forests, extra trees and single trees. Estimators have these names and scikit-learn's",
        "defaults, and take `class_weight` in scikit-learn's forms.",
        "",
        *_HEADING,
        *map(_line, ForestConfig.table()),
    ]
    return "\n".join(lines) + "\n"


def _adaboost() -> str:
    """The table of AdaBoost."""
    lines = [
        "## AdaBoost",
        "",
        "Parameters of `AdaBoostClassifier` and `AdaBoostRegressor` with their own trees. The estimators have these names; the",
        "regressor has the defaults `loss='linear'`, `max_depth=3` and `resample=True`, and a classifier's loss is always samme.",
        "",
        *_HEADING,
        *map(_line, AdaBoostConfig.table()),
    ]
    return "\n".join(lines) + "\n"


def _isolation() -> str:
    """The table of isolation forests."""
    lines = [
        "## Isolation forests",
        "",
        "The parameters of an isolation forest.",
        "",
        *_HEADING,
        *map(_line, IsolationConfig.table()),
    ]
    return "\n".join(lines) + "\n"


def _metrics() -> str:
    """The table of metrics, and which objectives predict what."""
    lines = [
        "## Metrics",
        "",
        "A metric is computed from raw scores, from predictions (of a classifier: probabilities), from the predicted class,",
        "or from the order of the rows: by raw score, with many classes by probability. It fits objectives by what they predict:",
        "",
        "| predicted | objectives |",
        "|---|---|",
    ]
    for kind, predicted in _PREDICTED.items():
        found = [f"`{name}`" for name in OBJECTIVES if kind_of(name) == kind]
        if found:
            lines.append(f"| {predicted} | {', '.join(found)} |")
    lines += [
        "",
        "| metric | what it is | looks at | fits | target | parameters | better |",
        "|---|---|---|---|---|---|---|",
    ]
    for metric in METRICS.values():
        fits = ", ".join(name for kind, name in _PREDICTED.items() if kind in metric.fits)
        parameters = ", ".join(f"`{name}`" for name in metric.parameters)
        better = "higher" if metric.higher_is_better else "lower"
        lines.append(
            f"| `{metric.name}` | {metric.doc} | {metric.looks_at} | {fits} | {metric.target} | {parameters} | {better} |"
        )
    return "\n".join(lines) + "\n"
