import json
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import ForestConfig

PARAMETERS = {parameter.name: parameter for parameter in ForestConfig.table()}


def message_of(error, **given):
    with pytest.raises(error) as caught:
        ForestConfig(**given)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [("log_loss", "entropy"), ("entropy", "entropy"), ("friedman_mse", "squared_error"), ("gini", "gini")],
)
def test_a_criterion_has_scikit_learns_spellings(given, canonical):
    assert ForestConfig(criterion=given).criterion == canonical


def test_a_misspelled_criterion_gets_a_suggestion():
    assert "did you mean 'squared_error'?" in message_of(ParameterError, criterion="squared_eror")


@pytest.mark.parametrize(
    ("given", "of_28"),
    [
        (1, 1),
        (28, 28),
        (1.0, 28),
        (0.5, 14),
        (1e-9, 1),
        ("sqrt", 5),
        ("log2", 4),
        (None, 28),
        (np.int8(3), 3),
    ],
)
def test_max_features_has_every_form_of_scikit_learn(given, of_28):
    assert ForestConfig(max_features=given).columns_per_split(28) == of_28


def test_one_column_is_drawn_of_one_column():
    for given in ("sqrt", "log2", 0.3, None, 1):
        assert ForestConfig(max_features=given).columns_per_split(1) == 1


def test_more_features_than_columns_are_an_error_that_names_both():
    with pytest.raises(
        ParameterError, match=r"max_features=11 is more than the 10 columns of X: give 1 to 10"
    ):
        ForestConfig(max_features=11).columns_per_split(10)


@pytest.mark.parametrize("given", [0, -1, 0.0, 1.5, -0.5, math.nan, math.inf, "auto"])
def test_max_features_that_draws_no_columns_is_an_error(given):
    assert "max_features=" in message_of(ParameterError, max_features=given)


@pytest.mark.parametrize("given", [True, [1], object()])
def test_max_features_of_another_type_is_an_error(given):
    assert "must be an int, float, str or None" in message_of(ParameterTypeError, max_features=given)


def test_a_number_out_of_range_is_refused_with_both_ranges():
    message = message_of(ParameterError, max_features=1.5)
    assert "an int >= 1" in message
    assert "a float > 0 and <= 1, sqrt, log2, None" in message


@pytest.mark.parametrize(
    ("given", "of_10"), [(None, 10), (0.25, 2), (0.01, 1), (1.0, 10), (1, 1), (30, 30), (2.0, 20)]
)
def test_max_samples_with_replacement_may_exceed_the_rows(given, of_10):
    assert ForestConfig(max_samples=given).rows_per_tree(10) == of_10


@pytest.mark.parametrize(("given", "of_10"), [(None, 10), (0.25, 2), (10, 10)])
def test_max_samples_without_replacement(given, of_10):
    config = ForestConfig(bootstrap=False, max_samples=given)
    assert config.rows_per_tree(10) == of_10
    assert config.draws_rows == (given is not None)


def test_max_samples_above_the_rows_without_replacement_is_an_error():
    with pytest.raises(ParameterError, match="max_samples=11 is more than the 10 rows of X"):
        ForestConfig(bootstrap=False, max_samples=11).rows_per_tree(10)
    assert "more rows than there are" in message_of(ParameterError, bootstrap=False, max_samples=1.5)


def test_a_share_of_rows_beyond_all_reason_is_an_error():
    for share in (1e300, 1e308):  # of which the second leaves float64
        with pytest.raises(ParameterError, match=r"max_samples=1e\+30[08] draws"):
            ForestConfig(max_samples=share).rows_per_tree(10)


@pytest.mark.parametrize("name", ["max_samples", "min_samples_leaf", "min_samples_split"])
@pytest.mark.parametrize("given", [0, -3, 0.0, -0.1, math.nan])
def test_counts_and_shares_must_be_above_zero(name, given):
    assert f"{name}={given!r}" in message_of(ParameterError, **{name: given})


