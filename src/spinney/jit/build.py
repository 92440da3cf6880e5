"""Building the kernel library, and the two places where a built one is looked for.

An installed package carries a library per CPU level in `jit/built`, with a note of the sources that it was made from.
Where that is missing or stale (an editable checkout), one library for this CPU is built into the user's cache folder: under
a file lock, into a temporary name, moved into place when it is whole. Where nothing can be linked, the object files
themselves are kept in its place, and the note has the reason. A build is reported to the logger `spinney` alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from spinney.errors import KernelBuildError
from spinney.jit import sources
from spinney.jit.cache import cache_folder, locked, places
from spinney.jit.cores import available_cores
from spinney.jit.library import cpu_levels, pack_objects
from spinney.jit.team import parallel_map

__all__ = [
    "OBJECTS",
    "SUFFIX",
    "build_levels",
    "cache_folder",
    "cached",
    "default_levels",
    "find_linker",
    "kernel_count",
    "note_of",
    "packaged",
]

SUFFIX = ".dll" if sys.platform == "win32" else ".so"
OBJECTS = ".objects"
Progress = Callable[[str, str], None]  # called with the CPU level and the name of each kernel compiled


def packaged(level: str) -> Path | None:
    """The library, or the object files, that came with the installed package, if they are whole and fit the sources."""
    return _fitting(sources.PACKAGE / "jit" / "built", level)


def cached(level: str, progress: Progress | None = None, *, anew: bool = False, unlinked: str = "") -> Path:
    """The library in the user's cache folder, built now if it is not there; object files where none can be linked.

    `anew` builds it in any case. `unlinked` is a reason to have object files and no library.
    """
    digest = sources.digest()
    name = f"{digest}-numba{_numba_version()}-{sys.platform}-{platform.machine().lower()}"

    def find(folder: Path) -> Path | None:
        found = _fitting(folder, level, digest)
        return None if unlinked and found is not None and found.suffix != OBJECTS else found

    if not anew:
        for place in places():
            found = find(place / name)
            if found is not None:
                return found
    try:
        folder = cache_folder() / name
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / f"{level}.lock"):
            found = None if anew else find(folder)
            if found is None:
                _log(level, folder)
                build_levels(folder, [level], progress, unlinked)
                found = find(folder)
    except OSError as error:
        raise KernelBuildError(f"the kernel library cannot be built: {error}") from error
    if found is None:
        raise KernelBuildError(f"the kernel library built in {folder} is damaged or gone: is the disk full?")
    return found


def note_of(path: Path) -> dict[str, str]:
    """The note of a library or of object files; empty where it cannot be read."""
    try:
        about = json.loads(path.with_suffix(".json").read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: str(value) for key, value in about.items()} if isinstance(about, dict) else {}


def _log(level: str, folder: Path) -> None:
    import logging

    logging.getLogger("spinney").info(
        "building the kernel library for %s in %s; this takes about a minute, once", level, folder
    )


def build_levels(
    folder: Path, levels: Sequence[str], progress: Progress | None = None, unlinked: str = ""
) -> None:
    """Build the libraries of several CPU levels into a folder, using all cores; object files with a reason for these."""
    if getattr(sys, "frozen", False) or not sys.executable:
        raise KernelBuildError(
            "kernels are compiled by processes of Python, and this program has none to start"
        )
    _numba_version()
    digest = sources.digest()
    cores = available_cores()
    parts = min(cores, kernel_count(levels[:1]))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="spinney-", dir=folder) as scratch:
        compilers = _Compilers(Path(scratch), progress or (lambda level, name: None))
        made = parallel_map(
            lambda part: compilers.run(part, parts, levels), range(parts), cores, compilers.stop
        )
        if sources.digest() != digest:
            raise KernelBuildError("the sources of the kernels changed while they were compiled; try again")
        for level in levels:
            _finish(level, [Path(f"{one}-{level}.o") for one in made], folder, digest, unlinked)


def find_linker() -> list[str]:
    """Command of a C compiler that can link; `$CC` may hold arguments too."""
    try:
        named = shlex.split(os.environ.get("CC", ""))
    except ValueError:
        named = []
    for command in (named, ["cc"], ["gcc"], ["clang"]):
        path = shutil.which(command[0]) if command else None
        if path is not None:
            return [path, *command[1:]]
    raise KernelBuildError("no C compiler found to link the kernel library (tried $CC, cc, gcc and clang)")


def kernel_count(levels: Sequence[str]) -> int:
    """How many times a build of these levels calls its progress function."""
    return len(sources.all_kernels()) * len(levels)


def default_levels() -> tuple[str, ...]:
    """What an installed package carries."""
    return cpu_levels()


def _numba_version() -> str:
    try:
        return metadata.version("numba")
    except metadata.PackageNotFoundError:
        raise KernelBuildError(
            "the kernels must be compiled, and Numba is not installed: install numba, or a wheel of spinney for this system"
        ) from None


def _fitting(folder: Path, level: str, digest: str | None = None) -> Path | None:
    """What a folder has for a level, if by its note it was made from these sources and these are its bytes.

    The digest of the sources takes 10 ms: it may be given, and without a note it is not needed.
    """
    about = note_of(folder / f"kernels-{level}{SUFFIX}")
    suffix = about.get("suffix", SUFFIX)
    if not about or about.get("digest") != (digest or sources.digest()) or suffix not in (SUFFIX, OBJECTS):
        return None
    kept = folder / f"kernels-{level}{suffix}"
    try:
        # Loading what was cut short ends the process, so its bytes are looked at before: 0.1 ms.
        return kept if about.get("sha256") == _sha256(kept) else None
    except OSError:
        return None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class _Compilers:
    """Processes that compile: Numba is never loaded into the user's own."""

    def __init__(self, scratch: Path, report: Progress) -> None:
        self._scratch, self._report = scratch, report
        self._running: list[subprocess.Popen[str]] = []

    def run(self, part: int, parts: int, levels: Sequence[str]) -> Path:
        """Compile a share of the kernels into an object file for each level; returns how their names begin."""
        target = self._scratch / f"part-{part}"
        command = [sys.executable, "-m", "spinney.jit.build", str(part), str(parts), str(target), *levels]
        errors = target.with_suffix(".err")
        with (
            errors.open("wb") as complaints,
            subprocess.Popen(
                command,
                env=_environment(),
                # In an empty folder, no file of the user's can be taken for a module or for Numba's settings.
                cwd=self._scratch,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                encoding="utf-8",
            ) as process,
        ):
            self._running.append(process)
            assert process.stdout is not None
            for line in process.stdout:
                level, name = line.split()
                self._report(level, name)
        if process.returncode != 0:
            message = errors.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise KernelBuildError(f"compiling the kernels for {', '.join(levels)} failed:\n{message}")
        return target

    def stop(self) -> None:
        """End them: their results are not needed."""
        for process in self._running:
            process.kill()


