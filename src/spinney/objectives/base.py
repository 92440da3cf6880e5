"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.jit.kernel import REGISTRY, Kernel
from spinney.jit.team import Team
from spinney.objectives.kernels.flat import flatten_hessians
from spinney.objectives.kernels.line_search import Search
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.objectives.links import LINKS
from spinney.objectives.targets import DOMAINS
from spinney.params import Config, ObjectiveRow, link_of, takes_targets, values_by_output

Fill = Callable[[int], None]
"""Fills gradients from scores; what it draws follows from the seed of the round."""
Renew = Callable[[LeafRows, Gradients, NDArray[np.float64]], Bound]
"""Makes a job that writes, for each leaf, the constant that lowers the loss of its rows most."""


class Objective(ABC):
    """A loss as training and prediction see it, made from a configuration."""

    def __init__(self, row: ObjectiveRow, config: Config) -> None:
        self.row, self.config = row, config

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return 1

    @property
    def targets(self) -> int:
        """Columns of the target."""
        return 1

    def check_target(self, labels: Labels) -> None:
        """Raise `DataError` where the target does not fit the loss."""
        if labels.targets != self.targets:
            told = f" (num_target={self.targets})" if takes_targets(self.row.name) else ""
            wanted = f"{self.targets} column{'s' * (self.targets > 1)}{told}"
            raise DataError(f"objective {self.row.name} needs y of {wanted}, got {labels.targets}")
        if not takes_targets(self.row.name):
            DOMAINS[self.row.domain](labels.target, self.config)
            return
        for place in range(labels.targets):
            with named_column(labels, place):
                DOMAINS[self.row.domain](labels.column(place).target, self.config)

    def prepared(self, labels: Labels) -> Labels:
        """Labels in the form that the loss and its metrics read, once they are checked.

        Raises
        ------
        DataError
            The target does not fit the loss.
        """
        self.check_target(labels)
        return labels

    @abstractmethod
    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant score, one for each output, with the least loss."""

    @abstractmethod
    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """A job for a team that fills the pairs of `gradients` from its scores."""

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Fill:
        """What fills `gradients` from its scores each round."""
        jobs = [self.gradients(labels, gradients, team.size)]
        if self._first_order:
            jobs.append(flatten_hessians.bind(labels.arrays(), gradients))

        def fill(seed: int) -> None:
            for job in jobs:
                team.run(job)

        return fill

    def renewal(self, labels: Labels, threads: int) -> Renew | None:
        """What makes a job that finds the values of leaves, if they are not minus the sum of gradients over that of hessians.

        The weight of a row is its hessian.
        """
        if self.row.leaf_values == "newton" and not self._first_order:
            return None
        return partial(self.renew, labels, threads)

    def renew(
        self,
        labels: Labels,
        threads: int,
        by_leaf: LeafRows,
        gradients: Gradients,
        steps: NDArray[np.float64],
    ) -> Bound:
        """A job that searches along the step of each leaf for the least loss."""
        values = self.parameters()
        search = allocate(
            Search,
            reg_lambda=self.config.reg_lambda / gradients.unit,
            reg_alpha=self.config.reg_alpha / gradients.unit,
            by_leaf=by_leaf,
        )
        search_along = kernel_of(self.row.name, "line_search")
        return search_along.bind(by_leaf, gradients, labels.arrays(), values.shape[1], values, search, steps)

    def parameters(self) -> NDArray[np.float64]:
        """What the formula takes, outputs × values; None is NaN."""
        return np.array(values_by_output(self.config, self.row.parameters), np.float64)

    @property
    def _first_order(self) -> bool:
        """Whether trees are fitted to gradients alone, and a search finds their values."""
        return self.config.leaf_estimation == "line_search" and self.row.leaf_values == "newton"

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions from raw scores: (rows,) or (rows, outputs)."""
        return LINKS[link_of(self.config)](raw)


def kernel_of(name: str, what: str) -> Kernel:
    """A kernel of a loss; the package's stand in modules of their name."""
    if f"{name}_{what}" not in REGISTRY:
        import_module(f"spinney.objectives.kernels.{name}")
    return REGISTRY[f"{name}_{what}"]
