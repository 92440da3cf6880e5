import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import oracles
from spinney.binning.cuts import SAMPLE, find_cuts, sample_rows
from spinney.data import read_table
from spinney.jit.team import Team

finite = st.floats(allow_nan=False, allow_infinity=False)
few = st.integers(-3, 3).map(float)
numbers = st.one_of(st.just(float("nan")), st.sampled_from([0.0, -0.0, 5e-324, -5e-324]), finite, few)


def cuts(values, max_bin=255, weight=None, threads=1, spread=False):
    """Cuts of one column."""
    with Team(threads) as team:
        return find_cuts(
            read_table(np.asarray(values).reshape(-1, 1)), weight, max_bin, team, spread=spread
        ).values


@pytest.mark.kernels
@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(numbers, min_size=1, max_size=40), st.sampled_from([2, 3, 5, 16, 255]))
def test_cuts_are_those_of_the_oracle(values, max_bin):
    values = np.array(values)
    assert cuts(values, max_bin).tolist() == oracles.cuts_of(values, max_bin).tolist()


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(numbers, st.sampled_from([0.0, 1.0, 0.1, 3.0, 1e30, 1e-30])), min_size=1, max_size=60),
    st.sampled_from([2, 3, 5, 16]),
)
def test_weighted_cuts_are_those_of_the_oracle(rows, max_bin):
    values, weight = np.array(rows).T.copy()
    assert cuts(values, max_bin, weight).tolist() == oracles.cuts_of(values, max_bin, weight).tolist()


@pytest.mark.kernels
@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(numbers, st.sampled_from([0.0, 1.0, 0.1, 3.0, 1e30, 1e-30])), min_size=1, max_size=40),
    st.sampled_from([2, 3, 5, 16]),
    st.booleans(),
)
def test_spread_cuts_are_those_of_the_oracle_for_dense_and_sparse_columns(rows, max_bin, weighted):
    values, weight = np.array(rows).T.copy()
    weight = weight if weighted else None
    found = cuts(values, max_bin, weight, spread=True)
    assert found.tolist() == oracles.cuts_of(values, max_bin, weight, spread=True).tolist()
    with Team(1) as team:
        sparse = find_cuts(read_table(csr_array(values[:, None])), weight, max_bin, team, spread=True).values
    assert sparse.tolist() == found.tolist()


def test_spread_bins_of_a_long_tail_are_narrower_than_those_of_quantiles():
    values = np.exp(np.random.default_rng(0).normal(size=2000) * 2)
    squares = []
    for spread in (False, True):
        bins = np.searchsorted(cuts(values, 64, spread=spread), values)
        means = np.bincount(bins, values) / np.bincount(bins)
        squares.append(np.mean((values - means[bins]) ** 2))
    assert squares[1] < 0.02 * squares[0]


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(finite, min_size=2, max_size=50), st.sampled_from([2, 4, 9]))
def test_a_cut_lies_between_two_neighbouring_values(values, max_bin):
    found = cuts(np.array(values), max_bin)
    distinct = np.unique(np.array(values) + 0.0)
    place = np.searchsorted(distinct, found, side="right")
    assert len(found) < max_bin
    assert np.all(np.diff(place) > 0)
    assert np.all((distinct[place - 1] <= found) & (found < distinct[place]))


@pytest.mark.parametrize("distinct", [1, 2, 254, 255, 256, 257, 300])
@pytest.mark.parametrize("max_bin", [2, 254, 255, 256, 257])
def test_a_column_has_a_bin_for_each_value_as_long_as_they_fit(distinct, max_bin):
    values = np.random.default_rng(distinct).permutation(np.repeat(np.arange(distinct) * 0.5, 3))
    found = cuts(values, max_bin)
    assert found.tolist() == oracles.cuts_of(values, max_bin).tolist()
    if distinct <= max_bin:
        assert found.tolist() == (np.arange(distinct - 1) * 0.5 + 0.25).tolist()
    else:
        assert len(found) == max_bin - 1


@pytest.mark.parametrize("max_bin", [65_535, 65_536])
def test_the_most_bins_of_a_column_are_65_535(max_bin):
    values = np.arange(65_540.0)
    found = cuts(values, max_bin)
    assert len(found) == 65_534
    assert found.tolist() == oracles.cuts_of(values, max_bin).tolist()
    assert len(cuts(values[:65_535], max_bin)) == 65_534
    assert len(cuts(values[:65_534], max_bin)) == 65_533


