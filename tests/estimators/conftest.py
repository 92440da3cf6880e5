"""Small problems that the estimators' tests share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def table():
    """200 rows of 4 columns, with holes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    X.setflags(write=False)
    return X


@pytest.fixture(scope="session")
def numbers(table):
    """A numeric target for the table."""
    rng = np.random.default_rng(8)
    return (
        np.nan_to_num(table[:, 0]) * 2 + np.nan_to_num(table[:, 1]) ** 2 + 0.1 * rng.normal(size=len(table))
    )


@pytest.fixture(scope="session")
def two(numbers):
    """Two classes, 0 and 1."""
    return (numbers > 1).astype(int)


@pytest.fixture(scope="session")
def three(numbers):
    """Three classes, 0 to 2."""
    return np.digitize(numbers, [0.0, 1.5])
