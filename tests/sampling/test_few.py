"""Few rows of many."""

import numpy as np
import pytest

from spinney.sampling.few import few_rows


@pytest.mark.kernels
@pytest.mark.parametrize(("rows", "wanted"), [(1, 1), (5, 1), (5, 4), (5, 5), (300, 256)])
def test_rows_are_distinct_ascending_and_in_the_table(rows, wanted):
    chosen, seeds = few_rows(3, 0, 4, rows, wanted)
    assert chosen.shape == (4, wanted)
    assert (np.diff(chosen, axis=1) > 0).all()
    assert chosen.min() >= 0
    assert chosen.max() < rows
    assert len(set(seeds.tolist())) == 4


@pytest.mark.kernels
def test_a_trees_rows_follow_from_its_number_and_the_seed():
    together, seeds = few_rows(3, 0, 5, 1000, 16)
    alone, seed = few_rows(3, 4, 1, 1000, 16)
    assert together[4].tolist() == alone[0].tolist()
    assert seeds[4] == seed[0]
    assert together[0].tolist() != together[1].tolist()
    assert few_rows(4, 0, 1, 1000, 16)[0][0].tolist() != together[0].tolist()


@pytest.mark.parametrize("wanted", [5, 15])
def test_every_row_has_the_same_chance(wanted):
    chosen, _ = few_rows(1, 0, 4000, 20, wanted)
    np.testing.assert_allclose(np.bincount(chosen.ravel(), minlength=20) / 4000, wanted / 20, atol=0.03)
    pairs = (chosen == 3).any(axis=1) & (chosen == 17).any(axis=1)
    assert abs(pairs.mean() - wanted * (wanted - 1) / 380) < 0.03


def test_with_replacement_rows_come_again_each_draw_with_the_same_chances():
    weight = np.array([1.0, 0.0, 3.0])
    chosen, _ = few_rows(1, 0, 2000, 3, 4, replace=True, weight=weight)
    np.testing.assert_allclose(np.bincount(chosen.ravel(), minlength=3) / 8000, [0.25, 0, 0.75], atol=0.02)


def test_without_replacement_heavy_rows_come_first_as_in_numpys_draws():
    weight = np.array([8.0, 4.0, 2.0, 1.0, 1.0, 0.0])
    chosen, _ = few_rows(1, 0, 3000, 6, 3, weight=weight)
    rng = np.random.default_rng(0)
    other = [rng.choice(6, 3, replace=False, p=weight / weight.sum()) for _ in range(3000)]
    share = np.bincount(chosen.ravel(), minlength=6) / 3000
    np.testing.assert_allclose(share, np.bincount(np.ravel(other), minlength=6) / 3000, atol=0.03)
    assert share[5] == 0


@pytest.mark.kernels
def test_rows_of_hardly_any_weight_are_drawn_too_where_others_do_not_suffice():
    weight = np.full(50, 1e-12)
    weight[:3] = 1.0
    chosen, _ = few_rows(1, 0, 3, 50, 10, weight=weight)
    for one in chosen:
        assert len(set(one.tolist())) == 10
        assert {0, 1, 2} <= set(one.tolist())


@pytest.mark.kernels
def test_huge_weights_do_not_overflow():
    chosen, _ = few_rows(1, 0, 2, 40, 10, weight=np.full(40, 1e308))
    assert (np.diff(chosen, axis=1) > 0).all()
