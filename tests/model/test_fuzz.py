"""Twenty thousand damaged files: each is refused with `ModelFormatError`, or is a sound model after all."""

import json
import math
import random
import struct
from collections import Counter

import numpy as np
import pytest

import compact_forests
import spinney as sp
from spinney.data import Schema, read_table
from spinney.errors import ModelFormatError
from spinney.model import file, leaf_rows
from spinney.model.forest import ForestModel
from spinney.params import ForestConfig
from spinney.tree import check, check_compact
from spinney.tree.isolation import check_isolation

FILES = 21_000
ROWS = [[0.0, -1.0, 1e300], [math.nan, 0.5, -math.inf]]
ODD_VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    7,
    2**31,
    2**63,
    2**64,
    -(2**63),
    10**25,
    0.5,
    1e308,
    "",
    "softmax",
    "log_loss",
    "ñ" * 50,
    [],
    [[]],
    [1, 2, 3],
    ["a", "b", "c"],
    {},
    {"a": {}},
    math.nan,
]
ODD_BYTES = [0, 1, 0x22, 0x2C, 0x30, 0x39, 0x5B, 0x5D, 0x7B, 0x7D, 0x7F, 0x80, 0xFF]


def flip_bits(rng, data, take_apart):
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def set_bytes(rng, data, take_apart):
    damaged = bytearray(data)
    at = rng.randrange(len(damaged))
    for place in range(at, min(at + rng.choice([1, 1, 4, 8, 64]), len(damaged))):
        damaged[place] = rng.choice(ODD_BYTES)
    return bytes(damaged)


def insert_bytes(rng, data, take_apart):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice([1, 1, 2, 8, 40])) + data[at:]


def delete_bytes(rng, data, take_apart):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice([1, 1, 2, 8, 40]) :]


def cut_off(rng, data, take_apart):
    return data[: rng.randrange(len(data))]


def edit_header(rng, data, take_apart):
    opened = take_apart()
    damage_json(rng, opened.header)
    return opened.pack()


def edit_entries(rng, data, take_apart):
    opened = take_apart()
    damage_json(rng, opened.entries)
    return opened.pack()


def edit_header_text(rng, data, take_apart):
    opened = take_apart()
    text = json.dumps(opened.header)
    at = rng.randrange(len(text))
    opened.text = text[:at] + rng.choice(["", '"', "{", "]", ",", "9", "NaN", "\\u", "é"]) + text[at + 1 :]
    return opened.pack()


def edit_array(rng, data, take_apart):
    opened = take_apart()
    name = rng.choice(sorted(opened.entries))
    array = opened.array(name)
    if not len(array):
        return cut_off(rng, data, take_apart)
    small = [array[rng.randrange(len(array))], 0, 1, 2, 3, 5]
    if array.dtype.kind == "f":
        odd = [-1.0, math.nan, math.inf, -math.inf, np.finfo(array.dtype).max, -0.0]
    else:
        odd = [255] if array.dtype.kind == "u" else [-1, -2, 2**31 - 1, -(2**31)]
    for _ in range(rng.choice([1, 1, 2])):
        array[rng.randrange(len(array))] = rng.choice(small + odd)
    return opened.pack()


def damage_json(rng, value):
    """Change, remove or add one thing somewhere inside nested dictionaries and lists."""
    while True:
        keys = sorted(value) if isinstance(value, dict) else list(range(len(value)))
        key = rng.choice(keys)
        inside = value[key]
        if isinstance(inside, dict | list) and inside and rng.random() < 0.7:
            value = inside
            continue
        action = rng.randrange(4)
        if action == 0:
            del value[key]
        elif action == 1 and isinstance(value, dict):
            value[rng.choice(["x", "é", "", "gain"])] = rng.choice(ODD_VALUES)
        elif action == 2 and type(inside) is int:
            value[key] = inside + rng.choice([-8, -1, 1, 8])
        else:
            value[key] = rng.choice(ODD_VALUES)
        return


DAMAGES = [
    flip_bits,
    set_bytes,
    insert_bytes,
    delete_bytes,
    cut_off,
    edit_header,
    edit_entries,
    edit_header_text,
    edit_array,
]


def walk_naively(model, row):
    """Follow one row through every tree, counting steps; a sound tree takes fewer than it has nodes."""
    total = 0.0
    row = [row[column % len(row)] for column in range(min(model.schema.columns, 100))]
    for t in range(model.forest.trees):
        tree = model.forest.tree(t)
        node = steps = 0
        while tree.feature[node] >= 0:
            assert steps < tree.nodes
            x = row[tree.feature[node]]
            members = tree.sets.members(node)
            if members is None:
                goes_left = bool(tree.default_left[node]) if math.isnan(x) else x <= tree.threshold[node]
            else:
                goes_left = 1 in members
            below = int(tree.left[node]) + (not goes_left)
            assert node < below < tree.nodes
            node = below
            steps += 1
        total += float(tree.value[node])
    return total


def assert_sound(model):
    check(model.forest, model.schema.columns, model.outputs, model.schema.category_counts)
    for row in ROWS:
        assert not math.isnan(walk_naively(model, row))


