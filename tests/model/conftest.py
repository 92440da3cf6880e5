import json
import struct
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from spinney.data import Schema
from spinney.errors import ModelFormatError
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.tree import Forest, Tree, concatenate

EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 1 / 3]


def random_tree(rng: np.random.Generator, splits: int, columns: int) -> Tree:
    """A tree of any shape: each split takes a leaf at random and puts its children last."""
    nodes = 2 * splits + 1
    left = np.zeros(nodes, np.int32)
    for split in range(splits):
        leaves = np.flatnonzero(left[: 2 * split + 1] == 0)
        left[rng.choice(leaves)] = 2 * split + 1
    inner = left > 0

    def numbers() -> np.ndarray:
        return np.where(rng.random(nodes) < 0.2, rng.choice(EXTREMES, nodes), rng.normal(size=nodes))

    return Tree(
        feature=np.where(inner, rng.integers(columns, size=nodes), -1).astype(np.int32),
        threshold=np.where(inner, numbers(), 0.0),
        left=left,
        default_left=np.where(inner, rng.integers(2, size=nodes), 0).astype(np.uint8),
        value=np.clip(numbers(), -1e298, 1e298),  # scores stay finite
        gain=np.where(inner, abs(numbers()), 0.0),
        cover=abs(numbers()),
        count=rng.integers(2**62, size=nodes),
    )


def random_forest(seed: int, splits: list[int], columns: int) -> Forest:
    rng = np.random.default_rng(seed)
    return concatenate([random_tree(rng, number, columns) for number in splits])


def model_of(forest: Forest, outputs: int, schema: Schema, best_round: int | None = None) -> Model:
    base_score = np.linspace(-1.0, 1.0, outputs + 1)[1:]
    if outputs == 1:
        return Model(forest, base_score, "log_loss", Config(objective="log_loss"), schema, best_round)
    config = Config(objective="softmax", num_class=outputs, eval_metric=["merror"])
    return Model(forest, base_score, "softmax", config, schema, best_round)


@st.composite
def any_model(draw: st.DrawFn) -> Model:
    outputs = draw(st.sampled_from([1, 2, 5]))
    rounds = draw(st.integers(0, 4))
    columns = draw(st.integers(1, 4))
    splits = draw(st.lists(st.integers(0, 12), min_size=rounds * outputs, max_size=rounds * outputs))
    named = draw(st.booleans())
    names = draw(st.lists(st.text(), min_size=columns, max_size=columns, unique=True)) if named else None
    schema = Schema(None if names is None else tuple(names), columns)
    best_round = draw(st.none() | st.integers(0, rounds))
    forest = random_forest(draw(st.integers(0, 2**32)), splits, columns)
    return model_of(forest, outputs, schema, best_round)


@pytest.fixture(scope="session")
def models() -> st.SearchStrategy[Model]:
    """Models of any size and shape, as a hypothesis strategy."""
    return any_model()


@pytest.fixture(scope="session")
def model() -> Model:
    """Two rounds of three outputs over three named columns; one tree is a lone leaf."""
    forest = random_forest(7, [3, 0, 2, 1, 4, 2], 3)
    return model_of(forest, 3, Schema(("age", "größe", "木"), 3), best_round=1)


@dataclass
class Opened:
    """A model file taken apart, to be changed and packed again."""

    header: dict[str, object]
    entries: dict[str, dict[str, object]]
    body: bytearray
    text: str | bytes | None = None
    metadata: object = None
    container_text: str | bytes | None = None

    @classmethod
    def of(cls, data: bytes) -> "Opened":
        (length,) = struct.unpack("<Q", data[:8])
        entries = json.loads(data[8 : 8 + length])
        header = json.loads(entries.pop("__metadata__")["spinney"])
        return cls(header, entries, bytearray(data[8 + length :]))

    def array(self, name: str) -> np.ndarray:
        """An array of the file, to be written to in place."""
        begin, end = self.entries[name]["data_offsets"]
        code = str(self.entries[name]["dtype"])
        kind = {"I": "int", "U": "uint", "F": "float"}[code[0]]
        return np.frombuffer(memoryview(self.body)[begin:end], kind + code[1:])

    def suffer(self, attack) -> None:
        """Change the file: by a function, or by (attribute, key, ..., value)."""
        if callable(attack):
            attack(self)
            return
        part, *keys, value = attack
        if not keys:
            setattr(self, part, value)
            return
        place = getattr(self, part)
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    def pack(self) -> bytes:
        text = json.dumps(self.header) if self.text is None else self.text
        metadata = {"spinney": text} if self.metadata is None else self.metadata
        whole = self.container_text
        if whole is None:
            whole = json.dumps({"__metadata__": metadata, **self.entries})
        packed = whole if isinstance(whole, bytes) else whole.encode()
        packed += b" " * (-len(packed) % 8)
        return struct.pack("<Q", len(packed)) + packed + bytes(self.body)


@pytest.fixture(scope="session")
def open_file():
    """Take the bytes of any model file apart."""
    return Opened.of


@pytest.fixture(scope="session")
def refused():
    """Assert that bytes are refused as a model, with a message that is short and says what is wrong."""

    def refuse(data: bytes, message: str) -> None:
        with pytest.raises(ModelFormatError, match=message) as caught:
            Model.from_bytes(data)
        assert len(str(caught.value)) < 1_000

    return refuse


@pytest.fixture
def opened(model) -> Opened:
    return Opened.of(model.to_bytes())


@pytest.fixture(scope="session")
def take_apart(model):
    """Take the file of `model` apart, again and again within one test."""
    data = model.to_bytes()
    return lambda: Opened.of(data)