@pytest.mark.parametrize(
    ("split", "leaf", "of_150"),
    [(2, 1, 2), (2, 5, 10), (0.1, 1, 15), (0.001, 1, 2), (1.0, 1, 150), (9, 0.05, 16)],
)
def test_a_node_that_is_split_has_rows_for_two_leaves(split, leaf, of_150):
    config = ForestConfig(min_samples_split=split, min_samples_leaf=leaf)
    assert config.least_split(150) == of_150


def test_one_row_and_all_rows_differ_by_type():
    assert ForestConfig(min_samples_leaf=1).least_leaf(150) == 1
    assert ForestConfig(min_samples_leaf=0.999).least_leaf(150) == 150
    assert "a float > 0 and < 1" in message_of(ParameterError, min_samples_leaf=1.0)
    assert "min_samples_split=1 is out of range" in message_of(ParameterError, min_samples_split=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_depth", None), ("max_depth", -1), ("max_leaf_nodes", None), ("max_leaf_nodes", 0)],
)
def test_no_limit_is_zero(name, value):
    assert getattr(ForestConfig(**{name: value}), name) == 0


def test_one_leaf_is_refused_with_the_reason():
    assert "has no split" in message_of(ParameterError, max_leaf_nodes=1)


def test_factors_of_classes_need_a_criterion_of_classes():
    assert "'squared_error' is for numbers" in message_of(ParameterError, class_weight="balanced")
    assert ForestConfig(criterion="gini", class_weight="balanced").of_classes


def test_directions_by_name_find_their_columns():
    config = ForestConfig(monotonic_cst={"b": -1}).resolve_columns(("a", "b", "c"), 3)
    assert config.monotonic_cst == (0, -1, 0)
    assert ForestConfig().resolve_columns(None, 3) == ForestConfig()


def test_directions_must_fit_the_columns():
    with pytest.raises(ParameterError, match="monotonic_cst has 2 values, but there are 3 columns"):
        ForestConfig(monotonic_cst=[1, 0]).resolve_columns(None, 3)
    with pytest.raises(ParameterError, match="monotonic_cst gives the direction 1 to column 0, which is cat"):
        ForestConfig(monotonic_cst=[1, 0]).resolve_columns(None, 2, [0])
    assert "-1, 0 or 1" in message_of(ParameterError, monotonic_cst=[2, 0])


def test_a_config_comes_back_from_json_equal():
    config = ForestConfig(
        criterion="gini", max_features=1.0, min_samples_leaf=3, min_samples_split=0.5, monotonic_cst=[1, 0],
        max_samples=5, class_weight="given",
    )  # fmt: skip
    assert ForestConfig.parse(json.loads(json.dumps(config.to_dict()))) == config


def test_what_cannot_change_a_model_stays_out_of_what_describes_it():
    assert set(ForestConfig().to_dict()) - set(ForestConfig().to_dict(model_only=True)) == {"n_jobs"}


def test_a_config_is_checked_again_when_it_is_replaced_and_cannot_be_changed():
    with pytest.raises(ParameterError, match="ccp_alpha"):
        replace(ForestConfig(), ccp_alpha=-1.0)
    with pytest.raises(FrozenInstanceError):
        ForestConfig().max_depth = 3


def test_names_are_checked_and_other_spellings_known():
    assert ForestConfig.parse({"seed": 3, "max_leaves": 4}) == ForestConfig(random_state=3, max_leaf_nodes=4)
    with pytest.raises(ParameterError, match="did you mean 'min_samples_leaf'"):
        ForestConfig.parse({"min_sample_leaf": 3})
    with pytest.raises(ParameterError, match="unknown parameter 'learning_rate'"):
        ForestConfig.parse({"learning_rate": 0.1})
    with pytest.raises(ParameterError, match="spellings of one parameter"):
        ForestConfig.parse({"seed": 1, "random_state": 1})