def damage_often(data, take_apart, files, seed, assert_sound=assert_sound):
    """Damage a file many times; count what loads, which must then be sound, and what is refused."""
    rng = random.Random(seed)
    loaded, refused = Counter(), Counter()
    for number in range(files):
        damage = DAMAGES[number % len(DAMAGES)]
        damaged = damage(rng, data, take_apart)
        try:
            model, _ = file.loads(damaged)
        except ModelFormatError:
            refused[damage] += 1
            continue
        loaded[damage] += 1
        assert_sound(model)
        assert file.loads(model.to_bytes())[0].forest.equal(model.forest)
        yield model
    assert min(refused[damage] for damage in DAMAGES) > files // 42
    assert all(loaded[damage] for damage in (flip_bits, set_bytes, edit_header, edit_header_text, edit_array))
    assert not loaded[cut_off]


@pytest.mark.slow
def test_no_damaged_file_does_anything_but_load_soundly_or_raise_a_model_format_error(model, take_apart):
    for _ in damage_often(model.to_bytes(), take_apart, FILES, 20240229):
        pass


@pytest.mark.slow
def test_the_same_holds_for_a_model_with_categories(open_file):
    rng = np.random.default_rng(0)
    table = np.stack([rng.normal(size=200), rng.integers(0, 150, 200), rng.integers(0, 3, 200)], axis=1)
    params = {"cat_smooth": 1.0, "min_data_per_group": 1, "min_child_samples": 2, "max_leaves": 4}
    data = sp.Dataset(table, table[:, 1] % 7, names=["age", "größe", "木"], categorical=[1, 2])
    model = sp.train(params, data, 2)
    assert len(model.forest.sets.node) > 1
    for loaded in damage_often(model.to_bytes(), lambda: open_file(model.to_bytes()), FILES // 3, 3):
        if loaded.schema.columns == 3 and loaded.params.unseen != "error":
            values = loaded.predict_raw(np.array([[0.5, 149.0, 2.0], [np.nan, 10.0, -5.0]]))
            assert np.isfinite(values).all()


def assert_sound_forest(model):
    check_compact(
        model.forest, model.schema.columns, model.classes, model.outputs, model.schema.category_counts
    )
    if model.leaf_rows is not None:
        leaf_rows.check(model.leaf_rows, model.forest.leaves, model.rows, model.outputs)
    for row in ROWS:
        columns = [row[c % len(row)] for c in range(model.schema.columns)]
        known = [max(0, 0 if one is None else one.count) for one in model.schema.categories or ()]
        given = [0.0 if c < len(known) and known[c] else x for c, x in enumerate(columns)]
        assert np.isfinite(
            compact_forests.means(model.forest, np.array([given]), bool(model.classes), known)
        ).all()
        if np.isfinite(given).all() and not known:
            assert np.isfinite(model.values(read_table([given]))).all()


@pytest.mark.parametrize("kind", ["classes", "categories", "leaf rows"])
def test_the_same_holds_for_forests(kind, open_file):
    if kind == "leaf rows":
        forest = compact_forests.random_forest(3, [3, 0, 4], columns=3, classes=(), weights="float")
        entries = np.arange(forest.leaves + 1)
        kept = leaf_rows.TrainingRowsByLeaf(
            entries,
            entries[:-1].astype(np.int32),
            np.ones(forest.leaves, np.uint8),
            np.ones((20, 1)),
            np.ones(20),
        )
        model = ForestModel(forest, ForestConfig(keep_leaf_rows=True), Schema(None, 3), (), 1, 20, kept)
    else:
        categories = (0, 70, 3) if kind == "categories" else ()
        names = ("age", "größe", "木")
        model = compact_forests.random_model(3, [3, 0, 4], 3, (2, 3), 2, categories, names=names)
    data = model.to_bytes()
    for _ in damage_often(data, lambda: open_file(data), FILES // 12, 5, assert_sound_forest):
        pass


def assert_sound_isolation(model):
    check_isolation(model.forest, model.schema.columns, model.rows_per_tree, model.schema.category_counts)
    for row in ROWS:
        assert walk_naively(model, row) >= 0


@pytest.mark.parametrize("categorical", [[], [1]])
def test_the_same_holds_for_isolation_forests(categorical, open_file):
    rng = np.random.default_rng(0)
    table = np.stack([rng.normal(size=90), rng.integers(0, 80, 90), rng.normal(size=90)], axis=1)
    model = sp.IsolationForest(2, max_samples=12, categorical=categorical).fit(table).model_
    data = model.to_bytes()
    for loaded in damage_often(data, lambda: open_file(data), FILES // 12, 7, assert_sound_isolation):
        if loaded.schema.columns == 3 and loaded.config.unseen != "error":
            scores = loaded.score_samples(table[:9])
            assert ((scores <= 0) & (scores >= -1)).all()


def test_no_file_of_random_bytes_loads():
    rng = random.Random(1)
    for _ in range(2_000):
        noise = rng.randbytes(rng.randrange(200))
        with pytest.raises(ModelFormatError):
            file.loads(noise)
        with pytest.raises(ModelFormatError):
            file.loads(struct.pack("<Q", len(noise)) + noise)
