"""Bytes of a real table's files → columns and target, as numbers."""

import importlib
import io
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# age, fnlwgt, education-num, capital-gain, capital-loss, hours-per-week
ADULT_NUMBERS = (0, 2, 4, 10, 11, 12)
DIAMOND_GRADES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": ("J", "I", "H", "G", "F", "E", "D"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}


def covtype(content: bytes) -> tuple[Array, Array]:
    """Return 54 columns and 7 classes."""
    table = _csv(content)
    return table[:, :-1], table[:, -1] - 1


def electricity(content: bytes) -> tuple[Array, Array]:
    """Return 6 columns and two classes."""
    table = _csv(content)
    return table[:, :-1], table[:, -1]


def adult(*contents: bytes) -> tuple[Array, Array]:
    """Return the numeric columns and whether the income is above 50 000."""
    lines = [line.split(", ") for content in contents for line in content.decode().splitlines()]
    rows = [fields for fields in lines if len(fields) == 15]
    numbers = np.array([[float(fields[k]) for k in ADULT_NUMBERS] for fields in rows])
    target = np.array([fields[14].startswith(">50K") for fields in rows], dtype=np.float64)
    return numbers, target


def bio_kdd04(content: bytes) -> tuple[Array, Array]:
    """Return 74 columns and whether the two proteins match; the two identifiers are left out."""
    frame = importlib.import_module("pandas").read_parquet(io.BytesIO(content))
    features = frame.drop(columns=["EXAMPLE_ID", "BLOCK_ID", "target"])
    return features.to_numpy(), frame["target"].to_numpy()


def diamonds(content: bytes) -> tuple[Array, Array]:
    """Return 9 columns, grades as their rank, and the price in thousands."""
    # A pickle runs what it names. This one names pandas and NumPy only, and the digest keeps it so.
    frame = importlib.import_module("pandas").read_pickle(io.BytesIO(content), compression="xz")
    for column, grades in DIAMOND_GRADES.items():
        frame[column] = frame[column].map({grade: rank for rank, grade in enumerate(grades)})
    features = frame.drop(columns=["rownames", "price"])
    return features.to_numpy(dtype=np.float64), frame["price"].to_numpy() / 1000.0


def letter(content: bytes) -> tuple[Array, Array]:
    """Return 16 columns and 26 classes."""
    rows = [line.split(",") for line in content.decode().splitlines() if line.count(",") == 16]
    numbers = np.array([[float(value) for value in fields[:16]] for fields in rows])
    target = np.array([ord(fields[16].strip()) - ord("A") for fields in rows])
    return numbers, target


def _csv(content: bytes) -> Array:
    return np.loadtxt(io.BytesIO(content), delimiter=",", skiprows=1, dtype=np.float32)
