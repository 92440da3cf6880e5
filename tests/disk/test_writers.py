"""Several jobs that make a data set in the same folder: one does, the others are refused and touch nothing."""

import os
from pathlib import Path

import numpy as np
import pytest

import spinney as sp
from paged import check_same, paged
from spinney.errors import DataError

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 9, (60, 3)).astype(float), RNG.random(60)


def files_of(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.mark.parametrize("reading", [1, 2])
def test_a_folder_belongs_to_the_job_that_began_to_write_there(tmp_path, reading):
    folders, readings = [tmp_path / "a", tmp_path / "b"], []

    def slow():
        readings.append(1)
        yield X[:30], Y[:30]
        if len(readings) == reading:
            for one in folders:
                before = files_of(one)
                with pytest.raises(
                    DataError, match=f"folder '{one}' holds a data set that another job is writing"
                ):
                    paged(X, Y, folder=one)
                assert files_of(one) == before
        yield X[30:], Y[30:]

    check_same(sp.Dataset.from_batches(slow, folder=folders, page_rows=10), sp.Dataset(X, Y))
    check_same(sp.open_dataset(folders), sp.Dataset(X, Y))
    assert not any("writing" in os.listdir(folder) for folder in folders)


def test_a_job_that_comes_when_another_has_just_ended_leaves_its_data_set_alone(tmp_path, monkeypatch):
    folder, make, made = tmp_path / "data", Path.mkdir, []

    def overtaken(path, *given):
        if not made:
            made.append(1)
            paged(X, Y, folder=folder, page_rows=10)
            made.append(files_of(folder))
        make(path, *given)

    monkeypatch.setattr(Path, "mkdir", overtaken)
    with pytest.raises(DataError, match="holds a data set: open it with open_dataset"):
        paged(X, Y, folder=folder, page_rows=10)
    assert files_of(folder) == made[1]
    check_same(sp.open_dataset(folder), sp.Dataset(X, Y))


def test_a_job_that_is_refused_gives_back_what_it_had_claimed(tmp_path, monkeypatch):
    make = Path.mkdir

    def overtaken(path, *given):
        make(path, *given)
        if path.name == "used":
            (path / "writing").touch()

    monkeypatch.setattr(Path, "mkdir", overtaken)
    with pytest.raises(DataError, match="used' holds a data set that another job is writing"):
        paged(X, Y, folder=[tmp_path / "in" / "new", tmp_path / "used"])
    assert os.listdir(tmp_path) == ["used"]
    assert os.listdir(tmp_path / "used") == ["writing"]
