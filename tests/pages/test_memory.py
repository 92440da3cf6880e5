"""How much memory pages may take, on disk and off it."""

import json
import zlib

import numpy as np
import pytest

import spinney as sp
from paged import check_same, codes_of, key_of, paged
from spinney.errors import DatasetFormatError, ParameterError
from spinney.pages import codec
from spinney.pages.memory import free_memory, memory_bytes


@pytest.mark.parametrize("compression", ["auto", "none", "lz4", "zstd"])
def test_compressed_pages_give_the_same_codes(tmp_path, compression):
    X = np.sort(np.random.default_rng(0).random((3_000, 3)), axis=0)
    dataset = paged(X, size=3_000, page_rows=1_000, folder=tmp_path / "a", compression=compression, memory=0)
    check_same(dataset, sp.Dataset(X))
    facts = dataset.describe()
    assert facts["compressed_pages"] == (0 if compression == "none" else facts["pages"])
    assert (facts["disk_bytes"] < 3_000) == (compression != "none")


def test_what_does_not_shrink_is_written_as_it_is():
    X = np.random.default_rng(0).random((2_000, 2))
    assert paged(X, compression="auto").describe()["compressed_pages"] == 0


def test_codes_are_kept_in_as_few_bits_as_they_need():
    X = np.random.default_rng(0).integers(0, 4, (800, 3)).astype(float)
    facts = paged(X, compression="none", bundle=False).describe()
    assert facts["disk_bytes"] == 3 * 800 * 3 // 8
    assert facts["bytes"] > facts["disk_bytes"]


def test_a_damaged_compressed_page_is_refused(tmp_path):
    X = np.sort(np.random.default_rng(0).random((3_000, 3)), axis=0)
    folder = tmp_path / "a"
    paged(X, size=3_000, folder=folder, compression="zstd")
    text = json.loads((folder / "dataset.json").read_text())
    data = bytes(text["pages"]["bytes"][0])
    (folder / "page-000000.bin").write_bytes(data)
    text["pages"]["checksum"][0] = zlib.crc32(data)
    (folder / "dataset.json").write_text(json.dumps({**text, "key": key_of(text)}))
    with pytest.raises(DatasetFormatError, match=r"it cannot be decompressed|bytes after decompression"):
        codes_of(sp.open_dataset(folder))


def test_compression_needs_pyarrow_and_says_so(monkeypatch):
    monkeypatch.setattr(codec, "find_spec", lambda name: None)
    with pytest.raises(ParameterError, match="compression='lz4' needs PyArrow"):
        paged(np.zeros((500, 2)), compression="lz4")
    assert paged(np.zeros((500, 2)), compression="auto").describe()["compressed_pages"] == 0
    with pytest.raises(DatasetFormatError, match="compressed by lz4: reading it needs PyArrow"):
        codec.unpack("lz4", np.zeros(3, np.uint8), 3)


def test_memory_is_what_is_free_or_what_the_control_group_leaves(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:     1000 kB\n")
    assert free_memory(tmp_path) == 1_024_000
    group = tmp_path / "sys/fs/cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("400\n")
    assert free_memory(tmp_path) == 1_024_000
    (group / "memory.max").write_text("1000\n")
    assert free_memory(tmp_path) == 600
    assert memory_bytes("0.5GB") == 500_000_000
    assert memory_bytes(" 3 KiB ") == 3_072
    with pytest.raises(ParameterError, match="memory=-1 must be 0 or more bytes"):
        memory_bytes(-1)


def test_scans_that_overlap_give_every_page_once():
    X = np.random.default_rng(0).random((200, 3))
    y = X[:, 0]
    dataset = sp.Dataset.from_batches([(X, y)], page_rows=40)
    one, two, three = (dataset.blocks.scan() for _ in range(3))
    found = [next(one)[0]]
    next(two)
    next(three)
    next(three)
    found += [page for page, _ in one]
    assert sorted(found) == list(range(5))
