import re
import subprocess
import sys
import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest

import spinney
from spinney.jit import build, library, sources

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(spinney.__file__).parent
PACKAGES = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
HEAVY = (
    "numba",
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "narwhals",
    "safetensors",
    "rich",
    "typer",
)

TRAIN = """
import numpy as np
import spinney as sp
X = np.arange(200.0).reshape(100, 2)
sp.train({}, sp.Dataset(X, X[:, 0]), rounds=2).predict(X)
"""


def modules_after(code):
    """Top-level modules that a new process has imported once it has run some code."""
    told = "\nimport sys\nprint(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code + told], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_spinney_imports_nothing_heavy():
    assert modules_after("import spinney").isdisjoint(HEAVY)


def test_training_on_arrays_imports_neither_scikit_learn_nor_numba():
    if library.runtime().kind != "library":
        pytest.skip("kernels do not run from a library here")
    heavy = modules_after(TRAIN) & {"numba", "llvmlite", "sklearn", "scipy", "pandas", "rich", "typer"}
    assert heavy == set()


def test_kernels_can_be_imported_with_numpy_alone_as_a_build_does():
    absent = [name for name in HEAVY if name != "numba"]
    code = f"import sys\nsys.modules |= dict.fromkeys({absent})\n"
    modules_after(code + "from spinney.jit import sources\nassert sources.all_kernels()")


def test_every_public_name_can_be_had():
    assert all(getattr(spinney, name) is not None for name in spinney.__all__)
    assert set(spinney.__all__) <= set(dir(spinney))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spinney.nothing


@pytest.mark.parametrize("package", PACKAGES)
def test_the_docstring_of_a_package_has_what_enters_and_what_leaves(package):
    text = import_module(f"spinney.{package}").__doc__
    assert "Enters:" in text
    assert "Leaves:" in text


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_an_installed_package_carries_compiled_kernels_for_every_cpu_level():
    if "site-packages" not in PACKAGE.parts:
        pytest.skip("spinney is not installed, it is imported from its sources")
    assert all(build.packaged(level) is not None for level in build.default_levels())
    how = library.runtime()
    assert how.path is None or how.path.is_relative_to(sources.PACKAGE)


def test_the_installed_version_is_that_of_the_package():
    if "site-packages" not in PACKAGE.parts:
        pytest.skip("spinney is not installed, it is imported from its sources")
    assert metadata.version("spinney") == spinney.__version__


def test_the_readme_names_the_two_commands_that_set_everything_up():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python -m pip install . && spinney demo\n" in readme
    assert 'python -m pip install ".[test]" && python -m pytest\n' in readme


def test_the_readme_says_what_the_commands_download_and_how_long_the_tests_take():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    install = readme[readme.index("## Install") : readme.index("## Use it")]
    assert len(re.findall(r"downloads \d+ MB", install)) == 2
    assert re.search(r"They take about \w+ minutes on two cores", install)
    assert "take about as long: `python -m pytest -m slow`" in install


def test_xgboost_comes_without_what_it_brings_for_graphics_cards():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    for name in ("test", "bench"):
        found = [wanted for wanted in extras[name] if wanted.startswith("xgboost")]
        assert [re.split(r"[<>=]", wanted)[0] for wanted in found] == ["xgboost-cpu"]


def dated_versions():
    """Versions of the changelog that have a date, with it, in its order."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", text, re.MULTILINE)


def test_the_changelog_speaks_of_this_version():
    assert f"## [{spinney.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_each_version_of_the_changelog_has_a_date_and_the_newest_is_first():
    versions = dated_versions()
    headings = re.findall(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(versions) == len(headings) - 1  # all but what is not released yet
    assert versions == sorted(
        versions, reverse=True, key=lambda one: [int(part) for part in one[0].split(".")]
    )
    assert [date for _, date in versions] == sorted((date for _, date in versions), reverse=True)


def test_the_citation_is_that_of_the_last_version():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith(" "))
    version, date = dated_versions()[0]
    assert (found["version"], found["date-released"]) == (version, date)
    assert version == spinney.__version__
    assert (found["cff-version"], found["license"]) == ("1.2.0", "Apache-2.0")
