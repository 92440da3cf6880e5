"""Whether the arguments and the rows of all ranks of a training belong together."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from spinney.binning.binned import MOST_ROWS, BinnedData
from spinney.collective import Communicator
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.params import Config
from spinney.training.round_plan import Auto


def check_rank_data(data: object, what: str) -> BinnedData:
    """Refuse what is not the rows of a rank."""
    if not isinstance(data, BinnedData):
        raise DataTypeError(f"{what} must be BinnedData, got {type(data).__name__}")
    if data.codes.matrix is not None:
        raise DataError(f"the codes of {what} must come in blocks")
    if not 0 < data.table_rows <= MOST_ROWS:
        raise DataError(f"{what} is of a table of {data.table_rows} rows; there must be 1 to {MOST_ROWS}")
    return data


def checked_rank_valid(valid: object) -> dict[str, BinnedData]:
    """The local rows of the validation sets of ranks."""
    if valid is not None and not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to BinnedData, got {type(valid).__name__}")
    return {name: check_rank_data(one, f"valid[{name!r}]") for name, one in (valid or {}).items()}


def check_ranks(
    config: Config, rounds: int | Auto, data: BinnedData, valid: Mapping[str, BinnedData], ranks: Communicator
) -> None:
    """Refuse ranks that do not belong together, at rank 0."""
    if config.tree_method != "hist":
        raise ParameterError(
            f"tree_method={config.tree_method!r} needs the whole table in one place; on shards use tree_method='hist'"
        )
    plan = repr(replace(rounds, groups=None, validation=None) if isinstance(rounds, Auto) else rounds)
    for what, one in {"shard": data, **{f"valid[{name!r}]": one for name, one in valid.items()}}.items():
        if not one.cuts.same(data.cuts):
            raise DataError(f"{what} was binned apart: it must have the cuts of the training data")
    sent = [_facts(config, plan, one, list(valid)) for one in (data, *valid.values())]
    found = ranks.gather_rows(np.array(sent)[None])
    if found is None:
        return
    for place, what in enumerate(["the training data", *(f"valid[{name!r}]" for name in valid)]):
        facts = found[:, place]
        for column, named in enumerate(_FACTS):
            if len(set(facts[:, column].tolist())) > 1:
                raise DataError(f"{what}: ranks differ in {named}: {facts[:, column].tolist()}")
        first, rows = facts[:, -2], facts[:, -1]
        total = int(facts[0, 0])
        if (first != np.cumsum([0, *rows[:-1]])).any() or rows.sum() != total:
            raise DataError(
                f"{what}: shards must follow each other and have all {total} rows; they begin at {first.tolist()} and have "
                f"{rows.tolist()}"
            )


# What all ranks have in common; a rank's first row and its number of rows follow.
_FACTS = (
    "the rows of the whole table",
    "whether rows have weights",
    "columns of base_margin",
    "whether rows have queries",
    "columns of the target",
    "parameters, rounds or cuts",
)


def _facts(config: Config, rounds: str, data: BinnedData, names: list[str]) -> list[int]:
    labels: Labels = data.checked_labels()
    cuts, features = data.cuts, data.plan.features
    text = json.dumps([config.to_dict(model_only=True), rounds, names], default=str).encode()
    for array in (cuts.values, cuts.starts, cuts.categorical, features.group, features.low):
        text += np.ascontiguousarray(array).tobytes()
    margin = -1 if labels.margin is None else labels.margin.shape[1]
    common = (labels.weight is not None, margin, labels.queries is not None, labels.targets, zlib.crc32(text))
    return [data.table_rows, *map(int, common), data.first, labels.rows]
