"""A compact forest that could lead a walk astray is refused, with the place and the value found."""

from dataclasses import replace

import numpy as np
import pytest

from compact_forests import random_forest
from spinney.errors import ModelFormatError
from spinney.tree import CompactForest, check_compact

CATEGORIES = np.array([0, 70, 0, 3])
LARGEST = 2**63 - 1


def checked(forest, classes=(3,), outputs=1, categories=CATEGORIES, columns=4):
    check_compact(forest, columns, classes, outputs, categories)


def sound():
    return random_forest(11, [6, 0, 9, 3], classes=(3,), categories=tuple(CATEGORIES))


def changed(name, index, value, dtype=None):
    def attack(forest):
        array = getattr(forest, name).astype(dtype or getattr(forest, name).dtype)
        array[index] = value
        return replace(forest, **{name: array})

    return attack


def whole(name, change):
    return lambda forest: replace(forest, **{name: change(getattr(forest, name))})


def numeric_split(forest):
    return int(np.flatnonzero(forest.numeric)[0])


ATTACKS = {
    "array of another type": (whole("gain", lambda a: a.astype(np.float16)), "'gain' holds float16; it must hold float32"),
    "wider type than any": (whole("count", lambda a: a.astype(np.int64)), "'count' holds int64"),
    "other byte order": (whole("children", lambda a: a.astype(">i4")), "'children' holds >i4"),
    "two dimensions": (whole("value", lambda a: a.reshape(-1, 3)), "'value' must be one row"),
    "gaps": (whole("weight", lambda a: np.repeat(a, 2)[::2]), "'weight' must be one row"),
    "splits begin late": (changed("split_start", 0, 1), "'split_start' must lead from 0 to 18"),
    "splits end early": (changed("split_start", -1, 17), "'split_start' must lead from 0 to 18"),
    "splits go back": (changed("split_start", 1, LARGEST), "'split_start' must lead from 0"),
    "leaves go back": (changed("leaf_start", 1, -LARGEST - 1), "'leaf_start' must lead from 0"),
    "no starts": (whole("leaf_start", lambda a: a[:0]), "'leaf_start' must lead from 0"),
    "leaves of fewer trees": (whole("leaf_start", lambda a: a[[0, 2, 3, 4]]), "'leaf_start' is of 3 trees, 'split_start' of 4"),
    "a leaf too few": (changed("leaf_start", 1, 6), "tree 0 has 6 splits and 6 leaves"),
    "a split without column": (whole("column", lambda a: a[:-1]), "'split_start' must lead from 0 to 17"),
    "a split without cut": (whole("cut", lambda a: a[:-1]), "'cut' has 17 entries for 18 splits"),
    "a child too few": (whole("children", lambda a: a[:-1]), "'children' has 35 entries"),
    "a value too few": (whole("value", lambda a: a[:-1]), "'value' has 65 entries"),
    "a count too few": (whole("count", lambda a: a[:-1]), "'count' has 21 entries"),
    "a column too few": (whole("cut_start", lambda a: a[:-1]), "'cut_start' has 4 entries; 4 columns need 5"),
    "cuts go back": (changed("cut_start", 1, LARGEST), "'cut_start' must lead from 0"),
    "cuts descend": (changed("cuts", 0, 1e9), "column 0 has the cut .* after 1000000000.0; cuts must ascend"),
    "cuts are equal": (lambda f: changed("cuts", 1, f.cuts[0])(f), "cuts must ascend"),
    "a cut is NaN": (changed("cuts", 0, np.nan), "'cuts' holds nan"),
    "a cut is infinite": (changed("cuts", -1, np.inf), "'cuts' holds inf"),
    "column out of range": (changed("column", 7, 4), "tree 2, split 1 has column 4; it must be one from 0 to 3"),
    "column far out of range": (changed("column", 7, 2**32 - 1, np.uint32), "tree 2, split 1 has column 4294967295"),
    "cut out of range": (lambda f: changed("cut", numeric_split(f), 999)(f), "has cut 999; it must be the number of a cut"),
    "missing values nowhere": (changed("default_left", 3, 2), "tree 0, split 3 has default_left 2; it must be 0 or 1"),
    "gain is NaN": (changed("gain", 6, np.nan), "tree 2, split 0 has gain nan; it must be finite"),
    "gain below 0": (changed("gain", 6, -1), "tree 2, split 0 has gain -1.0; it must be 0 or more"),
    "own child": (changed("children", 0, 0), "tree 0, split 0 has children 0; it must be after its own split"),
    "child before": (changed("children", 5, 1), "tree 0, split 2 has children 1; it must be after its own split"),
    "child of another tree": (changed("children", 0, 6), "tree 0, split 0 has children 6; it must be a split of its tree"),
    "largest child": (changed("children", 0, 2**31 - 1), "it must be a split of its tree"),
    "leaf of another tree": (changed("children", 0, ~7), "tree 0, split 0 has children -8; it must be a leaf of its tree"),
    "smallest child": (changed("children", 0, -(2**31)), "it must be a leaf of its tree"),
    "a leaf twice": (lambda f: doubled(f, leaf=True), "tree 0, leaf . is the child of . splits; it must have one parent"),
    "a split twice": (lambda f: doubled(f, leaf=False), "is the child of . splits; it must have one parent"),
    "sets go back": (changed("set_start", 1, LARGEST), "'set_start' must lead from 0"),
    "no starts of sets": (whole("set_start", lambda a: a[:0]), "'set_start' must lead from 0"),
    "sets too short": (lambda f: shorter(f), "a bit for every category"),
    "sets in another order": (lambda f: other_order(f), "sets 0, 1, 2, ... in this order"),
    "no rows": (changed("count", 7, 0), "tree 1, leaf 0 has count 0; it must be 1 or more"),
    "no weight": (changed("weight", 7, 0), "tree 1, leaf 0 has weight 0; it must be above 0"),
    "weight is NaN": (changed("weight", 7, np.nan, float), "tree 1, leaf 0 has weight nan; it must be finite"),
    "weight below 0": (changed("weight", 7, -1.0, float), "tree 1, leaf 0 has weight -1.0; it must be above 0"),
    "value is infinite": (changed("value", 22, np.inf, float), "tree 1, leaf 0 has value inf; it must be finite"),
    "value below 0": (changed("value", 22, -1.0, float), "tree 1, leaf 0 has value -1.0; it must be 0 or more"),
    "classes heavier than the leaf": (changed("value", 22, 200), "tree 1, leaf 0 weighs .* but its classes of output 0 "),
}  # fmt: skip


