"""What every estimator does with parameters that are set by name."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from spinney.estimators.names import check_names


class Estimator(BaseEstimator):
    """An estimator of scikit-learn's kind, which knows its parameters' other spellings and what a file could not hold of it."""

    _left_out: tuple[str, ...] = ()  # parameters that the file it was loaded from does not have

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the constructor.

        Returns
        -------
        estimator
            The estimator itself.
        """
        check_names(self, params)
        super().set_params(**params)
        if self._left_out:
            self._left_out = tuple(name for name in self._left_out if name not in params)
        return self
