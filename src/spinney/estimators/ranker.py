"""Gradient boosting for the order of rows within queries."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import metrics
from spinney.data import Labels, RawLabels, read_queries, read_query_weight, read_vector
from spinney.errors import DataError
from spinney.estimators.base import refuse_unsaved, restore_on_failure, suggest_arguments
from spinney.estimators.boosting import GBMBase
from spinney.estimators.constructors import documented
from spinney.estimators.continuation import Continuation
from spinney.estimators.custom import ranking_objective
from spinney.estimators.evaluation import RawData, evaluations
from spinney.estimators.generated import GBMRankerParameters
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params import Config
from spinney.training.callbacks import Callback


@documented
class GBMRanker(GBMRankerParameters, GBMBase):
    """Gradient boosting of trees for the order of rows within queries: the most relevant rows of a query first.

    {parameters}

    Attributes
    ----------
    model_ : Model
        The fitted model.
    {attributes}

    See Also
    --------
    GBMRegressor : Predicts numbers, of rows that stand alone.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    >>> relevance = np.floor(3 * X[:, 0])
    >>> ranker = sp.GBMRanker(n_estimators=20).fit(X, relevance, group=[10] * 20)
    >>> ranker.predict([[0.9, 0.5], [0.1, 0.5], [0.5, 0.5]]).argsort()[::-1].tolist()
    [0, 2, 1]
    >>> ranker.score(X, relevance, group=[10] * 20) > 0.99
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @suggest_arguments
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        eval_set: object = None,
        eval_group: object = None,
        eval_qid: object = None,
        eval_sample_weight: object = None,
        eval_names: Sequence[str] | None = None,
        eval_at: int | Sequence[int] | None = None,
        base_margin: ArrayLike | None = None,
        eval_base_margin: object = None,
        callbacks: Iterable[Callback] | None = None,
        init_model: object = None,
        validation: ArrayLike | str | None = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : array of shape (rows,)
            Relevance of each row to its query: whole numbers, 0 for rows that are not relevant.
        sample_weight : array of shape (rows,) or (queries,), optional
            Weights of the rows, or of the queries in the order of their first rows: their number decides which. 0 or more.
        group : array of int, optional
            Sizes of the queries, whose rows follow each other. Without `group` and `qid` all rows are one query.
        qid : array of shape (rows,), optional
            The query of each row instead: whole numbers or text. The rows of a query need not stand together.
        eval_set : (X, y) or list of (X, y), optional
            Data to compute the metrics on after each round. With `early_stopping_rounds` the last pair decides.
        eval_group : array, or list of arrays or None, optional
            Sizes of the queries of `eval_set`: an array for one pair, a list for a list of pairs. A pair without them is one
            query.
        eval_qid : array, or list of arrays or None, optional
            The query of each row of `eval_set` instead.
        eval_sample_weight : array, or list of arrays or None, optional
            Weights of the rows, or of the queries, of `eval_set`.
        eval_names : list of str, optional
            Names of the validation data in the results, in place of "validation_0" and so on.
        eval_at : int or list of int, optional
            Cutoffs of the metrics, in place of the parameter of this name.
        base_margin : array of shape (rows,), optional
            Scores that the rows start from. Give them to `predict` as well.
        eval_base_margin : array, or list of arrays or None, optional
            The same for `eval_set`.
        callbacks : iterable of callables, optional
            Called after each round with a `RoundInfo`; one that returns True ends the training. The method `begin(rounds)` of
            one that has it is called when the training starts. A callback that is given twice is called once. A
            `LearningRateSchedule` among them gives rounds learning rates of their own.
        init_model : Model, fitted GBMRanker, or path, optional
            Go on from this model, or from that of a file: `n_estimators` more rounds are added to those that it predicts with.
            Columns must be the same.
        validation : array or "last", optional
            Rows to hold out as validation data, whole queries: their numbers, or a truth value for each row; "last"
            as the parameter of this name. Without it that parameter and `validation_fraction` choose them.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_unsaved(self)
        with restore_on_failure(self):
            valid_sets = evaluations(
                eval_set, eval_sample_weight, eval_base_margin, eval_group=eval_group, eval_qid=eval_qid
            )
            given = RawData(
                X, RawLabels(y, sample_weight, base_margin, group, qid, weight_name="sample_weight")
            )
            cutoffs = {} if eval_at is None else {"eval_at": eval_at}
            return self._fit(
                given, valid_sets, eval_names, callbacks, init_model, validation=validation, **cutoffs
            )

    @suggest_arguments
    def predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Score rows: within a query, the higher the score, the nearer to the front.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        base_margin : array of shape (rows,), optional
            Scores that the rows start from.
        rounds : int, optional
            Use the first so many rounds, from 0 to `n_iter_`. Without it `n_estimators_`.

        Returns
        -------
        float64 array of shape (rows,)
            Only their order within a query means something.
        """
        return self._raw_scores(X, base_margin, rounds)

    @suggest_arguments
    def staged_predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Score rows after each round, up to the rounds that `predict` uses. The parameters are those of `predict`.

        Yields
        ------
        float64 array of shape (rows,)
        """
        return self._staged_scores(X, base_margin, rounds)

    @suggest_arguments
    def score(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> float:
        """NDCG of whole lists, with the gains of the fitted model: the metric "ndcg".

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,)
            Relevance of each row to its query.
        sample_weight : array of shape (rows,) or (queries,), optional
            Weights of the rows or of the queries; a query weighs as much as its rows on average.
        group : array of int, optional
            Sizes of the queries, whose rows follow each other. Without `group` and `qid` all rows are one query.
        qid : array of shape (rows,), optional
            The query of each row instead.

        Returns
        -------
        float
            The mean over queries, 1 for a perfect order.
        """
        scores = self.predict(X)
        rows = len(scores)
        if not rows:
            raise DataError("X has no rows; score needs at least one")
        target, queries = self._read_target(y, rows), read_queries(group, qid, rows)
        labels = Labels(target, read_query_weight(sample_weight, rows, queries), queries=queries)
        config = Config(objective="rank_ndcg", label_gain=self.model_.params.label_gain)
        metric = metrics.get("ndcg", config)
        metric.check(labels)
        return metric.compute(Predictions(scores.reshape(1, -1), "identity", Team(1)), labels).value

    def _fit_target(
        self, y: object, rows: int, start: Continuation | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        return self._read_target(y, rows), self._objective_params()

    def _objective_params(self) -> dict[str, object]:
        return {"objective": ranking_objective(self.objective)}

    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        return read_vector(y, rows, "y", allow_none=False)
