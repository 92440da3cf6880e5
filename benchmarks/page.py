"""`python -m benchmarks.page`: write the pages of docs/ that hold figures, and their plots, from results.

A page whose results are missing, or only those of a smoke test, is left alone. Of a page with the two markers only what
stands between them is written.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.pages import PAGES
from benchmarks.pages.results import Results, ResultsMissingError
from benchmarks.report import RESULTS

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def main(docs: Path = DOCS, folder: Path = RESULTS, say: Callable[[str], None] = print) -> None:
    """Write every page that can be written, and say which cannot."""
    for page in PAGES:
        try:
            files = page.write(Results(folder))
        except ResultsMissingError as missing:
            say(f"{page.name} is left alone: {missing}")
            continue
        for name, text in files.items():
            path = docs / name
            old = path.read_text(encoding="utf-8") if path.exists() else ""
            path.write_text(placed(old, text), encoding="utf-8")
        say(f"{page.name} is written")


def placed(old: str, text: str) -> str:
    """Return the text, between the markers where the old page has them."""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n{text}\n{end}{after}" if begin and end else text


if __name__ == "__main__":
    main()
