"""Which library fits the CPU; finding, building and loading it, on the small checkout: real builds of toy kernels."""

import hashlib
import json
import os
import platform
import shutil
from pathlib import Path

import pytest

import children
from spinney.jit import library

BEST = library.supported_levels()[-1]
V2 = "fpu sse sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
V3 = V2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
WITH_AVX512 = V3 + " avx512f avx512bw avx512cd avx512dq avx512vl"
ALL = ("x86-64-v2", "x86-64-v3")
USE = """
    import json, sys
    import numpy as np
    from spinney.jit import library
    from spinney.toy import kernels

    result = np.empty(2)
    kernels.step_all(2, np.array([1.0, 2.0]), result)
    how = library.runtime()
    path = None if how.path is None else str(how.path)
    facts = {"result": result.tolist(), "kind": how.kind, "level": how.level, "path": path, "why": how.why}
    print(json.dumps(facts | {"numba": "numba" in sys.modules}))
"""
# The same, with the messages of the logger among the facts.
USE_AND_LISTEN = """
    import logging
    messages = []
    listener = logging.Handler()
    listener.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("spinney").addHandler(listener)
    logging.getLogger("spinney").setLevel(logging.INFO)
""" + USE.replace('"numba": ', '"messages": messages, "numba": ')


def use(sources, cache, program=USE, **environment):
    return children.run(program, sources=sources, SPINNEY_CACHE_DIR=cache, **environment)


def built(folder):
    """Libraries in a cache folder."""
    return sorted(Path(folder).glob("*/kernels-*.so"))


def test_the_first_use_builds_the_library_of_the_best_level_and_prints_nothing(checkout, tmp_path):
    first = use(checkout, tmp_path / "cache", USE_AND_LISTEN)
    assert first["result"] == [2.0, 3.0]
    assert (first["kind"], first["level"]) == ("library", BEST)
    assert len(first["messages"]) == 1
    assert first["messages"][0].startswith(f"building the kernel library for {BEST} in {tmp_path / 'cache'}")
    assert built(tmp_path / "cache") == [Path(first["path"])]
    kept = sorted(file.name for file in Path(first["path"]).parent.iterdir())
    assert kept == [f"kernels-{BEST}.json", f"kernels-{BEST}.so", f"{BEST}.lock"]

    second = use(checkout, tmp_path / "cache", USE_AND_LISTEN)
    assert second == first | {"messages": []}


def test_a_built_library_needs_no_numba_and_no_linker(checkout, cache):
    found = use(checkout, cache, PATH="", CC="")
    assert found["kind"] == "library"
    assert not found["numba"]


OWN = """
    from spinney.jit import f64, framed, i64, inline, kernel, out

    @inline
    def formula(value):
        return value * 10.0

    def frame(count: i64, values: f64["count"], result: out(f64["count"])):
        for i in range(count):
            result[i] = formula(values[i])

    framed("tenfold_all", frame, formula=formula)(2, np.array([1.0, 2.0]), result)
"""


def test_a_kernel_from_outside_of_the_package_is_compiled_in_the_process_beside_the_library(checkout, cache):
    head, tail = USE.split("    how = ")
    found = use(checkout, cache, head + OWN + "    how = " + tail)
    assert found["result"] == [10.0, 20.0]
    assert (found["kind"], found["numba"]) == ("library", True)
    assert use(checkout, cache)["numba"] is False


@pytest.mark.parametrize("lane", ["jit", "python"])
def test_a_kernel_from_outside_of_the_package_runs_as_the_others_do(checkout, cache, lane):
    head, tail = USE.split("    how = ")
    found = use(checkout, cache, head + OWN + "    how = " + tail, SPINNEY_KERNELS=lane)
    assert (found["result"], found["kind"], found["numba"]) == ([10.0, 20.0], lane, lane == "jit")


@pytest.mark.parametrize("name", ["toy/kernels.py", "toy/constants.py", "jit/math.py", "jit/compiler.py"])
def test_a_changed_source_no_longer_fits(checkout, name):
    digest = "import json; from spinney.jit import sources; print(json.dumps(sources.digest()))"
    before = children.run(digest, sources=checkout)
    file = checkout / "spinney" / name
    file.write_text(file.read_text() + "# changed\n")
    assert children.run(digest, sources=checkout) != before


