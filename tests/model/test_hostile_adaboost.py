"""Files of AdaBoost models made by hand to do harm, in sound containers: each must be refused."""

import numpy as np
import pytest

import compact_forests
from spinney.data import Schema
from spinney.errors import ModelFormatError
from spinney.model import header
from spinney.model.adaboost import AdaBoostModel
from spinney.params import AdaBoostConfig

LARGEST = 2**63 - 1


def writing(name, index, value):
    """An attack that writes a value into an array of the file."""

    def attack(opened):
        opened.array(name)[index] = value

    return attack


ATTACKS = {
    "format of a boosted model": (("header", "format", 1), "too much or too little"),
    "format of a forest": (("header", "format", 5), "kind must be 'forest', not 'adaboost'"),
    "format of the future": (("header", "format", header.FORMAT + 1), "written by a newer version"),
    "another kind": (("header", "kind", "wood"), "kind must be 'adaboost' or 'isolation', not 'wood'"),
    "a forest": (("header", "kind", "forest"), "kind must be 'adaboost' or 'isolation', not 'forest'"),
    "kind is a list": (("header", "kind", []), r"kind must be 'adaboost' or 'isolation', not \[\]"),
    "no kind": (lambda opened: opened.header.pop("kind"), "kind must be 'adaboost' or 'isolation', not None"),
    "a field of forests": (("header", "leaf_rows", False), "too much or too little: 'leaf_rows'"),
    "no rows": (lambda opened: opened.header.pop("rows"), "too much or too little: 'rows'"),
    "version is a number": (("header", "version", 1), "version must be a short text"),
    "classes is a number": (("header", "classes", 2), "classes must be a list"),
    "classes is true": (("header", "classes", [True]), "a class or more, not True"),
    "huge classes": (("header", "classes", [2**63]), "'value' has .* entries"),
    "classes of two outputs": (("header", "classes", [1, 2]), "those of 2 outputs, but there are 1"),
    "no classes": (("header", "classes", []), "cannot have the loss 'samme'"),
    "rows is 0": (("header", "rows", 0), "rows must be a whole number from 1"),
    "trees is 1": (("header", "trees", 1), "the header counts 1 trees but there are 3"),
    "a billion columns": (("header", "columns", 2**30 - 1), "'cut_start' has 5 entries"),
    "estimator is a list": (("header", "estimator", []), "estimator must be a JSON object"),
    "parameter of forests": (("header", "params", {"criterion": "gini"}), "parameter that this spinney lacks"),
    "wrong parameter": (("header", "params", {"loss": "evil"}), "wrong parameter: loss='evil'"),
    "loss of numbers": (("header", "params", {"loss": "linear"}), "cannot have the loss 'linear'"),
    "params is a list": (("header", "params", []), "params must be a JSON object"),
    "weights of another type": (("entries", "tree_weight", "dtype", "I64"), "'tree_weight' has dtype 'I64'; it must be 'F64'"),
    "no weights": (lambda opened: opened.entries.pop("tree_weight"), "lacks the array 'tree_weight'"),
    "no errors": (lambda opened: opened.entries.pop("tree_error"), "lacks the array 'tree_error'"),
    "a weight below 0": (writing("tree_weight", 1, -1.0), "'tree_weight' holds -1.0 for tree 1; it must be finite and 0 or more"),
    "a weight that is none": (writing("tree_weight", 2, np.nan), "'tree_weight' holds nan for tree 2"),
    "an endless weight": (writing("tree_weight", 0, np.inf), "'tree_weight' holds inf for tree 0"),
    "no weight at all": (writing("tree_weight", slice(None), 0.0), "sum up to 0.0; that must be above 0"),
    "weights too large together": (writing("tree_weight", slice(None), 1.7e308), "sum up to inf"),
    "an error that is none": (writing("tree_error", 0, np.nan), "'tree_error' holds nan for tree 0"),
    "children lead out": (writing("children", 0, 2**31 - 1), "must be a split of its tree"),
    "trees begin far away": (writing("split_start", 1, LARGEST), "'split_start' must lead from 0"),
    "column out of range": (writing("column", 0, 4), "column 4; it must be one from 0 to 3"),
}  # fmt: skip


@pytest.fixture(scope="module")
def sound():
    forest = compact_forests.random_forest(3, [5, 0, 9])
    weights = np.array([1.0, 0.5, 0.25])
    return AdaBoostModel(forest, AdaBoostConfig(), Schema(None, 4), (2,), 50, weights, weights / 3).to_bytes()


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_files_are_refused(name, sound, open_file):
    attack, message = ATTACKS[name]
    opened = open_file(sound)
    opened.suffer(attack)
    with pytest.raises(ModelFormatError, match=message) as caught, np.errstate(over="ignore"):
        AdaBoostModel.from_bytes(opened.pack())
    assert len(str(caught.value)) < 1_000


def test_the_sound_file_is_read(sound, open_file):
    assert AdaBoostModel.from_bytes(open_file(sound).pack()).trees == 3


def test_too_few_weights_are_refused():
    forest = compact_forests.random_forest(3, [5, 0])
    with pytest.raises(ModelFormatError, match="'tree_weight' has 3 entries for 2 trees"):
        AdaBoostModel(forest, AdaBoostConfig(), Schema(None, 4), (2,), 50, np.ones(3), np.ones(2))


def test_every_prefix_and_many_flipped_bytes_are_refused_or_harmless(sound):
    rng = np.random.default_rng(1)
    for length in rng.integers(0, len(sound), 40):
        with pytest.raises(ModelFormatError):
            AdaBoostModel.from_bytes(sound[:length])
    for place in rng.integers(0, len(sound), 120):
        harmed = bytearray(sound)
        harmed[place] ^= 1 << rng.integers(8)
        try:
            model = AdaBoostModel.from_bytes(bytes(harmed))
        except ModelFormatError:
            continue
        assert np.isfinite(model.predict(np.zeros((2, 4)))).all()
