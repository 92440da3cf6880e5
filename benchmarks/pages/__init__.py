"""Pages of the documentation that are written from results.

Enters: results of cases. Leaves: the text of files in docs/. Nothing here measures.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.pages import bundling, forests, methods, threads
from benchmarks.pages.results import Results

__all__ = ["PAGES", "Page"]


@dataclass(frozen=True)
class Page:
    """A page's name, and what turns results into the text of its files by name."""

    name: str
    write: Callable[[Results], Mapping[str, str]]


PAGES = (
    Page("bundling.md", bundling.write),
    Page("methods.md", methods.write),
    Page("forests.md", forests.write),
    Page("threads.md", threads.write),
)
