import json

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import AdaBoostConfig

PARAMETERS = {parameter.name: parameter for parameter in AdaBoostConfig.table()}


def test_a_configuration_comes_back_from_json():
    config = AdaBoostConfig(loss="square", learning_rate=0.3, max_depth=None, resample=True, n_jobs=3)
    written = json.loads(json.dumps(config.to_dict()))
    assert AdaBoostConfig.parse(written) == config
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
        AdaBoostConfig.parse({"n_trees": 3})
