"""Losses of one score: a formula for one row, in the frame that all of them share."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import Bound
from spinney.jit.kernel import REGISTRY, Kernel
from spinney.objectives.base import Objective
from spinney.objectives.kernels.records import Gradients
from spinney.objectives.links import STARTS


class Pointwise(Objective):
    """A loss that is a sum over rows of a function of one score."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The score that is predicted as the mean."""
        return np.array([STARTS[self.row.link](labels, self.row.name)])

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula for every row."""
        values = np.array([getattr(self.config, name) for name in self.row.parameters], np.float64)
        return _kernel(self.row.name).bind(labels.arrays(), len(values), values, gradients)


def _kernel(name: str) -> Kernel:
    """The kernel of a loss; the package's stand in modules of their name."""
    if f"{name}_gradients" not in REGISTRY:
        import_module(f"spinney.objectives.kernels.{name}")
    return REGISTRY[f"{name}_gradients"]