def _environment() -> dict[str, str]:
    """This process's environment without the settings that would change the code or stop the compiler."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NUMBA_")
        and name not in ("SPINNEY_KERNELS", "PYTHONWARNINGS", "PYTHONINSPECT")
    }
    # This package first, then what this process can import: a build runs from inside pip's own environment.
    search = [sources.PACKAGE.parent, *(Path(entry).absolute() for entry in sys.path if entry)]
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, search))}


def _finish(level: str, objects: list[Path], folder: Path, digest: str, unlinked: str) -> None:
    """Put a level's library, or its object files where they cannot be linked, into a folder with its note."""
    about = {"digest": digest, "level": level, "numba": _numba_version(), "suffix": SUFFIX}
    made = objects[0].with_suffix(SUFFIX)
    try:
        if unlinked:
            raise KernelBuildError(unlinked)
        _link(find_linker(), objects, made)
    except KernelBuildError as error:
        about |= {"suffix": OBJECTS, "why": str(error)}
        made = objects[0].with_suffix(OBJECTS)
        symbols = [kernel.symbol for kernel in sources.all_kernels()]
        made.write_bytes(pack_objects([file.read_bytes() for file in objects], symbols))
        _try_objects(made)
    about["sha256"] = _sha256(made)
    note = made.with_suffix(".json")
    note.write_text(json.dumps(about))
    os.replace(made, folder / f"kernels-{level}{made.suffix}")
    # Last, and in one step: what is there counts only once its note is there.
    os.replace(note, folder / f"kernels-{level}.json")


def _link(linker: list[str], objects: list[Path], library: Path) -> None:
    command = [*linker, "-shared", "-o", str(library), *map(str, objects)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise KernelBuildError(
            f"linking the kernel library with {shlex.join(linker)} failed:\n{done.stderr[-2000:]}"
        )


def _try_objects(path: Path) -> None:
    """Load object files in a process of its own: if LLVM cannot, it ends that one."""
    done = subprocess.run(
        [sys.executable, "-m", "spinney.jit.library", str(path)],
        env=_environment(),
        cwd=path.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise KernelBuildError(f"the object files of the kernels cannot be loaded:\n{done.stderr[-2000:]}")


def main(arguments: list[str]) -> None:
    """`python -m spinney.jit.build PART PARTS TARGET LEVEL...`: the process of `_Compilers`.

    It compiles one of PARTS shares of the kernels for some CPU levels into TARGET-LEVEL.o, and writes a line for each kernel to
    standard output.
    """
    from spinney.jit import compiler

    part, parts, target, levels = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]

    def report(level: str, name: str) -> None:
        sys.stdout.write(f"{level} {name}\n")
        sys.stdout.flush()

    share = sources.shares(parts)[part]
    for level, code in zip(levels, compiler.object_codes(share, levels, report), strict=True):
        Path(f"{target}-{level}.o").write_bytes(code)


if __name__ == "__main__":
    main(sys.argv[1:])
