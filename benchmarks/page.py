"""`python -m benchmarks.page`: write the pages of docs/ that hold figures, and their plots, from results.

A page whose results are missing, or only those of a smoke test, is left alone.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.pages import PAGES
from benchmarks.pages.results import Results, ResultsMissingError
from benchmarks.report import RESULTS

DOCS = Path(__file__).parent.parent / "docs"


def main(docs: Path = DOCS, folder: Path = RESULTS, say: Callable[[str], None] = print) -> None:
    """Write every page that can be written, and say which cannot."""
    for page in PAGES:
        try:
            files = page.write(Results(folder))
        except ResultsMissingError as missing:
            say(f"{page.name} is left alone: {missing}")
            continue
        for name, text in files.items():
            (docs / name).write_text(text, encoding="utf-8")
        say(f"{page.name} is written")


if __name__ == "__main__":
    main()
