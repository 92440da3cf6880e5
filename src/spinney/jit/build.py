"""Building the kernel library, and the two places where a built one is looked for.

An installed package carries a library per CPU level in `jit/built`, with the digest of the sources it was made from.
Where that is missing or stale (an editable checkout), one library for this CPU is built into the user's cache folder: under
a file lock, into a temporary name, moved into place when it is whole.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import IO

from spinney.errors import KernelBuildError
from spinney.jit import cpu, sources

SUFFIX = ".dll" if sys.platform == "win32" else ".so"
Progress = Callable[[str, str], None]  # called with the CPU level and the name of each kernel compiled


def packaged(level: str) -> Path | None:
    """The library that came with the installed package, if it fits the sources."""
    return _fitting(sources.PACKAGE / "jit" / "built", level)


def cached(level: str, progress: Progress | None = None) -> Path:
    """The library in the user's cache folder, built now if it is not there."""
    folder = cache_folder() / f"{sources.digest()}-numba{metadata.version('numba')}"
    found = _fitting(folder, level)
    if found is not None:
        return found
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f"{level}.lock"):
        found = _fitting(folder, level)
        if found is None:
            build_levels(folder, [level], progress)
            found = _fitting(folder, level)
    if found is None:
        raise KernelBuildError(f"the kernel library built in {folder} does not fit its sources; delete that folder")
    return found


def build_levels(folder: Path, levels: Sequence[str], progress: Progress | None = None) -> None:
    """Build the libraries of several CPU levels into a folder, using all cores."""
    linker = find_linker()
    report = progress or (lambda level, name: None)
    cores = os.cpu_count() or 1
    parts = max(1, -(-cores // len(levels)))
    with tempfile.TemporaryDirectory(prefix="spinney-", dir=folder) as scratch, ThreadPoolExecutor(cores) as pool:
        jobs = {
            (level, part): pool.submit(_compile, level, part, parts, Path(scratch), report)
            for level in levels
            for part in range(parts)
        }
        for level in levels:
            objects = [jobs[level, part].result() for part in range(parts)]
            _link(linker, level, objects, folder)


def find_linker() -> str:
    """Path of a C compiler that can link."""
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path is not None:
            return path
    raise KernelBuildError("no C compiler found to link the kernel library (tried $CC, cc, gcc and clang)")


def cache_folder() -> Path:
    """Folder for built libraries: the user's cache, or a private temporary one where that cannot be written."""
    if "SPINNEY_CACHE_DIR" in os.environ:
        wanted = Path(os.environ["SPINNEY_CACHE_DIR"])
    elif sys.platform == "win32":
        wanted = Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "spinney"
    elif sys.platform == "darwin":
        wanted = Path("~/Library/Caches/spinney").expanduser()
    else:
        wanted = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "spinney"
    if _writable(wanted):
        return wanted
    user = os.getuid() if hasattr(os, "getuid") else 0
    private = Path(tempfile.gettempdir()) / f"spinney-{user}"
    if _writable(private) and _is_private(private):
        return private
    return Path(tempfile.mkdtemp(prefix="spinney-"))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Whether nobody else could have put a library into a folder under the shared temporary one."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.lstat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022 and not folder.is_symlink()


def _fitting(folder: Path, level: str) -> Path | None:
    library = folder / f"kernels-{level}{SUFFIX}"
    try:
        about = json.loads((folder / f"kernels-{level}.json").read_text())
    except (OSError, ValueError):
        return None
    fits = isinstance(about, dict) and about.get("digest") == sources.digest() and library.is_file()
    return library if fits else None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock that ends with the process."""
    with path.open("a+b") as file:
        _lock_file(file)
        yield


def _lock_file(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _compile(level: str, part: int, parts: int, scratch: Path, report: Progress) -> Path:
    """Compile a share of the kernels in a process of its own, which Numba needs to see another CPU."""
    target = scratch / f"{level}-{part}.o"
    environment = {**os.environ, "PYTHONPATH": _search_path(), "NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0"}
    environment.pop("SPINNEY_KERNELS", None)
    if level != "host":
        environment |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-m", "spinney.jit.worker", level, str(part), str(parts), str(target)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            report(level, line.strip())
        errors = process.stderr.read()
    if process.returncode != 0:
        raise KernelBuildError(f"compiling the kernels for {level} failed:\n{errors[-2000:]}")
    return target


def _search_path() -> str:
    """This package first, then what this process can import: a build runs from inside pip's own environment."""
    return os.pathsep.join([str(sources.PACKAGE.parent), *(entry for entry in sys.path if entry)])


def _link(linker: str, level: str, objects: list[Path], folder: Path) -> None:
    library = objects[0].with_suffix(SUFFIX)
    command = [linker, "-shared", "-o", str(library), *map(str, objects)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KernelBuildError(f"linking the kernel library with {linker} failed:\n{done.stderr[-2000:]}")
    os.replace(library, folder / f"kernels-{level}{SUFFIX}")
    about = {"digest": sources.digest(), "level": level, "numba": metadata.version("numba")}
    note = library.with_suffix(".json")
    note.write_text(json.dumps(about))
    # Last, and in one step: a library counts only once its note is there.
    os.replace(note, folder / f"kernels-{level}.json")


def kernel_count(levels: Sequence[str]) -> int:
    """How many times a build of these levels calls its progress function."""
    return len(sources.all_kernels()) * len(levels)


def default_levels() -> tuple[str, ...]:
    """What an installed package carries."""
    return cpu.levels()
