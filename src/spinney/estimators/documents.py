"""The estimators' docstrings: what they have in common is written once, and their parameters come from the table of these."""

from __future__ import annotations

import inspect
from typing import TypeVar

from spinney.estimators.parameters import ESTIMATORS
from spinney.params import numpydoc

C = TypeVar("C", bound=type)
ATTRIBUTES = """feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each column in what `importance_type` says; by default, in the gain of all splits.
evals_result_ : dict
    evals_result_["validation_0"][metric]: the values after each round of the latest `fit`, for each pair of `eval_set`;
    its name where `eval_names` gives one.
best_score_ : dict
    best_score_["validation_0"][metric]: the value after the last round that predictions use.
best_iteration_ : int or None
    Round with the best metric, from 1; None without early stopping.
n_iter_ : int
    Rounds of the model, those that it went on from included.
n_estimators_ : int
    Rounds that predictions use: the best one where early stopping found one, else all.
n_features_in_ : int
    Number of columns seen by `fit`.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where the table had names."""


def documented(cls: C) -> C:
    """Put the parameters and the common attributes where a class's docstring says `{parameters}` and `{attributes}`."""
    section = numpydoc(ESTIMATORS[cls.__name__].values())
    text = inspect.cleandoc(cls.__doc__ or "")
    cls.__doc__ = text.replace("{parameters}", section).replace("{attributes}", ATTRIBUTES)
    return cls
