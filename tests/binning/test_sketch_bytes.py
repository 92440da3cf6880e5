"""Bytes of sketches: the same sketch comes back, and damaged bytes are refused or are a sound sketch after all."""

import random
import struct
import zlib

import numpy as np
import pytest

import spinney as sp
from sketch_oracle import SmallBlocks
from spinney.binning.sketch_state import HEAD, LEVEL
from spinney.errors import DataTypeError, SketchFormatError

DAMAGED = 4000
ODD = [
    b"\0" * 8,
    b"\xff" * 8,
    *(struct.pack("<d", x) for x in (np.nan, np.inf, -np.inf, -1.0, 1e308, 5e-324)),
]
FIELDS = ("magic", "version", "block", "eps", "count", "missing", "low", "high", "held", "weighted", "levels")


def sketches():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1003)
    yield "empty", SmallBlocks(0.1)
    yield "missing only", SmallBlocks(0.1).update([np.nan])
    yield "one", SmallBlocks(0.1).update([-0.0])
    yield "some", SmallBlocks(0.1).update(values[:5])
    yield "exact", SmallBlocks(0.01).update(values[:300])
    yield "many", SmallBlocks(0.2).update(values)
    yield "weighted", SmallBlocks(0.2).update(values, rng.random(1003))
    yield "tiny", SmallBlocks(0.2).update(values, 5e-324 * rng.integers(1, 9, 1003))
    yield "huge", SmallBlocks(0.2).update(values, np.full(1003, 1e304))


ALL = dict(sketches())


def signed(body):
    """The bytes with the checksum that they should have."""
    return bytes(body) + zlib.crc32(bytes(body)).to_bytes(4, "little")


def with_field(data, name, value):
    fields = list(HEAD.unpack_from(data))
    fields[FIELDS.index(name)] = value
    return signed(HEAD.pack(*fields) + data[HEAD.size : -4])


def with_level(data, place, at, value):
    start = HEAD.size + place * LEVEL.size
    fields = list(LEVEL.unpack_from(data, start))
    fields[at] = value
    return signed(data[:start] + LEVEL.pack(*fields) + data[start + LEVEL.size : -4])


def use(sketch):
    """Ask everything of a sketch; nothing but a sound one answers all."""
    if sketch.count:
        values = sketch.quantile(np.linspace(0, 1, 9))
        assert np.all(np.diff(values) >= 0)
        assert np.all(np.isfinite(values))
        assert np.all((sketch.rank(values) >= 0) & (sketch.rank(values) <= 1))
        assert np.all(np.diff(sketch.cuts(7)) > 0)
    assert 0.0 <= sketch.error <= sketch.eps * (1 + 1e-9)
    again = sketch.to_bytes()
    assert SmallBlocks.from_bytes(again).to_bytes() == again
    if max(sketch.count, sketch.missing) < 2**40 and sketch.total < 1e300:
        sketch.merge(SmallBlocks.from_bytes(again)).update(np.arange(100.0))
        assert SmallBlocks.from_bytes(sketch.to_bytes()).count == sketch.count


@pytest.mark.parametrize("name", ALL)
def test_a_sketch_comes_back_as_it_was_and_goes_on_as_if_it_had_never_left(name):
    data = ALL[name].to_bytes()
    back = SmallBlocks.from_bytes(data)
    assert back.to_bytes() == data
    assert (back.eps, back.count, back.missing, back.total, back.error) == (
        ALL[name].eps,
        ALL[name].count,
        ALL[name].missing,
        ALL[name].total,
        ALL[name].error,
    )
    more = np.random.default_rng(1).normal(size=500)
    stayed = SmallBlocks(back.eps).merge(ALL[name]).update(more)
    assert SmallBlocks(back.eps).merge(back).update(more).to_bytes() == stayed.to_bytes()
    if back.count:
        assert back.quantile(0.4) == ALL[name].quantile(0.4)
    use(back)


def test_any_buffer_is_read_and_nothing_else():
    data = sp.QuantileSketch().update([1.0]).to_bytes()
    for kind in (bytes, bytearray, memoryview):
        assert sp.QuantileSketch.from_bytes(kind(data), n_jobs=1).count == 1
    with pytest.raises(DataTypeError, match="data must be bytes, got str"):
        sp.QuantileSketch.from_bytes("spinneyQ")


@pytest.mark.parametrize("name", ALL)
def test_bytes_that_are_cut_off_are_refused(name):
    data = ALL[name].to_bytes()
    for size in {*range(HEAD.size + 20), *range(0, len(data), 37), len(data) - 1}:
        if size < len(data):
            with pytest.raises(SketchFormatError):
                SmallBlocks.from_bytes(data[:size])
    with pytest.raises(SketchFormatError):
        SmallBlocks.from_bytes(data + b"\0")


