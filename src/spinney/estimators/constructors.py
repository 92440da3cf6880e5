"""The estimators' constructors and docstrings, made of their tables of parameters.

`source` writes `generated.py`: constructors with real signatures, which tools, scikit-learn and readers see. `documented` puts
parameters and common attributes into a docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, TypeVar

from spinney.estimators.parameters import EVERY, Parameters
from spinney.params import numpydoc

C = TypeVar("C", bound=type[Any])

_HEAD = '''\
"""The estimators' constructors, made of the tables in `parameters.py`.

This file is written by `python -m spinney.estimators > src/spinney/estimators/generated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.estimators.base import keep, named
'''


def source() -> str:
    """The source of `generated.py`."""
    return "\n".join([_HEAD, *(line for item in EVERY.items() for line in _class(*item))])


def _class(estimator: str, parameters: Parameters) -> Iterator[str]:
    yield f"\nclass {estimator}Parameters:"
    yield f'    """The constructor of {estimator}."""\n'
    yield "    @named"
    yield "    def __init__(\n        self,"
    for place, (name, parameter) in enumerate(parameters.items()):
        # As in scikit-learn, the number of trees or the estimator to boost may stand without its name.
        if place == int(next(iter(parameters)) in ("n_estimators", "estimator")):
            yield "        *,"
        yield f"        {name}: {parameter.annotation} = {_source(parameter.default)},"
    yield "    ) -> None:\n        keep(self, locals())\n"


def _source(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


ATTRIBUTES = """feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each column in what `importance_type` names; by default, in the gain of all splits.
evals_result_ : dict
    evals_result_["validation_0"][metric]: the values after each round of the latest `fit`, for each pair of `eval_set`;
    its name where `eval_names` gives one. With `warm_start` and the same validation data as before, those of all rounds. Of
    n_estimators=auto: those of the search for the number of rounds, a value for each round that it tried, whether all rows
    were then fitted again or not.
best_score_ : dict
    best_score_["validation_0"][metric]: the value after the last round that predictions use; of n_estimators=auto, after that
    round of the search.
auto_ : AutoRounds or None
    What n_estimators=auto did: rounds tried and chosen, rows held out, their metric and score, whether all rows were fitted
    again, and why it stopped. Of the first model where several are averaged. None where a number of rounds was given, or the
    target left nothing to learn.
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

_FITTED = """model_ : ForestModel
    The fitted model; its classes are places in `classes_`.
n_outputs_ : int
    Number of outputs.
n_features_in_ : int
    Number of columns seen by `fit`.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where the table had names.
max_features_ : int
    Columns that are drawn for a split.
feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each column in the decrease of impurity, the mean over trees."""
_SEEN_BY_ALL = "NaN for a row that all trees saw, or of weight 0."
_TREES = """estimators_ : list
    The trees one by one: views with predict, apply, get_depth and more.
oob_score_ : float
    Score of the rows by the trees that did not see them, with oob_score. Rows that all trees saw do not count.
tree_oob_scores_ : ndarray of shape (trees,)
    Score of each tree on the rows that it did not see."""
# What stands in a docstring for each name in braces.
SECTIONS = {
    "attributes": ATTRIBUTES,
    "class_attributes": """classes_ : ndarray of shape (n_classes_,), or list of them for several outputs
    The labels, sorted.
n_classes_ : int, or list of int for several outputs
    Number of classes.
""" + _FITTED,
    "number_attributes": _FITTED,
    "adaboost_attributes": """model_ : AdaBoostModel
    The fitted model of our own trees; its classes are places in `classes_`.
committee_ : ClonedEnsemble
    In place of `model_` where `estimator` was given: its fitted copies.
estimators_ : list
    The trees one by one: views with predict, apply, get_depth and more; or the fitted copies of `estimator`.
estimator_weights_ : ndarray of shape (trees,)
    Weight of each tree, as scikit-learn counts it: twice the alpha of `spinney.adaboost_step`, or ln(1 / beta) for numbers,
    times the learning rate; 1 for a tree without mistakes.
estimator_errors_ : ndarray of shape (trees,)
    Error of each tree by the weights of its round: the share of the weight that it gets wrong, or the mean loss.
feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each column in the decrease of impurity, the mean over trees by their weights.
n_features_in_ : int
    Number of columns seen by `fit`.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where the table had names.""",
    "tree_attributes": """tree_ : Tree
    The nodes as arrays.""",
    "class_forest_attributes": f"""{_TREES}
oob_decision_function_ : ndarray of shape (rows, classes), or (rows, most classes, outputs) for several outputs
    Probabilities by the trees that did not see a row; an output of fewer classes has zeros. {_SEEN_BY_ALL}""",
    "number_forest_attributes": f"""{_TREES}
oob_prediction_ : ndarray of shape (rows,), or (rows, outputs) for several outputs
    Prediction by the trees that did not see a row. {_SEEN_BY_ALL}""",
}  # fmt: skip


def documented(cls: C) -> C:
    """Put the parameters and the common attributes into a docstring, in place of `{parameters}`, `{attributes}` and so on."""
    section = numpydoc(EVERY[cls.__name__].values())
    text = inspect.cleandoc(cls.__doc__ or "")
    text = text.replace("{parameters}", section)
    for name, lines in SECTIONS.items():
        text = text.replace(f"{{{name}}}", lines)
    cls.__doc__ = text
    return cls
