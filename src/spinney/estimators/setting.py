"""What every estimator does with parameters that are set by name."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from spinney.data.dask import refuse_dask
from spinney.errors import ParameterError
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


def refuse_left_out(estimator: Estimator) -> None:
    """Refuse to fit an estimator that lacks a parameter which its file could not hold: the default is another one."""
    if estimator._left_out:
        raise ParameterError(
            f"this {type(estimator).__name__} was saved without {listed(estimator._left_out)}, which no file can hold; before "
            f"another fit call {setting(estimator._left_out)}"
        )


def listed(names: tuple[str, ...]) -> str:
    """Names of parameters in a sentence."""
    return " and ".join(names)


def setting(names: tuple[str, ...]) -> str:
    """The call that sets parameters."""
    return f"set_params({', '.join(f'{name}=...' for name in names)})"


class Scored:
    """The score that scikit-learn's mixin behind it has, of what is in memory."""

    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Tell how good predictions are: accuracy of a classifier, R² of a regressor.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,) or (rows, outputs)
            The target.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 is perfect.
        """
        refuse_dask(y, "y", type(self).__name__)
        refuse_dask(sample_weight, "sample_weight", type(self).__name__)
        mixin: Any = super()
        return float(mixin.score(X, y, sample_weight))
