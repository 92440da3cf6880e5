"""Importance of columns by shuffling them, for any model and any metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Labels, read_queries, read_query_weight
from spinney.errors import DataError
from spinney.jit.team import Team, most_for, threads_for
from spinney.judging.arguments import count_of
from spinney.judging.columns import column_groups
from spinney.judging.scales import ModelMetric, metric_of
from spinney.judging.subjects import Subject, subject_of
from spinney.metrics import MetricValue
from spinney.params import checked_seed
from spinney.params.parameter import SeedLike
from spinney.training.importances import PermutationImportance

Floats = NDArray[np.float64]

SHARE_ROWS = 5_000  # from which the walks and the metric of one repeat are shared among threads


def permutation_importance(
    model: Any,
    X: object,
    y: object,
    *,
    metric: object = None,
    columns: object = None,
    repeats: int = 5,
    seed: SeedLike = 0,
    weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> PermutationImportance:
    """Measure how much worse a model predicts when a column, or a group of columns, is shuffled.

    Rows should be ones that the model has not seen: a column that it has learnt by heart is worth nothing on others. Of a boosted
    model or a forest only those rows walk down a tree again that meet a shuffled column in it; what it then predicts is, to the
    last bit, what it predicts of the whole shuffled table. A column that no tree asks for has an importance of 0, exactly.

    Parameters
    ----------
    model : Model, ForestModel or fitted estimator
        What is judged. Estimators of others, and ours inside others, predict the whole table for each repeat.
    X : table
        Rows to judge it by, with the columns of training.
    y : array of shape (rows,)
        Their targets: numbers; labels for a classifier; places of classes for a `Model`. A model of several outputs takes
        (rows, outputs). Every output is judged alone, by functions too, and the score is the mean over outputs.
    metric : str or callable, optional
        A metric by name, such as "auc"; a scorer of scikit-learn; or a function of (y, prediction) or (y, prediction, weight)
        that returns a number which is better when lower, or (name, value, higher_is_better). The prediction is a number, the
        probability of the second of two classes or, in columns, those of all; y then holds places of classes. Without it the
        metric of the objective for boosting; the accuracy or R2 for all others.
    columns : column, list of columns, or mapping of titles to one or several, optional
        What to shuffle, by name or position. The columns of a group are shuffled together. Without it every column in turn.
    repeats : int, default=5
        How often each is shuffled.
    seed : int, RandomState, Generator or None, default=0
        The order of a column depends on the seed, on the number of the repeat and on the column, those of a group on its first
        one; on nothing else.
    weight : array of shape (rows,) or (queries,), optional
        Weights of the rows in the metric, or of the queries where there are some.
    group : array of int, optional
        Sizes of the queries, whose rows follow each other, for a model that ranks. Without `group` and `qid` all rows are one
        query. Columns are shuffled across queries.
    qid : array of shape (rows,), optional
        The query of each row instead.
    n_jobs : int, optional
        Number of threads; the result does not depend on it. Without it that of the estimator, else all cores.

    Returns
    -------
    PermutationImportance
        `importances_mean` and `importances_std` of shape (columns,), `importances` of shape (columns, repeats), `feature_names`,
        `score`; `to_frame()` sorts them.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> y = 2 * X[:, 0] + X[:, 1]
    >>> regressor = sp.GBMRegressor(n_estimators=20).fit(X[:300], y[:300])
    >>> found = sp.permutation_importance(regressor, X[300:], y[300:], metric="r2")
    >>> found.importances_mean.argsort()[::-1].tolist()
    [0, 1, 2]
    >>> grouped = sp.permutation_importance(regressor, X[300:], y[300:], columns={"both": [0, 1], "third": 2})
    >>> grouped.feature_names
    ('both', 'third')
    """
    repeats, seed = count_of("repeats", repeats), checked_seed(seed)
    n_jobs = getattr(model, "n_jobs", None) if n_jobs is None else n_jobs
    threads_for(n_jobs, 1)  # refuse nonsense before any work
    subject = subject_of(model, X)
    titles, groups = column_groups(columns, subject.names, subject.columns)
    queries = read_queries(group, qid, subject.rows)
    weights = read_query_weight(weight, subject.rows, queries, what="weight")
    labels = [Labels(target, weights, queries=queries) for target in subject.targets(y)]
    metrics = [metric_of(metric, scale, subject.default) for scale in subject.scales]
    for one, label in zip(metrics, labels, strict=True):
        one.check(label)
    losses = np.zeros((len(groups), repeats))
    with Team(threads_for(n_jobs, most_for(subject.rows, SHARE_ROWS))) as team:
        before = _evaluate(subject, metrics, labels, subject.values(n_jobs), team)
        sign = 1.0 if before.higher_is_better else -1.0
        for number, repeat, values in subject.shuffled(groups, repeats, seed, team):
            after = _evaluate(subject, metrics, labels, values, team)
            losses[number, repeat] = sign * (before.value - after.value)
    return PermutationImportance(
        losses.mean(axis=1), losses.std(axis=1), losses, titles, before.name, before.value
    )


def _evaluate(
    subject: Subject, metrics: list[ModelMetric], labels: list[Labels], values: Floats, team: Team
) -> MetricValue:
    """The value of the metric, the mean over outputs."""
    found = [
        metric.compute(values[part], label, team)
        for metric, label, part in zip(metrics, labels, subject.parts, strict=True)
    ]
    value = float(np.mean([one.value for one in found]))
    if not np.isfinite(value):
        raise DataError(
            f"{found[0].name} is {value} for these rows, so nothing can be compared with it; choose another metric"
        )
    return found[0]._replace(value=value)