def doubled(forest, leaf):
    """Two children of the first tree are the same one."""
    children = forest.children.copy()
    places = np.flatnonzero(children[:12] < 0) if leaf else np.flatnonzero(children[:12] > 0)
    children[places[-2 if leaf else 0]] = children[places[-1]]
    return replace(forest, children=children)


def shorter(forest):
    """A set of a column of 70 categories has one word, its neighbour three."""
    start = forest.set_start.copy()
    wide = int(np.flatnonzero(np.diff(start) == 2)[0])
    start[wide + 1] -= 1
    return replace(forest, set_start=start)


def other_order(forest):
    cut = forest.cut.copy()
    first, second = np.flatnonzero(~forest.numeric)[:2]
    cut[[first, second]] = cut[[second, first]]
    return replace(forest, cut=cut)


def test_sound_forests_pass():
    checked(sound())
    checked(random_forest(1, [5], classes=(), outputs=3), classes=(), outputs=3, categories=None)
    checked(random_forest(1, [5], classes=(2, 3), outputs=2), classes=(2, 3), outputs=2, categories=None)
    checked(random_forest(1, [5], weights="float"), classes=(2,), categories=None)


@pytest.mark.parametrize("name", ATTACKS)
def test_unsound_arrays_are_refused(name):
    attack, message = ATTACKS[name]
    with pytest.raises(ModelFormatError, match=message):
        checked(attack(sound()))


def test_values_must_be_those_of_the_outputs():
    with pytest.raises(ModelFormatError, match="'value' has 66 entries"):
        checked(sound(), classes=(2,))


def test_a_categorical_column_has_no_cuts_and_others_no_sets():
    with pytest.raises(ModelFormatError, match="column 0 is categorical; it must have no cuts"):
        checked(sound(), categories=np.array([2, 70, 0, 3]))
    with pytest.raises(ModelFormatError, match="it must be the number of a cut of its column"):
        checked(sound(), categories=None)


def test_numbers_may_be_below_zero_where_there_are_no_classes():
    forest = random_forest(1, [5], classes=())
    assert (forest.value < 0).any()
    checked(forest, classes=(), categories=None)


def test_a_billion_columns_are_refused_before_anything_is_made_for_each():
    with pytest.raises(
        ModelFormatError, match="'cut_start' has 5 entries; 1073741823 columns need 1073741824"
    ):
        checked(sound(), columns=2**30 - 1, categories=None)


def test_an_array_that_is_none_is_refused():
    arrays = vars(sound()) | {"gain": [0.0]}
    with pytest.raises(ModelFormatError, match="'gain' holds list"):
        checked(CompactForest(**arrays))
