"""Compiles the kernels into a wheel, one library for each CPU level.

The libraries know nothing of Python's ABI, so one wheel per platform serves every version of Python. An editable install gets
none: the first use builds one into the user's cache folder. Where there is no C compiler to link with, the wheel carries object
files in their place, which LLVM loads.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the kernel libraries to a wheel that is being built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels outside the source tree and have the wheel include them."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from spinney.jit import build

        self._folder = TemporaryDirectory(prefix="spinney-wheel-")
        levels = build.default_levels()
        build.build_levels(Path(self._folder.name), levels, self._tell)
        for file in sorted(Path(self._folder.name).iterdir()):
            build_data["force_include"][str(file)] = f"spinney/jit/built/{file.name}"
            if file.suffix == build.OBJECTS:
                why = build.note_of(file).get("why", "")
                self.app.display_warning(f"{why}; the wheel carries {file.name} in place of a library")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the compiled files; the wheel has its copies."""
        folder = getattr(self, "_folder", None)
        if folder is not None:
            folder.cleanup()

    def _tell(self, level: str, kernel: str) -> None:
        self.app.display_debug(f"compiled {kernel} for {level}")


def platform_tag() -> str:
    """Tag of this machine's platform. The general one: a wheel for the index is given its manylinux tag by auditwheel."""
    return next(tag for tag in platform_tags() if "manylinux" not in tag and "musllinux" not in tag)
