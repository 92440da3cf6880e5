"""The constructors and their documentation against the table of parameters."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spinney as sp
from spinney.estimators import generated
from spinney.estimators.constructors import source
from spinney.estimators.parameters import BOOSTING_PARAMETERS
from spinney.params import Config

KINDS = (sp.GBMClassifier, sp.GBMRanker, sp.GBMRegressor)
OWN = {
    "n_estimators",
    "max_rounds",
    "validation",
    "validation_fraction",
    "progress",
    "categorical",
    "importance_type",
    "warm_start",
}
# Parameters that follow from the target.
DECIDED = {"num_class", "num_target"}
OF_CLASSES = {"scale_pos_weight", "focal_gamma", "focal_alpha"}
OF_NUMBERS = {
    "quantile_alpha",
    "expectile_alpha",
    "huber_delta",
    "fair_c",
    "poisson_max_delta_step",
    "tweedie_variance_power",
    "aft_loss_distribution",
    "aft_loss_distribution_scale",
}
OF_RANKS = {
    "lambdarank_truncation_level",
    "lambdarank_norm",
    "lambdarank_sigmoid",
    "label_gain",
    "eval_at",
}


def defaults(kind):
    return {name: value.default for name, value in inspect.signature(kind).parameters.items()}


def documented_defaults(kind):
    section = kind.__doc__.split("Attributes\n----------")[0]
    return dict(re.findall(r"^(\w+) : .*default=(.*)$", section, re.MULTILINE))


def test_the_constructors_are_up_to_date():
    assert Path(generated.__file__).read_text(encoding="utf-8") == source(), (
        "the table changed; run `python -m spinney.estimators > src/spinney/estimators/generated.py`"
    )


def test_the_command_writes_the_constructors():
    done = subprocess.run(
        [sys.executable, "-m", "spinney.estimators"], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout == source()


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_named_and_in_the_order_of_the_table(kind):
    rows = BOOSTING_PARAMETERS[kind.__name__]
    assert list(defaults(kind).items()) == [(name, row.default) for name, row in rows.items()]
    for parameter in inspect.signature(kind).parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.signature(kind.__init__).parameters.keys() - {"self"} == rows.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_is_documented_with_its_default(kind):
    assert documented_defaults(kind) == {name: repr(value) for name, value in defaults(kind).items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_a_meaning(kind):
    for name in defaults(kind):
        assert re.search(rf"^{name} : .*\n    \S", kind.__doc__, re.MULTILINE), name


@pytest.mark.parametrize("kind", KINDS)
def test_no_place_is_left_unfilled(kind):
    assert "{parameters}" not in kind.__doc__


def test_the_regressor_takes_every_parameter_that_is_not_about_classes_or_ranks():
    expected = {row.name for row in Config.table()} - DECIDED - OF_CLASSES - OF_RANKS | OWN
    assert set(defaults(sp.GBMRegressor)) == expected


def test_the_classifier_takes_those_about_classes_too():
    common = set(defaults(sp.GBMRegressor)) - OF_NUMBERS
    assert set(defaults(sp.GBMClassifier)) == common | OF_CLASSES | {"class_weight"}


def test_the_ranker_takes_those_about_ranks_too():
    common = set(defaults(sp.GBMRegressor)) - OF_NUMBERS - {"leaf_estimation"}
    assert set(defaults(sp.GBMRanker)) == common | OF_RANKS


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_the_tables(kind):
    given = defaults(kind)
    others = {"random_state", "objective", "models", "reg_lambda" if kind is sp.GBMRanker else "target_stats"}
    for row in Config.table():
        if row.name in given and row.name not in others:
            assert given[row.name] == row.default, row.name
    own = {sp.GBMRegressor: "squared_error", sp.GBMRanker: "rank_ndcg", sp.GBMClassifier: None}
    assert given["objective"] == own[kind]
    assert given["target_stats"] == (None if kind is sp.GBMRanker else 100)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_attributes_are_documented(kind, table, two):
    fitted = kind(n_estimators=2).fit(table, two)
    attributes = kind.__doc__.split("Attributes\n----------")[1]
    for name in [*vars(fitted), "feature_importances_"]:
        if name.endswith("_"):
            assert re.search(rf"^{name} : ", attributes, re.MULTILINE), name
