"""What measuring the importance of columns by shuffling them gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 5  # columns that a short description names


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance:
    """What each column, or group of columns, is worth. The names are those of scikit-learn.

    Attributes
    ----------
    importances_mean : float64[columns]
        Mean over repeats, or over trees.
    importances_std : float64[columns]
        Standard deviation over them.
    importances : float64[columns, repeats or trees]
        By how much the score falls when a column is shuffled; above 0 where the column is of use, whichever way the metric goes.
        NaN for a tree that has no rows to be evaluated on; mean and deviation leave it out.
    feature_names : tuple of str
        Names of the columns, or titles of the groups.
    metric : str
        What was measured.
    score : float
        The metric before anything is shuffled; NaN where each tree has a score of its own.
    """

    importances_mean: NDArray[np.float64]
    importances_std: NDArray[np.float64]
    importances: NDArray[np.float64]
    feature_names: tuple[str, ...]
    metric: str
    score: float = float("nan")

    def to_frame(self) -> Any:
        """As a pandas table with columns feature, importance_mean and importance_std, the most important first."""
        import pandas as pd

        order = self._order()
        return pd.DataFrame(
            {
                "feature": [self.feature_names[place] for place in order],
                "importance_mean": self.importances_mean[order],
                "importance_std": self.importances_std[order],
            }
        )

    def __repr__(self) -> str:
        first = [
            f"{self.feature_names[place]}: {self.importances_mean[place]:.3g} ± {self.importances_std[place]:.2g}"
            for place in self._order()[:SHOWN]
        ]
        left = len(self.feature_names) - len(first)
        more = f", and {left} more" if left else ""
        return f"PermutationImportance({self.metric}; {', '.join(first)}{more})"

    def _order(self) -> NDArray[np.int64]:
        return np.argsort(-self.importances_mean, kind="stable")
