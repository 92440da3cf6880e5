import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import spinney as sp
from spinney.params import AdaBoostConfig, Config, ForestConfig, IsolationConfig, markdown, numpydoc
from spinney.params.common import DATA_PARAMS
from spinney.params.metrics import METRICS
from spinney.params.objectives import OBJECTIVES
from spinney.params.parameter import GROUPS, IntParameter

PAGE = Path(__file__).parents[2] / "docs" / "parameters.md"


def test_the_parameters_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == markdown(), (
        "the table changed; run `python -m spinney.params > docs/parameters.md`"
    )


def test_the_command_writes_the_page():
    done = subprocess.run(
        [sys.executable, "-m", "spinney.params"], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout == markdown()


def test_every_parameter_stands_once_in_a_table_of_the_page():
    rows = [
        line.split("|")[1].strip()
        for line in markdown().split("## Other spellings")[0].splitlines()
        if "|" in line
    ]
    assert sorted(name for name in rows if name.startswith("`")) == sorted(
        f"`{parameter.name}`" for parameter in Config.table()
    )


def test_every_metric_stands_in_the_table_of_metrics():
    lines = markdown().split("## Metrics")[1].split("## Forests")[0].splitlines()
    listed = {line.split("|")[1].strip(" `"): line for line in lines if line.startswith("| `")}
    assert list(listed) == list(METRICS)
    for name, line in listed.items():
        assert all(f"`{parameter}`" in line for parameter in METRICS[name].parameters)
        assert line.endswith("| higher |") == METRICS[name].higher_is_better


def test_every_objective_stands_beside_what_it_predicts():
    lines = markdown().split("## Metrics")[1].split("| metric |")[0].splitlines()
    listed = [name for line in lines for name in OBJECTIVES if f"`{name}`" in line]
    assert sorted(listed) == sorted(OBJECTIVES)


def test_every_line_of_a_table_has_as_many_cells_as_its_heading():
    width = None
    for line in markdown().splitlines():
        if not line.startswith("|"):
            width = None
        elif width is None:
            width = line.count("|")
        else:
            assert line.count("|") == width, line


def test_the_page_shows_which_parameters_belong_to_the_data_set():
    parts = markdown().split("\n## ")
    (data,) = [part for part in parts if "These belong to `Dataset`" in part]
    named = [line.split("`")[1] for line in data.splitlines() if line.startswith("| `")]
    assert sorted(named) == sorted(DATA_PARAMS)
    assert set(named) <= set(inspect.signature(sp.Dataset).parameters)


def test_every_group_has_a_parameter():
    assert {parameter.group for parameter in Config.table()} == set(GROUPS)


@pytest.mark.parametrize(
    ("heading", "parameters"),
    [("Forests", ForestConfig), ("AdaBoost", AdaBoostConfig), ("Isolation forests", IsolationConfig)],
)
def test_the_page_has_every_parameter_of_a_family(heading, parameters):
    lines = markdown().split(f"## {heading}")[1].split("## ")[0].splitlines()
    listed = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert listed == [parameter.name for parameter in parameters.table()]


def test_a_docstring_section_follows_the_given_order():
    parameters = [Config.parameter("max_leaves"), Config.parameter("grow_policy")]
    assert numpydoc(parameters).splitlines()[:5] == [
        "Parameters",
        "----------",
        "max_leaves : int or None, default=31",
        "    Most leaves of one tree. 0 or None means no limit.",
        "grow_policy : {'lossguide', 'depthwise'}, default='lossguide'",
    ]


def test_a_docstring_section_describes_any_parameter():
    trees = IntParameter(100, name="n_estimators", group="running", doc="Number of rounds.")
    assert numpydoc([trees]).splitlines()[2:] == ["n_estimators : int, default=100", "    Number of rounds."]


def test_a_docstring_section_is_clean_and_narrow():
    text = numpydoc(Config.table())
    assert inspect.cleandoc(text) == text
    assert max(map(len, text.splitlines())) <= 100
