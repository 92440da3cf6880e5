"""How many rounds a training has, on which rows, and which metric ends it.

The number is given, or found by "auto", which holds out some rows and stops when more rounds do not help on them. Rows held out
are a `BinnedData` of some rows, so nothing is binned twice. They are drawn by (seed, row), or are the last ones, or those that
the user names. Of several ranks, rank 0 decides from the labels of all rows, and broadcasts a bit for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.errors import DataError, ParameterError
from spinney.messages import shown
from spinney.metrics import Metric
from spinney.objectives import Objective
from spinney.params import Config, kind_of
from spinney.params.common import AUTO, BEST, FRACTION, MAX_ROUNDS, RATE_BUDGET, SHARE
from spinney.params.objectives import OWN
from spinney.params.parameter import INT32
from spinney.target_encoding.fit import has_target_encoding
from spinney.training.callbacks import EarlyStopping
from spinney.training.global_steps import check_rows, first_score
from spinney.training.holdout import (
    SURVIVAL,
    AllGroups,
    RowGroups,
    Rows,
    checked_rows,
    draw_holdout,
    event_strata,
    named,
)
from spinney.training.splitting import Numbers


@dataclass(frozen=True)
class Auto:
    """The arguments of a training that finds its number of rounds.

    Attributes
    ----------
    max_rounds : int, optional
        Most rounds. None: `RATE_BUDGET` over the learning rate.
    validation_fraction : float, optional
        Share of the rows to hold out.
    groups : array of shape (rows,), optional
        Rows of a group are held out together, and none is encoded with the target of another.
    name : str
        Name of the rows held out in what callbacks get.
    argument : str
        Name of the argument that is "auto", for messages.
    validation : {"last"} or array, optional
        Which rows to hold out, see `checked_rows`; None for some at random.
    """

    max_rounds: int | None = None
    validation_fraction: float | None = None
    groups: object = None
    name: str = "validation_0"
    argument: str = "rounds"
    validation: Rows = None

    def of_rows(self, rows: int) -> Auto:
        """The same for a table of so many rows, which are held out by a mask."""
        return replace(self, validation=checked_rows(self.validation, rows))

    @property
    def names_rows(self) -> bool:
        """Whether the user names the rows to hold out, if any are."""
        return self.groups is not None or self.validation is not None

    def most(self, config: Config, listed: int | None) -> int:
        """Most rounds; `listed` are those that have a learning rate of their own in a list."""
        found = listed
        if self.max_rounds is not None:
            found = self.max_rounds
        if found is None:
            found = round(min(RATE_BUDGET / config.learning_rate, INT32))
        return min(max(found, 1), INT32)

    def limit(self, listed: int | None) -> str:
        """What limits the number of rounds."""
        return "max_rounds" if self.max_rounds is not None or listed is None else "learning rates"


def auto_of(
    rounds: object,
    max_rounds: object,
    validation_fraction: object,
    groups: object,
    validation: object = None,
) -> Auto | None:
    """The arguments of a training that finds its number of rounds; None where they give a number.

    Examples
    --------
    >>> auto_of("auto", 500, None, None).max_rounds
    500
    """
    if isinstance(rounds, Auto):
        return rounds
    if isinstance(rounds, str):
        if rounds != AUTO:
            raise ParameterError(f"rounds={shown(rounds)} is unknown: it must be a number, or {AUTO!r}")
        most = MAX_ROUNDS.check(max_rounds)
        share = FRACTION.check(validation_fraction)
        found = checked_rows(validation)
        check_share(share, found)
        return Auto(most, share, groups, validation=found)
    given = {
        "max_rounds": max_rounds,
        "validation_fraction": validation_fraction,
        "groups": groups,
        "validation": validation,
    }
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for rounds={AUTO!r}, but rounds={shown(rounds)}; leave it out (`split` parts a data set)"
            )
    return None


def check_share(share: float | None, validation: Rows) -> None:
    """Refuse a share of the rows where they are named."""
    if share is not None and isinstance(validation, np.ndarray):
        raise ParameterError(
            f"validation_fraction={share} contradicts validation, which names the rows to hold out; give only one"
        )


def check_auto(auto: Auto, config: Config, watched: bool, metrics: Sequence[Metric], continued: bool) -> bool:
    """Refuse what contradicts each other, whatever the rows; gives whether the user wishes for rows to be held out."""
    check_has_metric(auto.argument, config, metrics)
    wished = auto.validation_fraction is not None or config.early_stopping_rounds is not None
    wished |= auto.validation is not None
    if watched and metrics:
        given = ("validation_fraction", "groups", "validation")
        name = next((one for one in given if getattr(auto, one) is not None), None)
        if name is not None:
            raise ParameterError(
                f"{name} contradicts valid: there are validation data already, give only one"
            )
    elif wished and continued:
        raise ParameterError(
            f"{auto.argument}={AUTO!r} cannot hold out rows that init_model may have seen: give validation data, or a number of "
            "rounds"
        )
    elif wished and not metrics:
        raise ParameterError(
            f"{auto.argument}={AUTO!r} needs a metric to stop by, but eval_metric='none'; name one"
        )
    return wished


def check_has_metric(argument: str, config: Config, metrics: Sequence[Metric]) -> None:
    """Refuse a custom objective without a metric, unless that is wished for; `argument` is the name of the rounds."""
    if config.objective == OWN and not metrics and not config.eval_metric:
        raise ParameterError(
            f"{argument}={AUTO!r} needs a metric to stop by, but an objective of your own has none: name one in eval_metric, "
            "give the objective an attribute `loss` that is a function, of the same arguments, which returns one number, or "
            "give a number of rounds"
        )


USUAL = 100  # rounds where nothing can show how many are right, more at rates below .1
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


def patience_of(config: Config) -> int:
    """Rounds without improvement after which a search for the number of rounds ends."""
    if config.early_stopping_rounds is not None:
        return config.early_stopping_rounds
    return max(PATIENCE, round(BEST_PATIENCE / config.learning_rate)) if config.preset == BEST else PATIENCE


def stopping_of(config: Config) -> EarlyStopping:
    """What ends a search for the number of rounds."""
    return EarlyStopping(patience_of(config), config.min_delta, FLAT)


def usual_rounds(config: Config, most: int) -> int:
    """Rounds where no rows can be held out, or nothing measures how good they are."""
    rate = config.learning_rate
    usual = max(USUAL, round(min(USUAL * 0.1 / rate, INT32)))
    return min(usual, max(1, round(min(USUAL_REACH / rate, INT32))), most)


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """How many rounds a training has, on which rows, and when it ends.

    Attributes
    ----------
    rounds : int
        At most so many.
    train : BinnedData
        The rows to learn from.
    valid : mapping
        Data to compute the metrics on.
    stopping : EarlyStopping, optional
        Ends it.
    refit : bool
        Whether all rows are then fitted with as many rounds as were best.
    groups : int64[rows], optional
        Groups of the rows of `train`, if they were given.
    all_groups : int64[rows], optional
        Those of all local rows.
    limit : str, optional
        What limits `rounds`, where their number is to be found.
    holdout_rows : int
        Rows of the table that are held out.
    """

    rounds: int
    train: BinnedData
    valid: Mapping[str, BinnedData]
    stopping: EarlyStopping | None = None
    refit: bool = False
    groups: Numbers | None = None
    all_groups: Numbers | None = None
    limit: str | None = None
    holdout_rows: int = 0


@dataclass(frozen=True, eq=False)
class RoundDecision:
    """What the labels of all rows decide of a plan.

    Attributes
    ----------
    rounds : int
        At most so many.
    stops : bool
        Whether a metric of validation data ends it.
    held : bool[rows], optional
        Rows to hold out as validation data.
    refit : bool
        Whether all rows are then fitted with as many rounds as were best.
    """

    rounds: int
    stops: bool = False
    held: NDArray[np.bool_] | None = None
    refit: bool = False


def may_draw(auto: Auto, valid: Mapping[str, object], metrics: Sequence[Metric], continued: bool) -> bool:
    """Whether a training that finds its number of rounds may hold out rows at random."""
    return auto.validation is None and bool(metrics) and not valid and not continued


def plan_rounds(
    auto: Auto,
    config: Config,
    data: BinnedData,
    labels: Labels | None,
    valid: Mapping[str, BinnedData],
    metrics: Sequence[Metric],
    loss: Objective,
    continued: bool,
    listed: int | None,
    groups: AllGroups,
    communicator: Communicator = ALONE,
) -> RoundPlan:
    """The plan of a training that finds its number of rounds. Of several ranks, rank 0 has all labels and decides.

    Parameters
    ----------
    auto, config, metrics, loss, continued, listed
        As for `_decide`; those of rank 0 count.
    data, valid
        The local rows.
    labels : Labels, optional
        Of all rows, at rank 0.
    groups : AllGroups
        Which rows belong together.
    communicator : Communicator
        The ranks.
    """
    decision = None
    if labels is not None:
        encodes = has_target_encoding(config, data)
        decision = _decide(
            auto, config, labels, bool(valid), metrics, loss, continued, listed, encodes, groups.everywhere
        )
    decision = _broadcast(decision, data.table_rows, communicator)
    stopping, limit = stopping_of(config) if decision.stops else None, auto.limit(listed)
    own = groups.local
    if decision.held is None:
        return RoundPlan(decision.rounds, data, valid, stopping, groups=own, all_groups=own, limit=limit)
    kept = ~decision.held
    held = data.take_from_table(decision.held)
    return RoundPlan(
        rounds=decision.rounds,
        train=data.take_from_table(kept),
        valid={auto.name: held},
        stopping=stopping,
        refit=decision.refit,
        groups=None if own is None else own[kept[data.first : data.first + data.rows]],
        all_groups=own,
        limit=limit,
        holdout_rows=held.table_rows,
    )


def _decide(
    auto: Auto,
    config: Config,
    labels: Labels,
    has_valid: bool,
    metrics: Sequence[Metric],
    loss: Objective,
    continued: bool,
    listed: int | None,
    encodes: bool,
    groups: RowGroups | None = None,
) -> RoundDecision:
    """Decide by which rows the number of rounds is found, and choose some to hold out where there are none yet.

    With few rows, without a metric, or in going on from another model, which may have seen the rows that would be held out, there
    are `usual_rounds`.

    Parameters
    ----------
    auto, config, metrics, loss
        Those of the training.
    labels : Labels
        Of all rows.
    has_valid : bool
        Whether validation data are given.
    continued : bool
        Whether it goes on from another model.
    listed : int, optional
        Rounds that have a learning rate of their own in a list.
    encodes : bool
        Whether it fits a target encoding.
    groups : RowGroups, optional
        Rows that belong together.
    """
    wished = check_auto(auto, config, has_valid, metrics, continued)
    rows = labels.rows if labels.weight is None else int(np.count_nonzero(labels.weight))
    most = auto.most(config, listed)
    if has_valid and metrics:
        return RoundDecision(most, stops=True)
    usual = RoundDecision(usual_rounds(config, most))
    if continued or not metrics or (not wished and rows < FEW_ROWS):
        return usual
    try:
        held = _chosen(auto, config, labels, metrics, loss, groups)
    except DataError:
        if groups is not None and groups.duplicates:
            return _decide(auto, config, labels, has_valid, metrics, loss, continued, listed, encodes)
        if wished or auto.names_rows:
            raise
        return usual
    if _useless_holdout(config, _strata(config, labels, loss), held):
        if auto.validation is not None:
            raise DataError(_useless_holdout_message(auto, config))
        if not (wished or auto.names_rows):
            return usual
    # A target encoding of all rows is the same for all models, which one model can hold; those without some rows are not.
    refit = rows * loss.outputs <= SMALL or (encodes and config.models > 1)
    return RoundDecision(most, True, held, refit)


def _chosen(
    auto: Auto,
    config: Config,
    labels: Labels,
    metrics: Sequence[Metric],
    loss: Objective,
    groups: RowGroups | None,
) -> NDArray[np.bool_]:
    """Rows to hold out: by their number and the seed alone."""
    share = SHARE if auto.validation_fraction is None else auto.validation_fraction
    rows = auto.validation
    chosen = draw_holdout(config, labels, _strata(config, labels, loss), share, rows, groups)
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


def _useless_holdout(config: Config, strata: NDArray[np.int64], held: NDArray[np.bool_]) -> bool:
    """Whether all rows that are held out are of one class, though there are others, or none has an event.

    More rounds would always seem better.
    """
    if kind_of(config.objective) in SURVIVAL:
        return not strata[held].any() and bool(strata.any())
    return len(np.unique(strata[held])) == 1 < len(np.unique(strata))


def _useless_holdout_message(auto: Auto, config: Config) -> str:
    """The message about such rows where the user chose them."""
    survival = kind_of(config.objective) in SURVIVAL
    found = "have no event" if survival else "are all of one class, though there are others"
    wanted = "some with an event" if survival else "rows of several classes"
    return (
        f"the rows held out by {named(auto.validation, SHARE)} {found}, so more rounds would always seem better: hold out "
        f"{wanted}, or give a number of rounds"
    )


def _strata(config: Config, labels: Labels, loss: Objective) -> NDArray[np.int64]:
    """Class of each row, or whether it has an event; 0 for all where there are no classes, or several a row."""
    kind = kind_of(config.objective)
    if kind in SURVIVAL:
        events = event_strata(loss.prepared(labels).target, config.objective)
        return np.zeros_like(events) if events.all() else events
    if labels.target.ndim > 1:
        kind = "numbers"
    if kind == "two":
        return (labels.target > 0.5).astype(np.int64)
    if kind == "many":
        return labels.target.astype(np.int64)
    return np.zeros(labels.rows, np.int64)


def _broadcast(decision: RoundDecision | None, rows: int, communicator: Communicator) -> RoundDecision:
    """The decision of rank 0, at every rank: three numbers, and a bit for each row of the table where some are held out."""
    if decision is not None and communicator.size == 1:
        return decision
    sent = None
    if decision is not None:
        sent = np.array([decision.rounds, decision.stops, decision.refit], np.int64).view(np.uint8)
        if decision.held is not None:
            sent = np.concatenate([sent, np.packbits(decision.held)])
    found = communicator.broadcast(sent)
    rounds, stops, refit = found[:24].copy().view(np.int64).tolist()
    held = np.unpackbits(found[24:], count=rows).astype(np.bool_) if len(found) > 24 else None
    return RoundDecision(rounds, bool(stops), held, bool(refit))
