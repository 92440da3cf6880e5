"""Forests and trees of classes."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from spinney.data import ForestTarget, read_class_target, target_columns
from spinney.data.classes import class_codes
from spinney.errors import DataError
from spinney.estimators.base import Scored
from spinney.estimators.forests.base import ForestBase
from spinney.estimators.forests.ensemble import ForestEnsemble, spread_rows
from spinney.estimators.forests.tree import SingleTree
from spinney.estimators.forests.trees import ClassTreeView, most_likely
from spinney.estimators.forests.weights import PRESETS, check_factors, weigh_rows
from spinney.inspection.out_of_bag import OutOfBag
from spinney.inspection.uncertainty import ClassUncertainty, class_uncertainty
from spinney.params import ForestConfig, Parameter
from spinney.params.estimators import CLASS_CRITERION

_BALANCED_WARM = (
    'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the fitted data differs from '
    "the full dataset."
)


class ClassForest(Scored, ClassifierMixin, ForestBase):
    """What predicts classes: labels of one output or several."""

    class_weight: object
    classes_: NDArray[Any] | list[NDArray[Any]]
    n_classes_: int | list[int]
    _CRITERION: ClassVar[Parameter[str]] = CLASS_CRITERION
    _PRESETS: ClassVar[Sequence[str]] = PRESETS

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (rows,), or (rows, outputs) for several outputs
            Labels; of equally probable ones the first.
        """
        return most_likely(self._shares(X), self._labels)

    def predict_proba(self, X: object) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Predict the probability of each class: the mean over trees of its share in the leaf. X is as `predict` takes it.

        Returns
        -------
        float64 array of shape (rows, classes), or a list of one for each of several outputs
            In the order of `classes_`.
        """
        shares = self._shares(X)
        return shares[0] if len(shares) == 1 else shares

    def predict_log_proba(self, X: object) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Logarithm of `predict_proba`, in the same shape."""
        with np.errstate(divide="ignore"):
            shares = [np.log(share) for share in self._shares(X)]
        return shares[0] if len(shares) == 1 else shares

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @property
    def _labels(self) -> list[NDArray[Any]]:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _take_labels(self, labels: list[NDArray[Any]]) -> None:
        """Note the classes, without a list where there is one output."""
        counts = [len(one) for one in labels]
        self.classes_, self.n_classes_ = (labels[0], counts[0]) if len(labels) == 1 else (labels, counts)

    def _shares(self, X: object) -> list[NDArray[np.float64]]:
        found = self._predicted(X)
        return found if isinstance(found, list) else [found]

    def _learn_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        if known:
            return ForestTarget(self._find_target(y, rows), tuple(map(len, self._labels)))
        labels, target = read_class_target(y, rows)
        self._take_labels(labels)
        return target

    def _find_target(self, y: object, rows: int) -> NDArray[Any]:
        columns, labels = target_columns(y), self._labels
        if len(columns) != len(labels):
            raise DataError(f"y has {len(columns)} output(s); the fitted forest has {len(labels)}")
        codes = [class_codes(one, rows, names) for one, names in zip(columns, labels, strict=True)]
        return np.column_stack(codes).astype(np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_factors(self.class_weight, self._PRESETS)

    def _weigh(
        self, target: ForestTarget, weight: NDArray[np.float64] | None, config: ForestConfig
    ) -> tuple[NDArray[np.float64] | None, ForestConfig]:
        weights, kind = weigh_rows(
            self.class_weight, self._labels, target, weight, draws_rows=config.draws_rows
        )
        return weights, replace(config, class_weight=kind)


class ClassEnsemble(ClassForest, ForestEnsemble):
    """A forest of classes."""

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Probabilities of each training row by the trees that did not see it; a file does not hold them."""
        return self._out_of_bag("oob_decision_function_")

    def predict_uncertainty(self, X: object) -> ClassUncertainty | list[ClassUncertainty]:
        """Tell how unsure the forest is of each row's class.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        ClassUncertainty
            variance, p * (1 - p), of shape (rows, classes), and entropy, in nats, of shape (rows,). A list of one for each of
            several outputs.
        """
        found = [class_uncertainty(share) for share in self._shares(X)]
        return found[0] if len(found) == 1 else found

    def _view(self, tree: int) -> ClassTreeView:
        return ClassTreeView(self.model_, tree, self.n_jobs, self._labels)

    def _grow(self, X: object, y: object, sample_weight: ArrayLike | None) -> list[Warning]:
        warm = self.warm_start and isinstance(self.class_weight, str)
        return super()._grow(X, y, sample_weight) + ([UserWarning(_BALANCED_WARM)] if warm else [])

    def _said_out_of_bag(self, found: OutOfBag, kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        shares = [spread_rows(one, kept) for one in found.values]
        if len(shares) == 1:
            return shares[0]
        # An output of fewer classes than another has zeros in their place.
        most = max(share.shape[1] for share in shares)
        wide = [np.pad(share, ((0, 0), (0, most - share.shape[1]))) for share in shares]
        return np.stack(wide, axis=-1)


class ClassTree(ClassForest, SingleTree):
    """A single tree of classes."""

    _PRESETS: ClassVar[Sequence[str]] = ("balanced",)
