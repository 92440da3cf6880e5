"""Evaluating a model on rows that come in batches or stand in files, without holding their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.data import Labels
from spinney.data.files import FileSource, Paths
from spinney.data.label_collector import LabelCollector
from spinney.data.sources import BatchSource, RowSource, errors_within
from spinney.errors import DataError, ParameterError, ParameterTypeError, SpinneyError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown
from spinney.metrics import BuiltInMetric, Predictions, get, metrics_of
from spinney.model.base import SavedModel
from spinney.params import Config, link_of
from spinney.params.metrics import at_cutoffs

Metrics = str | Sequence[str] | None


class EvaluatesBatches(SavedModel):
    """What a model that was trained by a loss has for rows whose target is known."""

    predict_raw: Callable[..., NDArray[np.float64]]
    params: Config

    def evaluate_batches(
        self,
        source: Callable[[], Iterable[Any]] | Iterable[Any],
        metrics: Metrics = None,
        *,
        rounds: int | None = None,
        n_jobs: int | None = None,
    ) -> dict[str, float]:
        """Compute metrics over all rows of batches. Of each row only scores, target, weight, margin and query stay in memory.

        Parameters
        ----------
        source : callable or iterable
            Gives batches: pairs (X, y), or dicts of X, y and perhaps weight, base_margin, and group or qid. An iterator will do.
        metrics : str or sequence of str, optional
            Names as `eval_metric` takes them. Without it those that the model was trained with, else that of its objective.
        rounds : int, optional
            Use the first so many rounds. Without it `best_round`, else all.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.

        Returns
        -------
        dict
            The value of each metric, as training gives it for such a data set.

        Examples
        --------
        >>> import numpy as np, spinney as sp
        >>> X = np.arange(20.0).reshape(10, 2)
        >>> model = sp.train({"min_child_weight": 0}, sp.Dataset(X, X[:, 0]), rounds=5)
        >>> model.evaluate_batches(((X[k : k + 4], X[k : k + 4, 0]) for k in (0, 4, 8)), "mae").keys()
        dict_keys(['mae'])
        """
        return self._evaluated(BatchSource(source, once=True), metrics, rounds, n_jobs)

    def evaluate_files(
        self,
        paths: Paths,
        metrics: Metrics = None,
        *,
        target: str | Sequence[str],
        weight: str | None = None,
        base_margin: str | Sequence[str] | None = None,
        qid: str | None = None,
        group: str | None = None,
        rounds: int | None = None,
        n_jobs: int | None = None,
    ) -> dict[str, float]:
        """Compute metrics over the rows of files, a batch at a time.

        Parameters
        ----------
        paths : path or iterable of paths
            Parquet, Arrow or CSV files, as `predict_files` takes them.
        metrics, rounds, n_jobs
            See `evaluate_batches`.
        target : str or sequence of str
            Column, or columns, of the target.
        weight, base_margin, qid, group : optional
            Columns of weights, of the scores that rows start from, and of queries, as in `Dataset.from_files`.

        Returns
        -------
        dict
            The value of each metric.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq, spinney as sp, tempfile
        >>> table = pa.table({"a": np.arange(9.0), "y": np.arange(9.0)})
        >>> model = sp.train({}, sp.Dataset(table.select(["a"]), table["y"]), rounds=2)
        >>> with tempfile.TemporaryDirectory() as place:
        ...     pq.write_table(table, f"{place}/rows.parquet")
        ...     model.evaluate_files(f"{place}/*.parquet", ["rmse", "r2"], target="y").keys()
        dict_keys(['rmse', 'r2'])
        """
        names = self.schema.names
        source = FileSource(
            paths,
            target=target,
            weight=weight,
            base_margin=base_margin,
            qid=qid,
            group=group,
            columns=None if names is None else list(names),
            may_share=True,
        )
        return self._evaluated(source, metrics, rounds, n_jobs)

    def _evaluated(
        self, source: RowSource, metrics: Metrics, rounds: int | None, n_jobs: int | None
    ) -> dict[str, float]:
        config = self.params
        with _called_metrics():
            chosen_metrics = _chosen_metrics(config, metrics)
        labels, scores = self._gathered(source, rounds, n_jobs)
        labels = objectives.get(config).prepared(labels)
        with _called_metrics():
            for metric in chosen_metrics:
                metric.check(labels)
        with Team(threads_for(n_jobs)) as team:
            predictions = Predictions(scores, link_of(config), team)
            return {metric.name: metric.compute(predictions, labels).value for metric in chosen_metrics}

    def _gathered(
        self, source: RowSource, rounds: int | None, n_jobs: int | None
    ) -> tuple[Labels, NDArray[np.float64]]:
        """What is known of all rows, and their raw scores, outputs × rows."""
        collector, scores = LabelCollector(), []
        for batch in source.batches():
            if not batch.table.rows:
                continue
            with errors_within(batch):
                if batch.labels.y is None:
                    raise DataError("it has no y; evaluation needs the target of every row")
                collector.add(batch.labels, batch.table.rows)
                raw = self.predict_raw(batch.table, rounds, n_jobs, batch.labels.base_margin)
            scores.append(raw.reshape(batch.table.rows, -1).T)
        if not collector.rows:
            raise DataError(f"{source.title} gave no rows; give at least one")
        out = np.empty((len(scores[0]), collector.rows))
        return collector.labels(), np.concatenate(scores, axis=1, out=out)


@contextmanager
def _called_metrics() -> Iterator[None]:
    """Errors of `eval_metric` call it by the name that it has here."""
    try:
        yield
    except SpinneyError as error:
        raise type(error)(str(error).replace("eval_metric", "metrics")) from None


def _chosen_metrics(config: Config, metrics: Metrics) -> list[BuiltInMetric]:
    """The metrics that are named, else those of the training."""
    if metrics is None:
        trained = metrics_of(config)
        if not trained:
            raise ParameterError("the model was trained without a metric; name one, as in metrics='rmse'")
        return trained
    names = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names) or not names:
        raise ParameterTypeError(f"metrics must be a name or a list of names, got {shown(metrics)}")
    chosen: dict[str, BuiltInMetric] = {}
    for name in names:
        chosen |= {one: get(one, config) for one in _with_places(config, name)}
    return list(chosen.values())


def _with_places(config: Config, name: str) -> Sequence[str]:
    """A name of a metric that fits, or several where it is one at several places."""
    same = at_cutoffs(name, config.eval_at)
    # Beside those of the training, whose parameters would have nobody to take them otherwise.
    known = [one for one in config.eval_metric if one not in ("none", *same)]
    return replace(config, eval_metric=(*known, name)).eval_metric[len(known) :]
