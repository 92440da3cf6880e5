"""The number of rounds, where the training is to find it: some rows are held out, and say when more rounds do not help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data import Labels
from spinney.errors import DataError
from spinney.metrics import Metric
from spinney.objectives import Objective
from spinney.params import Config, kind_of
from spinney.params.common import BEST, SHARE
from spinney.params.parameter import INT32
from spinney.target_encoding.fit import has_target_encoding
from spinney.training.auto_arguments import Auto, check_auto
from spinney.training.early_stopping import EarlyStopping
from spinney.training.holdout import check_left, chosen_rows, named, strata_of_events
from spinney.training.kin import Kin
from spinney.training.table_rows import check_rows, first_score

USUAL = 100  # rounds where nothing can say how many are right, more at rates below .1
USUAL_REACH = 30.0  # most of these times the learning rate: fewer at rates above .3
# Rounds without improvement. Of 20 tables, 10 stopped too early on 3, by up to 1.4 % of the loss; 50 took longer for nothing.
PATIENCE = 25
BEST_PATIENCE = 2.5  # the same for preset="best", times the learning rate
# Share of all that was gained, which as many rounds must gain where each is better than the one before. The log loss of an exact
# rule falls for ever: 5 000 rounds would take sixteen times as long as 300. The rounds of 20 tables stay what they are.
FLAT = 1e-5
FEW_ROWS = 300  # from there on a tenth of them finds better rounds than 100: 3 % less loss at 300 rows
# Rows times outputs up to which all rows are fitted once more. The last tenth of the rows is worth 1 % of the loss there, and
# .2 % on larger tables (but 6 % on one of 17 classes), which take longer.
SMALL = 25_000

SURVIVAL = ("hazards", "times")  # kinds of objectives whose rows have events or not


def patience_of(config: Config) -> int:
    """Rounds without improvement after which a search for the number of rounds ends."""
    if config.early_stopping_rounds is not None:
        return config.early_stopping_rounds
    return max(PATIENCE, round(BEST_PATIENCE / config.learning_rate)) if config.preset == BEST else PATIENCE


def stopping_of(config: Config) -> EarlyStopping:
    """What ends a search for the number of rounds."""
    return EarlyStopping(patience_of(config), config.min_delta, FLAT)


def usual_rounds(config: Config, most: int) -> int:
    """Rounds where no rows can be held out, or nothing says how good they are."""
    rate = config.learning_rate
    usual = max(USUAL, round(min(USUAL * 0.1 / rate, INT32)))
    return min(usual, max(1, round(min(USUAL_REACH / rate, INT32))), most)


@dataclass(frozen=True)
class Course:
    """How many rounds a training has, on what rows, and when it ends.

    Attributes
    ----------
    rounds : int
        At most so many.
    data : BinnedData
        What to learn from.
    valid : dict
        Data to compute the metrics on.
    stopping : EarlyStopping, optional
        Ends it.
    again : bool
        Whether all rows are then fitted with as many rounds as were best.
    kin : int64[rows], optional
        Groups of the rows to learn from, if the user has told any.
    limit : str, optional
        What `rounds` are the most by, where the number is to be found.
    holdout_rows : int
        Rows of the table that are held out.
    """

    rounds: int
    data: BinnedData
    valid: Mapping[str, BinnedData]
    stopping: EarlyStopping | None = None
    again: bool = False
    kin: NDArray[np.int64] | None = None
    limit: str | None = None
    holdout_rows: int = 0


@dataclass(frozen=True, eq=False)
class Decision:
    """What the labels of all rows decide of a course.

    Attributes
    ----------
    rounds : int
        At most so many.
    stops : bool
        Whether validation data say when it ends.
    held : bool[rows], optional
        Rows to hold out as such.
    again : bool
        Whether all rows are then fitted with as many rounds as were best.
    """

    rounds: int
    stops: bool = False
    held: NDArray[np.bool_] | None = None
    again: bool = False


def draws(auto: Auto, watched: Mapping[str, object], metrics: Sequence[Metric], continued: bool) -> bool:
    """Whether a training that finds its number of rounds may hold out rows at random."""
    return auto.validation is None and bool(metrics) and not watched and not continued


def course_of(
    auto: Auto,
    config: Config,
    data: BinnedData,
    valid: Mapping[str, BinnedData],
    metrics: Sequence[Metric],
    loss: Objective,
    continued: bool,
    listed: int | None,
    kin: Kin | None = None,
) -> Course:
    """The course of a training on a data set."""
    made = has_target_encoding(config, data)
    found = decided(
        auto, config, data.checked_labels(), bool(valid), metrics, loss, continued, listed, made, kin
    )
    stopping = stopping_of(config) if found.stops else None
    groups, limit = None if kin is None else kin.told, auto.limit(listed)
    if found.held is None:
        return Course(found.rounds, data, valid, stopping, kin=groups, limit=limit)
    kept, held = data.take(np.flatnonzero(~found.held)), data.take(np.flatnonzero(found.held))
    groups = None if groups is None else groups[~found.held]
    return Course(found.rounds, kept, {auto.name: held}, stopping, found.again, groups, limit, held.rows)


def decided(
    auto: Auto,
    config: Config,
    labels: Labels,
    watched: bool,
    metrics: Sequence[Metric],
    loss: Objective,
    continued: bool,
    listed: int | None,
    made: bool,
    kin: Kin | None = None,
) -> Decision:
    """Decide by which rows the number of rounds is found, and choose some to hold out where there are none yet.

    With few rows, without a metric, or in going on from another model, which may have seen the rows that would be held out, there
    are `USUAL` rounds.

    Parameters
    ----------
    auto, config, metrics, loss
        Those of the training.
    labels : Labels
        Of all rows.
    watched : bool
        Whether validation data are given.
    continued : bool
        Whether it goes on from another model.
    listed : int, optional
        Rounds that have a learning rate of their own in a list.
    made : bool
        Whether it makes statistics of the target.
    kin : Kin, optional
        Rows that belong together.
    """
    wished = check_auto(auto, config, watched, metrics, continued)
    rows = labels.rows if labels.weight is None else int(np.count_nonzero(labels.weight))
    most = auto.most(config, listed)
    if watched and metrics:
        return Decision(most, stops=True)
    usual = Decision(usual_rounds(config, most))
    if continued or not metrics or (not wished and rows < FEW_ROWS):
        return usual
    try:
        held = _chosen(auto, config, labels, metrics, loss, kin)
    except DataError:
        if kin is not None and kin.copies:
            return decided(auto, config, labels, watched, metrics, loss, continued, listed, made)
        if wished or auto.asks:
            raise
        return usual
    if wished or auto.asks:
        for seed in auto.later:
            _chosen(auto, replace(config, random_state=seed), labels, metrics, loss, kin)
    if _judge_nothing(config, _strata(config, labels, loss), held):
        if auto.validation is not None:
            raise DataError(_said_of_nothing(auto, config))
        if not (wished or auto.asks):
            return usual
    # Statistics of all rows are the same for all models, which one model can hold; those without some rows are not.
    again = rows * loss.outputs <= SMALL or (made and config.models > 1)
    return Decision(most, True, held, again)


def _chosen(
    auto: Auto, config: Config, labels: Labels, metrics: Sequence[Metric], loss: Objective, kin: Kin | None
) -> NDArray[np.bool_]:
    """Rows to hold out: by their number and the seed alone."""
    seen = labels if kin is None else kin.labels(labels)
    share = SHARE if auto.validation_fraction is None else auto.validation_fraction
    whole = "queries" if kin is None else "groups"
    alike = kin is not None and kin.copies
    rows = auto.validation
    strata = _strata(config, labels, loss)
    chosen = chosen_rows(rows, seen, strata, share, config.random_state, whole, alike)
    if rows is not None:
        check_left(chosen, labels, strata, kind_of(config.objective) in SURVIVAL, named(rows, share))
    elif seen.queries is None and seen.targets > 1 and kind_of(config.objective) == "two":
        _give_back(chosen, seen)
    what = "held out"
    try:
        held = loss.prepared(labels.take(chosen))
        for metric in metrics:
            metric.check(held)
        what = "left"
        left = loss.prepared(labels.take(~chosen))
        check_rows(loss, left)
        first_score(config, loss, left)
    except DataError as error:
        raise DataError(f"the rows {what} by {named(rows, share)}: {error}") from None
    return chosen


def _judge_nothing(config: Config, strata: NDArray[np.int64], held: NDArray[np.bool_]) -> bool:
    """Whether all rows that are held out are of one class, though there are others, or none has an event.

    More rounds would always seem better.
    """
    if kind_of(config.objective) in SURVIVAL:
        return not strata[held].any() and bool(strata.any())
    return len(np.unique(strata[held])) == 1 < len(np.unique(strata))


def _said_of_nothing(auto: Auto, config: Config) -> str:
    """What to say of such rows where the user chose them."""
    survival = kind_of(config.objective) in SURVIVAL
    found = "have no event" if survival else "are all of one class, though there are others"
    wanted = "some with an event" if survival else "rows of several classes"
    return (
        f"the rows held out by {named(auto.validation, SHARE)} {found}, so more rounds would always seem better: hold out "
        f"{wanted}, or give a number of rounds"
    )


def _give_back(chosen: NDArray[np.bool_], labels: Labels) -> None:
    """Where rows have several labels: hold out no row that is the only one with a label, or without it."""
    heavy = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0
    for has in (labels.target > 0.5).T:
        for rows in (np.flatnonzero(heavy & has), np.flatnonzero(heavy & ~has)):
            if chosen[rows].all():
                chosen[rows[:1]] = False


def _strata(config: Config, labels: Labels, loss: Objective) -> NDArray[np.int64]:
    """Class of each row, or whether it has an event; 0 for all where there are no classes, or several a row."""
    kind = kind_of(config.objective)
    if kind in SURVIVAL:
        events = strata_of_events(loss.prepared(labels).target, config.objective)
        return np.zeros_like(events) if events.all() else events
    if labels.target.ndim > 1:
        kind = "numbers"
    if kind == "two":
        return (labels.target > 0.5).astype(np.int64)
    if kind == "many":
        return labels.target.astype(np.int64)
    return np.zeros(labels.rows, np.int64)
