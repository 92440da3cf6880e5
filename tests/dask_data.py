"""Tables as dask collections, and what a data set on a cluster has in common with one of the same rows here."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from scipy import sparse

import spinney as sp
from paged import check_same
from spinney.dask.rank_data import rank_data
from spinney.dataset import as_dataset
from spinney.jit.team import Team


def array(values: Any, chunks: tuple[int, ...]) -> Any:
    """An array in partitions of some rows; sparse matrices stay sparse."""
    if sparse.issparse(values):
        blocks = [
            da.from_delayed(dask.delayed(one), (one.shape[0], one.shape[1]), meta=one[:0])
            for one in pieces(values, chunks)
        ]
        return da.concatenate(blocks)
    values = np.asarray(values)
    return da.from_array(values, chunks=(chunks, *values.shape[1:]))


def pieces(values: Any, chunks: tuple[int, ...]) -> list[Any]:
    """Rows that follow each other, so many at a time."""
    return [values[first:last] for first, last in pairwise(np.cumsum([0, *chunks]).tolist())]


def delayed(values: Any, chunks: tuple[int, ...]) -> list[Any]:
    """A list of delayed pieces."""
    return [dask.delayed(one) for one in pieces(values, chunks)]


def frame(values: pd.DataFrame | pd.Series, chunks: tuple[int, ...]) -> Any:
    """A data frame, or a series, in partitions of some rows."""
    return dd.from_map(_itself, pieces(values, chunks), meta=values.iloc[:0])


def _itself(values: Any) -> Any:
    return values


def gathered(data: Any) -> sp.Dataset:
    """All rows of a data set on a cluster in this process."""
    parts = data.client.gather(data.parts)
    assert [part.rows for part in parts] == data.lengths.tolist()
    with Team(1) as team:
        return as_dataset(rank_data(data.meta, parts, 0, data.rows, team))


def check_alike(data: Any, whole: Any) -> None:
    """Compare a data set on a cluster with one of the same rows here."""
    check_same(gathered(data), whole)


def file_of(model: Any) -> bytes:
    """The bytes of a model's file."""
    with TemporaryDirectory() as place:
        model.save(Path(place) / "model")
        return (Path(place) / "model").read_bytes()