def test_every_flipped_bit_is_noticed():
    data = ALL["some"].to_bytes()
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SketchFormatError):
            SmallBlocks.from_bytes(damaged)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("magic", b"notspinn", "not the bytes of a sketch"),
        ("version", 2, "version 2"),
        ("block", 16, "blocks of 16 values, not of 8"),
        ("eps", 0.0, "eps"),
        ("eps", np.nan, "eps"),
        ("eps", 0.01, "which is too large"),
        ("count", -1, "-1 values"),
        ("count", 2**62, "values"),
        ("count", 50, "which its summaries cannot be of"),
        ("missing", -1, "NaN"),
        ("missing", 2**62, "NaN"),
        ("low", np.nan, "range"),
        ("low", 0.0, "range"),
        ("high", np.inf, "range"),
        ("held", 8, "block of 8"),
        ("held", 2**32 - 1, "block of 8"),
        ("weighted", 1, "does not fill"),
        ("weighted", 7, "summaries"),
        ("levels", 49, "summaries"),
        ("levels", 1, "does not fill"),
        ("levels", 2**32 - 1, "summaries"),
    ],
)
def test_a_head_that_lies_is_refused(name, value, message):
    with pytest.raises(SketchFormatError, match=message):
        SmallBlocks.from_bytes(with_field(ALL["many"].to_bytes(), name, value))


def test_an_empty_sketch_has_no_range():
    with pytest.raises(SketchFormatError, match="empty but has a range"):
        SmallBlocks.from_bytes(with_field(ALL["empty"].to_bytes(), "low", 0.0))
    with pytest.raises(SketchFormatError, match="not that of its values"):
        SmallBlocks.from_bytes(with_field(ALL["some"].to_bytes(), "low", -99.0))


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 48, "level 48"),
        (0, 40, "which its summaries cannot be of|ascend|may have"),
        (0, 0, "too large"),
        (1, 0, "does not fill"),
        (1, 2**32 - 1, "does not fill"),
        (2, np.nan, "too large"),
        (2, -1.0, "too large"),
        (2, 1e9, "too large"),
    ],
)
def test_a_table_of_summaries_that_lies_is_refused(at, value, message):
    with pytest.raises(SketchFormatError, match=message):
        SmallBlocks.from_bytes(with_level(ALL["many"].to_bytes(), 1, at, value))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e300, 1e300])
def test_points_and_masses_that_make_no_sense_are_refused(bad):
    data = ALL["weighted"].to_bytes()
    held, levels = HEAD.unpack_from(data)[8], HEAD.unpack_from(data)[10]
    first = HEAD.size + levels * LEVEL.size
    size = LEVEL.unpack_from(data, HEAD.size)[1]
    masses = first + 8 * (2 * held + size)
    places = [first, first + 8 * 2 * held, first + 8 * 2 * held + 80]
    places += [] if bad == 1e300 else [first + 8 * held, masses, masses + 80]
    for place in places:
        damaged = bytearray(data[:-4])
        damaged[place : place + 8] = struct.pack("<d", bad)
        with pytest.raises(SketchFormatError):
            SmallBlocks.from_bytes(signed(damaged))


def test_damaged_bytes_with_a_sound_checksum_are_refused_or_a_sound_sketch():
    rng = random.Random(0)
    refused = sound = 0
    originals = [sketch.to_bytes() for sketch in ALL.values()]
    for _ in range(DAMAGED):
        body = bytearray(rng.choice(originals)[:-4])
        for _ in range(rng.choice([1, 1, 2, 4])):
            near = rng.choice([HEAD.size + 60, len(body)])
            at = rng.randrange(min(near, len(body)))
            what = rng.randrange(5)
            if what == 0:
                body[at] ^= 1 << rng.randrange(8)
            elif what == 1:
                at -= at % 8
                body[at : at + 8] = rng.choice(ODD)
            elif what == 2:
                del body[at : at + rng.choice([1, 8, 16, 80])]
            elif what == 3:
                body[at:at] = rng.randbytes(rng.choice([1, 8, 16]))
            else:
                body[at : at + 4] = rng.randrange(70).to_bytes(4, "little")
            body = body or bytearray(b"s")
        try:
            sketch = SmallBlocks.from_bytes(signed(body))
        except SketchFormatError:
            refused += 1
        else:
            use(sketch)
            sound += 1
    assert refused > DAMAGED // 2
    assert sound > DAMAGED // 50