def test_a_value_as_heavy_as_an_average_bin_has_one_of_its_own():
    values = np.concatenate([np.zeros(500), np.linspace(1, 2, 500), np.full(200, 1.5)])
    found = cuts(values, 10)
    assert found.tolist() == oracles.cuts_of(values, 10).tolist()
    counts = np.bincount(oracles.bins_of(values, found))
    assert counts[0] == 500
    assert counts[oracles.bins_of(np.array([1.5]), found)[0]] == pytest.approx(200, abs=1)
    others = np.delete(counts, [0, oracles.bins_of(np.array([1.5]), found)[0]])
    assert others.max() <= 1.5 * others.min()


def test_bins_of_a_smooth_column_hold_about_the_same_number_of_rows():
    values = np.random.default_rng(0).lognormal(size=5000)
    counts = np.bincount(oracles.bins_of(values, cuts(values, 100)))
    assert len(counts) == 100
    assert counts.min() >= 49
    assert counts.max() <= 51


@pytest.mark.kernels
@pytest.mark.parametrize("values", [[np.nan, np.nan], [4.0], [4.0, 4.0, np.nan], [0.0, -0.0]])
def test_a_column_of_at_most_one_value_has_no_cut(values):
    assert cuts(values).tolist() == []


def test_a_row_without_weight_does_not_count():
    values = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    assert cuts(values, weight=np.array([1.0, 0.0, 1.0, 1.0, 1.0])).tolist() == [2.0, 3.5]
    assert cuts(values, weight=np.array([0.0, 0.0, 0.0, 0.0, 1.0])).tolist() == []


def test_cuts_of_float32_are_those_of_the_same_numbers_as_float64():
    values = np.random.default_rng(1).normal(size=3000).astype(np.float32)
    assert cuts(values, 50).tobytes() == cuts(values.astype(np.float64), 50).tobytes()


def test_any_number_of_threads_gives_the_same_cuts():
    rng = np.random.default_rng(2)
    table = read_table(np.where(rng.random((400, 70)) < 0.1, np.nan, rng.normal(size=(400, 70))))
    weight = rng.random(400)
    found = []
    for threads in (1, 2, 3, 8):
        with Team(threads) as team:
            made = find_cuts(table, weight, 40, team)
            found.append((made.values.tobytes(), made.starts.tobytes()))
    assert len(set(found)) == 1


def test_cuts_stand_one_column_after_another():
    X = np.column_stack([np.arange(6.0), np.full(6, 3.0), [0, 0, 1, 1, np.nan, np.nan]])
    with Team(1) as team:
        found = find_cuts(read_table(X), None, 255, team)
    assert found.starts.tolist() == [0, 5, 5, 6]
    assert found.bins.tolist() == [6, 1, 2]
    assert found.values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 0.5]


def test_the_threshold_behind_a_bin_is_its_cut_and_behind_the_last_bin_the_largest_number():
    X = np.column_stack([np.arange(4.0), np.full(4, 3.0)])
    with Team(1) as team:
        found = find_cuts(read_table(X), None, 255, team)
    largest = np.finfo(np.float64).max
    assert found.thresholds()(np.array([0, 0, 0, 1]), np.array([0, 2, 3, 0])).tolist() == [
        0.5,
        2.5,
        largest,
        largest,
    ]


@pytest.mark.parametrize("rows", [1, 7, SAMPLE])
def test_up_to_the_size_of_the_sample_every_row_is_looked_at(rows):
    assert np.array_equal(sample_rows(rows), np.arange(rows))


@pytest.mark.parametrize("rows", [SAMPLE + 1, 3 * SAMPLE - 1, 1_000_003, 2**31 - 1])
def test_of_many_rows_one_is_taken_from_each_stretch(rows):
    picks = sample_rows(rows)
    stretch = np.arange(SAMPLE + 1) * rows // SAMPLE
    assert len(picks) == SAMPLE
    assert np.all((stretch[:-1] <= picks) & (picks < stretch[1:]))


def test_cuts_of_many_rows_are_those_of_the_sample():
    values = np.random.default_rng(3).normal(size=SAMPLE + 5_000)
    assert cuts(values, 20).tolist() == oracles.cuts_of(values[sample_rows(len(values))], 20).tolist()
