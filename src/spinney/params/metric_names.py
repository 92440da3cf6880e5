"""Which metric a name means, and which metrics fit an objective."""

from collections.abc import Iterable

from spinney.errors import ParameterError
from spinney.params.metrics import KINDS, METRICS, NONE, MetricRow
from spinney.params.objectives import OWN, Kind, objective_row
from spinney.params.ranking import DEEPEST


def metric_row(name: str) -> MetricRow:
    """The row of a metric's canonical name, with a place or without."""
    metric, _ = name_and_place(name)
    if metric not in METRICS:
        raise ParameterError(f"eval_metric = {name!r} is unknown; there are {', '.join(METRICS)}")
    return METRICS[metric]


def name_and_place(name: str) -> tuple[str, int | None]:
    """A metric's name, and the place down to which it judges lists, None where it does not say.

    Examples
    --------
    >>> name_and_place("ndcg@10"), name_and_place("rmse")
    (('ndcg', 10), ('rmse', None))
    """
    metric, at, place = name.partition("@")
    if not at:
        return name, None
    takes = [row.name for row in METRICS.values() if row.form == "by_query"]
    known = any(metric in (row.name, *row.spellings) for row in METRICS.values() if row.name in takes)
    if not known or not place.isdecimal() or not 1 <= int(place[:11]) <= DEEPEST:
        raise ParameterError(
            f"eval_metric={name!r} is unknown: only {', '.join(takes)} take a place, as in ndcg@10, a whole number of 1 or more"
        )
    return metric, int(place)


def at_places(metric: str, places: Iterable[int] | None) -> tuple[str, ...]:
    """The names of a metric that judges lists down to these places; other metrics have one name.

    Examples
    --------
    >>> at_places("ndcg", (5, 10)), at_places("ndcg@3", (5, 10)), at_places("rmse", (5, 10))
    (('ndcg@5', 'ndcg@10'), ('ndcg@3',), ('rmse',))
    """
    if metric in NONE or metric_row(metric).form != "by_query" or "@" in metric or places is None:
        return (metric,)
    return tuple(f"{metric}@{place}" for place in places)


def kind_of(objective: str) -> Kind:
    """What an objective predicts.

    Examples
    --------
    >>> kind_of("log_loss")
    'two'
    """
    row = objective_row(objective)
    return row.kind or KINDS[row.link]


def metrics_for(objective: str, num_class: int = 0) -> tuple[str, ...]:
    """Names of the metrics that can judge an objective, its own metric first if it has one.

    A function's scores are numbers, which may rank rows, or, if there are several, one for each class. Either way they speak for
    a class: one score above 0 for the second of two.

    Examples
    --------
    >>> metrics_for("log_loss")[:4]
    ('logloss', 'rmse', 'mse', 'mae')
    >>> metrics_for("own", 3)
    ('merror', 'accuracy', 'balanced_accuracy', 'f1', 'f1_macro')
    """
    if objective == OWN:
        several = num_class > 1
        classes: Kind = "many" if several else "two"
        return tuple(
            row.name
            for row in METRICS.values()
            if ({"numbers", "ranks"} & {*row.fits} and not several)
            or (row.judges == "class" and classes in row.fits)
        )
    own, kind = objective_row(objective).metric, kind_of(objective)
    others = [row.name for row in METRICS.values() if kind in row.fits and row.name != own]
    return (*(() if own in NONE else (own,)), *others)
