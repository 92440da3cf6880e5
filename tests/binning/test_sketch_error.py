"""The promise of a sketch: no rank is wrong by more than eps, whatever comes in whatever order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from sketch_oracle import Exact, SmallBlocks, check_quantiles, check_ranks, naive_points
from spinney.binning.sketch_state import most_bytes

VALUES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 60, n).astype(np.float64),
    "ascending": lambda rng, n: np.arange(n) * 1.0,
    "descending": lambda rng, n: -np.arange(n) * 1e300,
    "zigzag": lambda rng, n: np.where(np.arange(n) % 2, 1.0, -1.0) * np.arange(n),
    "wide": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-320, 308, n),
    "inwards": lambda rng, n: np.where(np.arange(n) % 2, 1.0, -1.0) / (1.0 + np.arange(n)),
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "uniform": lambda rng, n: rng.random(n),
    "whole": lambda rng, n: rng.integers(0, 3, n).astype(np.float64),
    "smallest": lambda rng, n: 5e-324 * rng.integers(0, 50, n),
    "tiny": lambda rng, n: 1e-300 * rng.random(n),
    "huge": lambda rng, n: 1e300 * rng.random(n),
    "any": lambda rng, n: 10.0 ** rng.uniform(-320, 300, n),
    "growing": lambda rng, n: 1.1 ** np.arange(n),
    "fading": lambda rng, n: 0.9 ** np.arange(n),
    "one heavy": lambda rng, n: np.where(rng.random(n) < 3 / n, 1e9, 1.0),
}
rows = st.tuples(
    st.sampled_from(sorted(VALUES)),
    st.sampled_from(sorted(WEIGHTS)),
    st.integers(1, 900),
    st.integers(0, 2**32),
)
errors = st.sampled_from([0.5, 0.3, 0.1, 0.03])


def made(shape):
    """Values and weights of some shape, and the numbers to shuffle them with."""
    values, weights, count, seed = shape
    rng = np.random.default_rng(seed)
    weights = WEIGHTS[weights](rng, count)
    values = VALUES[values](rng, count)
    if weights is not None and not weights.any():
        weights[0] = 1.0
    return values, weights, rng


def parts_of(values, weights, rng, longest, eps):
    """Sketches of parts of the rows, of any length."""
    found, at = [], 0
    while at < len(values):
        end = at + int(rng.integers(1, longest + 1))
        found.append(SmallBlocks(eps).update(values[at:end], None if weights is None else weights[at:end]))
        at = end
    return found


def check(sketch, values, weights):
    exact = Exact(values, weights)
    assert sketch.error <= sketch.eps
    check_ranks(sketch, exact, sketch.error)
    check_quantiles(sketch, exact, np.linspace(0.0, 1.0, 23))
    assert sketch.total == pytest.approx(float(exact.total), rel=1e-12)
    assert sketch.nbytes <= most_bytes(sketch.eps, sketch.count, 8)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(rows, errors)
def test_a_stream_keeps_the_promise(shape, eps):
    values, weights, _ = made(shape)
    check(SmallBlocks(eps).update(values, weights), values, weights)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(rows, errors, st.sampled_from([1, 3, 20, 200]))
def test_any_tree_of_merges_keeps_the_promise(shape, eps, longest):
    values, weights, rng = made(shape)
    sketches = parts_of(values, weights, rng, longest, eps)
    while len(sketches) > 1:
        other = sketches.pop(int(rng.integers(len(sketches))))
        sketches[int(rng.integers(len(sketches)))].merge(other)
    check(sketches[0], values, weights)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=60)
@given(rows, errors, st.sampled_from([1, 9, 40]), st.booleans())
def test_a_long_chain_of_merges_keeps_the_promise(shape, eps, longest, into_the_new):
    values, weights, rng = made(shape)
    sketch = SmallBlocks(eps)
    for part in parts_of(values, weights, rng, longest, eps):
        sketch = part.merge(sketch) if into_the_new else sketch.merge(part)
    check(sketch, values, weights)


@pytest.mark.kernels
@settings(derandomize=True, deadline=None, max_examples=10)
@given(
    st.lists(st.tuples(st.floats(-1e300, 1e300), st.floats(0, 1e300)), min_size=30, max_size=70),
    st.integers(1, 69),
)
def test_any_list_in_two_parts_keeps_the_promise(pairs, middle):
    values, weights = np.array([*pairs, (0.5, 1.0)]).T.copy()
    sketch = SmallBlocks(0.5).update(values[middle:], weights[middle:])
    check(SmallBlocks(0.5).update(values[:middle], weights[:middle]).merge(sketch), values, weights)


@pytest.mark.kernels
@pytest.mark.parametrize("eps", [0.5, 0.11])
@pytest.mark.parametrize("kind", ["none", "uniform", "growing", "one heavy"])
def test_points_are_those_of_the_oracle(kind, eps):
    values, weights, _ = made(("ties" if kind == "uniform" else "normal", kind, 500, 1))
    sketch = SmallBlocks(eps).update(values, weights)
    weights = np.ones(500) if weights is None else weights
    points, masses, error = naive_points(values.tolist(), weights.tolist(), eps, 8)
    found = sketch.points()
    assert found[0].tolist() == points
    assert found[1].tolist() == masses
    assert sketch.error * sketch.total == pytest.approx(error, rel=1e-12)
    assert error > 0.0 or (kind == "uniform" and eps < 0.2)


def test_many_levels_are_reached_and_their_promise_kept():
    values = np.random.default_rng(0).permutation(60_000) * 1.0
    sketch = SmallBlocks(0.2).update(values)
    assert max(sketch._store.levels) >= 6
    assert 0.0 < sketch.error <= 0.2
    assert np.abs(sketch.rank(np.arange(60_000)) - np.arange(60_000) / 60_000).max() <= sketch.error + 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_ten_million_values_keep_the_promise_within_the_stated_memory(weighted):
    count = 10**7
    rng = np.random.default_rng(7)
    values = rng.normal(size=count)
    weights = rng.random(count) ** 4 if weighted else None
    sketch = sp.QuantileSketch(0.001).update(values, weights)
    order = np.argsort(values)
    below = np.arange(count) if weights is None else np.cumsum(weights[order]) - weights[order]
    total = float(count) if weights is None else float(weights.sum())
    places = np.linspace(0, count - 1, 100_001).astype(np.int64)
    found = sketch.rank(values[order[places]])
    assert np.abs(found - below[places] / total).max() <= sketch.error + 1e-9
    assert 0.0 < sketch.error <= 0.001
    # By the formula of the class: 9 + 9 + 12 + ... + 30 points a thousandth, and a block of 65 536.
    bound = 16 * (1000 * (9 + sum(3 * (level + 2) for level in range(1, 9))) + 2 * 9 + 65_536)
    assert most_bytes(0.001, count) == bound
    assert sketch.nbytes <= bound
    assert len(sketch.to_bytes()) <= sketch.nbytes + 300
