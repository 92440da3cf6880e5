import json

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import AdaBoostConfig, adaboost_table, markdown, parse_adaboost
from spinney.params.rows import GROUPS

ROWS = {row.name: row for row in adaboost_table()}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_every_default_is_valid_and_every_row_has_a_group_and_a_meaning(row):
    assert getattr(AdaBoostConfig(), row.name) == row.default
    assert row.group in GROUPS
    assert row.doc.endswith(".")


def test_no_spelling_belongs_to_two_parameters():
    spellings = [spelling for row in ROWS.values() for spelling in (row.name, *row.aliases)]
    assert len(spellings) == len(set(spellings))


def test_a_configuration_comes_back_from_json():
    config = AdaBoostConfig(loss="square", learning_rate=0.3, max_depth=None, resample=True, n_jobs=3)
    told = json.loads(json.dumps(config.to_dict()))
    assert parse_adaboost(told) == config
    assert "n_jobs" not in config.to_dict(model_only=True)


def test_trees_see_all_rows_and_columns():
    trees = AdaBoostConfig(max_depth=4, absent="missing", random_state=9).of_trees()
    assert trees.criterion == "gini"
    assert (trees.max_depth, trees.absent, trees.random_state) == (4, "missing", 9)
    assert not trees.draws_rows
    assert trees.columns_per_split(7) == 7
    assert AdaBoostConfig(loss="linear").of_trees().criterion == "squared_error"


def test_wrong_values_are_refused():
    with pytest.raises(ParameterError, match="learning_rate=-1 is out of range"):
        AdaBoostConfig(learning_rate=-1)
    with pytest.raises(ParameterTypeError, match=r"max_depth=1\.5 must be a whole number"):
        AdaBoostConfig(max_depth=1.5)
    with pytest.raises(ParameterError, match="unknown"):
        parse_adaboost({"n_trees": 3})


def test_the_page_of_parameters_has_its_table():
    page = markdown().split("## AdaBoost")[1]
    for name in ROWS:
        assert f"| `{name}` |" in page
