import copy
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney as sp
from sketch_oracle import Exact, MediumBlocks, SmallBlocks, check_quantiles
from spinney.binning.sketch_state import BLOCK, BUDGET, MOST_COUNT, MOST_LEVEL
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError

finite = st.floats(allow_nan=False, allow_infinity=False)
few = st.integers(-3, 3).map(float)


@pytest.mark.kernels
def test_terciles_of_weighted_values_follow_the_weight():
    sketch = sp.QuantileSketch().update([1, 2, 3, 4, 5], [0.1, 0.1, 0.5, 0.2, 0.1])
    assert sketch.quantile(1 / 3) == 3.0
    assert sketch.quantile(2 / 3) == 3.0
    assert sp.QuantileSketch().update([1, 2, 3, 4, 5]).quantile([1 / 3, 2 / 3]).tolist() == [2.0, 4.0]


@pytest.mark.kernels
def test_four_parts_of_ten_values_are_cut_at_the_quartiles():
    values = [1.2, 2.3, 2.8, 3.5, 4.1, 5.0, 5.5, 6.2, 7.8, 9.1]
    for order in (values, values[::-1]):
        assert sp.QuantileSketch().update(order).cuts(4).tolist() == [2.8, 4.55, 6.2]


@pytest.mark.kernels
@pytest.mark.parametrize("k", [4, 5, 10, 255])
def test_distinct_values_that_fit_are_all_cut_apart(k):
    values = np.array([1.2, 3.5, 3.5, 4.1, 7.8])
    cuts = sp.QuantileSketch().update(values).cuts(k)
    assert len(cuts) == 3
    assert np.searchsorted(cuts, values).tolist() == [0, 1, 1, 2, 3]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.one_of(finite, few), min_size=1, max_size=40), st.integers(0, 12), st.integers(1, 12))
def test_few_values_are_answered_exactly(values, part, parts):
    sketch, exact = sp.QuantileSketch(0.5).update(values), Exact(values)
    q = min(part, parts) / parts
    share = Fraction(min(part, parts), parts)
    expected = exact.values[0] if q == 0 else exact.quantile(share)
    with np.errstate(over="ignore"):
        assert sketch.quantile(q) == pytest.approx(expected, rel=1e-15) or not np.isfinite(expected)
    assert sketch.rank(exact.values).tolist() == exact.shares().tolist()
    assert sketch.error == 0.0


def test_quantiles_are_those_of_numpy_s_averaged_inverted_cdf():
    values = np.random.default_rng(0).normal(size=999)
    q = np.arange(1, 1000) / 1000
    expected = np.quantile(values, q, method="averaged_inverted_cdf")
    assert sp.QuantileSketch().update(values).quantile(q) == pytest.approx(expected, rel=1e-14)


def test_the_answer_has_the_shape_of_the_question():
    sketch = sp.QuantileSketch().update(np.arange(10))
    assert isinstance(sketch.quantile(0.5), float)
    assert isinstance(sketch.rank(3), float)
    assert sketch.quantile([[0.1, 0.2], [0.3, 1.0]]).shape == (2, 2)
    assert sketch.rank(np.zeros((3, 1))).shape == (3, 1)
    assert sketch.quantile([]).shape == (0,)


def test_the_extremes_are_the_smallest_and_the_largest_value_seen():
    values = np.random.default_rng(1).permutation(5000.0 * np.arange(5000))
    sketch = SmallBlocks(0.5).update(values)
    assert sketch.quantile([0, 1]).tolist() == [values.min(), values.max()]
    assert sketch.rank([-np.inf, 0.0, np.inf]).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.kernels
def test_one_value_and_equal_values_have_themselves_as_quantiles_and_no_cut():
    for values in ([7.0], [7.0] * 100, [0.0, -0.0]):
        sketch = SmallBlocks(0.1).update(values)
        assert sketch.quantile([0, 0.3, 1]).tolist() == [values[0]] * 3
        assert sketch.cuts(5).tolist() == []
        assert sketch.rank([values[0], 8.0]).tolist() == [0.0, 1.0]


def test_an_empty_sketch_has_no_answers():
    sketch = sp.QuantileSketch().update([]).update([np.nan]).update([1.0], [0.0])
    assert (sketch.count, sketch.missing, sketch.total, sketch.error) == (0, 1, 0.0, 0.0)
    for ask in (lambda: sketch.quantile(0.5), lambda: sketch.rank(0.0), lambda: sketch.cuts(3)):
        with pytest.raises(DataError, match="the sketch is empty"):
            ask()
    assert sketch.merge(sp.QuantileSketch()).count == 0
    assert sketch.update([3.0]).quantile(0.5) == 3.0


