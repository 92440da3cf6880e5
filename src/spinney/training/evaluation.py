"""The metrics of a training, and which of them early stopping goes by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from spinney import metrics
from spinney.binning.dataset import Dataset
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.metrics import Judgement, Outcome
from spinney.objectives import Function, Objective
from spinney.params import Config
from spinney.params.objectives import OWN
from spinney.params.validate import is_iterable, shown
from spinney.training.own import OwnMetric, asks_estimator
from spinney.training.own_objective import OwnObjective


class Judge(Protocol):
    """A metric, named or of the user's own."""

    def check(self, labels: Labels) -> None:
        """Refuse labels that have no such metric, whatever the scores."""

    def judge(self, outcome: Outcome, labels: Labels) -> Judgement:
        """Compute it, and say what it is."""


def judges_of(config: Config, own: object = None, function: Function | None = None) -> list[Judge]:
    """The metrics of a configuration, then others, names or functions, in their order.

    Parameters
    ----------
    config : Config
        Where it names none, that of the objective is the first.
    own : iterable, optional
        The others.
    function : Function, optional
        The objective, where it is the user's own; an `OwnObjective` may have a loss.

    Raises
    ------
    ParameterError
        If a name is unknown, does not fit the objective or is named twice.
    ParameterTypeError
        If one is neither a name nor a function.

    Examples
    --------
    >>> def nothing(scores, labels):
    ...     return "nothing", 0.0, False
    >>> len(judges_of(Config(eval_metric="mae"), [nothing, "r2"]))
    3
    """
    judges: list[Judge] = list(metrics.metrics_of(config))
    loss = function.metric if isinstance(function, OwnObjective) and not config.eval_metric else None
    if loss is not None:
        judges.append(OwnMetric(loss))
    if own is None:
        return judges
    if isinstance(own, str) or not is_iterable(own):
        raise ParameterTypeError(f"metrics must be a list of functions or names, got {shown(own)}")
    named = [] if config.eval_metric == ("none",) else list(config.eval_metric)
    for metric in own:
        if isinstance(metric, str):
            # Checked beside those before it, so that a metric cannot be named twice.
            more = replace(config, eval_metric=(*named, metric)).eval_metric
            judges += [metrics.get(name, config) for name in more[len(named) :]]
            named = list(more)
        elif callable(metric):
            if asks_estimator(metric):
                raise ParameterTypeError(
                    f"metrics holds {shown(metric)}, a scorer, which asks an estimator; a metric here is a name or a function of "
                    "(scores, labels) or (scores, labels, weight)"
                )
            judges.append(OwnMetric(metric))
        else:
            raise ParameterTypeError(f"metrics must be functions or names, got {shown(metric)}")
    return judges


def checked_valid(
    valid: Mapping[str, Dataset] | None, dataset: Dataset, loss: Objective, judges: list[Judge]
) -> dict[str, Dataset]:
    """The validation data of a training, none of which lacks what the loss and the metrics need."""
    if valid is None:
        return {}
    if not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to Datasets, got {type(valid).__name__}")
    for name, data in valid.items():
        if not isinstance(data, Dataset):
            raise DataTypeError(f"valid[{name!r}] must be a spinney.Dataset, got {type(data).__name__}")
        if not data.cuts.same(dataset.cuts):
            raise DataError(f"valid[{name!r}] was binned apart: make it with Dataset(..., reference=dataset)")
        labels = data.labels(f"valid[{name!r}]")
        try:
            labels = loss.prepared(labels)
            for judge in judges:
                judge.check(labels)
        except DataError as error:
            raise DataError(f"valid[{name!r}]: {error}") from None
    return dict(valid)


def judged(judges: Iterable[Judge], outcome: Outcome, labels: Labels) -> list[Judgement]:
    """What all metrics say of some rows."""
    found: dict[str, Judgement] = {}
    for judge in judges:
        judgement = judge.judge(outcome, labels)
        if judgement.name in found:
            raise OwnFunctionError(
                f"two metrics are called {judgement.name!r}; a metric of your own must return a name of its own"
            )
        found[judgement.name] = judgement
    return list(found.values())


def values_of(said: Mapping[str, Iterable[Judgement]]) -> dict[str, dict[str, float]]:
    """The values of metrics by data set and name."""
    return {name: {one.name: one.value for one in found} for name, found in said.items()}


def check_stopping(config: Config, judges: list[Judge], watched: Mapping[str, object]) -> None:
    """Refuse early stopping that has nothing to go by."""
    if config.early_stopping_rounds is None:
        return
    if not watched:
        raise ParameterError("early_stopping_rounds needs validation data: give train a `valid` mapping")
    if not judges:
        why = "an objective of your own has none" if config.objective == OWN else "eval_metric='none'"
        raise ParameterError(f"early_stopping_rounds needs a metric, but {why}; name one")


def last_set(config: Config, said: Mapping[str, list[Judgement]], done: int) -> Judgement:
    """What early stopping goes by in a training: that of the last data set."""
    name, judgements = list(said.items())[-1]
    return deciding(config, f"valid[{name!r}]", judgements, done)


def deciding(config: Config, where: str, judgements: list[Judgement], done: int) -> Judgement:
    """What early stopping goes by: the last metric or, with `first_metric_only`, the first; `where` names the data set."""
    decides = judgements[0 if config.first_metric_only else -1]
    if not math.isfinite(decides.value):
        raise DataError(
            f"{decides.name} of {where} is {decides.value} after round {done}, and early stopping cannot go by that; "
            "choose another eval_metric, or give a number of rounds without early_stopping_rounds"
        )
    return decides
