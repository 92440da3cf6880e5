import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata

import pytest
from typer.testing import CliRunner

import spinney
from spinney.cli import kernels, main
from spinney.cli.app import app
from spinney.errors import KernelBuildError
from spinney.jit import build, library, sources

LEVEL = library.cpu_levels()[0]


def run(*words):
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder that is the only one: what other processes keep in the system's temporary folder does not count."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("SPINNEY_CACHE_DIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return folder


def put_library(cache, folder, digest=None, numba=None, suffix=build.SUFFIX, level=LEVEL):
    """A file that looks like a library, or like object files, from outside; returns its note."""
    about = {
        "digest": digest or sources.digest(),
        "numba": numba or metadata.version("numba"),
        "level": level,
        "suffix": suffix,
    }
    (cache / folder).mkdir()
    (cache / folder / f"kernels-{level}{suffix}").write_bytes(b"code")
    note = cache / folder / f"kernels-{level}.json"
    note.write_text(json.dumps(about))
    return note


def test_the_version_is_told():
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"spinney {spinney.__version__}\n")


def test_the_package_can_be_run_as_a_module():
    told = subprocess.run(
        [sys.executable, "-m", "spinney", "--version"], capture_output=True, text=True, check=True
    )
    assert (told.stdout, told.stderr) == (f"spinney {spinney.__version__}\n", "")


def test_without_a_command_the_commands_are_listed():
    output = run().output
    assert "demo" in output
    assert "kernels" in output


def test_kernels_tells_how_they_run_and_where_the_library_is():
    how = library.runtime()
    output = run("kernels").output
    assert library.HOW[how.kind] in output
    assert metadata.version("numba") in output
    if how.path is not None:
        assert str(how.path) in output
        assert how.level in output


@pytest.mark.parametrize(("asked", "told"), [("python", "as plain Python"), ("jit", "by Numba")])
def test_kernels_tells_what_the_environment_asks_for(asked, told):
    command = [sys.executable, "-c", "from spinney.cli import main; main()", "kernels"]
    environment = {**os.environ, "SPINNEY_KERNELS": asked}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert told in done.stdout


def test_cached_libraries_fit_only_with_these_sources_and_this_numba(cache):
    put_library(cache, "a")
    put_library(cache, "b", digest="of other sources")
    put_library(cache, "c", numba="0.1")
    put_library(cache, "d", suffix=build.OBJECTS)
    put_library(cache, "e", suffix=".exe")
    put_library(cache, "f", level="x86-64-v4")
    found = list(kernels.cached_libraries())
    assert [one.fits for one in found] == [True, False, False, True, False]
    assert [one.path.suffix for one in found] == [*[build.SUFFIX] * 3, build.OBJECTS, build.SUFFIX]


def test_kernels_lists_what_fits_and_counts_the_others(cache, monkeypatch):
    monkeypatch.setattr(library, "runtime", lambda: library.Runtime("python"))
    monkeypatch.setattr(build, "packaged", lambda level: None)
    assert "compiled kernels" not in run("kernels").output
    put_library(cache, "a")
    put_library(cache, "b", level="x86-64-v4")
    for old in range(20):
        put_library(cache, f"old{old}", digest=f"of version {old}")
    output = run("kernels").output
    assert output.count("in the cache") == 1
    assert "x86-64-v4" not in output
    assert "The cache also has 21 of other sources" in output


@pytest.mark.parametrize("note", [b"", b"[]", b"{", b"\xff"])
def test_a_note_that_cannot_be_read_is_passed_over(cache, note):
    put_library(cache, "a").write_bytes(note)
    assert list(kernels.cached_libraries()) == []


def test_a_note_without_its_library_is_passed_over(cache):
    put_library(cache, "a").with_suffix(build.SUFFIX).unlink()
    assert list(kernels.cached_libraries()) == []


@pytest.fixture
def fake_build(monkeypatch, tmp_path):
    """Builds in no time, and notes which levels were asked for, with a word where they were to be built anew."""
    asked = []

    def cached(level, progress, anew):
        asked.append(f"{level} anew" if anew else level)
        progress(level, "grow_tree")
        return tmp_path / f"kernels-{level}{build.SUFFIX}"

    monkeypatch.setattr(build, "cached", cached)
    monkeypatch.setattr(build, "packaged", lambda level: None)
    return asked


def test_build_builds_the_best_level_of_this_cpu(fake_build):
    result = run("kernels", "build")
    assert result.exit_code == 0, result.output
    assert fake_build == list(library.supported_levels()[-1:])
    assert f"kernels-{fake_build[0]}" in result.output.replace("\n", "")


def test_build_can_build_every_level(fake_build):
    assert run("kernels", "build", "--all-levels").exit_code == 0
    assert fake_build == list(build.default_levels())


def test_build_leaves_a_level_that_the_package_carries(fake_build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "packaged", lambda level: tmp_path / "packaged.so")
    result = run("kernels", "build")
    assert fake_build == []
    assert "packaged" in result.output


def test_force_builds_what_the_package_carries_and_says_which_is_used(fake_build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "packaged", lambda level: tmp_path / "packaged.so")
    result = run("kernels", "build", "--force")
    assert fake_build == [f"{library.supported_levels()[-1]} anew"]
    assert "The package carries compiled kernels of its own" in " ".join(result.output.split())


def test_build_says_why_it_left_object_files(fake_build, monkeypatch, tmp_path):
    kept = tmp_path / "kernels-x.objects"
    kept.with_suffix(".json").write_text(json.dumps({"why": "no C compiler found"}))
    monkeypatch.setattr(build, "cached", lambda level, progress, anew: kept)
    output = " ".join(run("kernels", "build").output.split())
    assert "Object files: no C compiler found. With a C compiler, --force links a library." in output


def test_kernels_tells_that_object_files_are_loaded_and_why(monkeypatch, tmp_path):
    why = "no C compiler found"
    how = library.Runtime("objects", "x86-64-v2", tmp_path / "kernels-x86-64-v2.objects", why=why)
    monkeypatch.setattr(library, "runtime", lambda: how)
    output = run("kernels").output
    assert "from object files, which LLVM loads" in output
    assert why in output
    assert "with a C compiler, spinney kernels build --force links a library" in output
    assert str(how.path) in output


def test_kernels_made_with_the_package_come_with_a_word_about_pip(monkeypatch):
    path = sources.PACKAGE / "jit" / "built" / f"kernels-x86-64-v2{build.SUFFIX}"
    monkeypatch.setattr(library, "runtime", lambda: library.Runtime("library", "x86-64-v2", path))
    assert "pip shows what a build prints only with -v" in run("kernels").output


def test_an_old_cpu_is_told_that_no_library_can_be_built(fake_build, monkeypatch):
    monkeypatch.setattr(library, "supported_levels", lambda: ())
    with pytest.raises(KernelBuildError, match="older than"):
        kernels.build(all_levels=False, force=False)


def test_an_error_is_one_line_and_exit_code_1(monkeypatch, capsys):
    def fail():
        raise KernelBuildError("no C compiler found")

    monkeypatch.setattr(kernels, "show", fail)
    monkeypatch.setattr(sys, "argv", ["spinney", "kernels"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "spinney: no C compiler found\n"
