import math
import re
from fractions import Fraction

import numpy as np
import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config, checked_rounds
from spinney.params.parameter import ChoiceParameter, FloatOrListParameter, FloatParameter, IntParameter

INTEGERS = [one.name for one in Config.table() if isinstance(one, IntParameter)]
FLOATS = [
    one.name
    for one in Config.table()
    if isinstance(one, FloatParameter) and not isinstance(one, FloatOrListParameter)
]
CHOICES = [one.name for one in Config.table() if isinstance(one, ChoiceParameter)]


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
@pytest.mark.parametrize("value", ["1", True, False, np.True_, [1], 1j, object(), np.array(1.0)])
def test_only_a_number_is_a_number(name, value):
    with pytest.raises(ParameterTypeError, match=f"^{name}=.* must be an? (int|float)"):
        Config.parse({name: value})


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_a_number_must_be_finite(name, value):
    with pytest.raises(ParameterError, match=f"^{name}=.* must be a finite number"):
        Config.parse({name: value})


def test_a_value_is_written_out_only_for_an_error():
    written = []

    class Seven(int):
        def __repr__(self):
            written.append(self)
            return "seven"

    assert Config.parse({"max_leaves": Seven(7), "monotone_constraints": [Seven(1)]}).max_leaves == 7
    assert checked_rounds(Seven(7)) == 7
    assert not written
    with pytest.raises(ParameterError, match=r"^max_leaves=seven \(given as 'num_leaves'\) is out of range"):
        Config.parse({"num_leaves": Seven(-7)})


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", [1, None, ["hist"], b"hist"])
def test_only_a_string_is_a_word(name, value):
    with pytest.raises(ParameterTypeError, match=f"^{name}=.* must be a str, one of "):
        Config.parse({name: value})


@pytest.mark.parametrize("name", [one.name for one in Config.table() if not one.optional])
def test_none_is_a_value_only_where_it_is_declared(name):
    if name == "eval_metric":
        assert Config.parse({name: None}).eval_metric == ()
    else:
        with pytest.raises(ParameterTypeError, match=f"^{name}=None must be"):
            Config.parse({name: None})


@pytest.mark.parametrize("value", [7, 7.0, np.int8(7), np.uint64(7), np.float32(7), np.float64(7)])
def test_a_whole_number_of_any_kind_becomes_an_int(value):
    found = Config.parse({"max_leaves": value}).max_leaves
    assert (type(found), found) == (int, 7)


@pytest.mark.parametrize("value", [2, np.int16(2), np.float32(2), np.float64(2), Fraction(2)])
def test_a_number_of_any_kind_becomes_a_float(value):
    found = Config.parse({"gamma": value}).gamma
    assert (type(found), found) == (float, 2.0)


def test_a_fraction_is_not_an_integer():
    with pytest.raises(ParameterTypeError, match=re.escape("max_depth=2.5 must be a whole number, >= 0")):
        Config.parse({"max_depth": 2.5})


def test_negative_zero_becomes_zero():
    assert math.copysign(1.0, Config.parse({"gamma": -0.0}).gamma) == 1.0


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("learning_rate", 0, "> 0"),
        ("learning_rate", -0.1, "> 0"),
        ("scale_pos_weight", 0.0, "> 0"),
        ("gamma", -1e-9, ">= 0"),
        ("reg_lambda", -1, ">= 0"),
        ("reg_alpha", -1, ">= 0"),
        ("max_delta_step", -1, ">= 0"),
        ("min_child_weight", -1, ">= 0"),
        ("min_child_samples", -1, ">= 0"),
        ("min_delta", -1, ">= 0"),
        ("subsample", 0.0, "> 0 and <= 1"),
        ("subsample", 1.01, "> 0 and <= 1"),
        ("colsample_bytree", 0, "> 0 and <= 1"),
        ("colsample_bylevel", 2, "> 0 and <= 1"),
        ("colsample_bynode", -1, "> 0 and <= 1"),
        ("max_depth", -2, ">= 0"),
        ("max_leaves", -1, ">= 0"),
        ("max_leaves", 2**30 + 1, "not 1"),
        ("max_bin", 1, ">= 2 and <= 65536"),
        ("max_bin", 65537, ">= 2 and <= 65536"),
        ("early_stopping_rounds", -1, ">= 1"),
        ("random_state", -1, ">= 0 and <= 2**63 - 1"),
        ("random_state", 2**63, ">= 0 and <= 2**63 - 1"),
        ("num_class", -1, ">= 0"),
    ],
)
def test_a_value_out_of_range_names_parameter_value_and_range(name, value, right):
    with pytest.raises(ParameterError) as caught:
        Config.parse({name: value})
    message = str(caught.value)
    assert message.startswith(f"{name}={value!r} is out of range")
    assert right in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subsample", 1),
        ("max_bin", 2),
        ("max_bin", 65536),
        ("max_leaves", 2),
        ("max_leaves", 0),
        ("random_state", 2**63 - 1),
        ("min_child_samples", 0),
        ("early_stopping_rounds", 1),
        ("n_jobs", 1),
        ("n_jobs", -2),
        ("learning_rate", 5e-324),
        ("base_score", -3.5),
    ],
)
def test_values_at_the_edge_of_the_range_are_accepted(name, value):
    assert getattr(Config.parse({name: value}), name) == value


