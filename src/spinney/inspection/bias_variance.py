"""Bias and variance of a learner, by refits on bootstrap samples."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spinney.data import read_class_labels, read_vector
from spinney.data.arrays import as_array, refuse_dask
from spinney.data.classes import class_codes
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.inspection.scored_model import take_rows
from spinney.inspection.scoring import array_of
from spinney.messages import shown
from spinney.params import checked_seed
from spinney.params.common import AUTO, checked_count
from spinney.params.parameter import SeedLike
from spinney.sampling.bags import bag_counts

Floats = NDArray[np.float64]
Loss = Literal["squared", "zero_one"]
LOSSES = ("auto", "squared", "zero_one")


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance:
    """What the loss of a learner is made of: loss = noise + bias2 + variance, to rounding.

    Attributes
    ----------
    kind : {"squared", "zero_one"}
        The loss.
    loss : float
        Mean loss of the refits on rows that they have not seen. Squared loss: that against a y drawn anew, where the truth
        is known; else, and for the 0-1 loss, `observed_loss`.
    observed_loss : float
        The same against the y that was given. It differs by twice the mean product of noise and bias, which is 0 on average.
    noise : float, or None
        What the loss owes to y being another than the truth. Squared loss: the mean of (y - truth)². 0-1 loss: the loss
        against y less that against the truth. None where no truth was given; `bias2` then includes it.
    bias2 : float
        Squared bias: how far the refits are from the truth together. Squared loss: the squared distance of their mean. 0-1
        loss: the share of rows whose main prediction, the one that most refits give, is wrong.
    variance : float
        What the loss owes to refits differing from one another. Squared loss: their variance. 0-1 loss: the net variance,
        `variance_unbiased` - `variance_biased`.
    variance_unbiased, variance_biased : float, or None
        Of the 0-1 loss: the share of predictions that leave a right main prediction, which adds to the loss, and that of
        those that leave a wrong one for the truth, which takes from it.
    refits : int
        How many models were fitted.
    rows, left_out : int
        Rows that were evaluated, and those that too few refits have not seen.
    """

    kind: Loss
    loss: float
    observed_loss: float
    noise: float | None
    bias2: float
    variance: float
    variance_unbiased: float | None
    variance_biased: float | None
    refits: int
    rows: int
    left_out: int

    @property
    def noise_included(self) -> bool:
        """Whether `bias2` includes the noise, because no truth was given."""
        return self.noise is None

    def __repr__(self) -> str:
        noise = "" if self.noise is None else f"noise {self.noise:.4g} + "
        included = " (noise included)" if self.noise is None else ""
        left = f", {self.left_out} left out" if self.left_out else ""
        return (
            f"BiasVariance({self.kind}: loss {self.loss:.4g} = {noise}bias² {self.bias2:.4g}{included} + variance "
            f"{self.variance:.4g}; {self.refits} refits, {self.rows} rows{left})"
        )


def bias_variance(
    estimator: Any,
    X: object,
    y: object,
    truth: object = None,
    *,
    repeats: int = 20,
    loss: str = "auto",
    seed: SeedLike = 0,
) -> BiasVariance:
    """Estimate how much of a learner's loss is bias and how much is variance.

    The estimator is fitted again on bootstrap samples of the rows, with another seed each time, and evaluated on the rows outside
    each sample. A row's predictions then differ because of the sample and of the learner's own randomness. What all samples have
    in common, such as the noise in the rows around, counts as bias.

    Squared loss: with m the mean of a row's n predictions and s² their variance (over n - 1), the squared bias is
    (truth - m)² - s²/n, which does not grow with the error of m. 0-1 loss: the decomposition of Domingos (2000), which for any
    number of classes is loss = share of wrong main predictions + unbiased variance - biased variance.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor with `fit` and `predict`, ours or any of scikit-learn's kind. It is cloned, not fitted. Every
        parameter called random_state is set anew for each refit.
    X : table
        Rows.
    y : array of shape (rows,)
        Targets: numbers or labels.
    truth : array of shape (rows,), optional
        What y would be without noise, as known of made-up data. Without it noise counts as bias, and `noise_included` is true.
    repeats : int, default=20
        How many refits; a row is outside of about 37 % of them.
    loss : {"auto", "squared", "zero_one"}, default="auto"
        Without it 0-1 loss for classifiers and squared loss for others.
    seed : int, RandomState, Generator or None, default=0
        Seed of the samples and of the refits' own seeds.

    Returns
    -------
    BiasVariance
        With `loss`, `noise`, `bias2` and `variance`, the means over rows; the first is the sum of the others.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> wave = np.sin(6 * X[:, 0])
    >>> y = wave + 0.3 * rng.normal(size=200)
    >>> stump = sp.bias_variance(sp.DecisionTreeRegressor(max_depth=1), X, y, wave)
    >>> deep = sp.bias_variance(sp.DecisionTreeRegressor(), X, y, wave)
    >>> stump.bias2 > deep.bias2, stump.variance < deep.variance
    (True, True)
    """
    repeats, seed = checked_count("repeats", repeats, 2), checked_seed(seed)
    kind = _kind(estimator, loss)
    rows = len(array_of(y, "y"))
    target, known = _targets(kind, y, truth, rows)
    refits = _predictions(estimator, X, y, rows, repeats, seed)
    if kind == "squared":
        return _squared(target, known, np.array([_numbers(one, outside, rows) for outside, one in refits]))
    return _zero_one(target, known, *_votes(refits, target, known, rows))


def _kind(estimator: Any, loss: object) -> Loss:
    from sklearn.base import is_classifier, is_outlier_detector

    needed = ("fit", "predict", "get_params", "__sklearn_tags__")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
        raise ParameterTypeError(
            f"{shown(estimator)} is no estimator of scikit-learn's kind; give a classifier or a regressor, not fitted"
        )
    if is_outlier_detector(estimator) or _fit_takes(estimator, "qid"):
        raise ParameterTypeError(
            f"{type(estimator).__name__} predicts no target; give a classifier or a regressor"
        )
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError(f"loss={shown(loss)} is unknown; there are {', '.join(map(repr, LOSSES))}")
    classes = bool(is_classifier(estimator))
    if loss == ("squared" if classes else "zero_one"):
        what, right = ("labels", "zero_one") if classes else ("numbers", "squared")
        raise ParameterError(
            f"loss={loss!r} does not fit {type(estimator).__name__}, which predicts {what}; use loss={right!r}"
        )
    return "zero_one" if classes else "squared"


def _targets(kind: Loss, y: object, truth: object, rows: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The target and the truth: numbers, or labels."""
    if kind == "squared":
        return read_vector(y, rows, "y", allow_none=False), read_vector(truth, rows, "truth")
    labels, codes = read_class_labels(y, rows)
    if truth is None:
        return labels[codes], None
    if len(array_of(truth, "truth")) != rows:
        found = len(array_of(truth, "truth"))
        raise DataError(f"truth has {found} values, but y has {rows} rows; give one value for each row")
    names, places = read_class_labels(truth, rows)
    strange = set(names.tolist()) - set(labels.tolist())
    if strange:
        raise DataError(f"truth has the label {min(strange, key=str)!r}, which y does not have")
    return labels[codes], names[places]


