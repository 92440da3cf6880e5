"""Model files of every released version can be read, and predict the bits they predicted then."""

from pathlib import Path

import numpy as np
import pytest

import spinney as sp

FILES = sorted((Path(__file__).with_name("golden")).glob("*.safetensors"))


def check(path):
    model = sp.load(path)
    with np.load(path.with_suffix(".npz")) as stored:
        X, predictions = stored["X"], stored["predictions"]
        assert model.predict(X).tobytes() == predictions.tobytes()
        assert model.predict_raw(X).tobytes() == stored["raw"].tobytes()
        assert model.predict_leaf(X).tobytes() == stored["leaves"].tobytes()
    return model


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version_predicts_what_it_did(path):
    assert check(path).rounds > 0


def test_the_maker_of_these_files_makes_such_a_file(tmp_path):
    import importlib.util

    spec = importlib.util.spec_from_file_location("make_golden", Path(__file__).with_name("make_golden.py"))
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    path = maker.make(tmp_path)
    model = check(path)
    assert path.name == f"model-{sp.__version__}.safetensors"
    assert model.best_round < model.rounds
    assert model.feature_names == ("age", "größe", "木", "x y")
    assert len(model.forest.sets.node) > 0
