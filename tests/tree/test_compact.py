"""A compact forest keeps the same trees in the narrowest types, however it was put together."""

from dataclasses import replace

import numpy as np
import pytest

from compact_forests import cuts_of, random_forest, random_tree
from spinney.tree import CompactForest, GrownTree, dump
from spinney.tree.compact import COMPACT_DTYPES

CATEGORIES = (0, 70, 0, 3)


def grown_trees(seed, sizes, classes=(3,), categories=()):
    rng = np.random.default_rng(seed)
    many = [0 if len(categories) and categories[c] else 9 for c in range(4)]
    start, cuts = cuts_of(rng, many)
    return [random_tree(rng, size, many, classes, categories=categories) for size in sizes], start, cuts


def single_leaf(value, weight, count):
    none = np.zeros(0, np.int32)
    return GrownTree(
        none, none, np.zeros(0, np.uint8), none, np.zeros(0), np.array(value, float), np.array([weight], float),
        np.array([count]),
    )  # fmt: skip


def of_leaf(value=(1,), weight=1, count=1):
    return CompactForest.of(
        [single_leaf(value, weight, count)], np.zeros(2, np.int64), np.zeros(0), len(value)
    )


@pytest.mark.parametrize("categories", [(), CATEGORIES])
def test_forests_that_are_joined_are_those_that_were_put_together_at_once(categories):
    trees, start, cuts = grown_trees(1, [0, 5, 30, 2, 0], categories=categories)
    whole = CompactForest.of(trees, start, cuts, 3)
    single = [CompactForest.of([tree], start, cuts, 3) for tree in trees]
    assert CompactForest.concatenate(single).equal(whole)
    assert CompactForest.concatenate([whole.first(2), CompactForest.of(trees[2:], start, cuts, 3)]).equal(
        whole
    )


@pytest.mark.parametrize("categories", [(), CATEGORIES])
def test_the_first_trees_are_those_that_were_put_together_alone(categories):
    trees, start, cuts = grown_trees(2, [4, 30, 0, 50], categories=categories)
    whole = CompactForest.of(trees, start, cuts, 3)
    for k in range(5):
        assert whole.first(k).equal(CompactForest.of(trees[:k], start, cuts, 3))


def test_forests_of_other_columns_or_values_cannot_be_joined():
    with pytest.raises(
        ValueError, match="2 values over 4 columns cannot follow one of 3 values over 4 columns"
    ):
        CompactForest.concatenate([random_forest(1, [3], classes=(3,)), random_forest(1, [3], classes=(2,))])


def test_leaves_must_have_as_many_values_as_the_forest():
    with pytest.raises(ValueError, match="must have 3 values"):
        CompactForest.of([single_leaf([1.0, 2.0], 1, 1)], np.zeros(2, np.int64), np.zeros(0), 3)


def test_cuts_that_no_split_makes_are_dropped():
    trees, start, cuts = grown_trees(3, [2, 3])
    forest = CompactForest.of(trees, start, cuts, 3)
    used = {(int(c), float(cuts[start[c] + k])) for t in trees for c, k in zip(t.column, t.cut, strict=True)}
    kept = np.repeat(np.arange(4), np.diff(forest.cut_start)).tolist()
    assert list(zip(kept, forest.cuts.tolist(), strict=True)) == sorted(used)


@pytest.mark.parametrize(
    ("most", "dtype"),
    [(255, "uint8"), (256, "uint16"), (65_535, "uint16"), (65_536, "uint32"), (2**32 - 1, "uint32")],
)
def test_whole_numbers_are_kept_in_the_narrowest_type_that_holds_them(most, dtype):
    forest = of_leaf((most, 0), most, most)
    assert (forest.value.dtype, forest.weight.dtype, forest.count.dtype) == (dtype, dtype, dtype)
    assert (forest.value.tolist(), forest.weight.tolist(), forest.count.tolist()) == (
        [most, 0],
        [most],
        [most],
    )


@pytest.mark.parametrize("value", [0.5, -1.0, -0.0, 2.0**32, 1e300])
def test_other_numbers_stay_float64_to_the_bit(value):
    forest = of_leaf((value, 1.0))
    assert forest.value.tobytes() == np.array([value, 1.0]).tobytes()


@pytest.mark.parametrize(("columns", "dtype"), [(65_536, "uint16"), (65_537, "uint32")])
def test_columns_are_kept_in_the_narrowest_type(columns, dtype):
    start = np.zeros(columns + 1, np.int64)
    start[-1] = 1
    stump = GrownTree(
        np.array([columns - 1], np.int32), np.zeros(1, np.int32), np.ones(1, np.uint8), np.array([~0, ~1], np.int32),
        np.ones(1), np.arange(2.0), np.ones(2), np.ones(2, np.int64),
    )  # fmt: skip
    assert CompactForest.of([stump], start, np.zeros(1), 1).column.dtype == dtype


def test_a_gain_that_rounding_took_below_zero_is_zero():
    trees, start, cuts = grown_trees(3, [1])
    (tree,) = trees
    assert CompactForest.of([replace(tree, gain=np.array([-1e-18]))], start, cuts, 3).gain.tolist() == [0.0]


