"""The code base's layout: sizes of files and functions, names of classes, private words, public names, files in a call."""

import json
from pathlib import Path

import pytest

import called_files
import layout
import public_names
import words

# Packages, and modules that stand alone.
PACKAGES = sorted(
    path.stem for path in layout.PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
)
ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
)

# The public module of Dask has the same names as the package: users change one import.
DASK_NAMES = {"Dataset": 2, "GBMClassifier": 2, "GBMRanker": 2, "GBMRegressor": 2}

# Files with a function that takes part in a call. Numbers here only become smaller; SLACK is for versions of Python.
CALLED_FILES = {
    "train": (called_files.TRAIN, 40),
    "fit": (called_files.FIT, 60),
}
SLACK = 2

# Folders of tests that are not about one package: comparisons with other libraries, whole processes, and the benchmarks.
NOT_OF_A_PACKAGE = {"benchmarks", "docs", "parity", "runtime"}


def assert_none(messages):
    found = list(messages)
    assert not found, "\n" + "\n".join(found)


def test_files_have_at_most_600_lines():
    assert_none(layout.long_files(600))


def test_functions_have_at_most_80_lines():
    assert_none(layout.long_functions(80))


def test_a_class_name_means_one_thing():
    assert_none(
        f"class {name} is defined in {len(found)} files, give it a name of its own: {', '.join(found)}"
        for name, found in sorted(layout.class_places().items())
        if len(found) > DASK_NAMES.get(name, 1)
    )


def test_folders_of_tests_mirror_packages():
    tests = Path(__file__).parent
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    found = {folder for folder in folders if not (layout.PACKAGE / folder / "__init__.py").is_file()}
    assert {folder.as_posix() for folder in found} == NOT_OF_A_PACKAGE, (
        "move tests to the folder of their package, or change NOT_OF_A_PACKAGE"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_have_no_private_words(package):
    assert_none(words.findings(package))


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_private_words(page):
    assert_none(words.findings(ROOT / page))


CODE = '''
"""It is told
a thing."""
# whoever comes
class ToldColumns:
    kin = told_columns = 1
class OwnFunctionError: ...
def f(Course): raise ValueError(f"the user who {kin.sight} says so")
'''


def test_private_words_are_found_in_names_docstrings_comments_and_messages(tmp_path):
    (tmp_path / "some_manners.py").write_text(CODE.lstrip())
    found = [message.removeprefix(f"{tmp_path}/some_manners.py:") for message in words.findings(tmp_path)]
    assert [message.split(": rather")[0] for message in found] == [
        "1: file name 'some_manners'",
        "1: word 'told'",
        "3: word 'whoever'",
        "4: name 'ToldColumns'",
        "5: name 'kin'",
        "5: name 'told_columns'",
        "7: name 'Course'",
        "7: word 'says'",
    ]


@pytest.mark.parametrize("call", CALLED_FILES)
def test_files_that_take_part_in_a_call(call):
    program, most = CALLED_FILES[call]
    found = called_files.files_called_by(program)
    assert len(found) <= most, f"{call} calls functions of {len(found)} files, {most} before:\n" + "\n".join(
        found
    )
    assert len(found) >= most - SLACK, (
        f"{call} calls functions of {len(found)} files now: lower its number in CALLED_FILES"
    )


def test_public_names_are_all_there():
    known = json.loads((Path(__file__).parent / "public_names.json").read_text(encoding="utf-8"))
    found = list(public_names.differences(known, public_names.public_names()))
    assert not found, "\n".join(["", *found, f"if this is meant: {public_names.COMMAND}"])