@pytest.mark.kernels
def test_missing_values_are_counted_and_weightless_ones_are_not():
    values, weights = [1.0, np.nan, 2.0, 3.0, np.nan], [1.0, 1.0, 0.0, 2.5, 0.0]
    sketch = SmallBlocks(0.1).update(values, weights)
    assert (sketch.count, sketch.missing, sketch.total) == (2, 2, 3.5)
    assert sketch.quantile([0.1, 0.9]).tolist() == [1.0, 3.0]
    assert sketch.merge(sketch).missing == 4


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", ">f8", "i1", "u8", "i8", "?", "O"])
def test_numbers_of_any_type_are_read(dtype):
    values = np.array([1, 0, 1, 1], dtype=dtype)
    assert sp.QuantileSketch().update(values).quantile([0.1, 0.9]).tolist() == [0.0, 1.0]
    assert sp.QuantileSketch().update(values[::-2]).count == 2


def test_a_column_of_a_frame_is_read_with_its_nulls():
    import polars as pl

    sketch = sp.QuantileSketch().update(pl.Series([1, None, 3]), pl.Series([1, 2, 3]))
    assert (sketch.count, sketch.missing, sketch.total) == (2, 1, 4.0)


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([1.0, np.inf], None, "values holds inf in row 1"),
        ([1.0, 2.0, -np.inf], [1, 1, 0], "values holds -inf in row 2"),
        ([1.0, 2.0], [1.0, -0.5], "weights holds -0.5 in row 1"),
        ([1.0, 2.0], [np.nan, 1.0], "weights holds nan in row 0"),
        ([1.0, 2.0], [np.inf, 1.0], "weights holds inf in row 0"),
        ([1.0, 2.0], [1.0], "weights has 1 values, but values has 2"),
        ([[1.0, 2.0]], None, "should be a 1d array"),
        ([1.0, 2.0], [1e308, 1e308], "add up to more than"),
        ([1.0] * 20, [1e308] * 20, "add up to more than"),
    ],
)
def test_what_cannot_be_used_is_an_error_and_changes_nothing(values, weights, message):
    sketch = SmallBlocks(0.1).update(np.arange(50.0))
    before = sketch.to_bytes()
    with pytest.raises(DataError, match=message):
        sketch.update(values, weights)
    assert sketch.to_bytes() == before


def test_wrong_arguments_are_named():
    sketch = sp.QuantileSketch().update([1.0])
    for eps in (0.0, -1.0, 0.6, np.nan, 1e-9):
        with pytest.raises(ParameterError, match="eps"):
            sp.QuantileSketch(eps)
    with pytest.raises(ParameterTypeError, match="eps"):
        sp.QuantileSketch("small")
    for q in (-0.1, 1.1, np.nan, [0.5, 2.0]):
        with pytest.raises(ParameterError, match=r"q = .* must be from 0 to 1"):
            sketch.quantile(q)
    with pytest.raises(ParameterTypeError, match="q must be a number"):
        sketch.quantile("half")
    with pytest.raises(ParameterError, match="z holds NaN"):
        sketch.rank([0.0, np.nan])
    with pytest.raises(ParameterError, match="k = 0"):
        sketch.cuts(0)
    with pytest.raises(ParameterTypeError, match="k must be a whole number"):
        sketch.cuts(2.5)
    with pytest.raises(DataTypeError, match="text"):
        sketch.update(["a"])
    with pytest.raises(DataTypeError, match=r"other must be a spinney\.QuantileSketch, got list"):
        sketch.merge([1.0])
    with pytest.raises(DataError, match=r"eps = 0\.1 cannot be merged into one of eps = 0\.001"):
        sketch.merge(sp.QuantileSketch(0.1))


def test_cuts_part_the_weight_about_evenly():
    rng = np.random.default_rng(2)
    values, weights = rng.lognormal(size=20_000), rng.random(20_000)
    sketch, exact = MediumBlocks(0.01).update(values, weights), Exact(values, weights)
    for k in (2, 7, 20):
        found = [exact.share(cut, "right") for cut in sketch.cuts(k)]
        assert found == pytest.approx(np.arange(1, k) / k, abs=0.01 + 1e-3)
    assert sketch.cuts(1).tolist() == []


def test_a_heavy_value_leaves_fewer_cuts():
    values = np.concatenate([np.full(900, 5.0), np.arange(100.0)])
    cuts = sp.QuantileSketch().update(values).cuts(10)
    assert cuts.tolist() == sorted(set(cuts.tolist()))
    assert len(cuts) < 9
    assert 5.0 in cuts


@pytest.mark.kernels
def test_batches_of_any_size_give_the_same_sketch():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(150) < 0.1, np.nan, rng.normal(size=150))
    weights = np.where(rng.random(150) < 0.1, 0.0, rng.random(150))
    for mass in (None, weights):
        found = set()
        for size in (1, 7, 8, 64, 150):
            sketch = SmallBlocks(0.3)
            for i in range(0, 150, size):
                sketch.update(values[i : i + size], None if mass is None else mass[i : i + size])
            found.add(sketch.to_bytes())
        assert len(found) == 1


