"""Models that are trained in other processes and other ways, to be compared byte for byte."""

import json
import shutil
from pathlib import Path

import pytest

import children
from spinney.jit import library

MODELS = (Path(__file__).parent / "models.py").read_text(encoding="utf-8")
LOWEST = library.cpu_levels()[0]
RACE = """
    import hashlib, json, logging
    import numpy as np
    messages = []
    listener = logging.Handler()
    listener.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("spinney").addHandler(listener)
    logging.getLogger("spinney").setLevel(logging.INFO)

    import spinney as sp
    from spinney.jit import library

    X = np.random.default_rng(0).normal(size=(500, 3))
    model = sp.train({}, sp.Dataset(X, X[:, 0] * X[:, 1]), rounds=3)
    digest = hashlib.sha256(model.to_bytes()).hexdigest()
    print(json.dumps({"messages": messages, "path": str(library.runtime().path), "digest": digest}))
"""


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """What eight processes told that started at once from a checkout without libraries, with an empty cache."""
    folder = tmp_path_factory.mktemp("fresh")
    sources = folder / "src"
    unbuilt = shutil.ignore_patterns("built", "__pycache__")
    shutil.copytree(children.SOURCES / "spinney", sources / "spinney", ignore=unbuilt)
    given = {"sources": sources, "SPINNEY_CACHE_DIR": folder / "cache", "SPINNEY_KERNELS": LOWEST}
    started = [children.start(RACE, folder=folder, **given) for _ in range(8)]
    told = [children.finish(process) for process in started]
    assert {complaints for _, complaints in told} == {""}
    return [json.loads(output) for output, _ in told], given


@pytest.fixture(scope="session")
def models_by(request):
    """A function that trains the models of `models.py` in a process of its own; each way once."""
    known = {}

    def train(way, size=""):
        if (way, size) not in known:
            # The library of the lowest level is there already.
            given = request.getfixturevalue("fresh")[1] if way == LOWEST else {"SPINNEY_KERNELS": way}
            found = children.run(MODELS, size, **given)
            assert found["way"] == way
            known[way, size] = found["digests"]
        return known[way, size]

    return train


def pytest_generate_tests(metafunc):
    if "level" in metafunc.fixturenames:
        levels = [
            pytest.param(
                level,
                marks=pytest.mark.skipif(
                    level not in library.supported_levels(), reason=f"this CPU cannot run {level}"
                ),
            )
            for level in library.cpu_levels()
        ]
        metafunc.parametrize("level", levels)
