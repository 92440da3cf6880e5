"""Importance of columns by shuffling them: for any model and any metric, and for the trees of a forest out of bag."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Labels, Table, read_queries, read_query_weight
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.inspection.forest_leaves import each_tree, leaf_predictions, predicted_outputs
from spinney.inspection.out_of_bag import bags_of, score_of
from spinney.inspection.scored_model import ScoredModel, scored_model
from spinney.inspection.scoring import ModelMetric, metric_of
from spinney.inspection.shuffled_scores import ColumnReader, ShuffledScores, single_tree
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown
from spinney.metrics import MetricValue
from spinney.model.forest import ForestModel
from spinney.params import checked_seed
from spinney.params.common import checked_count
from spinney.params.parameter import SeedLike, is_iterable
from spinney.params.per_column import resolve_column

Floats = NDArray[np.float64]

SHOWN = 5  # columns that a short description names
SHARE_ROWS = 5_000  # from which the walks and the metric of one repeat are shared among threads


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

    Rows should be ones that the model has not seen: a column whose values it has memorised is worth nothing on others. Of a
    boosted model or a forest only those rows walk down a tree again whose path splits by a shuffled column; what it then
    predicts is, to the last bit, what it predicts of the whole shuffled table. A column by which no tree splits has an
    importance of 0, exactly.

    Parameters
    ----------
    model : Model, ForestModel or fitted estimator
        What is evaluated. Estimators of others, and ours inside others, predict the whole table for each repeat.
    X : table
        Rows to evaluate it on, with the columns of training.
    y : array of shape (rows,)
        Their targets: numbers; labels for a classifier; places of classes for a `Model`. A model of several outputs takes
        (rows, outputs). Every output is evaluated alone, by functions too, and the score is the mean over outputs.
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
    repeats, seed = checked_count("repeats", repeats), checked_seed(seed)
    n_jobs = getattr(model, "n_jobs", None) if n_jobs is None else n_jobs
    threads_for(n_jobs, 1)  # refuse nonsense before any work
    scored = scored_model(model, X)
    titles, groups = column_groups(columns, scored.names, scored.columns)
    queries = read_queries(group, qid, scored.rows)
    weights = read_query_weight(weight, scored.rows, queries, what="weight")
    labels = [Labels(target, weights, queries=queries) for target in scored.targets(y)]
    metrics = [metric_of(metric, kind, scored.default) for kind in scored.kinds]
    for one, label in zip(metrics, labels, strict=True):
        one.check(label)
    losses = np.zeros((len(groups), repeats))
    with Team(threads_for(n_jobs, most_for(scored.rows, SHARE_ROWS))) as team:
        before = _evaluate(scored, metrics, labels, scored.values(n_jobs), team)
        sign = 1.0 if before.higher_is_better else -1.0
        for number, repeat, values in scored.shuffled(groups, repeats, seed, team):
            after = _evaluate(scored, metrics, labels, values, team)
            losses[number, repeat] = sign * (before.value - after.value)
    return PermutationImportance(
        losses.mean(axis=1), losses.std(axis=1), losses, titles, before.name, before.value
    )


def _evaluate(
    scored: ScoredModel, metrics: list[ModelMetric], labels: list[Labels], values: Floats, team: Team
) -> MetricValue:
    """The value of the metric, the mean over outputs."""
    found = [
        metric.compute(values[part], label, team)
        for metric, label, part in zip(metrics, labels, scored.parts, strict=True)
    ]
    value = float(np.mean([one.value for one in found]))
    if not np.isfinite(value):
        raise DataError(
            f"{found[0].name} is {value} for these rows, so nothing can be compared with it; choose another metric"
        )
    return found[0]._replace(value=value)


def column_groups(
    columns: object, names: Sequence[str] | None, count: int
) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """Read columns, or groups of columns.

    Parameters
    ----------
    columns : None, column, iterable of columns, or mapping of titles to a column or several
        Columns by name or position. None stands for all.
    names : sequence of str, or None
        Names of the table's columns.
    count : int
        Number of the table's columns.

    Returns
    -------
    titles : tuple of str
        Name of each group: its title, or the name of its one column ("x0" and so on where columns have no names).
    groups : list of tuple of int
        Positions of the columns of each group.

    Examples
    --------
    >>> column_groups(["b", 0], ("a", "b", "c"), 3)
    (('b', 'a'), [(1,), (0,)])
    >>> column_groups({"both": ["a", "c"], "b": 1}, ("a", "b", "c"), 3)
    (('both', 'b'), [(0, 2), (1,)])
    """
    titles = [f"x{column}" for column in range(count)] if names is None else list(names)
    if columns is None:
        return tuple(titles), [(column,) for column in range(count)]
    if isinstance(columns, Mapping):
        found = {str(title): _places(members, names, count) for title, members in columns.items()}
        if not found or len(found) < len(columns):
            raise ParameterError(
                f"columns={shown(columns)} must have a group or more, each with a title of its own"
            )
        return tuple(found), list(found.values())
    places = _places(columns, names, count)
    return tuple(titles[place] for place in places), [(place,) for place in places]


def _places(columns: object, names: Sequence[str] | None, count: int) -> tuple[int, ...]:
    """Positions of one column or several, none of them twice."""
    if isinstance(columns, str | numbers.Integral):
        columns = [columns]
    if not is_iterable(columns) or isinstance(columns, bytes):
        raise ParameterTypeError(
            f"columns={shown(columns)} must be a column's name or position, a list of them, or a mapping of titles to such"
        )
    places = tuple(resolve_column("columns", key, names, count) for key in columns)
    if not places:
        raise ParameterError("columns names no column; give one or more, or None for all of them")
    for at, place in enumerate(places):
        if place in places[:at]:
            name = f"column {place}" if names is None else repr(names[place])
            raise ParameterError(f"columns={shown(columns)} names {name} twice; give it once")
    return places


def out_of_bag_importance(
    model: ForestModel, table: Table, target: NDArray[Any], seed: SeedLike = 0, n_jobs: int | None = None
) -> PermutationImportance:
    """Measure how much worse each tree predicts the rows it has not seen when a column is shuffled among them (Breiman, 2001).

    The score is the accuracy, the share of rows of which all outputs are right; or R2, the mean over outputs.

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        Its training table.
    target : int64[rows, outputs] or float64[rows, outputs]
        Class numbers, or numbers.
    seed : int, RandomState, Generator or None, default=0
        The order of a column depends on it, on the number of the tree and on that of the column.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    PermutationImportance

    Raises
    ------
    DataError
        If no tree has rows to be evaluated on.
    """
    seed = checked_seed(seed, "random_state")
    bags, score = bags_of(model, table.rows, "permutation importance"), score_of(model)
    losses = np.full((table.columns, model.forest.trees), np.nan)
    with Team(threads_for(n_jobs, most_for(table.rows, SHARE_ROWS))) as team:
        for tree, leaf in each_tree(model, table, n_jobs):
            out = bags.out(tree)
            known = target[out]
            if len(known) < (1 if model.classes else 2):
                continue
            before = score(known, predicted_outputs(model, leaf_predictions(model, tree))[leaf[out]])
            losses[:, tree] = 0.0  # of columns by which the tree does not split
            reader = ColumnReader(table.take(out), model.absent)
            shuffled = ShuffledScores(single_tree(model, tree), reader, range(tree, tree + 1), seed, team)
            used = shuffled.used.tolist()
            for number, _, predicted in shuffled.scores([(column,) for column in used]):
                losses[used[number], tree] = before - score(known, np.ascontiguousarray(predicted.T))
    evaluated = losses[:, ~np.isnan(losses).any(axis=0)]
    if not evaluated.size:
        raise DataError(
            "no tree has rows that it has not seen, by which it could be evaluated: draw fewer rows by max_samples"
        )
    names = model.feature_names or tuple(f"x{column}" for column in range(table.columns))
    metric = "accuracy out of bag" if model.classes else "r2 out of bag"
    return PermutationImportance(evaluated.mean(axis=1), evaluated.std(axis=1), losses, names, metric)
