from dataclasses import replace

import numpy as np
import pytest

from spinney.errors import ModelFormatError
from spinney.tree import check, concatenate
from spinney.tree.forest import FOREST_DTYPES, NODE_DTYPES

LARGEST = np.iinfo(np.int64).max
SMALLEST = np.iinfo(np.int64).min


def test_a_sound_forest_passes(forest, chain):
    check(forest, columns=3, outputs=1)
    check(forest, columns=3, outputs=3)
    check(concatenate([chain]), columns=1, outputs=1)


@pytest.mark.parametrize("name", FOREST_DTYPES)
def test_an_array_of_another_type_is_refused_by_name(forest, name):
    wrong = replace(forest, **{name: getattr(forest, name).astype(np.float32)})
    with pytest.raises(ModelFormatError, match=f"'{name}' holds float32"):
        check(wrong, 3, 1)


@pytest.mark.parametrize("name", FOREST_DTYPES)
def test_an_array_of_foreign_byte_order_is_refused_unless_it_has_single_bytes(forest, name):
    array = getattr(forest, name)
    wrong = replace(forest, **{name: array.astype(array.dtype.newbyteorder())})
    if array.itemsize == 1:
        check(wrong, 3, 1)
    else:
        with pytest.raises(ModelFormatError, match=f"'{name}' holds"):
            check(wrong, 3, 1)


@pytest.mark.parametrize("name", FOREST_DTYPES)
def test_a_list_in_place_of_an_array_is_refused(forest, name):
    with pytest.raises(ModelFormatError, match=f"'{name}' holds list"):
        check(replace(forest, **{name: getattr(forest, name).tolist()}), 3, 1)


@pytest.mark.parametrize("name", FOREST_DTYPES)
def test_an_array_with_gaps_or_two_dimensions_is_refused(forest, name):
    array = getattr(forest, name)
    for wrong in (np.repeat(array, 2)[::2], array.reshape(1, -1)):
        with pytest.raises(ModelFormatError, match=f"'{name}' must be one row"):
            check(replace(forest, **{name: wrong}), 3, 1)


@pytest.mark.parametrize("name", NODE_DTYPES)
def test_an_array_of_another_length_is_refused(forest, name):
    with pytest.raises(ModelFormatError, match=r"entries for|there are 10 nodes"):
        check(replace(forest, **{name: getattr(forest, name)[:-1].copy()}), 3, 1)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([], "begin with 0"),
        ([1, 3, 4, 11], "begin with 0"),
        ([0, 3, 3, 11], "tree 1 begins at node 3 and ends at 3"),
        ([0, 4, 3, 11], "tree 1 begins at node 4 and ends at 3"),
        ([0, 3, 4, 12], "end at node 12 but there are 11"),
        ([0, 3, 4, 10], "end at node 10 but there are 11"),
        ([0, LARGEST, SMALLEST, 11], "tree 1 begins"),
        ([0, SMALLEST, 4, 11], "tree 0 begins"),
        ([0, 3, 4, LARGEST], "end at node"),
        ([0], "end at node 0 but there are 11"),
    ],
)
def test_trees_that_do_not_follow_each_other_are_refused(forest, start, message):
    with pytest.raises(ModelFormatError, match=message):
        check(replace(forest, start=np.array(start, np.int64)), 3, 1)


@pytest.mark.parametrize("outputs", [0, -1, 2, 4])
def test_trees_that_cannot_be_divided_among_the_outputs_are_refused(forest, outputs):
    with pytest.raises(ModelFormatError, match=f"3 trees cannot be divided evenly among {outputs} outputs"):
        check(forest, 3, outputs)


def test_a_column_that_the_table_lacks_is_refused(forest):
    with pytest.raises(ModelFormatError, match=r"tree 2, node 1 has feature 2; .* from 0 to 1"):
        check(forest, 2, 1)


# Tree 2 begins at node 4 of the forest: its root is 4, its inner nodes 4, 5, 6, its leaves 7 to 10.
@pytest.mark.parametrize(
    ("name", "node", "value", "message"),
    [
        ("feature", 4, -2, "tree 2, node 0 has feature -2"),
        ("feature", 5, 3, "tree 2, node 1 has feature 3"),
        ("feature", 5, 2**31 - 1, "tree 2, node 1 has feature"),
        ("feature", 5, -1, "tree 2, node 1 has threshold"),
        ("feature", 7, 0, "tree 2, node 3 has left 0"),
        ("threshold", 5, np.nan, "tree 2, node 1 has threshold nan"),
        ("threshold", 5, np.inf, "tree 2, node 1 has threshold inf"),
        ("threshold", 3, 1.0, "tree 1, node 0 has threshold 1.0; it must be 0 at a leaf"),
        ("default_left", 6, 2, "tree 2, node 2 has default_left 2"),
        ("default_left", 10, 1, "tree 2, node 6 has default_left 1; it must be 0 at a leaf"),
        ("value", 7, np.nan, "tree 2, node 3 has value nan"),
        ("value", 4, -np.inf, "tree 2, node 0 has value -inf"),
        ("gain", 4, -1.0, "tree 2, node 0 has gain -1.0"),
        ("gain", 4, np.nan, "tree 2, node 0 has gain nan"),
        ("gain", 1, 1.0, "tree 0, node 1 has gain 1.0; it must be 0 at a leaf"),
        ("cover", 0, -0.5, "tree 0, node 0 has cover -0.5"),
        ("cover", 0, np.inf, "tree 0, node 0 has cover inf"),
        ("count", 2, -1, "tree 0, node 2 has count -1"),
        ("left", 3, 1, "tree 1, node 0 has left 1; it must be 0 at a leaf"),
        ("left", 5, 0, "tree 2, node 1 has left 0; it must be greater"),
        ("left", 5, 1, "tree 2, node 1 has left 1; it must be greater"),
        ("left", 5, -1, "tree 2, node 1 has left -1; it must be greater"),
        ("left", 5, -(2**31), "tree 2, node 1 has left -2147483648; it must be greater"),
        ("left", 5, 6, "tree 2, node 1 has left 6; it must be so small"),
        ("left", 5, 7, "tree 2, node 1 has left 7; it must be so small"),
        ("left", 5, 2**31 - 1, "tree 2, node 1 has left 2147483647; it must be so small"),
        ("left", 5, 3, "tree 2, node 3 is the child of 2 nodes"),
        ("left", 5, 4, "tree 2, node 4 is the child of 2 nodes"),
        ("left", 4, 2, "tree 2, node 1 is the child of 0 nodes"),
    ],
)
def test_one_wrong_entry_is_refused_with_its_tree_and_node(forest, name, node, value, message):
    getattr(forest, name)[node] = value
    with pytest.raises(ModelFormatError, match=message):
        check(forest, 3, 1)


def test_a_node_that_no_walk_reaches_is_refused(stump, leaf):
    orphan = replace(concatenate([stump, leaf]), start=np.array([0, 4], np.int64))
    with pytest.raises(ModelFormatError, match="tree 0, node 3 is the child of 0 nodes"):
        check(orphan, 3, 1)
