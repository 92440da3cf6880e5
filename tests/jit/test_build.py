"""The build: what it starts, what it leaves behind when it fails."""

import shutil
import sys
from pathlib import Path

import pytest

import children
from spinney.errors import KernelBuildError
from spinney.jit import build, library, sources
from spinney.jit.build import find_linker

BEST = library.supported_levels()[-1]


@pytest.fixture
def compilers(monkeypatch, tmp_path):
    """A folder that is all of PATH; returns a function that puts a program there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)

    def add(name):
        file = tmp_path / name
        file.write_text("#!/bin/sh\n")
        file.chmod(0o700)
        return str(file)

    return add


def test_the_linker_is_the_first_c_compiler_there_is(compilers):
    with pytest.raises(KernelBuildError, match=r"no C compiler found .* \$CC, cc, gcc and clang"):
        find_linker()
    clang = compilers("clang")
    assert find_linker() == [clang]
    gcc = compilers("gcc")
    assert find_linker() == [gcc]


def test_cc_names_the_linker_and_may_have_arguments(compilers, monkeypatch):
    compilers("cc")
    mine = compilers("my-cc")
    for told, expected in (
        ("my-cc", [mine]),
        (mine, [mine]),
        ("my-cc -m64 '-DA B'", [mine, "-m64", "-DA B"]),
    ):
        monkeypatch.setenv("CC", told)
        assert find_linker() == expected


@pytest.mark.parametrize("told", ["", " ", "not-there", "not-there -m64", "'unclosed"])
def test_a_cc_that_makes_no_sense_is_passed_over(compilers, monkeypatch, told):
    cc = compilers("cc")
    monkeypatch.setenv("CC", told)
    assert find_linker() == [cc]


def test_a_program_that_is_no_python_does_not_start_itself(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(KernelBuildError, match="has none to start"):
        build.build_levels(tmp_path, [BEST])


def test_the_digest_covers_what_kernels_import():
    names = {path.relative_to(sources.PACKAGE).as_posix() for path in sources.source_files()}
    assert {
        "jit/compiler.py",
        "jit/barrier.py",
        "growth/kernels/records.py",
        "growth/kernels/packing.py",
    } <= names
    assert {
        f"{name.removeprefix('spinney.').replace('.', '/')}.py" for name in sources.kernel_modules()
    } <= names
    assert not {"growth/grower.py", "jit/team.py", "errors.py"} & names


def test_every_kernel_of_the_package_is_known():
    kernels = sources.all_kernels()
    assert [entry.name for entry in kernels] == sorted({entry.name for entry in kernels})
    assert {"grow_tree", "predict_rows"} <= {entry.name for entry in kernels}


BUILD = """
    import json, os, sys
    from spinney.jit import build, sources
    build.available_cores = lambda: 64
    os.environ |= {"NUMBA_OPT": "0", "NUMBA_DISABLE_JIT": "1", "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error"}
    told = []
    path = build.cached(sys.argv[1], lambda level, name: told.append([level, name]))
    print(json.dumps([sorted(told), [kernel.name for kernel in sources.all_kernels()], str(path)]))
"""


@pytest.mark.slow
def test_more_cores_than_kernels_and_odd_settings_do_no_harm(checkout, tmp_path):
    told, names, path = children.run(BUILD, BEST, sources=checkout, SPINNEY_CACHE_DIR=tmp_path / "cache")
    assert told == [[BEST, name] for name in names]
    assert Path(path).is_file()


STRAY = """
    import json, os, sys
    from pathlib import Path
    os.chdir(sys.argv[2])
    Path("json.py").write_text("raise SystemExit('taken from the folder of the user')")
    Path(".numba_config.yaml").write_text("opt: 0")
    sys.path.append("relative")
    from spinney.jit import build
    print(json.dumps(str(build.cached(sys.argv[1]))))
"""


def test_files_beside_the_user_s_program_are_not_taken_for_modules(checkout, tmp_path):
    (tmp_path / "here").mkdir()
    given = {"sources": checkout, "SPINNEY_CACHE_DIR": tmp_path / "cache"}
    assert children.run(STRAY, BEST, tmp_path / "here", **given).startswith(str(tmp_path / "cache"))


INTERRUPT = """
    import itertools, json, os, signal, sys
    from pathlib import Path
    from spinney.jit import build

    turn = itertools.count()

    def press(level, name):
        if next(turn) == 0:
            os.kill(os.getpid(), signal.SIGINT)

    try:
        build.cached(sys.argv[1], press)
        ended = "built"
    except KeyboardInterrupt:
        ended = "interrupted"
    left = sorted(path.name for path in Path(sys.argv[2]).glob("*/*"))
    print(json.dumps([ended, left, str(build.cached(sys.argv[1]))]))
"""


def test_an_interrupted_build_leaves_nothing_and_the_next_one_succeeds(checkout, tmp_path):
    ended, left, path = children.run(
        INTERRUPT, BEST, tmp_path / "cache", sources=checkout, SPINNEY_CACHE_DIR=tmp_path / "cache"
    )
    assert (ended, left) == ("interrupted", [f"{BEST}.lock"])
    assert Path(path).is_file()


FAIL = """
    import json, sys
    from spinney.errors import KernelBuildError
    from spinney.jit import build
    try:
        build.cached(sys.argv[1])
    except KernelBuildError as error:
        print(json.dumps(str(error)))
"""


def test_a_kernel_that_cannot_be_compiled_is_named_by_the_error(checkout, tmp_path):
    with (checkout / "spinney" / "toy" / "kernels.py").open("a") as file:
        file.write("\n@kernel\ndef broken(count: i64):\n    no_such_function(count)\n")
    message = children.run(FAIL, BEST, sources=checkout, SPINNEY_CACHE_DIR=tmp_path / "cache")
    assert f"compiling the kernels for {BEST} failed" in message
    assert "no_such_function" in message


CHANGE = """
    from spinney.jit import sources
    def change(level, name):
        with (sources.PACKAGE / "toy" / "constants.py").open("a") as file:
            file.write("# changed\\n")
""" + FAIL.replace("argv[1])", "argv[1], change)")


def test_sources_that_change_while_they_are_compiled_are_not_taken_for_the_old_ones(checkout, tmp_path):
    message = children.run(CHANGE, BEST, sources=checkout, SPINNEY_CACHE_DIR=tmp_path / "cache")
    assert "changed while they were compiled" in message


def test_a_full_disk_is_an_error_of_the_build(monkeypatch, tmp_path):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("SPINNEY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "build_levels", full)
    with pytest.raises(KernelBuildError, match=r"cannot be built: .*No space left"):
        build.cached("x86-64-v9")


def test_a_build_that_left_no_library_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("SPINNEY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "build_levels", lambda folder, *given: shutil.rmtree(folder))
    with pytest.raises(KernelBuildError, match="damaged or gone"):
        build.cached("x86-64-v9")
