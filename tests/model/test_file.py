import json
import os
import struct
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import DataError, DataTypeError, ModelFormatError
from spinney.model import file
from spinney.model.adaboost import AdaBoostModel
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.isolation import IsolationModel
from spinney.model.loading import load
from spinney.tree import check
from spinney.tree.forest import FOREST_DTYPES


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_model_survives_a_round_trip_bit_for_bit(models, data):
    model = data.draw(models)
    again = Model.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert again.forest.equal(model.forest)
    assert again.base_score.tobytes() == model.base_score.tobytes()
    assert again.params == model.params
    assert again.feature_names == model.feature_names
    assert (again.n_features, again.outputs, again.rounds) == (model.n_features, model.outputs, model.rounds)
    assert (again.best_round, again.objective) == (model.best_round, model.objective)


def test_a_saved_model_loads_as_an_equal_one(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    assert load(tmp_path / "model.safetensors") == model
    assert load(str(tmp_path / "model.safetensors")) == model


def test_the_same_model_gives_the_same_bytes_in_another_process(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    code = (
        "import sys, spinney as m; a = m.load(sys.argv[1]); a.save(sys.argv[1] + '2');"
        "assert m.load(sys.argv[1] + '2') == a"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)
    assert (tmp_path / "model2").read_bytes() == path.read_bytes()


def test_the_file_can_be_read_with_the_safetensors_package(model, tmp_path):
    model.save(tmp_path / "model")
    arrays = safetensors.numpy.load_file(tmp_path / "model")
    assert arrays.keys() == {*FOREST_DTYPES, "base_score"}
    for name in FOREST_DTYPES:
        assert arrays[name].tobytes() == getattr(model.forest, name).tobytes()
    with safetensors.safe_open(tmp_path / "model", "np") as box:
        assert json.loads(box.metadata()["spinney"])["objective"] == "softmax"


def test_a_file_written_with_the_safetensors_package_can_be_read(model, opened):
    arrays = {name: getattr(model.forest, name) for name in FOREST_DTYPES} | {"base_score": model.base_score}
    data = safetensors.numpy.save(arrays, metadata={"spinney": json.dumps(opened.header)})
    assert Model.from_bytes(data) == model


def test_the_header_says_what_the_model_is(opened):
    params = opened.header.pop("params")
    assert params["num_class"] == 3
    assert "n_jobs" not in params
    version = opened.header.pop("version")
    assert version[0].isdigit()
    assert opened.header == {
        "format": 1,
        "objective": "softmax",
        "outputs": 3,
        "columns": 3,
        "names": ["age", "größe", "木"],
        "rounds": 2,
        "best_round": 1,
    }


def test_the_header_is_written_with_sorted_keys_and_without_spaces(model):
    data = model.to_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    text = json.loads(data[8 : 8 + length])["__metadata__"]["spinney"]
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_arrays_out_of_line_in_the_file_come_out_aligned(opened, model):
    data = opened.pack()
    (length,) = struct.unpack("<Q", data[:8])
    shifted = struct.pack("<Q", length + 3) + data[8 : 8 + length] + b"   " + data[8 + length :]
    again = Model.from_bytes(shifted)
    assert again == model
    assert all(getattr(again.forest, name).flags.aligned for name in FOREST_DTYPES)


def test_arrays_of_a_loaded_model_cannot_be_written_to(model):
    source = bytearray(model.to_bytes())
    again = Model.from_bytes(source)
    source[:] = bytes(len(source))
    assert again == model
    for array in (again.base_score, *(getattr(again.forest, name) for name in FOREST_DTYPES)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    check(again.forest, 3, 3)


def test_parameters_missing_in_the_file_take_their_defaults(opened, model):
    del opened.header["params"]["max_bin"]
    assert Model.from_bytes(opened.pack()) == model


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_a_folder_is_an_is_a_directory_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


@pytest.mark.parametrize("path", [0, 1, True, None, b"model", 1.5])
def test_a_path_is_no_number(model, path):
    with pytest.raises(DataTypeError, match="str or path-like"):
        load(path)
    with pytest.raises(DataTypeError, match="str or path-like"):
        model.save(path)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_that_no_file_can_have_is_named(model, kind):
    for use in (load, model.save):
        with pytest.raises(DataError, match=r"a model's path 'a\\x00b' holds a null character"):
            use(kind("a\0b"))
        with pytest.raises(
            DataError, match=r"a model's path '\\ud800' cannot be written as a path"
        ) as caught:
            use(kind("\ud800"))
        assert isinstance(caught.value.__cause__, UnicodeEncodeError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFormatError, match="not a regular file"):
        load(tmp_path / "pipe")


def test_an_empty_file_is_refused_by_name(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(ModelFormatError, match=r"empty.*cut off: its size is 0 bytes"):
        load(tmp_path / "empty")


def test_a_large_stranger_is_refused_before_it_is_read_whole(tmp_path):
    with open(tmp_path / "huge", "wb") as stranger:
        stranger.write(b"\xff" * 8)
        stranger.truncate(2**40)
    with pytest.raises(ModelFormatError, match="its header would be"):
        load(tmp_path / "huge")


@pytest.mark.parametrize("source", ["text", 5, None, [1, 2]])
def test_only_bytes_are_read_as_bytes(source):
    with pytest.raises(DataTypeError, match="read from bytes"):
        file.loads(source)


def test_a_memoryview_is_read_as_bytes(model):
    assert Model.from_bytes(memoryview(model.to_bytes())) == model


def test_the_class_of_a_file_is_found_by_the_number_and_the_kind_of_its_format():
    found = {(one.FILE.number, one.FILE.kind): one for one in (ForestModel, AdaBoostModel, IsolationModel)}
    listed = {
        (number, kind): getattr(import_module(module), name)
        for number, kinds in file.KINDS.items()
        for kind, (module, name) in kinds.items()
    }
    assert listed == found
