import importlib.util
import json
import sys
from pathlib import Path

import pytest
from packaging.tags import Tag, sys_tags

from spinney.jit import build

ROOT = Path(__file__).resolve().parent.parent


class App:
    """Stands for hatch: keeps what it is told."""

    def __init__(self):
        self.warnings = []

    def display_warning(self, text):
        self.warnings.append(text)

    def display_debug(self, text):
        pass


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    spec = importlib.util.spec_from_file_location("build_hook", ROOT / "build_hook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.KernelHook(str(ROOT), {}, None, None, "", "wheel", App())
    yield made
    made.finalize("", {}, "")


@pytest.fixture
def build_data():
    return {"force_include": {}, "pure_python": True, "tag": None}


def fake_build(folder, levels, progress):
    for level in levels:
        progress(level, "grow_tree")
        (folder / f"kernels-{level}.so").write_bytes(b"code")
        (folder / f"kernels-{level}.json").write_text("{}")


def test_a_wheel_carries_a_library_and_its_note_for_every_level(hook, build_data, monkeypatch):
    monkeypatch.setattr(build, "build_levels", fake_build)
    hook.initialize("standard", build_data)
    wanted = {
        f"spinney/jit/built/kernels-{x}.{end}" for x in build.default_levels() for end in ("so", "json")
    }
    assert set(build_data["force_include"].values()) == wanted
    assert all(Path(source).is_file() for source in build_data["force_include"])
    assert build_data["pure_python"] is False


def test_a_wheel_fits_every_python_of_this_platform(hook, build_data, monkeypatch):
    monkeypatch.setattr(build, "build_levels", fake_build)
    hook.initialize("standard", build_data)
    interpreter, abi, platform = build_data["tag"].split("-")
    assert (interpreter, abi) == ("py3", "none")
    assert Tag(interpreter, abi, platform) in set(sys_tags())


def test_nothing_is_left_behind_when_the_wheel_is_finished(hook, build_data, monkeypatch):
    monkeypatch.setattr(build, "build_levels", fake_build)
    hook.initialize("standard", build_data)
    hook.finalize("standard", build_data, "spinney.whl")
    assert not any(Path(source).exists() for source in build_data["force_include"])


def test_an_editable_install_builds_nothing(hook, build_data, monkeypatch):
    monkeypatch.setattr(build, "build_levels", lambda *given: pytest.fail("it was built"))
    hook.initialize("editable", build_data)
    hook.finalize("editable", build_data, "spinney.whl")
    assert build_data == {"force_include": {}, "pure_python": True, "tag": None}


def test_without_a_compiler_the_wheel_carries_object_files_and_says_so(hook, build_data, monkeypatch):
    def unlinked(folder, levels, progress):
        for level in levels:
            (folder / f"kernels-{level}.objects").write_bytes(b"code")
            (folder / f"kernels-{level}.json").write_text(json.dumps({"why": "no C compiler found"}))

    monkeypatch.setattr(build, "build_levels", unlinked)
    hook.initialize("standard", build_data)
    levels = build.default_levels()
    assert {f"spinney/jit/built/kernels-{level}.objects" for level in levels} <= set(
        build_data["force_include"].values()
    )
    assert [text.partition(";")[0] for text in hook.app.warnings] == ["no C compiler found"] * len(levels)
