"""Importing and fitting leave no trace in the process: nothing printed, no setting changed, no thread left."""

import pytest

import children

LIGHT = """
    import json, sys
    import spinney as sp
    after_import = sorted(sys.modules)
    import numpy as np
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = sp.train({}, sp.Dataset(X, X[:, 0]), rounds=2)
    model.predict(X)
    sp.Model.from_bytes(model.to_bytes())
    print(json.dumps([after_import, sorted(sys.modules)]))
"""
HEAVY = {"numba", "llvmlite", "pandas", "polars", "pyarrow", "matplotlib", "dask"}


def test_a_built_library_spares_the_import_of_numba_and_other_heavy_packages():
    after_import, after_fit = map(set, children.run(LIGHT))
    assert (
        not (HEAVY | {"numpy", "sklearn", "scipy", "rich", "typer", "narwhals", "safetensors"}) & after_import
    )
    assert not (HEAVY | {"sklearn", "rich", "typer"}) & after_fit


FOOTPRINT = """
def use_everything():
    fit()
    X, y = data()
    try:
        sp.train({"objective": "no such"}, sp.Dataset(X, y))
    except ValueError:
        pass
    wild = X[:300].copy()
    wild[:, 0] *= 1e300
    sp.train({"max_bin": 300}, sp.Dataset(wild, y[:300] * 1e29, max_bin=300), rounds=2, progress=False).predict(wild)
    classes = np.arange(300) % 3
    model = sp.train({"objective": "softmax", "num_class": 3}, sp.Dataset(wild, classes), rounds=2)
    model.predict_leaf(wild)
    sp.Model.from_bytes(model.to_bytes()).to_json()


before = settings()
use_everything()
print(json.dumps({name: [value, before[name]] for name, value in settings().items() if value != before[name]}))
"""


def test_no_setting_of_the_process_changes():
    assert children.run_fits(children.SETTINGS + FOOTPRINT) == {}


@pytest.mark.parametrize("way", ["", "python"])
def test_an_error_of_numpy_that_the_user_asked_for_stays_theirs(way):
    program = """
    import json
    import numpy as np
    import spinney as sp
    np.seterr(all="raise")
    X = np.random.default_rng(0).normal(size=(40, 2))
    sp.train({"objective": "log_loss"}, sp.Dataset(X * 1e300, X[:, 0] > 0), rounds=2).predict(X * 1e300)
    print(json.dumps(np.geterr()))
    """
    assert set(children.run(program, SPINNEY_KERNELS=way).values()) == {"raise"}
