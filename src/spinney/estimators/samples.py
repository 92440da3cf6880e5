"""Rows on their way into a data set: read, with their target as numbers, not yet binned."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from spinney.data import Labels, Schema, Table, read_table
from spinney.data.arrays import plain_array
from spinney.data.categories import read_as_numbers
from spinney.data.dask import is_dask, refuse_dask
from spinney.data.frame import is_frame, refuse_duplicate_names
from spinney.data.schema import SHOWN_NAMES, named_categorical
from spinney.data.sparse import is_sparse
from spinney.data.table import Panel, column_title
from spinney.dataset import Dataset
from spinney.errors import DataError, DataTypeError
from spinney.params import Config

COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
    "example using ravel()."
)


def binned(table: Table, labels: Labels, **options: Any) -> Dataset:
    """The data set of a table with labels; the options are those of `Dataset`."""
    given: Any = {"weight": labels.weight, "base_margin": labels.margin, "qid": labels.queries}
    return Dataset(table, labels.target, **given, **options)


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a fit has before columns are binned.

    Attributes
    ----------
    config : Config
        The parameters of training.
    schema : Schema, optional
        The columns of the model that it goes on from.
    labels : Labels
        Of the rows to train on, with the weights to train with.
    held : Labels, optional
        Of the rows that are held out.
    chosen : bool[rows], optional
        Which rows are.
    """

    config: Config
    schema: Schema | None
    labels: Labels
    held: Labels | None
    chosen: NDArray[np.bool_] | None


def with_columns_checked(estimator: object, X: object, *, reset: bool) -> object:
    """Let scikit-learn note (`reset`) or compare the number and names of columns; warnings and our errors have its words.

    Nothing is copied or converted, except that lists become an array. What is no table is left for the reader to refuse.
    A fitted estimator refuses columns in another order, as scikit-learn asks, and says what takes them.
    """
    refuse_dask(X, "X", type(estimator).__name__)
    if is_frame(X):
        refuse_duplicate_names(X, "X")
    elif not is_sparse(X):
        X = plain_array(X, "X")
    if len(getattr(X, "shape", ())) != 2:
        return X
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    except (TypeError, ValueError) as error:
        refusal = error
    # Says in our words what no table may have, as names of two kinds.
    names = read_table(X, allow_empty=True).names
    known = getattr(estimator, "feature_names_in_", ())
    if names is not None and set(names) == set(known) and hasattr(estimator, "model_"):
        raise DataError(f"{refusal}`model_.predict` takes named columns in any order.")
    kind = DataTypeError if isinstance(refusal, TypeError) else DataError
    raise kind(str(refusal).rstrip("\n"))


def categories_of_text(
    table: Table, categorical: Any, known: Schema | None = None
) -> tuple[Table, list[Warning]]:
    """Take text for categories, whatever it reads as: whether some of it is no number must not depend on the rows of a fold.

    Parameters
    ----------
    table : Table
        Rows to fit to.
    categorical : "auto" or sequence
        Columns that are named categorical.
    known : Schema, optional
        The columns of the model that the fit goes on from.

    Returns
    -------
    Table
        The same, with its columns of text declared to be categorical.
    list of Warning
        What the user is to be warned of: columns of text that all reads as numbers, unless they are named or known.
    """
    named = named_categorical(categorical, table)
    found, panels = dict[int, str](), list[Panel]()
    for panel in table.panels:
        column, texts = panel.first, panel.categories or ()
        learnt = column not in named and (known is None or column in known.empty)
        if panel.as_numbers and learnt and read_as_numbers(texts):
            found[column] = panel.as_numbers
        panels.append(replace(panel, declared=True) if panel.as_numbers else panel)
    return replace(table, panels=tuple(panels)), notes_of_text(found, table.names)


def notes_of_text(found: Mapping[int, str], names: tuple[str, ...] | None) -> list[Warning]:
    """The warning of columns of text that all reads as numbers: how to make numbers of each.

    It says nothing of their rows, so that it is the same in every fold, and Python shows it once.
    """
    if not found:
        return []
    titles = [column_title(names, column) for column in found]
    shown = ", ".join(titles[:SHOWN_NAMES])
    more = len(titles) - SHOWN_NAMES
    call = next(iter(found.values()))
    labels = [column if names is None else names[column] for column in found][:SHOWN_NAMES]
    return [
        DataConversionWarning(
            f"{shown}{f' and {more} more' if more > 0 else ''}: text that all reads as numbers is taken as "
            f"categories, as all text is. Make it numbers, as in {call}, or pass categorical={labels!r} if it stands for "
            "categories"
        )
    ]


def is_column_vector(y: object) -> bool:
    """Whether a target is a matrix of one column, of which scikit-learn warns; the reader refuses a sparse one."""
    return not is_dask(y) and getattr(y, "shape", ())[1:] == (1,) and not is_sparse(y)


def warn_of_column_vector(y: object) -> None:
    """Warn, as scikit-learn does, of a target that is a matrix of one column."""
    if is_column_vector(y):
        warnings.warn(COLUMN_VECTOR, DataConversionWarning, stacklevel=6)
