"""Files of forests made by hand to do harm, in sound containers: each must be refused."""

import numpy as np
import pytest

import compact_forests
from spinney.data import Schema
from spinney.errors import ModelFormatError
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig

LARGEST = 2**63 - 1


def writing(name, index, value):
    """An attack that writes a value into an array of the file."""

    def attack(opened):
        opened.array(name)[index] = value

    return attack


HEADER = {
    "format of a boosted model": (("header", "format", 1), "too much or too little"),
    "format of an estimator": (("header", "format", 4), "too much or too little"),
    "another kind": (("header", "kind", "wood"), "kind must be 'forest', not 'wood'"),
    "no kind": (lambda opened: opened.header.pop("kind"), "kind must be 'forest', not None"),
    "a field of boosted models": (("header", "rounds", 2), "too much or too little: 'rounds'"),
    "version is a number": (("header", "version", 1), "version must be a short text"),
    "classes is a number": (("header", "classes", 2), "classes must be a list"),
    "classes is text": (("header", "classes", ["2"]), "a class or more, not '2'"),
    "classes is true": (("header", "classes", [True]), "a class or more, not True"),
    "classes below 1": (("header", "classes", [0]), "a class or more, not 0"),
    "huge classes": (("header", "classes", [2**63]), "'value' has .* entries"),
    "classes of two outputs": (("header", "classes", [1, 2]), "those of 2 outputs, but there are 1"),
    "no classes": (("header", "classes", []), "cannot have the criterion 'gini'"),
    "outputs is 0": (("header", "outputs", 0), "outputs must be a whole number from 1"),
    "outputs is a float": (("header", "outputs", 1.0), "outputs must be a whole number"),
    "rows is 0": (("header", "rows", 0), "rows must be a whole number from 1"),
    "share of rows beyond float64": (
        ("header", "params", {"criterion": "gini", "max_samples": 1e308}), r"wrong parameter: max_samples=1e\+308 draws",
    ),
    "rows below 0": (("header", "rows", -1), "rows must be a whole number of 0 or more"),
    "trees is 1": (("header", "trees", 1), "the header counts 1 trees but there are 3"),
    "leaf_rows is 0": (("header", "leaf_rows", 0), "leaf_rows must be true or false"),
    "leaf rows that are not there": (("header", "leaf_rows", True), "lacks the array 'leaf_row_start'"),
    "a billion columns": (("header", "columns", 2**30 - 1), "'cut_start' has 5 entries"),
    "estimator is a list": (("header", "estimator", []), "estimator must be a JSON object"),
    "parameter of boosting": (("header", "params", {"learning_rate": 1.0}), "parameter that this spinney lacks"),
    "wrong parameter": (("header", "params", {"criterion": "evil"}), "wrong parameter: criterion='evil'"),
    "params is a list": (("header", "params", []), "params must be a JSON object"),
    "directions of too few columns": (
        ("header", "params", {"criterion": "gini", "monotonic_cst": [1]}), "wrong parameter: monotonic_cst",
    ),
    "an array of another type": (("entries", "gain", "dtype", "I32"), "'gain' has dtype 'I32'; it must be 'F32' or 'F64'"),
    "an array of no type": (("entries", "value", "dtype", "U64"), "it must be 'U8' or 'U16' or 'U32' or 'F64'"),
    "an array that no model has": (lambda opened: opened.entries.__setitem__("x", {}), "'x', which no model has"),
    "an array is gone": (lambda opened: opened.entries.pop("cuts"), "lacks the array 'cuts'"),
    "children lead out": (writing("children", 0, 2**31 - 1), "must be a split of its tree"),
    "children lead back": (writing("children", 1, 0), "after its own split"),
    "trees begin far away": (writing("split_start", 1, LARGEST), "'split_start' must lead from 0"),
    "no weight": (writing("weight", 0, 0), "weight 0; it must be above 0"),
    "column out of range": (writing("column", 0, 4), "column 4; it must be one from 0 to 3"),
    "cut out of range": (writing("cut", 0, 65_535), "cut 65535; it must be the number of a cut"),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADER)
def test_hostile_files_are_refused(name, open_file):
    attack, message = HEADER[name]
    opened = open_file(compact_forests.random_model(3, [5, 0, 9]).to_bytes())
    opened.suffer(attack)
    with pytest.raises(ModelFormatError, match=message) as caught:
        ForestModel.from_bytes(opened.pack())
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        (writing("leaf_row_start", 1, LARGEST), "'leaf_row_start' must lead from 0"),
        (writing("leaf_row_rows", 0, 20), "'leaf_row_rows' must hold training rows from 0 to 19"),
        (writing("leaf_row_counts", 0, 0), "'leaf_row_counts' must hold numbers above 0"),
        (writing("leaf_row_targets", 0, np.nan), "'leaf_row_targets' must hold finite numbers"),
        (("header", "rows", 21), "leaf_row_targets has 20 entries for 21 rows of 1 outputs"),
        (("header", "rows", 2**60), "leaf_row_targets has 20 entries"),
        (("header", "leaf_rows", False), "which no model has"),
    ],
)
def test_hostile_rows_of_leaves_are_refused(attack, message, open_file):
    forest = compact_forests.random_forest(3, [3, 4], classes=())
    entries = np.arange(forest.leaves + 1)
    kept = TrainingRowsByLeaf(
        entries,
        entries[:-1].astype(np.int32),
        np.ones(forest.leaves, np.uint8),
        np.ones((20, 1)),
        np.zeros(0),
    )
    model = ForestModel(forest, ForestConfig(keep_leaf_rows=True), Schema(None, 4), (), 1, 20, kept)
    opened = open_file(model.to_bytes())
    opened.suffer(attack)
    with pytest.raises(ModelFormatError, match=message):
        ForestModel.from_bytes(opened.pack())
