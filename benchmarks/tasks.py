"""Real tables for losses of every kind: with weights, and with exposures, where they belong to the table."""

import importlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import INSURANCE, DataMissingError, read_members, real

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]

POLICY = ("Area", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehBrand", "VehGas", "Density", "Region")


@dataclass(frozen=True)
class Task:
    """A table and its target; a count is expected in proportion to its exposure."""

    X: Floats
    y: Numbers
    weight: Numbers | None = None
    exposure: Numbers | None = None
    classes: int = 2

    def first(self, rows: int) -> "Task":
        """Return so many rows, drawn in an order that is always the same."""
        return self.take(np.random.default_rng(0).permutation(len(self.y))[:rows])

    def take(self, rows: npt.NDArray[np.int64]) -> "Task":
        """Return some of the rows."""
        weight, exposure = (None if part is None else part[rows] for part in (self.weight, self.exposure))
        return Task(self.X[rows], self.y[rows], weight, exposure, self.classes)


def numeric(name: str, factor: float = 1.0) -> Task:
    """Return a table of numbers; the target is multiplied."""
    table = real(name)
    return Task(table.X, table.y.astype(np.float64) * factor, classes=table.classes)


def claim_counts() -> Task:
    """Claims of a policy, in proportion to the part of a year that it was in force."""
    frame = _policies()
    return Task(_columns(frame), _numbers(frame, "ClaimNb"), exposure=_numbers(frame, "Exposure"))


def claims_a_year() -> Task:
    """What a policy costs in a year, weighed by the part of a year that it was in force."""
    frame = _policies()
    exposure = _numbers(frame, "Exposure")
    return Task(_columns(frame), _numbers(frame, "ClaimAmountCut") / exposure, weight=exposure)


def claim_sizes() -> Task:
    """What a claim costs, of policies that had any, weighed by how many they had."""
    frame = _policies()
    frame = frame[(frame["ClaimAmountCut"] > 0) & (frame["ClaimNb_pos"] > 0)]
    claims = _numbers(frame, "ClaimNb_pos")
    return Task(_columns(frame), _numbers(frame, "ClaimAmountCut") / claims, weight=claims)


# Prices of diamonds are in thousands, but where shares of them count: those are taken of 1 at least.
TASKS: dict[str, tuple[Callable[[], Task], tuple[str, ...]]] = {
    "fremtpl2, counts": (claim_counts, ("poisson",)),
    "fremtpl2, a year": (claims_a_year, ("tweedie",)),
    "fremtpl2, a claim": (claim_sizes, ("gamma",)),
    "diamonds": (
        partial(numeric, "diamonds"),
        (
            "absolute_error", "huber", "quantile 0.1", "quantile 0.9", "fair", "pseudo_huber", "squared_log_error",
            "expectile 0.9", "gamma",
        ),
    ),
    "diamonds, dollars": (partial(numeric, "diamonds", 1000.0), ("mape",)),
    "bio_kdd04": (partial(numeric, "bio_kdd04"), ("log_loss", "focal")),
    "electricity": (partial(numeric, "electricity"), ("log_loss",)),
    "letter": (partial(numeric, "letter"), ("softmax", "one_vs_rest")),
}  # fmt: skip


@cache
def _policies() -> Any:
    """French third-party liability; what a claim costs is cut at 100 000, as is usual: few claims would decide everything."""
    (content,) = read_members(INSURANCE, ("glum-3.4.1/data/insurance.parquet",))
    try:
        return importlib.import_module("pandas").read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise DataMissingError(f"fremtpl2 is skipped, reading it needs a library: {error}") from error


def _columns(frame: Any) -> Floats:
    """Return numbers; those of words are their places in the alphabet, for every library alike."""
    columns = [frame[name] for name in POLICY]
    numbers = [
        column if column.dtype.kind in "iuf" else np.unique(column.astype(str), return_inverse=True)[1]
        for column in columns
    ]
    return np.stack(numbers, axis=1).astype(np.float32)


def _numbers(frame: Any, name: str) -> Numbers:
    found: Numbers = frame[name].to_numpy(np.float64)
    return found