@pytest.mark.parametrize("shares", [True, False])
def test_a_tree_of_nodes_has_the_sums_of_its_leaves(shares):
    forest = random_forest(4, [40, 0, 7], classes=(3,) if shares else (), outputs=2, categories=CATEGORIES)
    for t in range(3):
        tree = forest.tree(t, shares)
        first, leaves = int(forest.split_start[t]), slice(*forest.leaf_start[t : t + 2].tolist())
        seen = []

        def look(split, node, tree=tree, first=first, leaves=leaves, seen=seen):
            """The leaves below, from left to right."""
            if split < 0:
                leaf = leaves.start + ~split
                seen.append(~split)
                assert tree.feature[node] == -1
                below = [leaf]
            else:
                i = first + split
                assert tree.feature[node] == forest.column[i]
                assert tree.left[node] == 2 * split + 1
                assert tree.default_left[node] == forest.default_left[i]
                assert tree.gain[node] == forest.gain[i]
                below = look(int(forest.children[2 * i]), 2 * split + 1)
                below = below + look(int(forest.children[2 * i + 1]), 2 * split + 2)
                check_rule(tree, node, i)
            weight = forest.weight[below].astype(float)
            value = forest.value.reshape(-1, forest.values)[below].astype(float)
            mean = (value if shares else value * weight[:, None]).sum(axis=0) / weight.sum()
            found = tree.value[node * tree.values : (node + 1) * tree.values]
            assert np.allclose(found, mean, rtol=1e-12, atol=1e-12)
            assert (tree.cover[node], tree.count[node]) == (weight.sum(), forest.count[below].sum())
            return below

        def check_rule(tree, node, i):
            if forest.numeric[i]:
                assert tree.sets.members(node) is None
                assert tree.threshold[node] == forest.cuts[forest.cut_start[forest.column[i]] + forest.cut[i]]
            else:
                k = int(forest.cut[i])
                words = forest.set_bits[forest.set_start[k] : forest.set_start[k + 1]].tolist()
                members = [64 * w + b for w, word in enumerate(words) for b in range(64) if word >> b & 1]
                assert tree.sets.members(node) == members

        splits = int(forest.split_start[t + 1]) - first
        look(0 if splits else ~0, 0)
        assert seen == list(range(splits + 1))


def test_leaves_of_numbers_keep_their_bits_in_a_tree_of_nodes():
    forest = random_forest(4, [30], classes=(), weights="float")
    tree = forest.tree(0)
    assert sorted(tree.value[tree.feature < 0]) == sorted(forest.value)


def test_several_values_are_shown_as_a_list():
    tree = of_leaf((3, 1), 4).tree(0, shares=True)
    assert dump.text(tree) == "0: leaf [0.75, 0.25], cover 4.0, count 1"
    assert dump.to_json(tree) == '{"node": 0, "leaf": [0.75, 0.25], "cover": 4.0, "count": 1}'
    assert dump.nested(tree)["leaf"] == [0.75, 0.25]


def test_no_array_of_a_read_only_forest_can_be_written_to():
    forest = random_forest(1, [3]).read_only()
    for name in COMPACT_DTYPES:
        assert not getattr(forest, name).flags.writeable


def test_forests_that_differ_in_a_bit_are_not_equal():
    forest = random_forest(1, [9, 4])
    assert forest.equal(random_forest(1, [9, 4]))
    for name in ("cut", "children", "gain", "value", "weight", "count", "cuts", "default_left"):
        array = getattr(forest, name).copy()
        array[-1] += 1
        assert not forest.equal(replace(forest, **{name: array})), name


@pytest.mark.parametrize("number", [-1, 2])
def test_a_tree_that_is_not_there_is_refused(number):
    forest = random_forest(1, [3, 4])
    with pytest.raises(IndexError, match=f"tree {number} is not in a forest of 2"):
        forest.tree(number)
    with pytest.raises(IndexError, match="cannot take the first 3 trees"):
        forest.first(3)


@pytest.mark.parametrize(("classes", "bytes_a_node"), [((2,), 80), ((), 72)])
def test_a_forest_takes_a_fifth_of_the_bytes_of_scikit_learn(classes, bytes_a_node):
    forest = random_forest(1, [15_000] * 4, columns=28, cuts=254, classes=classes)
    assert forest.nbytes <= 0.2 * bytes_a_node * forest.nodes


@pytest.mark.parametrize("size", [1e-60, 1e-31, 1e39, 1e200])
def test_gains_beyond_single_precision_are_kept_as_they_are(size):
    trees, start, cuts = grown_trees(3, [2])
    (tree,) = trees
    gain = np.array([size, size / 3])
    assert CompactForest.of([replace(tree, gain=gain)], start, cuts, 3).gain.tobytes() == gain.tobytes()
    plain = CompactForest.of([replace(tree, gain=np.array([1.0, 1e-60]))], start, cuts, 3).gain
    assert (plain.dtype, plain.tolist()) == (np.float32, [1.0, 0.0])