def test_a_huge_integer_is_an_ordinary_error():
    with pytest.raises(ParameterError, match=r"max_leaves=<an integer of \d+ bits> is out of range"):
        Config.parse({"max_leaves": 10**5000})
    with pytest.raises(ParameterError, match=r"gamma=<an integer of \d+ bits> must be a finite"):
        Config.parse({"gamma": 10**5000})


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(ParameterTypeError) as caught:
        Config.parse({"learning_rate": "x" * 10_000})
    assert len(str(caught.value)) < 300


def test_a_value_under_another_spelling_is_reported_with_both_names():
    with pytest.raises(ParameterError, match=r"^learning_rate=-1 \(given as 'eta'\) is out of range"):
        Config.parse({"eta": -1})


@pytest.mark.parametrize(
    ("name", "value", "meaning"),
    [
        ("max_depth", -1, 0),
        ("max_depth", np.float64(-1), 0),
        ("max_depth", None, 0),
        ("max_leaves", None, 0),
        ("early_stopping_rounds", 0, None),
        ("n_jobs", -1, None),
        ("num_class", 1, 0),
        ("tree_method", "auto", "hist"),
        ("grow_policy", "leafwise", "lossguide"),
        ("grow_policy", "levelwise", "depthwise"),
    ],
)
def test_values_of_other_libraries_are_translated(name, value, meaning):
    assert getattr(Config.parse({name: value}), name) == meaning


@pytest.mark.parametrize(
    ("spelling", "objective"),
    [
        (spelling, choice)
        for choice, others in Config.parameter("objective").choices.items()
        for spelling in (choice, *others)
    ],
)
def test_every_spelling_of_an_objective_is_translated(spelling, objective):
    classes = 3 if objective in ("softmax", "one_vs_rest") else 0
    assert Config.parse({"objective": spelling, "num_class": classes}).objective == objective


def test_a_numpy_string_becomes_a_plain_one():
    config = Config.parse({"objective": np.str_("binary"), "metric": [np.str_("auc")]})
    assert type(config.objective) is str
    assert [type(name) for name in config.eval_metric] == [str]


@pytest.mark.parametrize("method", ["hist", "exact"])
@pytest.mark.parametrize(("name", "value"), [("proposal", "local"), ("sketch_eps", 0.1)])
def test_what_only_approx_has_is_refused_elsewhere(method, name, value):
    with pytest.raises(ParameterError, match=f"{name}={value!r} needs tree_method='approx'"):
        Config.parse({"tree_method": method, name: value})


def test_an_unknown_word_lists_the_choices_and_the_nearest_one():
    with pytest.raises(ParameterError) as caught:
        Config.parse({"objective": "squared_eror"})
    message = str(caught.value)
    assert "objective='squared_eror' is unknown" in message
    assert "squared_error, squared_log_error, absolute_error" in message
    assert "did you mean 'squared_error'?" in message


def test_an_unknown_word_unlike_any_other_gets_no_suggestion():
    with pytest.raises(ParameterError) as caught:
        Config.parse({"grow_policy": "zigzag"})
    assert "did you mean" not in str(caught.value)


def test_a_config_made_directly_is_checked_as_well():
    with pytest.raises(ParameterError, match="subsample=0 is out of range"):
        Config(subsample=0)
