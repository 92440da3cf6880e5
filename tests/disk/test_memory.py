"""How much memory pages may take, on disk and off it."""

import copy
import json
import pickle
import zlib

import numpy as np
import pytest

import spinney as sp
from paged import check_same, codes_of, key_of, paged
from spinney.binning.cuts import Cuts
from spinney.disk import memory
from spinney.disk import page as page_module
from spinney.disk.drafts import rows_of_page
from spinney.disk.memory import free_memory, memory_bytes
from spinney.errors import DatasetFormatError, ParameterError


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
    monkeypatch.setattr(page_module, "find_spec", lambda name: None)
    with pytest.raises(ParameterError, match="compression='lz4' needs PyArrow"):
        paged(np.zeros((500, 2)), compression="lz4")
    assert paged(np.zeros((500, 2)), compression="auto").describe()["compressed_pages"] == 0
    with pytest.raises(DatasetFormatError, match="compressed by lz4: reading it needs PyArrow"):
        page_module.unpack("lz4", np.zeros(3, np.uint8), 3)


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
    (group / "memory.stat").write_text("anon 90\ninactive_file 250\nactive_file 33\n")
    assert free_memory(tmp_path) == 850
    assert memory_bytes("0.5GB") == 500_000_000
    assert memory_bytes(" 3 KiB ") == 3_072
    with pytest.raises(ParameterError, match="memory=-1 must be 0 or more bytes"):
        memory_bytes(-1)


def group_at(root, folder, version, limit, used, cached):
    """The files of a control group, of version 2 or 1."""
    place = root / "sys/fs/cgroup" / folder
    place.mkdir(parents=True, exist_ok=True)
    names = ("max", "current") if version == 2 else ("limit_in_bytes", "usage_in_bytes")
    for name, value in zip(names, (limit, used), strict=True):
        (place / f"memory.{name}").write_text(f"{value}\n")
    (place / "memory.stat").write_text(f"{'' if version == 2 else 'total_'}inactive_file {cached}\n")


@pytest.mark.parametrize(
    ("fields", "version", "top"),
    [("0::/jobs/mine\n", 2, ""), ("7:cpu:/\n5:memory,hugetlb:/jobs/mine\n0::/\n", 1, "memory/")],
    ids=["version 2", "version 1"],
)
def test_the_group_of_the_process_and_those_around_it_all_limit_its_memory(tmp_path, fields, version, top):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(fields)
    group_at(tmp_path, f"{top}jobs/other", version, 10, 0, 0)
    group_at(tmp_path, f"{top}jobs/mine", version, 1_000, 900, 200)
    assert free_memory(tmp_path) == 300
    group_at(tmp_path, f"{top}jobs", version, 5_000, 4_800, 0)
    assert free_memory(tmp_path) == 200
    group_at(tmp_path, top, version, 50, 60, 0)
    assert free_memory(tmp_path) == 0


def test_without_a_limit_half_of_what_is_free_when_pages_are_first_read_is_taken(tmp_path, monkeypatch):
    X = np.random.default_rng(0).random((400, 3))
    free = [0]
    monkeypatch.setattr(memory, "free_memory", lambda: free[0])
    dataset = paged(X, folder=tmp_path / "a", page_rows=40)
    need = dataset.describe()["bytes"]
    assert dataset.describe()["resident_pages"] == 0
    free[0] = 2 * need
    assert dataset.describe()["resident_pages"] == 10
    free[0] = need
    codes_of(dataset)
    kept = dataset.describe()["resident_pages"]
    assert 0 < kept < 5
    free[0] = 0
    codes_of(dataset)
    assert dataset.describe()["resident_pages"] == kept
    # Others, in this process or another, look for themselves.
    for other in (
        sp.open_dataset(tmp_path / "a"),
        pickle.loads(pickle.dumps(dataset)),
        copy.deepcopy(dataset),
    ):
        codes_of(other)
        assert other.describe()["resident_pages"] == 0


def test_scans_that_overlap_give_every_page_once():
    X = np.random.default_rng(0).random((200, 3))
    y = X[:, 0]
    dataset = sp.Dataset.from_batches([(X, y)], page_rows=40)
    one, two, three = (dataset.binned.codes.scan() for _ in range(3))
    found = [next(one)[0]]
    next(two)
    next(three)
    next(three)
    found += [page for page, _ in one]
    assert sorted(found) == list(range(5))


def test_memory_may_be_any_whole_number():
    assert memory_bytes(np.int64(10)) == 10
    assert memory_bytes("9" * 400) > 10**399
    assert memory_bytes("0.1 GB") == 100_000_000


@pytest.mark.parametrize(
    ("columns", "bins", "rows"),
    [
        (1, 255, 2**20),
        (28, 255, 299_592),
        (28, 256, 149_792),
        (200, 255, 2**16),
        (1_024, 255, 2**16),
        (2_048, 255, 2**15),
        (10**5, 255, 2**12),
    ],
)
def test_pages_of_many_columns_have_rows_enough_as_long_as_they_are_not_huge(columns, bins, rows):
    starts = np.arange(columns + 1) * (bins - 1)
    cuts = Cuts(np.zeros(starts[-1]), starts, bins, np.zeros(columns, np.uint8))
    assert rows_of_page(cuts, from_sparse=False) == rows
