"""Model headers and arrays made by hand to do harm, in sound containers: each must be refused."""

import json

import numpy as np
import pytest

from spinney import safe_io
from spinney.errors import ModelFormatError
from spinney.model import header
from spinney.model.boosted import Model

HUGE = 10**18
LARGEST = 2**63 - 1


def doubled_field(opened):
    opened.text = json.dumps(opened.header)[:-1] + ', "rounds": 2}'


def with_field(text):
    """An attack that puts raw JSON into the model's header in place of `best_round`."""

    def attack(opened):
        del opened.header["best_round"]
        opened.text = json.dumps(opened.header)[:-1] + f', "best_round": {text}}}'

    return attack


def writing(name, index, value):
    """An attack that writes a value into an array of the file."""

    def attack(opened):
        opened.array(name)[index] = value

    return attack


def swapped(one, other):
    def attack(opened):
        entries = opened.entries
        a, b = entries[one]["data_offsets"], entries[other]["data_offsets"]
        entries[one]["data_offsets"], entries[other]["data_offsets"] = b, a

    return attack


HEADER = {
    "text is empty": (("text", ""), "the model's header is not sound JSON"),
    "text is a number": (("text", "1"), "must be a JSON object"),
    "text is a list": (("text", "[]"), "must be a JSON object"),
    "text is an empty object": (("text", "{}"), "format must be a number from 1, not None"),
    "text is deep": (("text", "[" * 200_000), "not sound JSON"),
    "field twice": (doubled_field, "key is given twice"),
    "unknown field": (("header", "evil", 1), "too much or too little: 'evil'"),
    "missing field": (lambda opened: opened.header.pop("rounds"), "too much or too little: 'rounds'"),
    "NaN": (with_field("NaN"), "it holds NaN"),
    "Infinity": (with_field("-Infinity"), "it holds -Infinity"),
    "a float too large": (with_field("1e999"), "too large"),
    "a whole number too long": (with_field("1" * 100_000), "whole number has 100000 digits"),
    "half of a surrogate pair": (with_field(r'"\ud800"'), "not sound JSON"),
    "a control character": (with_field('"\x01"'), "not sound JSON"),
    "format 0": (("header", "format", 0), "format must be"),
    "format is text": (("header", "format", "1"), "format must be"),
    "format is true": (("header", "format", True), "format must be"),
    "format is a float": (("header", "format", 1.0), "format must be"),
    "version is a number": (("header", "version", 1), "version must be a short text"),
    "version is long": (("header", "version", "1" * 101), "version must be a short text"),
    "version is empty": (("header", "version", ""), "version must be a short text"),
    "objective is null": (("header", "objective", None), "objective must be a short text"),
    "objective is unknown": (("header", "objective", "evil"), "the objective is 'evil'"),
    "objective by another name": (
        ("header", "objective", "multiclass"),
        "the objective is 'multiclass'",
    ),
    "objective of another kind": (
        ("header", "objective", "squared_error"),
        "that of the parameters is 'softmax'",
    ),
    "outputs is 0": (("header", "outputs", 0), "3 entries for 0 outputs"),
    "outputs is 1": (("header", "outputs", 1), "3 entries for 1 outputs"),
    "outputs is huge": (("header", "outputs", HUGE), "3 entries for"),
    "outputs is negative": (("header", "outputs", -3), "outputs must be a whole number"),
    "outputs is a float": (("header", "outputs", 3.0), "outputs must be a whole number"),
    "outputs is true": (("header", "outputs", True), "outputs must be a whole number"),
    "columns is 0": (("header", "columns", 0), "columns must be a whole number"),
    "columns is huge": (("header", "columns", HUGE), "columns must be a whole number"),
    "columns is text": (("header", "columns", "3"), "columns must be a whole number"),
    "columns is less than names": (("header", "columns", 2), "names must hold"),
    "names is text": (("header", "names", "abc"), "names must be"),
    "names has a number": (("header", "names", ["a", "b", 3]), "names must be"),
    "names has one twice": (("header", "names", ["a", "b", "a"]), "names must be distinct"),
    "names is too long": (("header", "names", ["a", "b", "c", "d"]), "names must hold"),
    "rounds is wrong": (("header", "rounds", 3), "counts 3 rounds but there are trees for 2"),
    "rounds is null": (("header", "rounds", None), "rounds must be a whole number"),
    "best_round is beyond rounds": (("header", "best_round", 3), "best_round must be .* 0 to 2"),
    "best_round is negative": (("header", "best_round", -1), "best_round must be"),
    "best_round is a float": (("header", "best_round", 1.0), "best_round must be"),
    "params is null": (("header", "params", None), "params must be a JSON object"),
    "params is a list": (("header", "params", []), "params must be a JSON object"),
    "params has a stranger": (("header", "params", "evil", 1), "this spinney lacks: 'evil'"),
    "params has an alias": (("header", "params", "eta", 0.1), "this spinney lacks: 'eta'"),
    "params has what is no part of a model": (("header", "params", "n_jobs", 2), "lacks: 'n_jobs'"),
    "params has a long stranger": (("header", "params", "e" * 10_000, 1), "this spinney lacks"),
    "params is out of range": (("header", "params", "max_bin", -1), "wrong parameter: max_bin=-1"),
    "params has a wrong type": (("header", "params", "max_bin", [1]), "wrong parameter: max_bin="),
    "params has an object": (
        ("header", "params", "objective", {"a": 1}),
        "wrong parameter: objective=",
    ),
    "params has a list of lists": (("header", "params", "eval_metric", [["rmse"]]), "wrong parameter"),
    "params contradicts the outputs": (("header", "params", "num_class", 4), "must have 4 outputs"),
    "params contradicts itself": (
        ("header", "params", "num_class", 0),
        "wrong parameter: num_class=0",
    ),
    "params has a direction of 2": (
        ("header", "params", "monotone_constraints", [2, 0, 0]),
        "wrong parameter: monotone_",
    ),
    "params has too few directions": (
        ("header", "params", "monotone_constraints", [1]),
        "has 1 values, but there are 3",
    ),
    "params has a direction of nobody": (
        ("header", "params", "monotone_constraints", [["evil", 1]]),
        "unknown column 'evil'",
    ),
    "params has a group beyond the table": (
        ("header", "params", "interaction_constraints", [[0, HUGE]]),
        "names column 1000000000000000000",
    ),
    "params has an empty group": (("header", "params", "interaction_constraints", [[]]), "empty group"),
    "params has a negative weight": (
        ("header", "params", "feature_weights", [1, -1, 1]),
        "wrong parameter: feature_",
    ),
    "params has weights of zero": (
        ("header", "params", "feature_weights", [[0, 0], [1, 0], [2, 0]]),
        "leaves no column to draw",
    ),
    "params has a long text": (("header", "params", "objective", "x" * 10_000), "wrong parameter"),
}


