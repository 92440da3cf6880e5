"""What the targets of forests mean: classes, whose rows may have factors on their weights, or numbers."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from spinney.data import ForestTarget, read_class_target, read_number_target, target_columns
from spinney.data.classes import check_class_weight, class_codes, class_factors
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.estimators.base import Scored
from spinney.estimators.forest_base import ForestBase
from spinney.estimators.forest_ensemble import ForestEnsemble, SingleTree, spread_rows
from spinney.estimators.forest_trees import ClassTreeView, most_likely
from spinney.inspection.leaf_neighbours import predict_quantiles
from spinney.inspection.out_of_bag import OutOfBag
from spinney.inspection.uncertainty import (
    ClassUncertainty,
    class_uncertainty,
    deviation,
    jackknife_interval,
)
from spinney.messages import shown
from spinney.params import ForestConfig, Parameter
from spinney.params.estimators import CLASS_CRITERION, NUMBER_CRITERION

PRESETS = ("balanced", "balanced_subsample")
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

    def _set_labels(self, labels: list[NDArray[Any]]) -> None:
        """Set the classes, without a list where there is one output."""
        counts = [len(one) for one in labels]
        self.classes_, self.n_classes_ = (labels[0], counts[0]) if len(labels) == 1 else (labels, counts)

    def _shares(self, X: object) -> list[NDArray[np.float64]]:
        found = self._predicted(X)
        return found if isinstance(found, list) else [found]

    def _fit_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        if known:
            return ForestTarget(self._find_target(y, rows), tuple(map(len, self._labels)))
        labels, target = read_class_target(y, rows)
        self._set_labels(labels)
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
        """How unsure the forest is of each row's class.

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

    def _shaped_out_of_bag(self, found: OutOfBag, kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
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


class NumberForest(Scored, RegressorMixin, ForestBase):
    """What predicts numbers, of one output or several."""

    _CRITERION: ClassVar[Parameter[str]] = NUMBER_CRITERION

    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the target: the mean over trees.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,), or (rows, outputs) for several outputs
        """
        found: NDArray[np.float64] = self._predicted(X)
        return found

    def predict_quantile(self, X: object, quantiles: ArrayLike) -> NDArray[np.float64]:
        """Predict quantiles of the target (Meinshausen, 2006). Needs keep_leaf_rows=True; works after loading too.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        quantiles : float, or array of floats
            From 0 to 1, in any order.

        Returns
        -------
        float64 array of shape (rows, quantiles), or (rows, outputs, quantiles) for several outputs
            For a single number without the last dimension.
        """
        return predict_quantiles(self.model_, self._read(X), quantiles, self.n_jobs)

    def _fit_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        return read_number_target(y, rows)

    def _find_target(self, y: object, rows: int) -> NDArray[Any]:
        found = read_number_target(y, rows).values
        if found.shape[1] != self.n_outputs_:
            raise DataError(f"y has {found.shape[1]} output(s); the fitted forest has {self.n_outputs_}")
        return found

    def _weigh(
        self, target: ForestTarget, weight: NDArray[np.float64] | None, config: ForestConfig
    ) -> tuple[NDArray[np.float64] | None, ForestConfig]:
        return weight, config

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


class NumberEnsemble(NumberForest, ForestEnsemble):
    """A forest of numbers."""

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Prediction of each training row by the trees that did not see it; a file does not hold it."""
        return self._out_of_bag("oob_prediction_")

    def predict_uncertainty(self, X: object) -> NDArray[np.float64]:
        """Standard deviation of the trees' predictions around the forest's.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,), or (rows, outputs) for several outputs
        """
        return deviation(self.model_, self._read(X), self.n_jobs)

    def predict_interval(
        self, X: object, level: float = 0.95, *, corrected: bool = True
    ) -> NDArray[np.float64]:
        """Confidence intervals of the prediction, by the jackknife after the bootstrap; they need many trees.

        They show how much the prediction would change with other training rows; they do not hold the target itself.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        level : float, default=0.95
            Chance of an interval to hold the mean of such predictions.
        corrected : bool, default=True
            Whether to subtract what the finite number of trees adds to the variance.

        Returns
        -------
        float64 array of shape (rows, 2), or (rows, outputs, 2) for several outputs
            Lower and upper ends; NaN where the variance cannot be separated from noise with so few trees.
        """
        table = self._read(X)
        mean: Any = self.model_.shaped(self.model_.values(table, self.n_jobs))
        return jackknife_interval(
            self.model_, table, mean, level=level, corrected=corrected, n_jobs=self.n_jobs
        )

    def _shaped_out_of_bag(self, found: OutOfBag, kept: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        return spread_rows(found.prediction, kept)


class NumberTree(NumberForest, SingleTree):
    """A single tree of numbers."""


def check_factors(class_weight: object, presets: Sequence[str] = PRESETS) -> None:
    """Refuse what no classes could have as factors, whatever the number of outputs."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight in presets):
        return
    for one in class_weight if isinstance(class_weight, list | tuple) else [class_weight]:
        if not isinstance(one, Mapping):
            names = ", ".join(map(repr, presets))
            raise ParameterTypeError(
                f"class_weight={shown(class_weight)} must be {names}, None, a dict of labels and weights, or a list of such "
                "dicts, one for each output"
            )
        check_class_weight(one)


def weigh_rows(
    class_weight: object,
    labels: Sequence[NDArray[Any]],
    target: ForestTarget,
    weight: NDArray[np.float64] | None,
    *,
    draws_rows: bool,
) -> tuple[NDArray[np.float64] | None, str]:
    """Weights of the rows once the factors of the classes are applied, and where these factors came from.

    Parameters
    ----------
    class_weight : mapping of labels to numbers, sequence of such mappings, "balanced", "balanced_subsample" or None
        The factors; those of several outputs are multiplied.
    labels : sequence of ndarray
        Labels of each output's classes.
    target : ForestTarget
        Class numbers.
    weight : float64[rows], optional
        Weights of the rows before.
    draws_rows : bool
        Whether each tree has a bag of its own. If not, balanced_subsample is the same as balanced.

    Returns
    -------
    weight : float64[rows], or None
        None where every row has weight 1.
    kind : str
        "none", "given", "balanced" or, where every tree must find its own factors, "balanced_subsample".

    Examples
    --------
    >>> target = ForestTarget(np.array([[0], [1], [1], [1]]), (2,))
    >>> weight, kind = weigh_rows("balanced", [np.array(["ash", "oak"])], target, None, draws_rows=True)
    >>> weight.round(2).tolist(), kind
    ([2.0, 0.67, 0.67, 0.67], 'balanced')
    """
    if class_weight is None:
        return weight, "none"
    if isinstance(class_weight, str):
        if class_weight == "balanced_subsample" and draws_rows:
            return weight, "balanced_subsample"
        given: Sequence[Any] = ["balanced"] * target.outputs
    else:
        given = _by_output(class_weight, target.outputs)
    factors = np.ones(target.rows)
    for output, one in enumerate(given):
        codes = target.values[:, output].astype(np.int64)
        mass = np.bincount(codes, weight, len(labels[output])).astype(np.float64)
        what = "class_weight" if target.outputs == 1 else f"class_weight[{output}]"
        factors *= class_factors(what, one, labels[output], mass)[codes]
    weights = factors if weight is None else factors * weight
    if not 0 < weights.sum() < np.inf:
        raise DataError(
            f"class_weight={shown(class_weight)} leaves no row a weight above 0 and finite; give other factors"
        )
    return weights, "balanced" if isinstance(class_weight, str) else "given"


def _by_output(class_weight: object, outputs: int) -> Sequence[Any]:
    """One mapping for each output."""
    if isinstance(class_weight, Mapping):
        if outputs > 1:
            raise ParameterError(
                f"class_weight={shown(class_weight)} is one dict, but y has {outputs} outputs: give a list of {outputs} dicts, "
                "or 'balanced'"
            )
        return [class_weight]
    assert isinstance(class_weight, list | tuple)
    if len(class_weight) != outputs:
        raise ParameterError(
            f"class_weight is a list of {len(class_weight)} dicts, but y has {outputs} output(s): give one for each"
        )
    return class_weight
