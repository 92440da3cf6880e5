"""Statistics of the target by category: whether a training makes some, and what then changes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.statistics import made_statistics
from spinney.binning.widened import Widened, made_cuts
from spinney.data import Labels
from spinney.data.statistics import Statistics
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining
from spinney.params import Config, kind_of
from spinney.training.continuing import Past

MOST_MEANS = 16  # that a column of categories may get: every one is a column to be searched
MOST_MADE = 128  # columns in all; 1 000 of them made a training take fifteen times as long


@dataclass(frozen=True, eq=False)
class Sight:
    """What a training sees.

    Attributes
    ----------
    dataset : Dataset
        What it learns from.
    valid : dict
        Data to compute the metrics on.
    config : Config
        The parameters, with columns by position.
    statistics : Statistics, optional
        What the model must know to see the same.
    """

    dataset: Dataset
    valid: Mapping[str, Dataset]
    config: Config
    statistics: Statistics | None = None


def makes_statistics(config: Config, dataset: Dataset) -> bool:
    """Whether a training on a data set makes some."""
    return bool(told_columns(config, dataset))


def sight_of(
    by_place: Config,
    dataset: Dataset,
    valid: Mapping[str, Dataset],
    team: Team,
    past: Past | None,
    kin: NDArray[np.int64] | None = None,
    joining: Joining = ALONE,
    first: int = 0,
) -> Sight:
    """Make statistics from the rows that a training learns from, and add them to all its data as columns.

    A training that goes on from a model keeps those of the model. Its own trees use them only if they are what these rows give:
    if they were made from other rows, or from some of these, rows would see their own target. Folds must be the same, too, which
    the cuts of made columns tell.

    Rows of one number in `kin` are not told of each other's target. Where other ranks hold other rows, all ranks make the same,
    from the rows of all; `first` is the number of this one's first.
    """
    columns = told_columns(by_place, dataset)
    kept = None if past is None else past.statistics
    if not columns or (past is not None and kept is None):
        return Sight(dataset, valid, by_place, kept)
    labels = dataset.labels()
    made = made_statistics(
        dataset,
        labels,
        _targets(by_place, labels),
        columns,
        by_place.target_stats_smooth,
        by_place.random_state,
        _most_pairs(by_place, labels, len(columns)),
        by_place.min_child_samples,
        kin,
        team,
        joining,
        first,
    )
    if kept is not None and not kept.same(made.statistics):
        return Sight(dataset, valid, by_place, kept)
    cuts = made_cuts(made, dataset.params.max_bin)
    seen = Widened(dataset, made, team, cuts)
    if past is not None and not past.fits(seen.cuts):
        return Sight(dataset, valid, by_place, kept)
    others = {
        name: seen if data is dataset else Widened(data, made.statistics, team, cuts)
        for name, data in valid.items()
    }
    return Sight(seen, others, _widened(by_place, made.statistics), made.statistics)


def told_columns(config: Config, dataset: Dataset) -> list[int]:
    """The columns to make statistics of."""
    counts = dataset.schema.category_counts
    if config.target_stats is None or counts is None or config.tree_method != "hist":
        return []
    if kind_of(config.objective) in ("hazards", "times") or _means(config, dataset.labels()) > MOST_MEANS:
        return []
    many = np.flatnonzero(counts > config.target_stats)
    most = MOST_MADE // (_means(config, dataset.labels()) + 1)
    return sorted(many[np.argsort(-counts[many], kind="stable")[:most]].tolist())


def _most_pairs(config: Config, labels: Labels, columns: int) -> int:
    """How many pairs may be made beside the columns. A split on a pair lets both columns interact."""
    if config.interaction_constraints is not None:
        return 0
    return min(config.target_stats_pairs, MOST_MADE // (_means(config, labels) + 1) - columns)


def _means(config: Config, labels: Labels) -> int:
    """How many means a column gets: of each class of more than two, else of each column of the target."""
    by_class = labels.targets == 1 and kind_of(config.objective) == "many"
    return config.num_class if by_class else labels.targets


def _targets(config: Config, labels: Labels) -> NDArray[np.float64]:
    """What means are made of, (means, rows)."""
    means = _means(config, labels)
    if means != labels.targets:
        return np.equal(labels.target, np.arange(means)[:, None]).astype(np.float64)
    return labels.target.T.reshape(labels.targets, labels.rows)


def _widened(config: Config, statistics: Statistics) -> Config:
    """The parameters with what they say of a column said of what was made from it, but for directions."""
    told: dict[str, Any] = {}
    made = [statistics.source_of(place).columns for place in range(statistics.made)]
    if config.monotone_constraints is not None:
        told["monotone_constraints"] = (*config.monotone_constraints, *(0 for _ in made))
    if config.feature_weights is not None:
        weights = config.feature_weights
        told["feature_weights"] = (
            *weights,
            *(min(weights[column] for column in columns) for columns in made),
        )
    if config.interaction_constraints is not None:
        groups = [
            tuple(sorted(statistics.with_made(_places(group)))) for group in config.interaction_constraints
        ]
        named = {column for group in groups for column in group}
        alone = [column for (column,) in dict.fromkeys(made) if column not in named]
        told["interaction_constraints"] = (*groups, *(statistics.with_made([column]) for column in alone))
    return replace(config, **told) if told else config


def _places(group: tuple[str | int, ...]) -> list[int]:
    """Columns that are known by position."""
    return [column for column in group if isinstance(column, int)]
