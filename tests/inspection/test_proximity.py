import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from sklearn_forests import converted
from spinney.errors import DataError, ParameterError
from spinney.inspection import leaf_neighbours
from spinney.inspection.leaf_neighbours import proximity


def naive_proximity(leaves, others, used=None):
    """Share of the trees that count in which two rows share a leaf; leaves are (rows, trees)."""
    found = np.full((len(leaves), len(others)), np.nan)
    for i in range(len(leaves)):
        for j in range(len(others)):
            trees = [t for t in range(leaves.shape[1]) if used is None or (used[t, i] and used[t, j])]
            if trees:
                found[i, j] = np.mean([leaves[i, t] == others[j, t] for t in trees])
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["classes", "outputs", "numbers"])
def test_rows_are_as_near_as_the_share_of_trees_in_which_they_share_a_leaf(forest, name):
    case = forest(name)
    leaves = case.sklearn.apply(case.matrix)
    found = proximity(case.model, case.table)
    np.testing.assert_allclose(found, naive_proximity(leaves, leaves), rtol=1e-12)
    assert (np.diag(found) == 1).all()
    assert np.array_equal(found, found.T)


@pytest.mark.kernels
def test_out_of_bag_only_trees_count_that_saw_neither_row(forest):
    case = forest("few trees")
    leaves = case.sklearn.apply(case.matrix)
    found = proximity(case.model, case.table, out_of_bag=True)
    np.testing.assert_allclose(found, naive_proximity(leaves, leaves, case.out), rtol=1e-12)
    assert np.isnan(found).any()
    some_tree = case.out.any(axis=0)
    assert (np.diag(found)[some_tree] == 1).all()


def test_two_tables_are_compared_row_by_row(forest):
    case = forest("classes")
    few = case.table.take(np.arange(70) % 9 == 0)
    whole = proximity(case.model, case.table)
    assert np.array_equal(proximity(case.model, few, case.table), whole[::9])
    assert np.array_equal(proximity(case.model, case.table, few), whole[:, ::9])


def test_the_proximities_of_a_single_tree_are_0_or_1(forest):
    case = forest("one tree")
    assert set(np.unique(proximity(case.model, case.table))) == {0.0, 1.0}


def test_too_many_rows_are_refused_before_any_memory_is_allocated(forest, monkeypatch):
    case = forest("classes")
    monkeypatch.setattr(leaf_neighbours, "MOST_PAIRS", 70 * 69)
    with pytest.raises(
        DataError, match=r"the proximities of 70 and 70 rows would take .* compare fewer rows"
    ):
        proximity(case.model, case.table)


def test_out_of_bag_is_for_the_training_table_of_a_forest_with_bags(forest):
    case = forest("classes")
    with pytest.raises(DataError, match="give no other table"):
        proximity(case.model, case.table, case.table, out_of_bag=True)
    with pytest.raises(DataError, match="X has 8"):
        proximity(case.model, case.table.take(np.arange(70) < 8), out_of_bag=True)
    case = forest(
        converted(
            RandomForestClassifier(2, bootstrap=False, random_state=0), np.arange(4.0)[:, None], [0, 1, 0, 1]
        )
    )
    with pytest.raises(ParameterError, match=r"proximity out of bag needs .* bootstrap=True"):
        proximity(case.model, case.table, out_of_bag=True)


def test_neither_threads_nor_the_size_of_calls_change_a_bit(forest, monkeypatch):
    case = forest("classes")
    whole = proximity(case.model, case.table)
    apart = proximity(case.model, case.table, out_of_bag=True)
    monkeypatch.setattr(leaf_neighbours, "SHARE_PAIRS", 1)
    monkeypatch.setattr(leaf_neighbours, "CALL_PAIRS", 70 * 13 * 9)
    monkeypatch.setattr(leaf_neighbours, "CELLS", 70 * 4)
    for n_jobs in (1, 2, 3):
        assert np.array_equal(proximity(case.model, case.table, n_jobs=n_jobs), whole)
        assert np.array_equal(
            proximity(case.model, case.table, out_of_bag=True, n_jobs=n_jobs), apart, equal_nan=True
        )
