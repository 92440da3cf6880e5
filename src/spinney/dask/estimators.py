"""The boosting estimators on dask collections."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any, allow-untyped-decorators

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from spinney.dask.base import DaskGBMBase, with_client
from spinney.estimators import classifier, ranker, regressor
from spinney.estimators.classifier import has_probabilities
from spinney.estimators.constructors import documented


@documented
@with_client
class GBMClassifier(DaskGBMBase, classifier.GBMClassifier):
    """`spinney.GBMClassifier` on dask arrays and data frames: the same model, byte for byte, trained on a cluster.

    `fit` takes what the local estimator takes, with dask collections, or lists of delayed tables, in place of tables and arrays.
    Predictions of collections are lazy dask arrays; of a table of this process they are plain arrays.

    {parameters}
    client : dask.distributed.Client, optional
        The client, whose workers train; without it Dask's default client. Pickles do not contain it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes_,), or (labels, 2)
        The labels, sorted; with several labels a row, 0 and 1 for each of them.
    n_classes_ : int, or list of int
        Number of classes; with several labels a row, 2 for each of them.
    model_ : Model
        The fitted model.
    {attributes}

    See Also
    --------
    GBMRegressor : The same for numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> import spinney.dask as sd
    >>> from distributed import Client, LocalCluster
    >>> X = da.random.default_rng(0).random((1000, 2), chunks=(250, 2))
    >>> y = X[:, 0] > 0.5
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     classifier = sd.GBMClassifier(client=client, n_estimators=10).fit(X, y)
    ...     found = classifier.predict_proba(X)
    ...     classifier.score(X, y) > 0.99
    True
    >>> found.shape, found.chunks[0]
    ((1000, 2), (250, 250, 250, 250))
    """

    _local = classifier.GBMClassifier

    @available_if(has_probabilities)
    def predict_proba(self, X: Any, *, base_margin: Any = None, rounds: int | None = None) -> Any:
        """Predict the probability of each class, lazily; see `spinney.GBMClassifier`."""
        return self._lazy("predict_proba", X, base_margin=base_margin, rounds=rounds)

    def decision_function(self, X: Any, *, base_margin: Any = None, rounds: int | None = None) -> Any:
        """Raw scores, lazily; see `spinney.GBMClassifier`."""
        return self._lazy("decision_function", X, base_margin=base_margin, rounds=rounds)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, computed on the cluster; see `spinney.GBMClassifier`."""
        return self._score(X, y=y, sample_weight=sample_weight)


@documented
@with_client
class GBMRegressor(DaskGBMBase, regressor.GBMRegressor):
    """`spinney.GBMRegressor` on dask arrays and data frames: the same model, byte for byte, trained on a cluster.

    `fit` takes what the local estimator takes, with dask collections, or lists of delayed tables, in place of tables and arrays.
    Predictions of collections are lazy dask arrays; of a table of this process they are plain arrays.

    {parameters}
    client : dask.distributed.Client, optional
        The client, whose workers train; without it Dask's default client. Pickles do not contain it.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    {attributes}

    See Also
    --------
    GBMClassifier : The same for classes.

    Examples
    --------
    >>> import dask.array as da
    >>> import spinney.dask as sd
    >>> from distributed import Client, LocalCluster
    >>> X = da.random.default_rng(0).random((1000, 2), chunks=(250, 2))
    >>> y = X[:, 0] * 2
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     regressor = sd.GBMRegressor(client=client, n_estimators=10, max_leaves=8).fit(X, y)
    ...     regressor.predict(X).compute().shape
    (1000,)
    >>> regressor.to_local().predict([[0.25, 0.5]]).shape
    (1,)
    """

    _local = regressor.GBMRegressor

    def predict_raw(self, X: Any, *, base_margin: Any = None, rounds: int | None = None) -> Any:
        """Raw scores, lazily; see `spinney.GBMRegressor`."""
        return self._lazy("predict_raw", X, base_margin=base_margin, rounds=rounds)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² and the like, computed on the cluster; see `spinney.GBMRegressor`."""
        return self._score(X, y=y, sample_weight=sample_weight)


@documented
@with_client
class GBMRanker(DaskGBMBase, ranker.GBMRanker):
    """`spinney.GBMRanker` on dask arrays and data frames: the same model, byte for byte, trained on a cluster.

    `fit` takes what the local estimator takes, with dask collections, or lists of delayed tables, in place of tables and arrays.
    Predictions of collections are lazy dask arrays; of a table of this process they are plain arrays.
    `group` has the sizes of the queries of each partition; a query given by `qid` may span several.

    {parameters}
    client : dask.distributed.Client, optional
        The client, whose workers train; without it Dask's default client. Pickles do not contain it.

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
    >>> import dask.array as da
    >>> import spinney.dask as sd
    >>> from distributed import Client, LocalCluster
    >>> X = da.random.default_rng(0).random((1000, 2), chunks=(250, 2))
    >>> relevance = da.floor(3 * X[:, 0])
    >>> qid = da.arange(1000, chunks=250) // 60  # some span two partitions
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     ranker = sd.GBMRanker(client=client, n_estimators=10).fit(X, relevance, qid=qid)
    ...     ranker.score(X, relevance, qid=qid) > 0.99
    True
    """

    _local = ranker.GBMRanker

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, group: Any = None, qid: Any = None
    ) -> float:
        """NDCG, computed on the cluster; see `spinney.GBMRanker`."""
        return self._score(X, y=y, sample_weight=sample_weight, group=group, qid=qid)
