"""Training a model: its rounds, by callbacks and early stopping, and the mean of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spinney import objectives
from spinney.dataset import Dataset, binned_of
from spinney.model.boosted import Model, mean_model
from spinney.params import Config
from spinney.params.common import check_truth
from spinney.training.callbacks import Callback, warn_of_cap
from spinney.training.driver import prepare, run
from spinney.training.round_plan import Auto


def train(
    params: Mapping[str, object] | Config,
    dataset: Dataset,
    rounds: int | str | Auto | None = None,
    *,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    progress: bool = False,
    init_model: object = None,
    max_rounds: int | None = None,
    validation_fraction: float | None = None,
    groups: object = None,
    validation: object = None,
) -> Model:
    """Train a gradient boosting model.

    Parameters
    ----------
    params : mapping
        Hyper-parameters by name; XGBoost's and LightGBM's spellings are known. See the page on parameters. A `preset` among
        them fills in what they do not have; `models` of 2 or more are trained with a seed each, and averaged.
    dataset : Dataset
        What to learn from.
    rounds : int or "auto", optional
        Number of boosting rounds; without it 100, or "auto" with the preset "best". "auto" finds it: it stops when the metric
        that `early_stopping_rounds` would use has not improved for 25 rounds, or for `early_stopping_rounds`, on the last of
        `valid`. Without `valid` it holds out rows, of every class alike or of whole queries, and fits small tables again on all
        rows, with as many rounds as were best. Callbacks get the first of these trainings. Below 300 rows, with
        `eval_metric` "none", or with `init_model`, it holds out nothing and does 100 rounds (10 / learning_rate if that is more,
        30 / learning_rate if that is less).
    objective : callable, optional
        A loss of your own, `f(scores, labels) -> g, h`: derivatives of each row's loss by its score. Its attribute `loss`, a
        function of the same arguments that gives one number, is the metric where `eval_metric` names none. It may also stand in
        `params`. `scores` are (rows,) or, with several targets or `num_class` of 2 or more in `params`, (rows, outputs), and
        cannot be written to; `labels` is the target, (rows,) or (rows, targets), an array with `weight` (None: all 1), `margin`
        and `queries` as attributes. Weights are for the function to apply. The model predicts raw scores.
    valid : mapping of str to Dataset, optional
        Data to compute the metrics on after each round, by name. Each must have been made with `reference=dataset`, or be
        `dataset` itself. With `early_stopping_rounds`, the last metric of the last one decides, or its first with
        `first_metric_only`.
    metrics : iterable of callables or str, optional
        Metrics to compute after those of `eval_metric`. A function of your own is called with raw scores, (rows,) or
        (rows, outputs), and labels, `f(scores, labels)`: the target as an array, which has the weights of the rows as `weight`
        (None: all 1). It returns (name, value, higher_is_better).
    callbacks : iterable of callables, optional
        Called after each round with a `RoundInfo`; one that returns True ends the training. The method `begin(rounds)` of one
        that has it is called when the training starts. A callback that is given twice is called once. A
        `LearningRateSchedule` among them gives rounds learning rates of their own. With `models` of 2 or more each training
        calls them, one after the other, and one that is ended leaves those after it alone.
    progress : bool, default=False
        Show a progress bar.
    init_model : Model, fitted estimator or path, optional
        Go on from this model, or from that of a file: `rounds` more are added to those that it predicts with, and its base
        score is kept. Objective and columns must be the same, and `models` 1. With early stopping, its metric is the one to
        beat: where no round does, the best round is its last.
    max_rounds : int, optional
        Most rounds that "auto" may try, 500 / learning_rate without it. There is a UserWarning where they were not enough.
    validation_fraction : float, optional
        Share of the rows that "auto" holds out, .1 without it.
    groups : array of shape (rows,), optional
        Group of each row, for "auto": rows of a group are held out together.
    validation : "last" or array, optional
        Which rows "auto" holds out, in place of rows at random: "last" is the last ones of the table, for rows in the order of
        time, or the last whole queries or groups in the order of their first rows; an array has the numbers of the rows, or a
        truth value for each row.

    Returns
    -------
    Model
        The same, byte for byte, for any number of threads.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = (X[:, 0] > 0.5).astype(float)
    >>> model = sp.train({"objective": "log_loss", "max_leaves": 4}, sp.Dataset(X, y), rounds=20)
    >>> model.predict(np.array([[0.1], [0.9]])).round(1)
    array([0.1, 0.9])
    """
    check_truth("progress", progress)
    job = prepare(
        params, binned_of(dataset), rounds, objective=objective, valid=valid, metrics=metrics, callbacks=callbacks,
        init_model=init_model, max_rounds=max_rounds, validation_fraction=validation_fraction, groups=groups,
        validation=validation,
    )  # fmt: skip
    models = run(job, progress=progress)
    warn_of_cap(job.hooks.searches, "rounds", UserWarning, stacklevel=2)
    return models[0] if len(models) == 1 else mean_model(models)


def train_each(
    params: Mapping[str, object] | Config,
    dataset: Dataset,
    rounds: int | str | Auto | None = None,
    *,
    progress: bool = False,
    **given: Any,
) -> list[Model]:
    """The models whose mean `train` gives, one for each seed. The parameters are those of `train`."""
    check_truth("progress", progress)
    return run(prepare(params, binned_of(dataset), rounds, **given), progress=progress)
