"""Names of our functions, classes and files in the pages: each is somewhere in the sources.

A name that is renamed in the code must be renamed in the pages, too. Nothing else would find it there.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]
# Names of other libraries and of examples, which our sources do not have.
FOREIGN = {
    "max_error": "a scorer of scikit-learn",
    "to_numeric": "a function of pandas",
    "estimator_": "an attribute of scikit-learn's AdaBoost",
    "estimators_features_": "an attribute of scikit-learn's bagging",
}
# Folders that a command makes.
MADE = {"dist/"}
# Where paths in the pages begin.
STARTS = ("", "src/spinney", "docs", "tests")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?")
FILE = re.compile(r"[\w./-]+\.(?:py|md|toml)|[\w./-]+/(?:[\w-]+\.json)?")


def spans(text):
    """What stands between back-ticks, without the blocks of code, and the number of its line."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), start=1):
        for span in SPAN.finditer(line):
            yield number, span[1]


@cache
def words():
    """The words of all sources but the tests of the pages, which have the names of the exceptions."""
    found = set()
    for folder in ("src", "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if (ROOT / "tests" / "docs") not in path.parents:
                found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    for name in ("pyproject.toml", "mypy_machine_types.py"):
        found.update(re.findall(r"\w+", (ROOT / name).read_text(encoding="utf-8")))
    return found


@cache
def file_names():
    """Names of the files that pages may name without their folder."""
    return {
        *(path.name for path in ROOT.iterdir()),
        *(
            path.name
            for folder in ("src", "tests", "benchmarks", "docs")
            for path in (ROOT / folder).rglob("*.*")
        ),
    }


def is_file(span):
    return FILE.fullmatch(span) is not None


def unknown_names(text):
    """Names like `find_cuts`, `HistGrower` or `sp.train(...)` whose last word no source has."""
    for number, span in spans(text):
        if not is_file(span) and (match := NAME.fullmatch(span)):
            name = match[1].rstrip(".").rpartition(".")[2]
            if name not in words() and name not in FOREIGN:
                yield f"{number}: `{span}`"


def missing_files(text):
    """Paths like `training/train.py` or `growth/kernels/` that do not exist, and files without a folder."""
    for number, span in spans(text):
        if not is_file(span) or span in MADE:
            continue
        if "/" not in span:
            exists = span in file_names()
        else:
            exists = any((ROOT / start / span).exists() for start in STARTS) or (
                span.count("/") == 1 and span.endswith("/") and any((ROOT / "src").rglob(span))
            )
        if not exists:
            yield f"{number}: `{span}`"


@pytest.mark.parametrize("page", PAGES)
def test_names_of_functions_and_classes_are_in_the_sources(page):
    found = list(unknown_names((ROOT / page).read_text(encoding="utf-8")))
    assert not found, f"{page}: no source has these names, at lines\n" + "\n".join(found)


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    found = list(missing_files((ROOT / page).read_text(encoding="utf-8")))
    assert not found, f"{page}: these files do not exist, at lines\n" + "\n".join(found)


def test_every_exception_is_needed():
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    named = {match[1].rpartition(".")[2] for _, span in spans(text) if (match := NAME.fullmatch(span))}
    assert {*FOREIGN} <= named
    assert not {*FOREIGN} & words()


SAMPLE = """`find_cuts`, `HistGrower`, `sp.train(data, "auto")`; `grow_nothing`, `spinney.NoClass`, `no_function(1)`

```python
`in_a_block`
```

`training/train.py`, `growth/kernels/`, `mypy_machine_types.py`; `training/no_file.py`, `no_folder/`, `no_file.toml`
"""


def test_names_and_files_that_do_not_exist_are_found():
    assert list(unknown_names(SAMPLE)) == ["1: `grow_nothing`", "1: `spinney.NoClass`", "1: `no_function(1)`"]
    assert list(missing_files(SAMPLE)) == [
        "7: `training/no_file.py`", "7: `no_folder/`", "7: `no_file.toml`",
    ]  # fmt: skip
