"""One model, bit for bit, whichever way its kernels run."""

from pathlib import Path

import pytest

from spinney.jit import library

BEST = library.supported_levels()[-1]


@pytest.mark.slow
def test_processes_that_start_at_once_build_one_library(fresh):
    told, given = fresh
    assert len(told) == 8
    assert sum(len(one["messages"]) for one in told) == 1
    assert len({one["digest"] for one in told}) == 1
    (path,) = {one["path"] for one in told}
    folder = Path(given["SPINNEY_CACHE_DIR"])
    level = given["SPINNEY_KERNELS"]
    assert Path(path).parent.parent == folder
    kept = sorted(file.name for file in Path(path).parent.iterdir())
    assert kept == [f"kernels-{level}.json", f"kernels-{level}.so", f"{level}.lock"]


@pytest.mark.slow
def test_every_cpu_level_gives_the_same_models(models_by, level):
    assert models_by(level) == models_by(BEST)


@pytest.mark.slow
def test_numba_s_jit_gives_the_same_models(models_by):
    assert models_by("jit") == models_by(BEST)


@pytest.mark.slow
def test_plain_python_gives_the_same_models(models_by):
    assert models_by("python", "tiny") == models_by(BEST, "tiny")


@pytest.mark.parametrize("name", ["regression", "softmax", "weights", "drawn", "many bins"])
def test_the_models_differ_from_each_other(models_by, name):
    digests = models_by(BEST)
    assert [other for other in digests if digests[other] == digests[name]] in (
        [name],
        ["regression", "columns first"],
    )
