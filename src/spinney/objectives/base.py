"""What a loss must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients
from spinney.objectives.links import LINKS
from spinney.objectives.targets import DOMAINS
from spinney.params import Config, ObjectiveRow


class Objective(ABC):
    """A loss as training and prediction see it, made from a configuration."""

    def __init__(self, row: ObjectiveRow, config: Config) -> None:
        self.row, self.config = row, config

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return 1

    def check_target(self, labels: Labels) -> None:
        """Raise `DataError` where the target does not fit the loss."""
        DOMAINS[self.row.domain](labels.target, self.config)

    @abstractmethod
    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant score, one for each output, with the least loss."""

    @abstractmethod
    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """A job for a team that fills the pairs of `gradients` from its scores."""

    def filler(self, labels: Labels, gradients: Gradients, team: Team) -> Callable[[], None]:
        """What fills `gradients` from its scores each round."""
        job = self.gradients(labels, gradients, team.size)
        return lambda: team.run(job)

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions from raw scores: (rows,) or (rows, outputs)."""
        return LINKS[self.row.link](raw)
