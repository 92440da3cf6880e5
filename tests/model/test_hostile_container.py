"""Containers made by hand to do harm: each must be refused, with a message that says what is wrong."""

import json
import struct

import pytest

from spinney.errors import ModelFormatError
from spinney.model import container
from spinney.model.boosted import Model

HUGE = 10**18


def shifted(name, begin, end):
    """An attack that moves the offsets of an array."""

    def attack(opened):
        offsets = opened.entries[name]["data_offsets"]
        opened.entries[name]["data_offsets"] = [offsets[0] + begin, offsets[1] + end]

    return attack


def overlapping(opened):
    opened.entries["gain"]["data_offsets"] = opened.entries["cover"]["data_offsets"]


def longer_body(opened):
    opened.body += bytes(8)


def shorter_body(opened):
    del opened.body[-8:]


def doubled_array(opened):
    text = json.dumps({"__metadata__": {"spinney": json.dumps(opened.header)}, **opened.entries})
    opened.container_text = text[:-1] + ', "gain": ' + json.dumps(opened.entries["gain"]) + "}"


def doubled_metadata(opened):
    text = json.dumps({"__metadata__": {"spinney": json.dumps(opened.header)}, **opened.entries})
    opened.container_text = text[:-1] + ', "__metadata__": {"spinney": "{}"}}'


CONTAINER = {
    "unknown array": (("entries", "evil", {}), "the array 'evil', which no model has"),
    "long unknown name": (("entries", "e" * 10_000, {}), "which no model has"),
    "missing array": (lambda opened: opened.entries.pop("gain"), "lacks the array 'gain'"),
    "missing base score": (lambda opened: opened.entries.pop("base_score"), "lacks the array 'base_score'"),
    "array twice": (doubled_array, "key is given twice"),
    "metadata twice": (doubled_metadata, "key is given twice"),
    "entry is a list": (("entries", "gain", [1, 2]), "'gain' must be described by"),
    "entry is null": (("entries", "gain", None), "'gain' must be described by"),
    "entry without a shape": (("entries", "gain", {"dtype": "F64"}), "'gain' must be described by"),
    "entry with more": (("entries", "gain", "more", 1), "'gain' must be described by"),
    "wrong dtype": (("entries", "gain", "dtype", "I64"), "dtype 'I64'; it must be 'F64'"),
    "unknown dtype": (("entries", "gain", "dtype", "object"), "dtype 'object'"),
    "dtype is a list": (("entries", "gain", "dtype", ["F64"]), "has dtype"),
    "dtype is null": (("entries", "gain", "dtype", None), "has dtype None"),
    "two dimensions": (
        ("entries", "gain", "shape", [6, 1]),
        "shape of the array 'gain' must be 1 whole",
    ),
    "no dimensions": (("entries", "gain", "shape", []), "shape of the array 'gain' must be 1 whole"),
    "negative length": (("entries", "gain", "shape", [-1]), "shape of the array 'gain'"),
    "huge length": (("entries", "gain", "shape", [HUGE]), f"'gain' has {HUGE} entries"),
    "wrapping length": (
        ("entries", "gain", "shape", [2**61]),
        "'gain' has 2305843009213693952 entries",
    ),
    "length is a float": (("entries", "gain", "shape", [30.0]), "shape of the array 'gain'"),
    "length is true": (("entries", "gain", "shape", [True]), "shape of the array 'gain'"),
    "length is text": (("entries", "gain", "shape", ["30"]), "shape of the array 'gain'"),
    "shape is a number": (("entries", "gain", "shape", 30), "shape of the array 'gain'"),
    "one offset": (("entries", "gain", "data_offsets", [0]), "offsets of the array 'gain'"),
    "negative offset": (("entries", "gain", "data_offsets", [-8, 0]), "offsets of the array 'gain'"),
    "offsets backwards": (("entries", "gain", "data_offsets", [80, 0]), "not -80 bytes"),
    "offsets beyond the file": (shifted("gain", HUGE, HUGE), "would leave no gap"),
    "offsets are floats": (
        ("entries", "gain", "data_offsets", [0.0, 8.0]),
        "offsets of the array 'gain'",
    ),
    "offsets are null": (("entries", "gain", "data_offsets", None), "offsets of the array 'gain'"),
    "array too long": (shifted("gain", 0, 8), "'gain' has"),
    "array moved": (shifted("gain", 8, 8), "would leave no gap"),
    "arrays overlap": (overlapping, "would leave no gap"),
    "bytes that no array has": (longer_body, "the arrays need"),
    "arrays cut off": (shorter_body, "the arrays need"),
    "no arrays": (("entries", {}), "lacks the array"),
    "metadata is a list": (("metadata", ["spinney"]), "not a spinney model"),
    "metadata is empty": (("metadata", {}), "not a spinney model"),
    "metadata has more": (("metadata", {"spinney": "{}", "x": "y"}), "not a spinney model"),
    "metadata of another program": (("metadata", {"format": "pt"}), "not a spinney model"),
    "metadata is a number": (("metadata", {"spinney": 1}), "must be text"),
    "metadata is an object": (("metadata", {"spinney": {}}), "must be text"),
    "header is a list": (("container_text", "[]"), "not a JSON object"),
    "header is null": (("container_text", "null"), "not a JSON object"),
    "header is not JSON": (("container_text", "{]"), "not sound JSON"),
    "header ends early": (("container_text", '{"a": '), "not sound JSON"),
    "header is followed by more": (("container_text", "{} {}"), "not sound JSON"),
    "header begins with a space": (("container_text", " {}"), "not a JSON object|not a spinney"),
    "header is not UTF-8": (("container_text", b'{"\xff\xfe": 1}'), "not UTF-8"),
    "header is UTF-16": (("container_text", "{}".encode("utf-16")), "not UTF-8|not sound JSON"),
    "header is UTF-16 without a mark": (
        ("container_text", "{}".encode("utf-16-le")),
        "not sound JSON",
    ),
    "header has a mark": (("container_text", b"\xef\xbb\xbf{}"), "not sound JSON"),
    "header is a deep list": (("container_text", "[" * 200_000), "not sound JSON"),
    "header is a deep object": (("container_text", '{"a":' * 200_000), "not sound JSON"),
    "header is a closed deep list": (
        ("container_text", '{"a": ' + "[" * 900 + "]" * 900 + "}"),
        "not sound JSON",
    ),
    "header of zeros": (("container_text", bytes(64)), "not sound JSON"),
}


@pytest.mark.parametrize("name", CONTAINER)
def test_a_container_made_to_do_harm_is_refused(opened, name, refused):
    attack, message = CONTAINER[name]
    opened.suffer(attack)
    refused(opened.pack(), message)


def test_the_file_taken_apart_and_packed_again_is_still_the_model(opened, model):
    assert Model.from_bytes(opened.pack()) == model


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 10, 100])
def test_a_file_cut_off_is_refused(model, length, refused):
    refused(model.to_bytes()[:length], "cut off")


@pytest.mark.parametrize("length", [0, 1, 10**6, container.LONGEST_HEADER, 2**63, 2**64 - 1])
def test_a_header_of_wrong_length_is_refused(model, length, refused):
    refused(struct.pack("<Q", length) + model.to_bytes()[8:], "cut off")


def test_a_header_longer_than_any_is_refused_before_it_is_read():
    size = 2 * container.LONGEST_HEADER
    with pytest.raises(ModelFormatError, match="its header would be"):
        container.header_length(struct.pack("<Q", container.LONGEST_HEADER + 1), size)