def test_a_changed_source_that_no_kernel_sees_builds_nothing(checkout, cache):
    for name in ("jit/team.py", "errors.py", "toy/__init__.py"):
        file = checkout / "spinney" / name
        file.write_text(file.read_text() + "\n# changed\n")
    assert use(checkout, cache, USE_AND_LISTEN)["messages"] == []


def test_a_packaged_library_is_taken_first(checkout, cache, tmp_path):
    shutil.copytree(built(cache)[0].parent, checkout / "spinney" / "jit" / "built")
    found = use(checkout, tmp_path / "unused")
    assert Path(found["path"]).parent == checkout / "spinney" / "jit" / "built"
    assert not (tmp_path / "unused").exists()


def test_a_stale_library_is_passed_over_and_another_one_built(checkout, cache):
    packaged = shutil.copytree(built(cache)[0].parent, checkout / "spinney" / "jit" / "built")
    (checkout / "spinney" / "toy" / "constants.py").write_text("STEP = 10.0\n")
    found = use(checkout, cache)
    assert found["result"] == [11.0, 12.0]
    assert Path(found["path"]).parent != packaged
    assert len(built(cache)) == 2


DAMAGES = {
    "cut short": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut to its first page": lambda file: os.truncate(file, 4096),
    "emptied": lambda file: os.truncate(file, 0),
    "overwritten": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "deleted": Path.unlink,
}


def is_packaged(checkout):
    program = """
        import json, sys
        from spinney.jit import build
        print(json.dumps(build.packaged(sys.argv[1]) is not None))
    """
    return children.run(program, BEST, sources=checkout)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_library_is_not_loaded(checkout, cache, damage):
    packaged = shutil.copytree(built(cache)[0].parent, checkout / "spinney" / "jit" / "built")
    assert is_packaged(checkout)
    DAMAGES[damage](packaged / f"kernels-{BEST}.so")
    assert not is_packaged(checkout)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"digest": 1}', "\0\0"])
def test_a_library_with_a_damaged_note_is_not_loaded(checkout, cache, text):
    packaged = shutil.copytree(built(cache)[0].parent, checkout / "spinney" / "jit" / "built")
    (packaged / f"kernels-{BEST}.json").write_text(text)
    assert not is_packaged(checkout)


def test_a_damaged_library_is_built_anew(checkout, cache):
    os.truncate(built(cache)[0], 5000)
    found = use(checkout, cache, USE_AND_LISTEN)
    assert (found["kind"], found["result"], len(found["messages"])) == ("library", [2.0, 3.0], 1)
    assert use(checkout, cache, USE_AND_LISTEN)["messages"] == []


def test_a_damaged_packaged_library_is_passed_over(checkout, cache):
    packaged = shutil.copytree(built(cache)[0].parent, checkout / "spinney" / "jit" / "built")
    os.truncate(packaged / f"kernels-{BEST}.so", 5000)
    assert Path(use(checkout, cache)["path"]).parent == built(cache)[0].parent


def test_a_library_that_the_system_cannot_load_is_replaced_by_object_files(checkout, cache):
    library = built(cache)[0]
    library.write_bytes(b"of another system")
    note = library.with_suffix(".json")
    about = json.loads(note.read_text()) | {"sha256": hashlib.sha256(library.read_bytes()).hexdigest()}
    note.write_text(json.dumps(about))
    found = use(checkout, cache)
    assert (found["kind"], found["result"]) == ("objects", [2.0, 3.0])
    assert "cannot be loaded" in found["why"]
    again = use(checkout, cache, USE_AND_LISTEN)
    assert (again["kind"], len(again["messages"])) == ("objects", 1)


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(checkout, tmp_path):
    (tmp_path / "temporary").mkdir()
    found = use(checkout, "/dev/null/cache", TMPDIR=tmp_path / "temporary")
    assert found["kind"] == "library"
    private = tmp_path / "temporary" / f"spinney-{os.getuid()}"
    assert Path(found["path"]).is_relative_to(private)
    assert private.stat().st_mode & 0o777 == 0o700