def test_weights_of_one_are_no_weights_and_float32_is_float64():
    values = np.random.default_rng(4).normal(size=1000).astype(np.float32)
    plain = SmallBlocks(0.1).update(values).to_bytes()
    assert SmallBlocks(0.1).update(values, np.ones(1000)).to_bytes() == plain
    assert SmallBlocks(0.1).update(values.astype(np.float64)).to_bytes() == plain
    halves = SmallBlocks(0.1).update(values[:499]).update(values[499:], np.ones(501))
    assert halves.to_bytes() == plain


def test_any_number_of_threads_gives_the_same_sketch():
    rng = np.random.default_rng(5)
    values = np.where(rng.random(5 * BLOCK) < 0.01, np.nan, rng.normal(size=5 * BLOCK))
    weights = rng.random(5 * BLOCK)
    for mass in (None, weights):
        found = {sp.QuantileSketch(n_jobs=jobs).update(values, mass).to_bytes() for jobs in (1, 2, 3, 8)}
        assert len(found) == 1


def test_merging_leaves_the_other_sketch_alone_and_a_sketch_merges_with_itself():
    values = np.random.default_rng(6).normal(size=777)
    other = SmallBlocks(0.1).update(values)
    before = other.to_bytes()
    sketch = SmallBlocks(0.1).update(values[:55]).merge(other)
    assert other.to_bytes() == before
    assert (sketch.count, sketch.total) == (832, 832.0)
    sketch.update(values)
    assert other.to_bytes() == before
    assert other.merge(other).count == 1554
    check_quantiles(other, Exact(values), np.linspace(0.05, 0.95, 19))


def test_a_sketch_can_be_copied_and_pickled():
    sketch = sp.QuantileSketch(0.1).update(np.arange(100.0))
    for twin in (copy.deepcopy(sketch), pickle.loads(pickle.dumps(sketch))):
        assert twin.to_bytes() == sketch.to_bytes()
        assert twin.update([5.0]).to_bytes() != sketch.to_bytes()


def test_the_allowances_of_all_levels_are_less_than_eps():
    shares = [Fraction(1, 3 * (level + 2)) for level in range(1, MOST_LEVEL + 1)]
    assert pytest.approx([0.0, *map(float, itertools.accumulate(shares))]) == BUDGET.tolist()
    assert sum(shares) < Fraction(995, 1000)
    assert 2 ** (MOST_LEVEL - 1) * BLOCK >= MOST_COUNT


def test_a_sketch_that_was_merged_with_itself_too_often_is_full():
    sketch = sp.QuantileSketch(0.5).update(np.arange(BLOCK, dtype=np.float64))
    while sketch.count < MOST_COUNT // 2:
        sketch.merge(sketch)
        assert sketch.error <= 0.5
    assert sketch.quantile(0.5) == pytest.approx(BLOCK / 2, abs=BLOCK / 4)
    with pytest.raises(DataError, match="too many"):
        sketch.merge(sketch)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_that_differ_in_their_last_bits_only_are_told_apart(weighted):
    rng = np.random.default_rng(8)
    count = 2 * BLOCK
    near = 1.0 + rng.integers(0, 30_000, count) * 2.0**-52
    few = np.where(rng.random(count) < 0.002, near, rng.normal(size=count))
    # Values that only a full sort puts in order, some for which a few steps do, and some that are in order.
    for values in (near, -near, few, np.sort(near)):
        weights = rng.integers(1, 4, count) * 1.0 if weighted else np.ones(count)
        points, masses = sp.QuantileSketch(1e-6).update(values, weights).points()
        distinct, place = np.unique(values, return_inverse=True)
        assert np.array_equal(points, distinct)
        assert np.array_equal(masses, np.bincount(place, weights))


@pytest.mark.kernels
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 41.0)])
def test_a_small_block_of_near_values_is_sorted(weights):
    values = 1.0 + np.random.default_rng(9).permutation(40) * 2.0**-52
    order = np.argsort(values)
    points, masses = SmallBlocks(0.01).update(values, weights).points()
    assert points.tolist() == values[order].tolist()
    assert masses.tolist() == ([1.0] * 40 if weights is None else weights[order].tolist())


def test_a_copy_goes_its_own_way():
    sketch = sp.QuantileSketch(0.1).update([1.0, 2.0])
    for other in (copy.copy(sketch), copy.deepcopy(sketch), pickle.loads(pickle.dumps(sketch))):
        other.update([3.0, 4.0])
        assert (sketch.count, sketch.quantile(1.0)) == (2, 2.0)
        assert (other.count, other.quantile(1.0)) == (4, 4.0)


@pytest.mark.parametrize(
    "wrong", ["5", True, None, 10**400, np.datetime64("2020-01-01"), [[1.0], [1.0, 2.0]]]
)
def test_places_and_shares_must_be_numbers(wrong):
    sketch = sp.QuantileSketch().update([1.0])
    for ask in (sketch.rank, sketch.quantile):
        with pytest.raises(TypeError, match="must be a number or an array of numbers"):
            ask(wrong)
