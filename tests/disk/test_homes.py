"""Where a data set is, and for how long: copies, pickles, temporary folders, a process that goes elsewhere, pipes."""

import copy
import gc
import os
import pickle
import tempfile

import numpy as np
import pytest

import spinney as sp
from paged import check_same, codes_of, paged
from problems import part_of
from spinney.errors import DataError, DatasetFormatError

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 9, (60, 3)).astype(float), RNG.random(60)


@pytest.fixture
def folder(tmp_path):
    paged(X, Y, folder=tmp_path / "data", page_rows=25)
    return tmp_path / "data"


def test_a_data_set_is_pickled_as_its_folder(folder):
    dataset = sp.open_dataset(folder)
    codes_of(dataset)
    check_same(pickle.loads(pickle.dumps(dataset)), sp.Dataset(X, Y))


def test_a_pickle_holds_the_folder_alone_and_the_rows_of_a_part(folder):
    dataset = sp.open_dataset(folder)
    rows = np.array([1, 30, 59])
    assert len(pickle.dumps(dataset)) < 1000
    part = pickle.loads(pickle.dumps(part_of(part_of(dataset, np.arange(1, 60)), rows - 1)))
    assert part.index.tolist() == rows.tolist()
    assert part.target.tolist() == Y[rows].tolist()
    assert sp.train({"max_leaves": 2}, part, 2) == sp.train({"max_leaves": 2}, part_of(dataset, rows), 2)


def test_a_pickle_does_not_open_another_data_set_in_its_folder(folder):
    pickled = pickle.dumps(sp.open_dataset(folder))
    for path in folder.iterdir():
        path.unlink()
    paged(X, -Y, folder=folder)
    with pytest.raises(DatasetFormatError, match="holds another data set than the one that was pickled"):
        pickle.loads(pickled)


def test_parts_of_one_pickle_share_their_pages(folder):
    dataset = sp.open_dataset(folder)
    parts = [part_of(dataset, rows) for rows in (np.arange(0, 60, 2), np.arange(1, 60, 2))]
    one, two = pickle.loads(pickle.dumps(parts))
    assert one.binned.codes is two.binned.codes
    assert pickle.loads(pickle.dumps(one)).target.tolist() == Y[::2].tolist()


def test_parts_on_disk_can_be_copied(folder):
    part = part_of(sp.open_dataset(folder), np.array([1, 30, 59]))
    for other in (copy.copy(part), copy.deepcopy(part)):
        assert sp.train({"max_leaves": 2}, other, 2) == sp.train({"max_leaves": 2}, part, 2)


def test_a_temporary_folder_goes_with_its_data_set():
    dataset = paged(X, Y)
    (folder,) = dataset.folders
    assert (folder / "dataset.json").is_file()
    del dataset
    gc.collect()
    assert not folder.exists()


@pytest.mark.slow
def test_a_temporary_folder_is_there_as_long_as_a_copy_is():
    dataset = paged(X, Y, memory=0)
    (folder,) = dataset.folders
    shallow, deep = copy.copy(dataset), copy.deepcopy(dataset)
    del dataset
    gc.collect()
    check_same(shallow, sp.Dataset(X, Y))
    del shallow
    gc.collect()
    check_same(deep, sp.Dataset(X, Y))
    del deep
    gc.collect()
    assert not folder.exists()


def test_a_data_set_of_a_temporary_folder_cannot_be_pickled():
    with pytest.raises(DataError, match=r"cannot be pickled: it is in a temporary folder, .* a folder"):
        pickle.dumps(paged(X, Y))


def test_after_a_failure_no_temporary_folder_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DataError, match="infinite"):
        paged(np.where(X == 8, np.inf, X), Y)
    assert os.listdir(tmp_path) == []


def test_a_temporary_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"no temporary folder to be had \(No such file .*; give a folder"):
        paged(X, Y)


def test_a_process_may_go_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset = paged(X, Y, folder="data", memory=0)
    opened = sp.open_dataset("data", memory=0)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    for one in (dataset, opened, pickle.loads(pickle.dumps(dataset))):
        check_same(one, sp.Dataset(X, Y))


@pytest.mark.parametrize("name", ["dataset.json", "page-000001.bin", "target.bin"])
def test_a_pipe_in_place_of_a_file_is_refused(folder, name):
    dataset = sp.open_dataset(folder, memory=0)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DatasetFormatError, match=rf"{name}' is damaged"):
        sp.open_dataset(folder)
    if name.startswith("page"):
        with pytest.raises(DatasetFormatError, match=rf"{name}' is damaged: it is no regular file"):
            codes_of(dataset)


def test_a_page_takes_no_memory_for_rows_that_there_are_not():
    check_same(paged(X, Y, page_rows=2**63), sp.Dataset(X, Y))
