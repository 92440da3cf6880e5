"""Kernels without a linker: object files that are compiled once and loaded by LLVM, on the small checkout."""

import json
import os
import shutil
from pathlib import Path

import pytest

import children
from spinney.jit import build, library

BEST = library.supported_levels()[-1]
NO_LINKER = {"PATH": "", "CC": "not-there"}
USE = """
    import hashlib, json, logging, os, sys
    messages = []
    listener = logging.Handler()
    listener.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("spinney").addHandler(listener)
    logging.getLogger("spinney").setLevel(logging.INFO)

    import numpy as np
    from spinney.jit import build, library
    from spinney.jit.team import Team
    from spinney.toy import kernels

    if "--never-build" in sys.argv:
        build.build_levels = None

    def compute():
        values = np.random.default_rng(0).uniform(0.1, 9.0, 1000)
        results = np.zeros((4, 1000))
        for row, kernel in zip(results, (kernels.exp_all, kernels.log_all, kernels.sigmoid_all, kernels.step_all)):
            kernel(1000, values, row)
        cells = np.zeros(16, np.int64)
        with Team(2) as team:
            team.run(kernels.hand_on.bind(2, 5, cells))
        return hashlib.sha256(results.tobytes() + cells.tobytes()).hexdigest()

    digest = compute()
    how = library.runtime()
    facts = {"digest": digest, "kind": how.kind, "level": how.level, "path": str(how.path), "why": how.why}
    print(json.dumps(facts | {"messages": messages, "numba": "numba" in sys.modules}))
"""


@pytest.fixture(scope="session")
def expected(toy):
    """What the kernels compute from a library."""
    found = toy(USE)
    assert found["kind"] == "library"
    return found["digest"]


@pytest.fixture(scope="session")
def first(toy, tmp_path_factory):
    """What the first process told that ran without a linker and with an empty cache."""
    folder = tmp_path_factory.mktemp("objects")
    return toy(USE, SPINNEY_CACHE_DIR=folder / "cache", **NO_LINKER)


@pytest.fixture
def cache(first, tmp_path):
    """A cache folder with object files, to be damaged."""
    return shutil.copytree(Path(first["path"]).parent.parent, tmp_path / "cache")


def kept(cache):
    """The object files in a cache folder."""
    (found,) = cache.glob(f"*/kernels-{BEST}.objects")
    return found


def test_the_first_use_keeps_object_files_and_says_where_and_why(first, expected):
    assert (first["kind"], first["level"], first["digest"]) == ("objects", BEST, expected)
    assert first["why"].startswith("when they were built: no C compiler found")
    path = Path(first["path"])
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == [f"kernels-{BEST}.json", f"kernels-{BEST}.objects", f"{BEST}.lock"]
    building, running = first["messages"]
    assert building.startswith(f"building the kernel library for {BEST} in {path.parent}")
    assert running == f"kernels run from object files, which LLVM loads: {path}; {first['why']}"


def test_the_next_process_loads_them_and_compiles_nothing(toy, cache, first, expected):
    found = toy(USE, "--never-build", SPINNEY_CACHE_DIR=cache, **NO_LINKER)
    assert (found["kind"], found["digest"], found["path"]) == ("objects", expected, str(kept(cache)))
    assert (found["why"], found["numba"], len(found["messages"])) == (first["why"], False, 1)


def test_a_level_that_is_asked_for_is_loaded_from_object_files_too(toy, cache):
    found = toy(USE, "--never-build", SPINNEY_CACHE_DIR=cache, SPINNEY_KERNELS=BEST, **NO_LINKER)
    assert (found["kind"], found["level"]) == ("objects", BEST)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: os.truncate(file, file.stat().st_size // 2),
        lambda file: file.write_bytes(bytes(file.stat().st_size)),
        Path.unlink,
        lambda file: file.with_suffix(".json").write_text("{"),
        lambda file: file.with_suffix(".json").write_text(
            json.dumps(json.loads(file.with_suffix(".json").read_text()) | {"suffix": "/../elsewhere"})
        ),
    ],
    ids=["cut short", "overwritten", "deleted", "damaged note", "note of another file"],
)
def test_damaged_object_files_are_not_loaded(toy, cache, damage):
    program = """
        import json, sys
        from pathlib import Path
        from spinney.jit import build
        print(json.dumps(build._fitting(Path(sys.argv[1]), sys.argv[2]) is not None))
    """
    assert toy(program, kept(cache).parent, BEST)
    damage(kept(cache))
    assert not toy(program, next(cache.glob("*-numba*")), BEST)


@pytest.mark.slow
def test_damaged_object_files_are_built_anew(toy, cache, expected):
    os.truncate(kept(cache), 5000)
    found = toy(USE, SPINNEY_CACHE_DIR=cache, **NO_LINKER)
    assert (found["kind"], found["digest"], len(found["messages"])) == ("objects", expected, 2)
    assert toy(USE, "--never-build", SPINNEY_CACHE_DIR=cache, **NO_LINKER)["digest"] == expected


@pytest.mark.slow
def test_of_several_processes_one_builds(checkout, tmp_path, expected):
    given = {"sources": checkout, "folder": tmp_path, "SPINNEY_CACHE_DIR": tmp_path / "cache", **NO_LINKER}
    started = [children.start(USE, **given) for _ in range(3)]
    told = [json.loads(children.finish(process)[0]) for process in started]
    assert {found["digest"] for found in told} == {expected}
    assert sum(len(found["messages"]) for found in told) == 3 + 1


FORK = """
    if os.fork() == 0:
        os._exit(0 if compute() == digest else 1)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forking here")
def test_a_forked_process_goes_on_with_what_was_loaded(toy, cache):
    program = children.textwrap.dedent(USE) + children.textwrap.dedent(FORK)
    assert toy(program, "--never-build", SPINNEY_CACHE_DIR=cache, **NO_LINKER)["kind"] == "objects"


def test_a_linker_that_fails_leaves_object_files(checkout, tmp_path, expected):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no libc here >&2\nexit 1\n")
    broken.chmod(0o700)
    found = children.run(USE, sources=checkout, SPINNEY_CACHE_DIR=tmp_path / "cache", CC=broken)
    assert (found["kind"], found["digest"]) == ("objects", expected)
    assert "no libc here" in found["why"]


LAST_RESORT = """
    from spinney.jit import library

    def refuse(path):
        raise RuntimeError("LLVM may not run code here")

    library.Objects = refuse
"""


def test_object_files_that_cannot_be_loaded_leave_the_work_to_numba(toy, cache, expected):
    program = children.textwrap.dedent(LAST_RESORT) + children.textwrap.dedent(USE)
    found = toy(program, SPINNEY_CACHE_DIR=cache, **NO_LINKER)
    assert (found["kind"], found["digest"], found["numba"]) == ("jit", expected, True)
    assert found["why"].endswith("cannot be loaded: LLVM may not run code here")
    assert found["messages"][-1].startswith("kernels run compiled in each process by Numba")


def test_object_files_that_end_the_process_that_tries_them_are_not_kept(tmp_path):
    bad = tmp_path / "bad.objects"
    bad.write_bytes(b'{"sizes": [3], "symbols": []}\nELF')
    with pytest.raises(build.KernelBuildError, match="cannot be loaded"):
        build._try_objects(bad)
