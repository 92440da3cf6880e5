"""Fitting estimators whose rows stand alone."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from spinney.data import RawLabels
from spinney.errors import ParameterError
from spinney.estimators.arguments import told
from spinney.estimators.base import GBMBase
from spinney.estimators.continuing import fitting
from spinney.estimators.evaluation import RawData, evaluations, single_evaluation
from spinney.estimators.setting import refuse_left_out
from spinney.messages import shown
from spinney.training.callbacks import Callback


class RowByRow(GBMBase):
    """A boosting estimator of rows that belong to no queries."""

    @told
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: object = None,
        eval_sample_weight: object = None,
        eval_class_weight: object = None,
        eval_names: Sequence[str] | None = None,
        base_margin: ArrayLike | None = None,
        eval_base_margin: object = None,
        X_val: object = None,
        y_val: object = None,
        sample_weight_val: ArrayLike | None = None,
        callbacks: Iterable[Callback] | None = None,
        init_model: object = None,
        groups: ArrayLike | None = None,
        validation: ArrayLike | str | None = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : array of shape (rows,) or (rows, columns)
            Target: numbers for a regressor; strings, whole numbers or booleans for a classifier. A regressor takes several
            columns of numbers, a classifier several of 0 and 1, the labels that a row has.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, 0 or more. A row of weight 0 takes no part in the trees.
        eval_set : (X, y) or list of (X, y), optional
            Data to compute the metrics on after each round. With `early_stopping_rounds` the last pair decides.
        eval_sample_weight : array, or list of arrays or None, optional
            Weights of the rows of `eval_set`: an array for one pair, a list for a list of pairs.
        eval_class_weight : as `class_weight`, or list of such, optional
            Factors on the weights of the classes' rows in `eval_set`, for classifiers only: one for one pair, a list for a
            list of pairs.
        eval_names : list of str, optional
            Names of the validation data in the results, in place of "validation_0" and so on.
        base_margin : array of shape (rows,) or (rows, outputs), optional
            Raw scores that the rows start from, in place of a common base score. Give them to `predict` as well.
        eval_base_margin : array, or list of arrays or None, optional
            The same for `eval_set`.
        X_val : table, optional
            Validation data under scikit-learn's names: `X_val` and `y_val` are the same as `eval_set=(X_val, y_val)`, and
            `early_stopping_rounds` goes by them. Give one form only.
        y_val : array, optional
            Target of the rows of `X_val`.
        sample_weight_val : array, optional
            Weights of the rows of `X_val`.
        callbacks : iterable of callables, optional
            Called after each round with a `RoundInfo`; one that returns True ends the training. The method `begin(rounds)` of
            one that has it is called when the training starts. A callback that is given twice is called once. A
            `LearningRateSchedule` among them gives rounds learning rates of their own.
        init_model : Model, fitted estimator of the same kind, or path, optional
            Go on from this model, or from that of a file: `n_estimators` more rounds are added to those that it predicts with.
            Columns must be the same. Rows may lack classes of an estimator, but not have others.
        groups : array of shape (rows,), optional
            Group of each row. Rows of a group are held out together, by `validation_fraction` or to find the rounds.
        validation : array or "last", optional
            Rows to hold out as validation data: their numbers, or a truth value for each row; "last" as the
            parameter of this name. Without it that parameter and `validation_fraction` choose them.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_left_out(self)
        with fitting(self):
            watched = single_evaluation(X_val, y_val, sample_weight_val, eval_set)
            watched += evaluations(eval_set, eval_sample_weight, eval_base_margin, eval_class_weight)
            factors = [found.class_weight for found in watched if found.class_weight is not None]
            if factors and not is_classifier(self):
                raise ParameterError(
                    f"eval_class_weight={shown(factors[0])} is for classifiers: {type(self).__name__} has no classes; leave "
                    "it out"
                )
            given = RawData(X, RawLabels(y, sample_weight, base_margin, weight_name="sample_weight"))
            return self._fit(given, watched, eval_names, callbacks, init_model, groups, validation)
