import json
from dataclasses import replace

import numpy as np
import pytest

from spinney.data import Categories
from spinney.tree import Sets, dump

NAMES = ["age", "größe", 'quoted "name"']


def test_text_shows_one_line_for_each_node(bushy):
    assert dump.text(bushy, NAMES) == "\n".join(
        [
            "0: age <= 1.5, missing right, gain 9.0, cover 30.0, count 30",
            '  1: quoted "name" <= -2.0, missing left, gain 4.0, cover 18.0, count 18',
            "    5: leaf 5.0, cover 9.0, count 9",
            "    6: leaf 6.0, cover 9.0, count 9",
            "  2: größe <= 7.25, missing right, gain 2.0, cover 12.0, count 12",
            "    3: leaf 3.0, cover 6.0, count 6",
            "    4: leaf 4.0, cover 6.0, count 6",
        ]
    )


def test_text_numbers_the_columns_that_have_no_names(stump):
    assert dump.text(stump).startswith("0: column 1 <= 0.5, missing left")


def test_nested_holds_the_children_under_left_and_right(stump):
    assert dump.nested(stump, NAMES) == {
        "node": 0,
        "feature": "größe",
        "threshold": 0.5,
        "missing": "left",
        "gain": 8.0,
        "cover": 20.0,
        "count": 20,
        "left": {"node": 1, "leaf": -1.0, "cover": 12.0, "count": 12},
        "right": {"node": 2, "leaf": 1.5, "cover": 8.0, "count": 8},
    }


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("t", [0, 1, 2])
def test_json_reads_back_as_the_nested_dictionaries(forest, t, names):
    tree = forest.tree(t)
    assert json.loads(dump.to_json(tree, names, indent=4)) == dump.nested(tree, names)


def test_json_keeps_every_bit_of_a_number(stump):
    stump.threshold[0] = 0.1 + 0.2
    assert json.loads(dump.to_json(stump))["threshold"] == 0.1 + 0.2


def test_a_tree_deeper_than_the_stack_can_be_shown(chain):
    assert dump.text(chain).count("\n") == chain.nodes - 1
    assert dump.to_json(chain).count('"node"') == chain.nodes
    node = dump.nested(chain)
    for _ in range(5_000):
        node = node["right"]
    assert node["leaf"] == 1.0


@pytest.fixture
def towns(stump):
    """A stump that sends categories 0, 2 and 3 left."""
    sets = Sets(node=np.array([0]), start=np.array([0, 1]), bits=np.array([0b1101]))
    return replace(stump, sets=sets)


@pytest.mark.parametrize(
    ("known", "shown", "line"),
    [
        (Categories(("Rome", "Bern", "Größe", "a 'b'"), 4), ["Rome", "Größe", "a 'b'"], "['Rome', 'Größe', \"a 'b'\"]"),
        (Categories((7, -3, 0, 5), 4), [7, 0, 5], "[7, 0, 5]"),
        (Categories((0.5, 1, 2.5, 5), 4), [0.5, 2.5, 5], "[0.5, 2.5, 5]"),
        (Categories(("Rome", "Bern", "Oslo", "Kiel", "Wien"), 3), ["Rome", "Oslo", {"others": 2}], "['Rome', 'Oslo', 2 others]"),
        (None, [0, 2, 3], "[0, 2, 3]"),
    ],
)  # fmt: skip
def test_categories_are_shown_and_not_their_numbers(towns, known, shown, line):
    categories = (None, known, None)
    assert dump.nested(towns, NAMES, categories)["categories"] == shown
    assert json.loads(dump.to_json(towns, NAMES, categories)) == dump.nested(towns, NAMES, categories)
    assert dump.text(towns, NAMES, categories).startswith(f"0: größe in {line}, missing left, gain 8.0")


def test_numbers_of_categories_are_shown_where_the_categories_are_not_known(towns):
    assert dump.nested(towns)["categories"] == [0, 2, 3]
    assert "column 1 in [0, 2, 3]" in dump.text(towns)
