"""Leaf values from all rows, for trees that a sample of them has grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.growth import layout
from spinney.growth.refit_kernels import SUMS, refit_leaves
from spinney.jit import Bound
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class AllRows:
    """What leaf values are computed from where a tree sees only some of the rows.

    Attributes
    ----------
    counted : int32
        The rows that count, ascending: all but those of weight 0.
    pairs, stats
        Gradients and hessians of all rows, and their statistics, as they were before rows were drawn.
    """

    counted: NDArray[np.int32]
    pairs: NDArray[np.float32]
    stats: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grown:
    """Where a grower's kernel leaves a tree."""

    control: NDArray[np.int64]
    limits: NDArray[np.int64]
    rules: NDArray[np.float64]
    nodes: NDArray[np.int64]
    gains: NDArray[np.float64]
    shared: NDArray[np.int64]
    tree: dict[str, NDArray[Any]]

    @classmethod
    def room(
        cls,
        control: NDArray[np.int64],
        limits: NDArray[np.int64],
        rules: NDArray[np.float64],
        tree: dict[str, NDArray[Any]],
    ) -> Grown:
        """Make room for the nodes of a tree."""
        count = len(tree["value"])
        nodes, shared = np.zeros(count * layout.NODE_WIDTH, np.int64), np.zeros(layout.SHARED, np.int64)
        return cls(control, limits, rules, nodes, np.empty(count), shared, tree)


def refit(
    everyone: AllRows, grown: Grown, leaves: NDArray[np.int32], scores: NDArray[np.float64], team: Team
) -> Bound:
    """A job that computes the latest tree's values again, from the leaves of all rows, and adds them to the scores."""
    max_nodes = len(grown.gains)
    return refit_leaves.bind(
        len(leaves), len(scores), everyone.stats.shape[1], len(everyone.counted), team.size, max_nodes,
        everyone.counted, everyone.pairs, everyone.stats, leaves, grown.control, grown.limits, grown.rules,
        np.zeros(layout.SCALES), np.empty(team.size * SUMS * max_nodes, np.int64), grown.nodes, grown.gains, grown.shared,
        scores, *grown.tree.values(),
    )  # fmt: skip
