"""Making statistics of the target by category, of rows that never see their own target."""

from __future__ import annotations

from dataclasses import dataclass

from spinney.binning.copies import copies_of
from spinney.binning.dataset import Dataset
from spinney.binning.pairs import pair_sources
from spinney.binning.tallies import FOLDS, Amounts, Floats, Numbers, folds_of, row_numbers, tallies_of
from spinney.data import Labels
from spinney.data.statistics import COUNT, Source, Statistics
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining


@dataclass(frozen=True, eq=False)
class Made:
    """The statistics of some rows, and what each of these rows is told.

    Attributes
    ----------
    statistics : Statistics
        From all rows: what other rows are told.
    fold : int64[rows]
        Fold of each row; of the rows at hand.
    by_fold : list of float64[FOLDS, categories + 1]
        For each made column: the same from all folds but one, which the rows of that one are told.
    masses : list of float64[FOLDS, categories + 1]
        For each made column: what the rows weigh that are told so.
    """

    statistics: Statistics
    fold: Numbers
    by_fold: list[Floats]
    masses: list[Floats]


def made_statistics(
    dataset: Dataset,
    labels: Labels,
    targets: Floats,
    columns: list[int],
    smooth: float,
    seed: int,
    pairs: int = 0,
    least: int = 1,
    kin: Numbers | None = None,
    team: Team | None = None,
    joining: Joining = ALONE,
    first: int = 0,
) -> Made:
    """Statistics of columns of categories.

    All sums are of whole numbers, so they do not depend on how rows are cut into blocks, nor into shards.

    Parameters
    ----------
    dataset : Dataset
        The rows. What is needed of their columns are the numbers of categories, which are their bins.
    labels : Labels
        Weights and queries of the rows. A row of weight 0 counts for nothing.
    targets : float64[targets, rows]
        A mean is made of each.
    columns : list of int
        The columns.
    smooth : float
        How many rows of the mean of all a category's own rows are mixed with.
    seed : int
        Folds depend on it and on the number of the row, or of what it belongs to.
    pairs : int
        Most pairs of the columns whose statistics are made beside theirs: see `pair_sources`.
    least : int
        Fewer rows in which a column is missing are told the mean of all rows, and so are unseen categories then.
    kin : int64[rows], optional
        Rows of one number are not told of each other's target, nor are those of a query; without it copies are not (`copies_of`).
    team : Team, optional
        Threads that unpack codes.
    joining, first
        Ranks that hold other rows, and the number of this one's first row in the whole table.

    Returns
    -------
    Made
        For every column, and every pair, a mean of each target, and the weight of the rows, of which the largest counts about 1.
    """
    counts = dataset.schema.category_counts
    assert counts is not None
    if labels.queries is None and kin is None:
        kin = copies_of(dataset, labels, columns, team, joining)
    things = row_numbers(labels, joining, first) if kin is None else kin
    amounts = Amounts.of(labels, targets, smooth, things, joining)
    sources = [Source((column,), int(counts[column])) for column in columns]
    sources += pair_sources(dataset, sources, pairs, amounts, least, team, joining)
    fold = folds_of(amounts.things, seed)
    by_fold: list[Floats] = []
    values: list[Floats] = []
    masses: list[Floats] = []
    for tally, heard in tallies_of(dataset, sources, fold, amounts.whole, least, team, joining):
        for told in amounts.told(tally, heard):
            by_fold.append(told[:FOLDS])
            values.append(told[FOLDS])
            masses.append(tally[0])
    outputs = [*range(len(targets)), COUNT]
    return Made(
        Statistics.of_sources(dataset.columns, counts, sources, outputs, values), fold, by_fold, masses
    )