ARRAYS = {
    "start does not begin at 0": (writing("start", 0, 1), "begin with 0"),
    "start goes back": (writing("start", 2, -LARGEST), "tree 1 begins at node"),
    "start ends beyond the nodes": (writing("start", -1, LARGEST), "end at node"),
    "an empty tree": (writing("start", 1, 0), "tree 0 begins at node 0 and ends at 0"),
    "a column beyond the table": (writing("feature", 0, 3), "tree 0, node 0 has feature 3"),
    "a column below -1": (writing("feature", 0, -2), "tree 0, node 0 has feature -2"),
    "a node that is its own child": (writing("left", 0, 0), "tree 0, node 0 has left 0"),
    "a child outside the tree": (writing("left", 0, 6), "tree 0, node 0 has left 6"),
    "a child far outside": (writing("left", 0, 2**31 - 1), "tree 0, node 0 has left 2147483647"),
    "a child before the tree": (writing("left", 0, -(2**31)), "tree 0, node 0 has left -2147483648"),
    "a child of two nodes": (writing("left", 0, 3), "the child of"),
    "a threshold that is NaN": (writing("threshold", 0, np.nan), "threshold nan"),
    "an infinite value": (writing("value", 3, np.inf), "value inf"),
    "a negative gain": (writing("gain", 0, -1.0), "gain -1.0"),
    "a negative cover": (writing("cover", 2, -1.0), "cover -1.0"),
    "a negative count": (writing("count", 2, -1), "count -1"),
    "a direction that is no direction": (writing("default_left", 0, 255), "default_left 255"),
    "an infinite base score": (writing("base_score", 1, -np.inf), "base_score holds -inf"),
    "left and feature exchanged": (swapped("left", "feature"), "tree 0, node"),
}


@pytest.mark.parametrize("name", HEADER)
def test_a_header_made_to_do_harm_is_refused(opened, name, refused):
    attack, message = HEADER[name]
    opened.suffer(attack)
    refused(opened.pack(), message)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_made_to_do_harm_are_refused(opened, name, refused):
    attack, message = ARRAYS[name]
    opened.suffer(attack)
    refused(opened.pack(), message)


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(opened, refused):
    opened.header = {"format": header.FORMAT + 1, "version": "9.8.7", "new": "field"}
    opened.entries = {"new_array": {"dtype": "F16", "shape": [1, 2, 3], "data_offsets": [0, 12]}}
    refused(
        opened.pack(),
        rf"format {header.FORMAT + 1}, written by a newer version of spinney, '9\.8\.7'.*Update spinney",
    )


@pytest.mark.parametrize("version", [None, 7, ["x" * 10_000], "x" * 10_000])
def test_a_newer_format_may_say_anything_about_its_version(opened, version, refused):
    opened.header = {"format": header.FORMAT + 1, "version": version}
    refused(opened.pack(), "written by a newer version")


def test_json_may_nest_as_deep_as_a_model_needs_and_no_deeper():
    deepest = "[" * safe_io.DEEPEST + "]" * safe_io.DEEPEST
    assert safe_io.parse_json(deepest, "it") is not None
    with pytest.raises(ModelFormatError, match="nests more than 8 levels"):
        safe_io.parse_json(f"[{deepest}]", "it")


def test_a_longer_whole_number_than_64_bits_need_is_refused_and_the_longest_is_not():
    assert safe_io.parse_json(str(-LARGEST - 1), "it") == -LARGEST - 1
    with pytest.raises(ModelFormatError, match="21 digits"):
        safe_io.parse_json("1" * 21, "it")


def test_a_huge_but_consistent_table_width_costs_no_memory(opened):
    opened.header["names"] = None
    opened.header["columns"] = 2**30 - 1
    opened.header["params"]["monotone_constraints"] = [[2**30 - 2, 1]]
    opened.header["params"]["feature_weights"] = [[5, 2.0]]
    assert Model.from_bytes(opened.pack()).n_features == 2**30 - 1
