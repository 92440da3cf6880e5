"""The small checkout: the package with a handful of toy kernels, built in seconds."""

import shutil

import pytest

import children
from spinney.jit import library


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """Runs a program with a small checkout that stays as it is; its libraries are built once for all tests."""
    folder = tmp_path_factory.mktemp("toy")
    sources = children.small_checkout(folder)

    def run(program, *arguments, **environment):
        given = {"SPINNEY_CACHE_DIR": folder / "cache"} | environment
        return children.run(program, *arguments, sources=sources, **given)

    run.cache = folder / "cache"
    return run


@pytest.fixture
def checkout(tmp_path):
    """A small checkout of the test's own, to be changed."""
    return children.small_checkout(tmp_path)


@pytest.fixture
def cache(toy, tmp_path):
    """A cache folder with the library of an unchanged small checkout, to be damaged."""
    best = library.supported_levels()[-1]
    toy(
        "import json, sys; from spinney.jit import build; print(json.dumps(str(build.cached(sys.argv[1]))))",
        best,
    )
    kept = shutil.ignore_patterns(*(f"*{level}*" for level in library.cpu_levels() if level != best))
    return shutil.copytree(toy.cache, tmp_path / "cache", ignore=kept)


def levels_and(*others):
    """Every CPU level as a parameter, skipped where this CPU cannot run it, and other ways to run kernels."""
    return [
        pytest.param(
            level,
            marks=pytest.mark.skipif(
                level not in library.supported_levels(), reason=f"this CPU cannot run {level}"
            ),
        )
        for level in library.cpu_levels()
    ] + list(others)


def pytest_generate_tests(metafunc):
    if "way" in metafunc.fixturenames:
        metafunc.parametrize("way", levels_and("jit", "python"))
