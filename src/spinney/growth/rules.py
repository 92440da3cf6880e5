"""What the parameters say about trees and columns, as records for kernels."""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np

from spinney.growth.kernels.rules import CategoryRules, ColumnRules, Limits, Penalties, Rules
from spinney.params import Config, objective_row, placed


class ColumnChoice:
    """Directions, groups and weights of the columns of one data set.

    Parameters
    ----------
    config : Config
        Parameters; they know columns by position.
    columns : int
        Number of columns.

    Attributes
    ----------
    signs : int64[columns]
        Direction of each column, 0 for either.
    bounded : bool
        Whether any column has a direction.
    group_starts, group_members : int64 arrays
        Columns of each group of columns that may meet, ascending, one group after another.
    groups : int
        Number of groups; 0 means that all columns may meet.
    weights : float64[columns] or None
        Chances of being drawn, the largest 1; None where all are equal.
    """

    def __init__(self, config: Config, columns: int) -> None:
        config = placed(config, None, columns)
        groups = config.interaction_constraints or ()
        self.signs = np.zeros(columns, np.int64)
        if config.monotone_constraints is not None:
            self.signs[:] = config.monotone_constraints
        self.bounded = bool(self.signs.any())
        self.groups = len(groups)
        self.group_starts = np.array([0, *accumulate(map(len, groups))], np.int64)
        self.group_members = np.array([column for group in groups for column in group], np.int64)
        self.weights = None
        if config.feature_weights is not None:
            found = np.array(config.feature_weights, np.float64)
            self.weights = found / found.max()

    def drawn(self, share: float, columns: int) -> int:
        """How many columns are a share of some, at least one, and no more than have a weight above 0.

        Examples
        --------
        >>> ColumnChoice(Config(), 8).drawn(0.5, 8)
        4
        >>> ColumnChoice(Config(feature_weights=[0, 0, 0, 1]), 4).drawn(0.5, 4)
        1
        """
        wanted = max(1, round(share * columns))
        if self.weights is None or share == 1.0:
            return wanted
        return min(wanted, int(np.count_nonzero(self.weights)))

    def record(self, per_level: int, per_node: int) -> ColumnRules:
        """What kernels know of it; columns to draw per level and per node, 0 for all."""
        return ColumnRules(
            columns=len(self.signs),
            group_count=self.groups,
            grouped=len(self.group_members),
            weighted=int(self.weights is not None),
            per_level=per_level,
            per_node=per_node,
            signs=self.signs,
            group_starts=self.group_starts,
            group_members=self.group_members,
            weights=np.zeros(0) if self.weights is None else self.weights,
        )


def rules_of(
    config: Config, rows: int, choice: ColumnChoice, by_tree: int, unit: float, prune: bool
) -> Rules:
    """What a tree of so many rows and columns goes by.

    Parameters
    ----------
    config, choice
        The parameters.
    rows, by_tree : int
        Rows of the data set, and columns of a tree.
    unit : float
        What penalties are divided by, because weights were.
    prune : bool
        Whether gamma prunes the finished tree from below, instead of holding back its growth.
    """
    by_level = choice.drawn(config.colsample_bylevel, by_tree)
    by_node = choice.drawn(config.colsample_bynode, by_level)
    gamma = config.gamma / unit
    min_count = max(1, min(config.min_child_samples, rows + 1))
    return Rules(
        Limits(
            max_depth=config.max_depth,
            max_leaves=most_leaves(config, rows, min_count),
            min_count=min_count,
            min_hessian=config.min_child_weight / unit,
            depthwise=int(config.grow_policy == "depthwise"),
            gamma=0.0 if prune else gamma,
            least_gain=gamma if prune else 0.0,
        ),
        Penalties(
            reg_lambda=config.reg_lambda / unit,
            reg_alpha=config.reg_alpha / unit,
            max_step=config.max_delta_step or objective_row(config.objective).longest_step,
            bounded=int(choice.bounded),
        ),
        CategoryRules(
            one_hot=config.max_cat_to_onehot,
            most_taken=config.max_cat_threshold,
            min_group=config.min_data_per_group,
            min_category=max(1, math.ceil(min(config.cat_smooth, 2.0**62))),
            smooth=config.cat_smooth / unit,
            l2=config.cat_l2 / unit,
            charge=config.cat_charge / max(rows, 1),
        ),
        choice.record(by_level if by_level < by_tree else 0, by_node if by_node < by_level else 0),
    )


def most_leaves(config: Config, rows: int, min_count: int) -> int:
    """Most leaves that a tree of so many rows can have."""
    most = max(2, rows // min_count)
    leaves = min(config.max_leaves or most, most)
    if 0 < config.max_depth < 31:
        leaves = min(leaves, 2**config.max_depth)
    return leaves