def test_the_environment_chooses_how_kernels_run(toy):
    assert toy(USE, SPINNEY_KERNELS="python")["kind"] == "python"
    assert toy(USE, NUMBA_DISABLE_JIT=1)["kind"] == "python"
    assert toy(USE, SPINNEY_KERNELS="jit")["kind"] == "jit"
    assert toy(USE, NUMBA_BOUNDSCHECK=1)["kind"] == "jit"
    assert toy(USE, NUMBA_DISABLE_JIT=0, NUMBA_BOUNDSCHECK=0)["level"] == BEST
    assert toy(USE, SPINNEY_KERNELS=library.cpu_levels()[0])["level"] == library.cpu_levels()[0]


REFUSE = """
    import json
    from spinney.errors import KernelBuildError
    from spinney.jit import library
    try:
        library.runtime()
    except KernelBuildError as error:
        print(json.dumps(str(error)))
"""


def test_a_level_that_does_not_exist_is_an_error(toy):
    message = toy(REFUSE, SPINNEY_KERNELS="x86-64-v9")
    assert (
        message
        == f"SPINNEY_KERNELS='x86-64-v9': this machine can run {', '.join(library.supported_levels())}, jit, python"
    )


def test_a_level_that_is_asked_for_is_not_replaced_by_another_way(checkout, tmp_path):
    frozen = "    import sys\n    sys.frozen = True\n"
    given = {"SPINNEY_CACHE_DIR": tmp_path / "cache", "SPINNEY_KERNELS": BEST}
    assert "has none to start" in children.run(frozen + REFUSE, sources=checkout, **given)


def test_a_cpu_without_any_level_leaves_the_work_to_numba(toy):
    old = "from spinney.jit import library\n    library.supported_levels = lambda: ()\n" + USE
    found = toy("    " + old)
    assert (found["kind"], found["result"]) == ("jit", [2.0, 3.0])
    assert found["why"] == f"this CPU is older than {library.cpu_levels()[0]}"


def test_without_numba_a_build_is_an_error_that_says_what_to_do(checkout, tmp_path):
    hidden = """
        import importlib.util, sys
        from importlib import metadata
        def absent(name):
            raise metadata.PackageNotFoundError(name)
        metadata.version = absent
        sys.modules["numba"] = None
        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name: None if name == "numba" else found(name)
    """
    message = children.run(
        children.textwrap.dedent(hidden) + children.textwrap.dedent(REFUSE),
        sources=checkout,
        SPINNEY_CACHE_DIR=tmp_path / "cache",
    )
    assert "install numba" in message


COMPILE = """
import numba
from spinney.jit.team import Team
from spinney.toy import kernels

before = settings()
cells = np.zeros(24, np.int64)
with Team(3) as team:
    team.run(kernels.hand_on.bind(3, 5, cells))
assert cells.sum() == 15
print(json.dumps({name: [value, before[name]] for name, value in settings().items() if value != before[name]}))
"""


def test_compiling_in_this_process_changes_no_setting_of_it_or_of_numba(toy):
    assert toy(children.SETTINGS + COMPILE, SPINNEY_KERNELS="jit") == {}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A function that sets the kind of machine and what its CPU can do."""

    def become(kind, flags=None):
        monkeypatch.setattr(platform, "machine", lambda: kind)
        monkeypatch.setattr(library, "CPU_INFO", tmp_path / "cpuinfo")
        if flags is not None:
            (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: none\n")
        library.supported_levels.cache_clear()

    yield become
    library.supported_levels.cache_clear()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (WITH_AVX512, ALL),
        (V3, ALL),
        (V2, ALL[:1]),
        (V3.replace("fma", ""), ALL[:1]),
        (WITH_AVX512.replace("avx2 ", ""), ALL[:1]),
        (V2.replace("popcnt", ""), ()),
    ],
)
def test_a_level_needs_every_instruction_set_of_it(machine, flags, expected):
    machine("x86_64", flags)
    assert library.supported_levels() == expected


@pytest.mark.parametrize("kind", ["x86_64", "AMD64"])
def test_a_system_that_does_not_tell_gets_the_lowest_level(machine, kind):
    machine(kind)
    assert library.cpu_levels() == ALL
    assert library.supported_levels() == ALL[:1]


@pytest.mark.parametrize("kind", ["aarch64", "arm64", "ppc64le", "riscv64"])
def test_other_architectures_have_one_level_that_every_such_cpu_runs(machine, kind):
    machine(kind)
    assert library.cpu_levels() == library.supported_levels() == ("generic",)
