import numpy as np
import pytest

from spinney.tree import Forest, Tree, concatenate


def tree_of(*rows):
    """A tree from rows of (feature, threshold, left, default_left, value, gain, cover, count)."""
    feature, threshold, left, default_left, value, gain, cover, count = zip(*rows, strict=True)
    return Tree(
        feature=np.array(feature, np.int32),
        threshold=np.array(threshold, np.float64),
        left=np.array(left, np.int32),
        default_left=np.array(default_left, np.uint8),
        value=np.array(value, np.float64),
        gain=np.array(gain, np.float64),
        cover=np.array(cover, np.float64),
        count=np.array(count, np.int64),
    )


@pytest.fixture
def leaf() -> Tree:
    return tree_of((-1, 0.0, 0, 0, 0.25, 0.0, 3.0, 3))


@pytest.fixture
def stump() -> Tree:
    return tree_of(
        (1, 0.5, 1, 1, 0.0, 8.0, 20.0, 20),
        (-1, 0.0, 0, 0, -1.0, 0.0, 12.0, 12),
        (-1, 0.0, 0, 0, 1.5, 0.0, 8.0, 8),
    )


@pytest.fixture
def bushy() -> Tree:
    """Root 0 with children 1 and 2; node 1 splits into 5 and 6, node 2 into 3 and 4."""
    return tree_of(
        (0, 1.5, 1, 0, 0.0, 9.0, 30.0, 30),
        (2, -2.0, 5, 1, 0.5, 4.0, 18.0, 18),
        (1, 7.25, 3, 0, -0.5, 2.0, 12.0, 12),
        (-1, 0.0, 0, 0, 3.0, 0.0, 6.0, 6),
        (-1, 0.0, 0, 0, 4.0, 0.0, 6.0, 6),
        (-1, 0.0, 0, 0, 5.0, 0.0, 9.0, 9),
        (-1, 0.0, 0, 0, 6.0, 0.0, 9.0, 9),
    )


@pytest.fixture
def chain() -> Tree:
    """A tree that goes down to the right 5 000 splits, deeper than Python's stack."""
    deep = 5_000
    split, end = (0, 1.0, 0, 0, 0.0, 1.0, 2.0, 2), (-1, 0.0, 0, 0, 1.0, 0.0, 1.0, 1)
    rows = [split]
    for _ in range(deep - 1):
        rows += [end, split]
    tree = tree_of(*rows, end, end)
    inner = tree.feature >= 0
    tree.left[inner] = np.flatnonzero(inner) + 1
    return tree


@pytest.fixture
def forest(stump, leaf, bushy) -> Forest:
    return concatenate([stump, leaf, bushy])
