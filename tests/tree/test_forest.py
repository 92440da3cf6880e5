import numpy as np
import pytest

from spinney.tree import Tree, check, concatenate
from spinney.tree.forest import FOREST_DTYPES, NODE_DTYPES


def test_concatenate_puts_the_nodes_of_the_trees_one_after_another(forest, stump, bushy):
    assert (forest.trees, forest.nodes) == (3, 11)
    assert forest.start.tolist() == [0, 3, 4, 11]
    for name in NODE_DTYPES:
        assert getattr(forest, name)[:3].tolist() == getattr(stump, name).tolist()
        assert getattr(forest, name)[4:].tolist() == getattr(bushy, name).tolist()


def test_concatenate_gives_contiguous_arrays_of_the_promised_types(forest):
    for name, dtype in FOREST_DTYPES.items():
        array = getattr(forest, name)
        assert array.dtype == dtype
        assert array.flags.c_contiguous


def test_concatenate_copies(stump):
    forest = concatenate([stump])
    stump.value[1] = 99.0
    assert forest.value[1] == -1.0


def test_concatenate_refuses_arrays_of_another_type(stump):
    stump = Tree(**{**vars(stump), "left": stump.left.astype(np.int64)})
    with pytest.raises(TypeError):
        concatenate([stump])


def test_a_forest_may_have_no_trees():
    empty = concatenate([])
    assert (empty.trees, empty.nodes) == (0, 0)
    check(empty, columns=1, outputs=4)


def test_a_tree_of_a_forest_equals_the_one_put_in(forest, stump, leaf, bushy):
    for t, tree in enumerate([stump, leaf, bushy]):
        assert concatenate([forest.tree(t)]).equal(concatenate([tree]))


def test_a_tree_of_a_forest_shares_its_memory(forest):
    assert np.shares_memory(forest.tree(2).value, forest.value)


@pytest.mark.parametrize("t", [-1, 3])
def test_a_tree_outside_the_forest_is_an_index_error(forest, t):
    with pytest.raises(IndexError, match=f"tree {t} .* 3 trees"):
        forest.tree(t)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_the_first_trees_are_the_forest_of_those_trees(forest, stump, leaf, bushy, k):
    assert forest.first(k).equal(concatenate([stump, leaf, bushy][:k]))
    check(forest.first(k), columns=3, outputs=1)


@pytest.mark.parametrize("k", [-1, 4])
def test_more_trees_than_there_are_is_an_index_error(forest, k):
    with pytest.raises(IndexError, match=f"first {k} trees"):
        forest.first(k)


def test_depth_is_the_number_of_splits_on_the_longest_path(forest, chain):
    assert [forest.depth(t) for t in range(3)] == [1, 0, 2]
    assert chain.depth == 5_000


def test_leaves_are_counted(forest, chain):
    assert [forest.tree(t).leaves for t in range(3)] == [2, 1, 4]
    assert chain.leaves == 5_001


def test_walk_visits_a_node_before_its_children_and_left_before_right(forest):
    assert list(forest.walk(1)) == [(0, 0)]
    assert list(forest.walk(2)) == [(0, 0), (1, 1), (5, 2), (6, 2), (2, 1), (3, 2), (4, 2)]


def test_walk_visits_each_node_once_however_deep(chain):
    assert sorted(node for node, _ in chain.walk()) == list(range(chain.nodes))


@pytest.mark.parametrize("name", FOREST_DTYPES)
def test_forests_that_differ_in_one_entry_are_not_equal(forest, stump, leaf, bushy, name):
    other = concatenate([stump, leaf, bushy])
    assert forest.equal(other)
    getattr(other, name)[-1] += 1
    assert not forest.equal(other)


def test_forests_that_differ_in_the_sign_of_a_zero_are_not_equal(forest, stump, leaf, bushy):
    other = concatenate([stump, leaf, bushy])
    other.value[0] = -0.0
    assert not forest.equal(other)


def test_a_read_only_forest_cannot_be_written_to_and_leaves_the_first_writable(forest):
    locked = forest.read_only()
    for name in FOREST_DTYPES:
        with pytest.raises(ValueError, match="read-only"):
            getattr(locked, name)[0] = 0
    forest.value[0] = 1.0
    assert locked.equal(forest)
