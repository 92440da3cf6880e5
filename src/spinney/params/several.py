"""Several outputs of one model: columns of the target, levels of a quantile, classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spinney.errors import ParameterError
from spinney.params.objectives import OWN, objective_row

if TYPE_CHECKING:
    from spinney.params.config import Config


def takes_targets(objective: str) -> bool:
    """Whether a target may have several columns, each with a tree a round.

    Examples
    --------
    >>> takes_targets("squared_error"), takes_targets("softmax")
    (True, False)
    """
    row = objective_row(objective)
    return row.form in ("pointwise", "own") and row.kind is None


def levels_of(config: Config) -> tuple[float, ...]:
    """The levels of quantiles."""
    level = config.quantile_alpha
    return level if isinstance(level, tuple) else (level,)


def outputs_of(config: Config) -> int:
    """Scores of a row: one for each class, column of the target or level of a quantile.

    Examples
    --------
    >>> from spinney.params import Config
    >>> outputs_of(Config(num_target=3)), outputs_of(Config(objective="quantile", quantile_alpha=[0.1, 0.9]))
    (3, 2)
    """
    return config.num_class if config.num_class > 1 else max(config.num_target, len(levels_of(config)))


def is_by_output(config: Config) -> bool:
    """Whether each output is a prediction of its own, and not the score of a class."""
    return config.num_target > 1 or len(levels_of(config)) > 1


def link_of(config: Config) -> str:
    """What makes predictions of scores: that of the objective, but levels of a quantile are sorted."""
    return "sorted" if len(levels_of(config)) > 1 else objective_row(config.objective).link


def values_by_output(config: Config, names: Iterable[str]) -> list[list[Any]]:
    """Values of some parameters for each output.

    Examples
    --------
    >>> from spinney.params import Config
    >>> values_by_output(Config(objective="quantile", quantile_alpha=[0.1, 0.9]), ["quantile_alpha", "fair_c"])
    [[0.1, 1.0], [0.9, 1.0]]
    """
    given = [getattr(config, name) for name in names]
    return [
        [value[output] if isinstance(value, tuple) else value for value in given]
        for output in range(outputs_of(config))
    ]


def check_several(values: Mapping[str, Any]) -> None:
    """Refuse several outputs that an objective cannot have, or that contradict each other.

    Raises
    ------
    ParameterError
        Naming the parameters.
    """
    objective, targets, level = values["objective"], values["num_target"], values["quantile_alpha"]
    if targets > 1 and not takes_targets(objective):
        raise ParameterError(
            f"num_target={targets} contradicts objective={objective!r}, which is for y of one column; leave it at 1, and "
            "train a model for each column"
        )
    if not isinstance(level, tuple):
        return
    if objective != "quantile":
        raise ParameterError(
            f"quantile_alpha={list(level)!r} needs objective='quantile', but objective={objective!r}; give one level"
        )
    if targets > 1:
        raise ParameterError(
            f"quantile_alpha={list(level)!r} has several levels and num_target={targets}: levels take y of one column; give one "
            "level, or train a model for each column"
        )


def metrics_by_output(values: Mapping[str, Any], fitting: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Of the metrics that fit an objective, those that can judge several outputs; and what a message says of these."""
    level, targets, classes = values["quantile_alpha"], values["num_target"], values["num_class"]
    if isinstance(level, tuple):
        return ("pinball",), f" with quantile_alpha={list(level)!r}"
    if values["objective"] != OWN:
        return fitting, ""
    if classes > 1 and targets > 1:
        return ("none",), f" with num_class={classes} and num_target={targets}"
    return fitting, f" with num_class={classes}" if classes > 1 else ""
