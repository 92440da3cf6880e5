"""The base class of the Dask estimators. The rules of a local estimator for targets and weights run on a worker.

Labels of all rows are gathered on one worker (`labels.py`), so an estimator's own rules for targets, weights and the hold-out run
there unchanged: they are a `MakeLabels`.
"""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from spinney.binning.ingest import IngestArgs, data_params
from spinney.dask.client import checked_client
from spinney.dask.dataset import Dataset
from spinney.dask.inputs import compute, meta_of
from spinney.dask.labels import JoinedLabels, gather_labels, number_groups, select_rows
from spinney.dask.partitions import ScannedPartitions, scan_partitions
from spinney.dask.predictions import is_collection, lazy_results, predict_raw_part, score_parts
from spinney.dask.tasks import put, result
from spinney.dask.training import train_each
from spinney.data import RawLabels, Schema, Table
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.estimators.base import notes_of_text, warn_of_column_vector, with_columns_checked
from spinney.estimators.boosting import FitData, GBMBase
from spinney.estimators.continuation import Continuation
from spinney.estimators.evaluation import RawData, naming
from spinney.estimators.fit_inputs import FitRules
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.params.common import DATA_PARAMS
from spinney.params.parameter import draw_seed, is_drawn
from spinney.training.holdout import Rows
from spinney.training.round_plan import Auto


