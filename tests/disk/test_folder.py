"""The folder of a data set: opened again, carried elsewhere, never half there, and trusted in nothing."""

import errno
import json
import os
import shutil
import textwrap
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import children
import spinney as sp
from paged import check_same, codes_of, key_of, paged
from spinney.errors import DataError, DatasetFormatError, DataTypeError

ROWS = 200


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (ROWS, 4)).astype(float)
    X[:, 2:] = np.where(rng.random((ROWS, 2)) < 0.9, 0.0, X[:, 2:])
    return X, rng.random(ROWS)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder that nobody may change, and the same rows in memory."""
    X, y = problem()
    folder = tmp_path_factory.mktemp("written") / "data"
    weight = np.arange(ROWS) / 7
    margin, qid = np.stack([y, -y], axis=1), np.arange(ROWS) % 5
    more = {"weight": weight, "base_margin": margin, "qid": qid}
    paged(X, y, more=more, folder=folder, page_rows=90, compression="none")
    return folder, sp.Dataset(X, y, **more)


@pytest.fixture
def copy(written, tmp_path):
    """A folder that may be damaged."""
    return Path(shutil.copytree(written[0], tmp_path / "copy"))


def test_a_folder_can_be_opened_again_and_carried_elsewhere(written, copy):
    for folder in (written[0], str(copy), [copy]):
        check_same(sp.open_dataset(folder), written[1])
    check_same(sp.open_dataset(copy, memory=0), written[1])


def test_the_same_rows_give_the_same_files(written, tmp_path):
    X, y = problem()
    again = tmp_path / "again"
    more = {
        "weight": np.arange(ROWS) / 7,
        "base_margin": np.stack([y, -y], axis=1),
        "qid": np.arange(ROWS) % 5,
    }
    paged(X, y, 13, more, folder=again, page_rows=90, compression="none", n_jobs=2)
    assert sorted(os.listdir(again)) == sorted(os.listdir(written[0]))
    for name in os.listdir(again):
        assert (again / name).read_bytes() == (written[0] / name).read_bytes(), name


def test_pages_are_dealt_over_several_folders(tmp_path):
    X, y = problem()
    folders = [tmp_path / "a", tmp_path / "b" / "c"]
    check_same(paged(X, y, folder=folders, page_rows=30), sp.Dataset(X, y))
    pages = [sorted(name for name in os.listdir(folder) if name.startswith("page-")) for folder in folders]
    assert [len(names) for names in pages] == [4, 3]
    moved = shutil.move(folders[1], tmp_path / "moved")
    check_same(sp.open_dataset([folders[0], moved]), sp.Dataset(X, y))
    for given, said in (
        (folders[0], "has 2 folders, but 1 are given"),
        (
            [moved, folders[0]],
            "moved' is not the first folder of its data set, which has several; give all",
        ),
        (moved, "moved' is not the first folder of its data set"),
        (tmp_path, "is no data set, or its writing was interrupted"),
        ([folders[0], tmp_path], "is not folder 1 of the data set of"),
    ):
        with pytest.raises(DatasetFormatError, match=said):
            sp.open_dataset(given)


@pytest.mark.parametrize(
    "inside", ["dataset.json", "pages.json", "page-000001.bin", "draft-000000.bin", "mine.txt"]
)
def test_a_folder_that_is_not_empty_is_refused_and_left_alone(tmp_path, inside):
    (tmp_path / inside).write_text("keep me")
    said = {
        "dataset.json": "holds a data set: open it with",
        "pages.json": "holds a part of a data set",
        "mine.txt": "is not empty \\(it holds 'mine.txt'\\)",
    }
    with pytest.raises(DataError, match=said.get(inside, "whose writing was interrupted")):
        paged(*problem(), folder=tmp_path)
    assert os.listdir(tmp_path) == [inside]
    assert (tmp_path / inside).read_text() == "keep me"


def test_folders_must_be_paths(tmp_path):
    with pytest.raises(DataTypeError, match="folder must be a path or a list of paths, got int"):
        paged(*problem(), folder=3)
    with pytest.raises(DataTypeError, match="folder holds 3, which is no path"):
        paged(*problem(), folder=[3])
    for twice in ([tmp_path, tmp_path], [tmp_path, tmp_path / "a" / ".."]):
        with pytest.raises(DataError, match="each only once"):
            paged(*problem(), folder=twice)
    with pytest.raises(DataError, match=r"/a', which is inside '.*'; give folders side by side"):
        paged(*problem(), folder=[tmp_path / "a", tmp_path])
    for make in (lambda: paged(*problem(), folder="a\0b"), lambda: sp.open_dataset("a\0b")):
        with pytest.raises(DataError, match=r"folder='a\\x00b' holds a null character"):
            make()
    with pytest.raises(DataError, match=r"folder='\\ud800' cannot be written as a path"):
        sp.open_dataset("\ud800")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("page", [0, 2])
@pytest.mark.parametrize("exists", [False, True])
def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path, monkeypatch, page, exists):
    folder = tmp_path / "data"
    if exists:
        folder.mkdir()
    left, write = [page], os.write

    def full(descriptor, data):
        if len(data) < 20_000 and not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(
        DataError, match=r"^folder .* cannot be written to: No space left on device; nothing was kept"
    ):
        paged(*problem(), folder=folder, page_rows=40)
    assert (os.listdir(folder) == []) if exists else not folder.exists()


def test_a_failure_of_the_source_leaves_nothing_behind(tmp_path):
    X, y = problem()
    readings = []

    def source():
        readings.append(1)
        yield X, y
        if len(readings) == 2:
            raise RuntimeError("the network is gone")

    with pytest.raises(RuntimeError, match="the network is gone"):
        sp.Dataset.from_batches(source, folder=tmp_path / "in" / "a" / "data", page_rows=50)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_leaves_no_other_behind(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written to"):
        paged(*problem(), folder=[tmp_path / "in" / "a", tmp_path / "file" / "b"])
    assert os.listdir(tmp_path) == ["file"]


def test_a_process_that_is_killed_leaves_no_folder_that_looks_whole(tmp_path):
    program = """
    import json, os, sys
    import numpy as np
    import spinney as sp

    readings = []

    def source():
        readings.append(1)
        for batch in range(4):
            if len(readings) == 2 and batch == 3:
                print(json.dumps(sorted(os.listdir(sys.argv[1]))), flush=True)
                os._exit(0)
            yield np.full((50, 2), batch), np.zeros(50)

    sp.Dataset.from_batches(source, folder=sys.argv[1], page_rows=50)
    """
    folder = tmp_path / "data"
    left = children.run(textwrap.dedent(program), str(folder))
    assert left == sorted(os.listdir(folder)) == [*(f"draft-{page:06d}.bin" for page in range(3)), "writing"]
    with pytest.raises(DatasetFormatError, match="is no data set, or its writing was interrupted"):
        sp.open_dataset(folder)
    with pytest.raises(
        DataError, match="another job is writing, or whose writing was interrupted; give another"
    ):
        paged(*problem(), folder=folder)
    assert left == sorted(os.listdir(folder))


def test_a_folder_without_its_header_is_no_data_set(copy):
    (copy / "dataset.json").unlink()
    with pytest.raises(
        DatasetFormatError, match=r"is no data set, or its writing was interrupted: it has no dataset\.json"
    ):
        sp.open_dataset(copy)


@pytest.mark.parametrize("name", ["page-000001.bin", "target.bin", "cut_values.bin", "group.bin"])
@pytest.mark.parametrize("damage", ["gone", "short", "long", "flipped"])
def test_a_damaged_file_is_named(copy, name, damage):
    path = copy / name
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        changed = {
            "short": data[:-1],
            "long": data + b"x",
            "flipped": data[:9] + bytes([data[9] ^ 1]) + data[10:],
        }
        path.write_bytes(changed[damage])
    with pytest.raises(DatasetFormatError, match=name):
        codes_of(sp.open_dataset(copy, memory=0))


def test_a_page_that_is_gone_while_it_is_read_again_is_named(copy):
    dataset = sp.open_dataset(copy, memory=0)
    codes_of(dataset)
    (copy / "page-000002.bin").unlink()
    for _ in range(2):
        with pytest.raises(
            DatasetFormatError, match=r"page-000002\.bin', a part of the data set, cannot be read: No such"
        ):
            codes_of(dataset)


def test_a_page_that_changes_after_it_was_read_is_named(copy):
    dataset = sp.open_dataset(copy, memory=0)
    codes_of(dataset)
    page = copy / "page-000001.bin"
    data = page.read_bytes()
    page.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(
        DatasetFormatError, match=r"page-000001\.bin' is damaged: its checksum is not what it was"
    ):
        codes_of(dataset)
    page.write_bytes(data)
    codes_of(dataset)


def rewrite(folder, name=None, array=None, **changes):
    """Change what the header says, and an array, as somebody would who knows the format."""
    fields = json.loads((folder / "dataset.json").read_text())
    fields.update(changes)
    if name is not None:
        (folder / f"{name}.bin").write_bytes(array.tobytes())
        fields["arrays"][name] = {"items": array.size, "checksum": zlib.crc32(array.tobytes())}
    (folder / "dataset.json").write_text(json.dumps({**fields, "key": key_of(fields)}))


def read(folder, name, dtype):
    return np.fromfile(folder / f"{name}.bin", dtype)


@pytest.mark.parametrize(
    ("name", "dtype", "place", "value", "said"),
    [
        ("cut_values", "f8", 1, -1e9, "do not ascend"),
        ("cut_values", "f8", 1, np.nan, "do not ascend, or are not finite"),
        ("cut_starts", "i8", 1, 10**9, "less than no cuts, or too many"),
        ("cut_starts", "i8", -1, 3, "are not those of 4 columns"),
        ("group", "i8", 0, 77, "there are more groups than columns"),
        ("group", "i8", 0, 2**62, "there are more groups than columns"),
        ("group", "i8", 0, 3, "a group has no column"),
        ("group", "i8", 0, -7, "do not fit its bins"),
        ("codes", "i8", 0, 300, "do not fit its bins"),
        ("low", "i8", 0, 1, "do not fit its bins"),
        ("low", "i8", 3, 500, "overlap or leave a gap"),
        ("default", "i8", 3, 99, "do not fit its bins"),
        ("target", "f8", 3, np.nan, "Input y contains NaN"),
        ("weight", "f8", 3, -1.0, "weight is negative in row 3"),
        ("margin", "f8", 3, np.inf, "base_margin"),
        ("queries", "i8", 3, 9, "queries are not numbered from 0"),
    ],
)
def test_arrays_are_looked_at_although_their_checksums_are_right(copy, name, dtype, place, value, said):
    array = read(copy, name, dtype)
    array[place] = value
    rewrite(copy, name, array)
    with pytest.raises(DatasetFormatError, match=said):
        sp.open_dataset(copy)


@pytest.mark.parametrize("name", ["target", "weight", "margin", "queries", "low", "cut_starts"])
def test_arrays_of_a_wrong_length_are_refused(copy, name):
    rewrite(copy, name, read(copy, name, "i8")[:-1])
    with pytest.raises(DatasetFormatError, match="damaged"):
        sp.open_dataset(copy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not sound JSON"),
        ("[]", "is not the header of a data set"),
        ('{"kind": "spinney data set", "format": 2}', "has format 2; this version reads 1"),
        ('{"kind": "spinney data set", "format": 1}', "must have the keys"),
        ("\ufeff" * 3, "is not sound JSON"),
    ],
)
def test_a_header_that_is_none_is_refused(copy, text, said):
    (copy / "dataset.json").write_text(text)
    with pytest.raises(DatasetFormatError, match=f"dataset.json'.*{said}"):
        sp.open_dataset(copy)


def page_facts(folder, **changes):
    return {**json.loads((folder / "dataset.json").read_text())["pages"], **changes}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": 7}, "pages have 200 rows together, not 7"),
        ({"rows": True}, "rows must be a whole number"),
        ({"params": {}}, "params must be max_bin"),
        ({"from_sparse": 1}, "from_sparse must be true or false"),
        ({"conflicts": -1}, "conflicts must be a whole number"),
        ({"folders": 0}, "folders must be a whole number"),
        ({"schema": {"names": None, "columns": 3}}, "are not those of 3 columns"),
        ({"schema": 3}, "schema must be an object"),
    ],
)
def test_what_the_header_says_is_checked(copy, changes, said):
    fields = {**json.loads((copy / "dataset.json").read_text()), **changes}
    fields["key"] = changes.get("key", key_of(fields))
    (copy / "dataset.json").write_text(json.dumps(fields))
    with pytest.raises(DatasetFormatError, match=said):
        sp.open_dataset(copy)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rows", [90, 90, 0], "rows of a page must be a whole number"),
        ("rows", [90, 90], "lists of one length"),
        ("codec", ["", "", "zip"], "codec of a page must be one of"),
        ("checksum", [1, 2, -3], "checksum of a page must be"),
        ("entries", [1, 0, 0], "which would have"),
    ],
)
def test_what_the_header_says_of_pages_is_checked(copy, name, value, said):
    text = json.loads((copy / "dataset.json").read_text())
    text["pages"][name] = value
    (copy / "dataset.json").write_text(json.dumps({**text, "key": key_of(text)}))
    with pytest.raises(DatasetFormatError, match=said):
        sp.open_dataset(copy)


def test_a_page_of_codes_that_cannot_be_is_refused_although_its_checksum_is_right(copy):
    text = json.loads((copy / "dataset.json").read_text())
    page = copy / "page-000001.bin"
    data = bytes([255]) * len(page.read_bytes())
    page.write_bytes(data)
    text["pages"]["checksum"][1] = zlib.crc32(data)
    (copy / "dataset.json").write_text(json.dumps({**text, "key": key_of(text)}))
    with pytest.raises(
        DatasetFormatError, match=r"page-000001\.bin' is damaged: it holds a code that no bin has"
    ):
        codes_of(sp.open_dataset(copy))


def test_entries_of_sparse_columns_are_looked_at(tmp_path):
    X = sparse.random_array((80, 30), density=0.05, rng=np.random.default_rng(0), format="csr")
    folder = tmp_path / "data"
    dataset = paged(X, folder=folder, bundle=False, compression="none")
    assert dataset.describe()["sparse_columns"] == 30
    sound = (folder / "page-000000.bin").read_bytes()
    entries = dataset.describe()["stored_entries"]
    rows = len(sound) - 6 * entries
    text = json.loads((folder / "dataset.json").read_text())
    for place, byte in ((0, 200), (rows + 3, 127), (rows, 79), (len(sound) - 1, 255)):
        data = sound[:place] + bytes([byte]) + sound[place + 1 :]
        (folder / "page-000000.bin").write_bytes(data)
        text["pages"]["checksum"][0] = zlib.crc32(data)
        (folder / "dataset.json").write_text(json.dumps({**text, "key": key_of(text)}))
        with pytest.raises(DatasetFormatError, match=r"entries as it holds|out of range or out of order"):
            codes_of(sp.open_dataset(folder))


def test_learners_that_need_the_table_are_refused():
    dataset = paged(*problem())
    with pytest.raises(DataError, match="but this data set is on disk: it trains with tree_method='hist'"):
        dataset.binned.raw.table()
    assert not dataset.has_table
    assert repr(dataset) == "Dataset(rows=200, columns=4, bins=34, pages=1)"


@pytest.mark.parametrize(
    ("old", "new"), [('"rows": 200', '"rows": 201'), ('"unseen": "missing"', '"unseen": "rarest"')]
)
def test_nothing_that_the_header_says_can_be_changed_unnoticed(copy, old, new):
    path = copy / "dataset.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(DatasetFormatError):
        sp.open_dataset(copy)
