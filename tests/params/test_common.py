"""`preset`: what stands for parameters that are not given."""

import re
from pathlib import Path

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config
from spinney.params.common import DATA_PARAMS, PRESETS, DataParams

BEST = PRESETS["best"]
PAGE = Path(__file__).parents[2] / "docs" / "defaults.md"


def test_the_default_preset_changes_nothing():
    assert Config.parse({"preset": "default"}) == Config.parse({}) == Config()


def test_best_sets_what_it_lists_and_nothing_else():
    found, plain = Config.parse({"preset": "best"}).to_dict(), Config().to_dict()
    assert {name for name in plain if found[name] != plain[name]} == {"preset", *BEST}
    assert {name: found[name] for name in BEST} == dict(BEST)


@pytest.mark.parametrize("spelling", ["learning_rate", "eta"])
def test_what_is_given_stands_under_any_spelling(spelling):
    assert Config.parse({"preset": "best", spelling: 0.1}).learning_rate == 0.1


def test_rows_drawn_by_goss_are_not_drawn_again():
    assert Config.parse({"preset": "best", "sampling_method": "goss"}).subsample == 1.0


def test_every_value_of_a_preset_stands_again_when_it_is_read_back():
    config = Config.parse({"preset": "best", "learning_rate": 0.2})
    assert Config.parse(config.to_dict()) == config
    assert "preset" not in config.to_dict(model_only=True)


@pytest.mark.parametrize("wrong", ["bets", "BEST"])
def test_a_preset_that_is_not_known_is_refused(wrong):
    with pytest.raises(ParameterError, match=f"preset='{wrong}'"):
        Config.parse({"preset": wrong})


def test_a_preset_is_a_word():
    with pytest.raises(ParameterTypeError, match="preset=3"):
        Config.parse({"preset": 3})


@pytest.mark.parametrize("wrong", [0, 1001, -1])
def test_models_are_a_number_from_1_to_1000(wrong):
    with pytest.raises(ParameterError, match=f"models={wrong}"):
        Config.parse({"models": wrong})


def test_the_page_on_defaults_lists_what_best_sets():
    # The last column of the table has what `best` sets; other rows of it are about arguments.
    listed = dict(re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name: float(value) for name, value in listed.items()} == dict(BEST)


def test_parameters_of_the_data_are_listed_by_name():
    assert sorted(DATA_PARAMS) == sorted(parameter.name for parameter in DataParams.table())
