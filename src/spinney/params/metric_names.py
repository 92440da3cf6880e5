"""Which metric a name means, and which metrics fit an objective."""

from collections.abc import Iterable

from spinney.errors import ParameterError
from spinney.params.metrics import KINDS, METRICS, NONE, MetricRow
from spinney.params.objectives import OWN, Kind, objective_row
from spinney.params.ranking import DEEPEST


def metric_row(name: str, objective: str, num_class: int = 0) -> MetricRow:
    """The row of the metric that a name of any spelling, with a place or without, means beside an objective.

    Examples
    --------
    >>> metric_row("log_loss", "log_loss").name, metric_row("log_loss", "softmax", 3).name
    ('logloss', 'mlogloss')
    """
    metric, _ = name_and_place(name)
    fitting = [METRICS[one] for one in metrics_for(objective, num_class) if one in METRICS]
    for row in (*fitting, *METRICS.values()):
        if is_spelled(metric, row):
            return row
    raise ParameterError(f"eval_metric = {name!r} is unknown; there are {', '.join(METRICS)}")


def is_spelled(word: str, row: MetricRow) -> bool:
    """Whether a word without a place is one for this metric."""
    return word == row.name or word in row.spellings


def _takes_places(word: str) -> bool:
    return any(row.form == "by_query" and is_spelled(word, row) for row in METRICS.values())


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
    if not _takes_places(metric) or not place.isdecimal() or not 1 <= int(place[:11]) <= DEEPEST:
        takes = [row.name for row in METRICS.values() if row.form == "by_query"]
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
    if places is None or not _takes_places(metric):
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
