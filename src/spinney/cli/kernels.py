"""`spinney kernels`: which compiled kernels are here, and building them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from spinney.errors import KernelBuildError
from spinney.jit import build as builder
from spinney.jit import cache, library, sources

WHAT = {builder.SUFFIX: "library", builder.OBJECTS: "object files"}


@dataclass(frozen=True)
class Cached:
    """A library in the cache folder, or object files in its place."""

    path: Path
    level: str
    numba: str
    # Made from the sources of this package, by the Numba that is installed, for a CPU level that is in use.
    fits: bool


def load(console: Console) -> library.Runtime:
    """Load the kernels as the first fit would, which builds them where no library fits."""
    text = "loading the kernels; where no library fits, one is built, once: about a minute"
    with console.status(text, spinner="line"):  # one that every terminal can show
        return library.runtime()


def show() -> None:
    """Print how kernels run, every library that fits the sources, and how many others the cache has."""
    console = Console()
    for name, value in _facts(load(console)).items():
        console.print(f"{name + ':':14}{value}", soft_wrap=True, markup=False, highlight=False)
    table = Table(title="compiled kernels that fit the sources", title_justify="left")
    for heading in ("CPU level", "what", "where", "Numba"):
        table.add_column(heading, overflow="fold")
    for level in library.cpu_levels():
        path = builder.packaged(level)
        if path is not None:
            numba = builder.note_of(path).get("numba", "?")
            table.add_row(level, WHAT[path.suffix], "in the package", numba)
    cached = list(cached_libraries())
    for found in cached:
        if found.fits:
            table.add_row(found.level, WHAT[found.path.suffix], "in the cache", found.numba)
    if table.row_count:
        console.print(table)
    others = sum(not found.fits for found in cached)
    if others:
        text = f"The cache also has {others} of other sources, another Numba or another CPU level, which are not used."
        console.print(text, soft_wrap=True, markup=False, highlight=False)


def build(all_levels: bool, force: bool) -> None:
    """Build the libraries that are missing into the cache folder, with a progress bar."""
    console = Console()
    levels = builder.default_levels() if all_levels else library.supported_levels()[-1:]
    if not levels:
        raise KernelBuildError(
            f"this CPU is older than {library.cpu_levels()[0]}; Numba compiles the kernels in each process"
        )
    for level in levels:
        path = None if force else builder.packaged(level)
        path = path or _build_level(console, level, force)
        console.print(f"{level}: {path}", soft_wrap=True, markup=False, highlight=False)
        if path.suffix == builder.OBJECTS:
            why = builder.note_of(path).get("why", "")
            text = f"Object files: {why}. With a C compiler, --force links a library."
            console.print(text, soft_wrap=True, markup=False, highlight=False)
    if force and builder.packaged(levels[-1]) is not None:
        console.print("The package carries compiled kernels of its own; those are used.")


def cached_libraries() -> Iterator[Cached]:
    """Every library in the cache folders, also those that no longer fit the sources."""
    wanted = {"digest": sources.digest(), "numba": _numba_version()}
    for note in sorted(note for place in cache.places() for note in place.glob("*/kernels-*.json")):
        about = builder.note_of(note)
        suffix = about.get("suffix", builder.SUFFIX)
        if about and suffix in WHAT and note.with_suffix(suffix).is_file():
            level, numba = about.get("level", "?"), about.get("numba", "?")
            fits = level in library.cpu_levels() and all(
                about.get(key) == value for key, value in wanted.items()
            )
            yield Cached(note.with_suffix(suffix), level, numba, fits)


def _build_level(console: Console, level: str, anew: bool) -> Path:
    # Cut off where the terminal ends: the usual dots are a character that some cannot show.
    cut = Column(no_wrap=True, overflow="crop")
    columns = (
        TextColumn("{task.description}", table_column=cut),
        BarColumn(),
        MofNCompleteColumn(table_column=cut),
        TimeElapsedColumn(table_column=cut),
    )
    kernels = builder.kernel_count([level])
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(f"kernels for {level}", total=kernels)
        path = builder.cached(level, lambda _, name: progress.advance(task), anew=anew)
        progress.update(task, completed=kernels)
    return path


def _facts(runtime: library.Runtime) -> dict[str, str]:
    facts = {"kernels run": library.HOW[runtime.kind]}
    if runtime.why:
        facts["why"] = " ".join(runtime.why.split())
    if runtime.path is not None:
        made = "in the cache, once"
        if runtime.path.is_relative_to(sources.PACKAGE):
            made = "with the package; pip shows what a build prints only with -v"
        elif runtime.kind == "objects":
            made += "; with a C compiler, spinney kernels build --force links a library"
        facts |= {
            "CPU level": f"{runtime.level} (this CPU can run {', '.join(library.supported_levels())})",
            WHAT[runtime.path.suffix]: str(runtime.path),
            "made": made,
        }
    return facts | {"cache folder": str(builder.cache_folder()), "Numba": _numba_version()}


def _numba_version() -> str:
    try:
        return metadata.version("numba")
    except metadata.PackageNotFoundError:
        return "not installed"
