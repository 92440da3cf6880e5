"""Fitting a target encoding: whether a training has one, on which columns, and what then changes for the training.

`apply_target_encoding` is called where a training begins. Encodings are fitted on its own rows only, so no data set has encoded
columns, and folds, parts and hold-outs need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts
from spinney.collective import ALONE, Communicator
from spinney.data import Labels
from spinney.data.target_encoding import COUNT, EncodedFeature, TargetEncoding
from spinney.jit.team import Team
from spinney.params import Config, kind_of
from spinney.target_encoding.columns import add_encoded, encoded_cuts
from spinney.target_encoding.duplicates import Duplicates
from spinney.target_encoding.pairs import choose_pairs
from spinney.target_encoding.sums import (
    FOLDS,
    Floats,
    FoldEncoding,
    Numbers,
    WeightedTargets,
    assign_folds,
    fold_sums,
    query_or_row_numbers,
)

MOST_MEANS = 16  # that a column of categories may get: every one is a column to be searched
MOST_ENCODED = 128  # columns in all; 1 000 of them made a training take fifteen times as long


class EarlierEncoding(Protocol):
    """The model that a training continues."""

    @property
    def statistics(self) -> TargetEncoding | None:
        """Its target encoding."""

    def fits(self, cuts: Cuts) -> bool:
        """Whether its trees split at these cuts."""


@dataclass(frozen=True, eq=False)
class EncodedInputs:
    """What a training gets: data sets with encoded columns, if it has any, and parameters for all columns.

    Attributes
    ----------
    data : BinnedData
        What it is trained on.
    valid : dict
        Data to compute the metrics on.
    config : Config
        The parameters, with columns by position.
    encoding : TargetEncoding, optional
        What the model needs to encode other rows.
    """

    data: BinnedData
    valid: Mapping[str, BinnedData]
    config: Config
    encoding: TargetEncoding | None = None


def apply_target_encoding(
    resolved: Config,
    data: BinnedData,
    valid: Mapping[str, BinnedData],
    team: Team,
    earlier: EarlierEncoding | None,
    row_groups: NDArray[np.int64] | None = None,
    communicator: Communicator = ALONE,
    duplicates: Duplicates | None = None,
) -> EncodedInputs:
    """Fit a target encoding on the rows of a training, and add the encoded columns to all its data.

    A training that continues a model keeps the model's encoding. Its own trees use it only if these rows give the same one: if it
    was fitted on other rows, or on some of these, rows would be encoded with their own target. Folds must be the same, too: then
    the cuts of the encoded columns are.

    No row is encoded with targets of its own group in `row_groups`. Where other ranks hold other rows, all ranks fit the same
    encoding, on the rows of all.
    """
    columns = encoded_columns(resolved, data)
    kept = None if earlier is None else earlier.statistics
    if not columns or (earlier is not None and kept is None):
        return EncodedInputs(data, valid, resolved, kept)
    labels = data.checked_labels()
    fitted = fit_target_encoding(
        data,
        labels,
        _targets(resolved, labels),
        columns,
        resolved.target_stats_smooth,
        resolved.random_state,
        _most_pairs(resolved, labels, len(columns)),
        resolved.min_child_samples,
        row_groups,
        team,
        communicator,
        duplicates,
    )
    if kept is not None and not kept.same(fitted.encoding):
        return EncodedInputs(data, valid, resolved, kept)
    cuts = encoded_cuts(fitted, data.params.max_bin)
    encoded = add_encoded(data, fitted, team, cuts)
    if earlier is not None and not earlier.fits(encoded.cuts):
        return EncodedInputs(data, valid, resolved, kept)
    others = {
        name: encoded if one is data else add_encoded(one, fitted.encoding, team, cuts)
        for name, one in valid.items()
    }
    return EncodedInputs(encoded, others, _extend_config(resolved, fitted.encoding), fitted.encoding)


def has_target_encoding(config: Config, data: BinnedData) -> bool:
    """Whether a training on a data set fits a target encoding."""
    return bool(encoded_columns(config, data))


def encoded_columns(config: Config, data: BinnedData) -> list[int]:
    """The columns of the table that a training encodes: those of many categories."""
    counts = data.schema.category_counts
    if config.target_stats is None or counts is None or config.tree_method != "hist":
        return []
    if (
        kind_of(config.objective) in ("hazards", "times")
        or _means(config, data.checked_labels()) > MOST_MEANS
    ):
        return []
    many = np.flatnonzero(counts > config.target_stats)
    most = MOST_ENCODED // (_means(config, data.checked_labels()) + 1)
    return sorted(many[np.argsort(-counts[many], kind="stable")[:most]].tolist())


def fit_target_encoding(
    data: BinnedData,
    labels: Labels,
    targets: Floats,
    columns: list[int],
    smooth: float,
    seed: int,
    pairs: int = 0,
    min_rows: int = 1,
    row_groups: Numbers | None = None,
    team: Team | None = None,
    communicator: Communicator = ALONE,
    duplicates: Duplicates | None = None,
) -> FoldEncoding:
    """Fit a target encoding of columns of categories.

    All sums are of whole numbers, so they do not depend on how rows are cut into blocks, nor into shards.

    Parameters
    ----------
    data : BinnedData
        The rows. What is needed of their columns are the numbers of categories, which are their bins.
    labels : Labels
        Weights and queries of the rows. A row of weight 0 counts for nothing.
    targets : float64[targets, rows]
        Each category gets a mean of each.
    columns : list of int
        The columns.
    smooth : float
        How many rows of the overall mean a category's own rows are mixed with.
    seed : int
        Folds depend on it and on the row's key: its number, or that of its query or group.
    pairs : int
        Most pairs of the columns that are encoded too: see `choose_pairs`.
    min_rows : int
        Fewer rows in which a column is missing get the overall mean, and so do unseen categories then.
    row_groups : int64[rows], optional
        Rows of one number are in one fold, and so are those of a query; without it duplicate rows are.
    team : Team, optional
        Threads that unpack codes.
    communicator : Communicator
        Ranks that hold other rows.
    duplicates : Duplicates, optional
        Finds duplicates among the rows of a fit, of which these are a part.

    Returns
    -------
    FoldEncoding
        For every column, and every pair, a mean of each target, and the weight of the rows, of which the largest counts about 1.
    """
    counts = data.schema.category_counts
    assert counts is not None
    if labels.queries is None and row_groups is None:
        duplicates = duplicates or Duplicates(data, columns, communicator)
        row_groups = duplicates.of(data, labels, team=team)
    row_keys = query_or_row_numbers(labels, communicator, data.first) if row_groups is None else row_groups
    weighted = WeightedTargets.of(labels, targets, smooth, row_keys, communicator)
    features = [EncodedFeature((column,), int(counts[column])) for column in columns]
    if pairs > 0 and len(columns) > 1:
        features += choose_pairs(data, features, pairs, weighted, min_rows, team, communicator)
    fold = assign_folds(weighted.row_keys, seed)
    by_fold: list[Floats] = []
    values: list[Floats] = []
    masses: list[Floats] = []
    for sums, counts_missing in fold_sums(
        data, features, fold, weighted.values, min_rows, team, communicator
    ):
        for means in weighted.out_of_fold_means(sums, counts_missing):
            by_fold.append(means[:FOLDS])
            values.append(means[FOLDS])
            masses.append(sums[0])
    outputs = [*range(len(targets)), COUNT]
    encoding = TargetEncoding.from_features(data.columns, counts, features, outputs, values)
    return FoldEncoding(encoding, fold, by_fold, masses)


def _most_pairs(config: Config, labels: Labels, columns: int) -> int:
    """How many pairs may be encoded besides the columns. A split on a pair lets both columns interact."""
    if config.interaction_constraints is not None:
        return 0
    return min(config.target_stats_pairs, MOST_ENCODED // (_means(config, labels) + 1) - columns)


def _means(config: Config, labels: Labels) -> int:
    """How many means a column gets: of each class of more than two, else of each column of the target."""
    by_class = labels.targets == 1 and kind_of(config.objective) == "many"
    return config.num_class if by_class else labels.targets


def _targets(config: Config, labels: Labels) -> NDArray[np.float64]:
    """The numbers that are averaged, (means, rows)."""
    means = _means(config, labels)
    if means != labels.targets:
        return np.equal(labels.target, np.arange(means)[:, None]).astype(np.float64)
    return labels.target.T.reshape(labels.targets, labels.rows)


def _extend_config(config: Config, encoding: TargetEncoding) -> Config:
    """The parameters with those of a column applied to the encoded columns made from it, but for directions."""
    changed: dict[str, Any] = {}
    sources = [encoding.feature_of(place).columns for place in range(encoding.encoded_count)]
    if config.monotone_constraints is not None:
        changed["monotone_constraints"] = (*config.monotone_constraints, *(0 for _ in sources))
    if config.feature_weights is not None:
        weights = config.feature_weights
        changed["feature_weights"] = (
            *weights,
            *(min(weights[column] for column in columns) for columns in sources),
        )
    if config.interaction_constraints is not None:
        groups = [
            tuple(sorted(encoding.with_encoded(_positions(group))))
            for group in config.interaction_constraints
        ]
        named = {column for group in groups for column in group}
        alone = [column for (column,) in dict.fromkeys(sources) if column not in named]
        changed["interaction_constraints"] = (
            *groups,
            *(encoding.with_encoded([column]) for column in alone),
        )
    return replace(config, **changed) if changed else config


def _positions(group: tuple[str | int, ...]) -> list[int]:
    """Columns that are given by position."""
    return [column for column in group if isinstance(column, int)]
