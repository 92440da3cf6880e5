"""Metrics, and when to stop."""

from dataclasses import dataclass

from spinney.params.choices import Spellings
from spinney.params.metrics import METRICS, NONE
from spinney.params.rows import INT32, param


@dataclass(frozen=True, kw_only=True)
class EvaluationFields:
    """Metrics, and when to stop."""

    eval_metric: tuple[str, ...] = param(
        (),
        group="evaluation",
        choices=Spellings(METRICS, NONE),
        aliases=("metric", "metrics", "metric_types"),
        doc="Metrics to compute on the validation data; the page of parameters tells which fit an objective. Empty or None "
        "takes the objective's own, none computes none of them. Metrics of ranking may end in the place down to which a list is "
        "judged: ndcg@10.",
    )
    eval_at: tuple[int, ...] | None = param(
        None,
        group="evaluation",
        aliases=("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
        doc="Places down to which metrics of ranking judge lists, where their name does not say: with [5, 10] ndcg means ndcg@5 "
        "and ndcg@10. None judges whole lists.",
    )
    early_stopping_rounds: int | None = param(
        None,
        group="evaluation",
        low=1,
        high=INT32,
        also={0: None},
        aliases=("early_stopping_round", "early_stopping", "n_iter_no_change"),
        doc="Stop after this many rounds without a better metric on the validation data. None never stops, but with "
        "rounds=auto after 25.",
    )
    min_delta: float = param(
        0.0,
        group="evaluation",
        low=0,
        aliases=("early_stopping_min_delta",),
        doc="A metric counts as better only if it improves by more than this.",
    )
    first_metric_only: bool = param(
        False,
        group="evaluation",
        doc="Whether early stopping goes by the first metric instead of the last.",
    )
