"""The tables of the pages for users that are written by hand: the defaults in them are those that are declared.

docs/parameters.md is not among them: it is generated from the declarations.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

import spinney as sp
from spinney.params import Config, ParameterSet

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED = {"parameters.md"}
BOOSTING = (sp.GBMClassifier, sp.GBMRegressor)
FORESTS = (
    sp.RandomForestClassifier,
    sp.RandomForestRegressor,
    sp.ExtraTreesClassifier,
    sp.ExtraTreesRegressor,
    sp.DecisionTreeClassifier,
    sp.DecisionTreeRegressor,
)
# Where the defaults of a page's tables are declared: for each table, the columns that have defaults.
TABLES = {
    "adaboost.md": [{"classifier": (sp.AdaBoostClassifier,), "regressor": (sp.AdaBoostRegressor,)}],
    "bundling.md": [{"default": (Config, *BOOSTING)}],
    "categories.md": [{"default": BOOSTING}],
    "defaults.md": [{"default": (Config,)}],
    "disk.md": [{"default": (sp.Dataset.from_files, sp.Dataset.from_batches)}],
    "evaluation.md": [{"default": (sp.cv,)}],
    "forests.md": [{"default": FORESTS}],
    "inspection.md": [
        {"default": (sp.permutation_importance,)},
        {"default": (sp.bootstrap_interval,)},
        {"default": (sp.bias_variance,)},
    ],
    "isolation.md": [{"default": (sp.IsolationForest,)}],
    "losses.md": [{"default": (Config,)}],
    "methods.md": [{"default": (Config,)}],
    "ranking.md": [{"default": (Config,)}],
    "reproducibility.md": [{"default": (Config,)}],
    "sketch.md": [{"default": (sp.QuantileSketch,)}],
    "survival.md": [{"default": (Config,)}],
    "training.md": [{"default": (Config,)}],
}
HEADER = re.compile(r"\| (?:parameter|argument)[^|]*\| (?:default|classifier) \|.*")
NAMES = re.compile(r"`\w+`(?:, `\w+`)*(?: \(`\w+`\))?")  # in brackets: another spelling
FEWEST = 150


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def tables(text):
    """The tables of defaults of a page: their columns, and their rows."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if HEADER.fullmatch(line):
            end = next(
                (k for k in range(number, len(lines)) if not lines[k].startswith("|")),
                len(lines),
            )
            yield cells(line), [cells(row) for row in lines[number + 2 : end]]


def declared(name, sources):
    """The defaults of a parameter in all sources that have it."""
    found = []
    for source in sources:
        if isinstance(source, type) and issubclass(source, ParameterSet):
            found += [one.default for one in source.table() if one.name == name]
        elif name in (parameters := inspect.signature(source).parameters):
            found.append(parameters[name].default)
    return found


def literals(cell):
    """Values of the literals of a cell, separated by commas; `...` for what is prose. After a semicolon come exceptions."""
    found = []
    for part in cell.partition(";")[0].split(","):
        try:
            found.append(ast.literal_eval(part.strip().strip("`")))
        except (SyntaxError, ValueError):
            found.append(...)
    return found


def same(value, other):
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def compare(names, cell, sources):
    """Compare a cell with the defaults of the parameters. Returns the number of comparisons, and what is wrong."""
    values = literals(cell)
    if len(names) == 1:
        pairs = [(names[0], values)]
    elif len(values) == 1:
        pairs = [(name, values) for name in names]
    else:
        assert len(values) == len(names), f"{names} have the defaults {cell!r}"
        pairs = [(name, [value]) for name, value in zip(names, values, strict=True)]
    wrong, compared = [], 0
    for name, shown in pairs:
        if ... in shown:
            continue
        compared += 1
        found = declared(name, sources)
        missing = not found or any(not any(same(value, one) for one in found) for value in shown)
        more = ";" not in cell and any(not any(same(value, one) for value in shown) for one in found)
        if missing or more:
            wrong.append(f"`{name}` has the default {cell!r} on the page, and {found} in the code")
    return compared, wrong


def compare_page(page):
    compared, wrong = 0, []
    found = list(tables((DOCS / page).read_text(encoding="utf-8")))
    assert len(found) == len(TABLES.get(page, [])), (
        f"{page}: TABLES above has another number of tables of defaults"
    )
    for (columns, rows), sources in zip(found, TABLES.get(page, []), strict=True):
        for row in rows:
            if NAMES.fullmatch(row[0]):
                names = re.findall(r"`(\w+)`", row[0].partition(" (")[0])
                for column, declaring in sources.items():
                    count, errors = compare(names, row[columns.index(column)], declaring)
                    compared += count
                    wrong += errors
    return compared, wrong


@pytest.mark.parametrize("page", sorted({path.name for path in DOCS.glob("*.md")} - GENERATED))
def test_the_defaults_of_a_page_are_those_that_are_declared(page):
    _, wrong = compare_page(page)
    assert not wrong, f"docs/{page}:\n" + "\n".join(wrong)


def test_most_defaults_of_the_tables_are_compared():
    assert sum(compare_page(page)[0] for page in TABLES) >= FEWEST


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("5", [5]),
        (".1", [0.1]),
        ('`"sqrt"`, 1.0, None', ["sqrt", 1.0, None]),
        ("5; 1 for rankings", [5]),
        ("31, no limit", [31, ...]),
        ("2^relevance - 1", [...]),
        ("", [...]),
    ],
)
def test_literals_of_a_cell_are_read(cell, expected):
    assert literals(cell) == expected


@pytest.mark.parametrize(
    ("names", "cell"),
    [
        (["max_leaves"], "32"),
        (["bundle"], "1"),
        (["top_rate", "other_rate"], "0.2, 0.2"),
        (["subsample", "max_leaves"], "1"),
        (["subsample"], "1, 2"),
        (["no_parameter"], "None"),
    ],
)
def test_a_wrong_default_is_found(names, cell):
    assert compare(names, cell, (Config,))[1]
