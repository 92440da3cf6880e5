"""The bags of a forest's trees, drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, ParameterError
from spinney.model.forest import ForestModel
from spinney.sampling.bags import bag_counts


@dataclass(frozen=True)
class Bags:
    """Which training rows each tree was grown on.

    Attributes
    ----------
    seed : int
        That of the forest.
    rows, drawn : int
        Training rows, and how many a tree draws of them.
    replace : bool
        Whether it draws with replacement.
    """

    seed: int
    rows: int
    drawn: int
    replace: bool

    def counts(self, tree: int) -> NDArray[np.int32]:
        """How often a tree has each training row."""
        return bag_counts(self.seed, tree, self.rows, self.drawn, self.replace)

    def out(self, tree: int) -> NDArray[np.bool_]:
        """Which training rows a tree has not seen."""
        out: NDArray[np.bool_] = self.counts(tree) == 0
        return out

    @property
    def chance_out(self) -> float:
        """Chance of a row to be out of a tree's bag."""
        if not self.replace:
            return 1.0 - self.drawn / self.rows
        return float((1.0 - 1.0 / self.rows) ** self.drawn)


def bags_of(model: ForestModel, rows: int, what: str) -> Bags:
    """The bags of a forest, for a table that must be its training table.

    Parameters
    ----------
    model : ForestModel
        The forest.
    rows : int
        Rows of the table.
    what : str
        What needs the bags, for messages.

    Raises
    ------
    ParameterError
        If every tree has seen all rows.
    DataError
        If the table has another number of rows than the training table.
    """
    config = model.config
    if not config.draws_rows:
        raise ParameterError(
            f"{what} needs rows that a tree has not seen, but with bootstrap={config.bootstrap} every tree sees all rows: train "
            "with bootstrap=True"
        )
    if rows != model.rows:
        raise DataError(
            f"{what} is about the training table, which had {model.rows} rows, but X has {rows}: give the table that the forest "
            "was trained on"
        )
    return Bags(config.random_state, model.rows, config.rows_per_tree(model.rows), config.bootstrap)
