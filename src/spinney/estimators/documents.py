"""The estimators' docstrings: their Parameters section is written from the table of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TypeVar

from spinney.params import default_of, numpydoc

C = TypeVar("C", bound=type)

# For what only estimators have: type and default, then the meaning. For a name of the table: the meaning here.
_TEXTS: Mapping[str, str] = {
    "n_estimators": "int, default=100\nMost rounds of boosting. A round is one tree, or one tree for each class where "
    "there are more than two.",
    "early_stopping_rounds": "Stop after this many rounds in which the last metric did not get better on the last "
    "validation data. None never stops.",
    "validation_fraction": "float or None, default=None\nShare of the training rows to hold out as validation data, of "
    "every class alike. They are not trained on. None holds out nothing.",
    "class_weight": "dict, 'balanced' or None, default=None\nFactor on the weights of a class's rows, by label; 1 for a "
    "label that is not named. 'balanced' gives all classes the same total weight, counting the weights of rows as "
    "scikit-learn's compute_class_weight does. Validation data are not weighted by it.",
    "random_state": "Seed of everything drawn at random. None is the same as 0, so that every fit can be repeated; a "
    "RandomState gives each fit a seed of its own.",
    "categorical": "'auto' or list of str, int or bool, default='auto'\nColumns of whole numbers, by name or position, whose "
    "numbers are categories, or a mask of one truth value a column. Columns of text and of a frame's categories always are "
    "categorical, but text that all reads as numbers must be named.",
    "progress": "bool, default=False\nShow a progress bar while fitting.",
}


def documented(cls: C) -> C:
    """Put the Parameters section where a class's docstring says `{parameters}`."""
    section = numpydoc(list(inspect.signature(cls).parameters), _TEXTS)
    # Training takes a whole number only.
    known = f"random_state : int, default={default_of('random_state')}"
    section = section.replace(known, "random_state : int, RandomState or None, default=None")
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("{parameters}", section)
    return cls