@dataclass(frozen=True, eq=False)
class FitFacts:
    """Results of `FitLabels` for the client.

    Attributes
    ----------
    config : Config
        The parameters of training.
    schema : Schema, optional
        The columns of the model that the fit goes on from.
    attributes : mapping
        Attributes of the estimator that follow from the target, such as `classes_`.
    fixed : float64[outputs], optional
        Raw scores of every row where the target leaves nothing to learn.
    """

    config: Config
    schema: Schema | None
    attributes: Mapping[str, Any]
    fixed: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class FitLabels:
    """A `MakeLabels` for a fit: labels to train on, and a hold-out, by the steps of a local fit.

    Attributes
    ----------
    rules : FitRules
        The rules of a local estimator with the parameters, which is not fitted.
    has_valid : bool
        Whether there are validation data.
    start : Continuation, optional
        The model that the fit goes on from.
    overrides : mapping
        Parameters of this fit alone.
    validation : array, optional
        Rows to hold out.
    """

    rules: FitRules
    has_valid: bool
    start: Continuation | None
    overrides: Mapping[str, object]
    validation: Rows = None

    def __call__(self, raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> JoinedLabels:
        """Make the labels; `facts` are `FitFacts`."""
        found = self.rules.fit_inputs(
            raw, table, self.has_valid, self.start, self.overrides, groups, self.validation
        )
        attributes = {name: value for name, value in vars(self.rules.estimator).items() if name.endswith("_")}
        facts = FitFacts(found.config, found.schema, attributes, found.fixed_scores)
        return JoinedLabels(found.labels, facts, found.holdout, found.holdout_rows)


@dataclass(frozen=True, eq=False)
class EvalLabels:
    """A `MakeLabels` for validation rows.

    Attributes
    ----------
    rules : FitRules
        The rules of a local estimator that has its classes.
    class_weight : object
        Factors on the weights of rows by class.
    targets : int
        Columns of the target of the training rows.
    config : Config
        The parameters of training.
    """

    rules: FitRules
    class_weight: object
    targets: int
    config: Config

    def __call__(self, raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> JoinedLabels:
        """Make the labels."""
        with naming(raw.where):
            labels = self.rules.validation_labels(
                raw, self.class_weight, table.rows, self.targets, self.config
            )
        return JoinedLabels(labels)


@dataclass(frozen=True, eq=False)
class CheckTarget:
    """A `TargetCheck` by the rules of an estimator: errors of a target name its partition."""

    rules: FitRules

    def __call__(self, y: Any, rows: int) -> None:
        """Raise if the target is invalid."""
        self.rules.check_target(y, rows)


C = TypeVar("C", bound=type)


def with_client(cls: C) -> C:
    """Give an estimator's class the constructor of the local one with the additional parameter `client`."""
    estimator: Any = cls
    local_init = estimator._local.__init__
    signature = inspect.signature(local_init)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None)

    @wraps(local_init)
    def init(self: Any, *args: Any, client: Client | None = None, **parameters: Any) -> None:
        local_init(self, *args, **parameters)
        self.client = client

    init.__dict__["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), client])
    estimator.__init__ = init
    return cls


class DaskGBMBase(GBMBase):
    """Base class of the boosting estimators whose rows are on a cluster."""

    client: Client | None
    _local: type[Any]

    def predict(self, X: Any, *, base_margin: Any = None, rounds: int | None = None) -> Any:
        """Predict, lazily where X is a dask collection.

        Parameters
        ----------
        X : dask array or data frame, list of delayed tables, or a table of this process
            The columns of `fit`, in the same order.
        base_margin : dask array, series or data frame, or list, optional
            Raw scores that the rows start from, in the same partitions.
        rounds : int, optional
            Use the first so many rounds.

        Returns
        -------
        dask array, list of delayed arrays, or array
            What the local estimator predicts for every partition: an array with the chunks of X, of unknown sizes for a data
            frame; a list for a list.
        """
        return self._lazy("predict", X, base_margin=base_margin, rounds=rounds)

    def apply(self, X: Any, *, rounds: int | None = None) -> Any:
        """Give the leaf that each row reaches in each tree, lazily where X is a dask collection."""
        return self._lazy("apply", X, rounds=rounds)

    def to_local(self) -> Any:
        """The fitted estimator for tables of this process: a `spinney` estimator with the same parameters and model."""
        made: Any = object.__new__(self._local)
        made.__dict__.update({name: value for name, value in vars(self).items() if name != "client"})
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, as the local one does; `spinney.load_estimator` gives a local one."""
        self.to_local().save(path)

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Self:
        given = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        return type(self)(client=self.client, **{name: clone(one, safe=False) for name, one in given.items()})

    def _lazy(self, method: str, X: Any, **given: Any) -> Any:
        check_is_fitted(self, "model_")
        local = self.to_local()
        return (
            lazy_results(local, method, X, given) if is_collection(X) else getattr(local, method)(X, **given)
        )

    def _score(self, X: Any, **labels: Any) -> float:
        check_is_fitted(self, "model_")
        local = self.to_local()
        if not is_collection(X):
            score: float = local.score(X, **{name: one for name, one in labels.items() if one is not None})
            return score
        if labels.get("y") is None:
            raise DataError("y is None; a score needs the target of the rows")
        client = checked_client(self.client)
        names = {
            "y": "y",
            "weight": "sample_weight",
            "base_margin": "base_margin",
            "group": "group",
            "qid": "qid",
        }
        given = compute(client, X, {name: labels.get(name) for name in names.values()})
        shared = put(client, local)
        raws = [client.submit(predict_raw_part, shared, one, pure=False) for one in given.X]
        others = {
            names[name]: values for name, values in given.labels.by_name.items() if name != "base_margin"
        }
        scored = client.submit(score_parts, shared, raws, others, pure=False)
        try:
            found: float = result(client, scored, what="the score cannot be computed")
        except Exception:
            given.check_computed()
            raise
        return found

    def _staged_scores(self, X: Any, base_margin: Any, rounds: int | None) -> Iterator[NDArray[np.float64]]:
        if is_collection(X):
            raise DataTypeError(
                "staged predictions need rows of this process, but X is a dask collection; give rounds=... to predict, or call "
                "to_local() and give it rows"
            )
        return super()._staged_scores(X, base_margin, rounds)

    def _datasets(
        self,
        given: RawData,
        valid_sets: list[RawData],
        start: Continuation | None,
        groups: object,
        validation: Rows,
        overrides: Mapping[str, object],
    ) -> FitData:
        """Bin the training and validation rows on their workers."""
        if self.progress:
            raise ParameterError(
                "progress=True shows nothing of a cluster; leave it out, and look at Dask's dashboard"
            )
        client = checked_client(self.client)
        scanned = self._scan(client, given, None)
        self._set_columns(given.X, scanned)
        warn_of_column_vector(given.labels.y)
        if is_drawn(self.random_state) and "random_state" not in overrides:
            overrides = {**overrides, "random_state": draw_seed(self.random_state)}
        group_numbers = None if groups is None else number_groups(client, groups, scanned.empty_table.rows)
        make_labels = FitLabels(FitRules(self._unfitted()), bool(valid_sets), start, overrides, validation)
        joined, train, holdout, found = gather_labels(client, scanned, make_labels, group_numbers)
        facts: FitFacts = found
        self.__dict__.update(facts.attributes)
        config, has_holdout = facts.config, holdout is not None
        params = data_params({name: getattr(config, name) for name in DATA_PARAMS}, None)
        rows = select_rows(client, scanned, joined, train, has_holdout=has_holdout)
        args = IngestArgs(params=params, known=facts.schema, categorical=self.categorical, strict=False)
        dataset = Dataset.of_rows(client, rows, args)
        for note in notes_of_text(dataset.numbers_as_text, dataset.schema.names):
            warnings.warn(note, stacklevel=5)
        dataset.groups = None if group_numbers is None else [group_numbers]
        if holdout is not None:
            rows = select_rows(client, scanned, joined, holdout, has_holdout=True, holdout=True)
            valid = {"validation_0": Dataset.of_rows(client, rows, _args_like(dataset))}
            return FitData(config, dataset, valid, facts.fixed)
        valid = {}
        for place, other in enumerate(valid_sets):
            same = train.no_labels.weight is None and other.is_same(given)
            valid[f"validation_{place}"] = (
                dataset if same else self._valid_set(client, other, dataset, config)
            )
        return FitData(config, dataset, valid, facts.fixed)

    def _valid_set(self, client: Client, found: RawData, dataset: Dataset, config: Config) -> Dataset:
        columns = meta_of(found.X)
        if columns is not None:
            with naming(found.labels.where):
                with_columns_checked(self, columns, reset=False)
        scanned = self._scan(client, found, dataset.schema)
        targets = dataset.meta.no_labels.targets
        make_labels = EvalLabels(FitRules(self._unfitted()), found.class_weight, targets, config)
        joined, summary, _, _ = gather_labels(client, scanned, make_labels)
        rows = select_rows(client, scanned, joined, summary)
        return Dataset.of_rows(client, rows, _args_like(dataset))

    def _scan(self, client: Client, found: RawData, known: Schema | None) -> ScannedPartitions:
        raw = found.labels
        before = "eval_" if raw.where else ""
        arguments = {
            "y": raw.y, raw.weight_name: raw.weight, f"{before}base_margin": raw.base_margin,
            f"{before}group": raw.group, f"{before}qid": raw.qid,
        }  # fmt: skip
        given = compute(client, found.X, arguments, where=raw.where)
        return scan_partitions(client, given, None, known, CheckTarget(FitRules(self._unfitted())))

    def _set_columns(self, X: Any, scanned: ScannedPartitions) -> None:
        """Set the number and the names of columns, as scikit-learn does."""
        columns = meta_of(X)
        with_columns_checked(
            self, np.empty((0, scanned.empty_table.columns)) if columns is None else columns, reset=True
        )
        self.n_features_in_ = scanned.empty_table.columns

    def _unfitted(self) -> Any:
        """A local estimator with the same parameters and classes but without a model, which can be sent to a worker."""
        made = self.to_local()
        made.__dict__.pop("model_", None)
        return made

    def _train(self, config: Config, dataset: Any, rounds: int | Auto, **given: Any) -> list[Model]:
        given.pop("progress", None)
        if isinstance(rounds, Auto):
            rounds = replace(rounds, groups=dataset.groups)
        return train_each(dataset.client, config, dataset, rounds, **given)


def _args_like(dataset: Dataset) -> IngestArgs:
    """Arguments that bin other rows like those of a data set."""
    return IngestArgs(params=dataset.params, known=dataset.schema, cuts=dataset.cuts)