def _predictions(
    estimator: Any, X: Any, y: object, rows: int, repeats: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Rows outside each sample, and the predictions of a refit on the sample for them."""
    from sklearn.base import clone

    refuse_dask(X, "X")
    X = X if hasattr(X, "shape") else as_array(X, "X")
    if len(X.shape) != 2:
        raise DataTypeError(f"X={shown(X)} is no table; give rows and columns")
    if X.shape[0] != rows:
        raise DataError(f"X has {X.shape[0]} rows, but y has {rows} values; give one value for each row")
    target = array_of(y, "y")
    for repeat in range(repeats):
        counts = bag_counts(seed, repeat, rows, rows, replace=True)
        outside = np.flatnonzero(counts == 0)
        if not len(outside):
            continue
        bag = np.repeat(np.arange(rows), counts)
        model = clone(estimator)
        # Every refit has a seed of its own, whatever the parameters of the estimator.
        own = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0] >> 1)
        seeds = [
            name for name in model.get_params() if name == "random_state" or name.endswith("__random_state")
        ]
        model.set_params(**dict.fromkeys(seeds, own))
        try:
            model.fit(take_rows(X, bag), target[bag], **_groups(model, bag))
        except ValueError as error:
            raise DataError(
                f"{type(estimator).__name__} cannot be fitted to bootstrap sample {repeat} of the rows: {error}"
            ) from error
        found = np.asarray(model.predict(take_rows(X, outside)))
        if found.shape != (len(outside),):
            raise ParameterTypeError(
                f"{type(estimator).__name__} predicts several outputs; give an estimator of one"
            )
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise DataError(
                f"{type(estimator).__name__} predicts NaN or an infinite number in refit {repeat}"
            )
        yield outside, found


def _groups(model: Any, bag: NDArray[np.int64]) -> dict[str, Any]:
    """The groups that an estimator needs which holds out rows of its own: copies of a row are of one group."""
    params = model.get_params(deep=False)
    holds_out = params.get("n_estimators") == AUTO or params.get("validation_fraction") is not None
    return {"groups": bag} if holds_out and _fit_takes(model, "groups") else {}


def _fit_takes(estimator: Any, name: str) -> bool:
    """Whether the method `fit` of an estimator has an argument of this name."""
    return name in inspect.signature(estimator.fit).parameters


def _numbers(predicted: NDArray[Any], outside: NDArray[np.int64], rows: int) -> Floats:
    """Predictions of all rows, NaN for those that the refit has seen."""
    found = np.full(rows, np.nan)
    found[outside] = predicted
    return found


def _squared(target: Floats, truth: Floats | None, predicted: Floats) -> BiasVariance:
    """Of predictions, (refits, rows), NaN where a refit has seen the row."""
    times = (~np.isnan(predicted)).sum(axis=0)
    evaluated = times > 1
    _check_evaluated(evaluated)
    predicted, times, target = predicted[:, evaluated], times[evaluated], target[evaluated]
    best = target if truth is None else truth[evaluated]
    middle = np.nansum(predicted, axis=0) / times
    variance = np.nansum(np.square(predicted - middle), axis=0) / (times - 1)
    # The mean is off by the variance over the number of predictions.
    bias2 = float(np.mean(np.square(best - middle) - variance / times))
    loss = float(np.mean(np.nansum(np.square(predicted - best), axis=0) / times))
    noise = None if truth is None else float(np.mean(np.square(target - best)))
    observed = float(np.mean(np.nansum(np.square(predicted - target), axis=0) / times))
    return BiasVariance(
        kind="squared", loss=loss + (noise or 0.0), observed_loss=observed, noise=noise, bias2=bias2,
        variance=float(variance.mean()), variance_unbiased=None, variance_biased=None, refits=len(predicted),
        rows=len(target), left_out=int((~evaluated).sum()),
    )  # fmt: skip


def _votes(
    refits: Iterator[tuple[NDArray[np.int64], NDArray[Any]]],
    target: NDArray[Any],
    truth: NDArray[Any] | None,
    rows: int,
) -> tuple[NDArray[Any], NDArray[np.int64], int]:
    """The classes, how often refits give each class to each row, (rows, classes), and how many refits there were."""
    labels = sorted({*target.tolist(), *(() if truth is None else truth.tolist())})
    classes = np.array(labels, dtype=object if isinstance(labels[0], str) else None)
    votes, count = np.zeros((rows, len(classes)), np.int64), 0
    for outside, found in refits:
        votes[outside, class_codes(found, len(outside), classes).astype(np.int64)] += 1
        count += 1
    return classes, votes, count


def _zero_one(
    target: NDArray[Any],
    truth: NDArray[Any] | None,
    classes: NDArray[Any],
    votes: NDArray[np.int64],
    refits: int,
) -> BiasVariance:
    """Of the votes of refits, (rows, classes)."""
    times = votes.sum(axis=1)
    evaluated = times > 0
    _check_evaluated(evaluated)
    rows = int(evaluated.sum())
    shares = votes[evaluated] / times[evaluated, None]
    row = np.arange(rows)
    best = class_codes((target if truth is None else truth)[evaluated], rows, classes).astype(np.int64)
    seen = class_codes(target[evaluated], rows, classes).astype(np.int64)
    main = shares.argmax(axis=1)  # of equal ones the first
    wrong = main != best
    unbiased = float(np.where(wrong, 0.0, 1.0 - shares[row, main]).mean())
    biased = float(np.where(wrong, shares[row, best], 0.0).mean())
    loss = float(np.mean(1.0 - shares[row, seen]))
    noise = None if truth is None else loss - float(np.mean(1.0 - shares[row, best]))
    return BiasVariance(
        kind="zero_one", loss=loss, observed_loss=loss, noise=noise, bias2=float(wrong.mean()),
        variance=unbiased - biased, variance_unbiased=unbiased, variance_biased=biased, refits=refits, rows=rows,
        left_out=len(evaluated) - rows,
    )  # fmt: skip


def _check_evaluated(evaluated: NDArray[np.bool_]) -> None:
    if not evaluated.any():
        raise DataError(
            "no row is outside of enough samples to be evaluated; give more repeats, or more rows"
        )
