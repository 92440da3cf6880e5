"""The table of losses: their names, what they take, and how many outputs they have."""

import dataclasses
from collections import Counter
from types import SimpleNamespace

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config
from spinney.params.metrics import METRICS, NONE
from spinney.params.objectives import (
    OBJECTIVES,
    OWN,
    SPECIFIC,
    check_outputs,
    is_by_output,
    levels_of,
    link_of,
    objective_info,
    objectives_taking,
    outputs_of,
    takes_targets,
    values_by_output,
)

ONE_COLUMN = {
    "softmax", "one_vs_rest", "rank_ndcg", "rank_map", "rank_pairwise", "rank_xendcg", "cox", "aft",
}  # fmt: skip
LINKS = {
    "exp": {"poisson", "gamma", "tweedie", "cox", "aft"},
    "logistic": {"log_loss", "focal"},
    "softmax": {"softmax"},
    "one_vs_rest": {"one_vs_rest"},
}


def config_of(objective, **given):
    """A configuration with as many classes as the objective needs."""
    if objective in ("softmax", "one_vs_rest"):
        given = {"num_class": 3, **given}
    return Config(objective=objective, **given)


# Names


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_is_found_by_its_name(name):
    assert objective_info(name).name == name


@pytest.mark.parametrize("name", ["squared_eror", "", "binary", "Huber", "huber "])
def test_other_names_are_refused_with_all_that_there_are(name):
    with pytest.raises(ParameterError) as error:
        objective_info(name)
    assert str(error.value) == f"objective = {name!r} is unknown; there are {', '.join(OBJECTIVES)}"


@pytest.mark.parametrize(
    ("given", "suggested"),
    [
        ("squared_eror", "squared_error"),
        ("Huber", "huber"),
        ("rank_ndgc", "rank_ndcg"),
        ("binary:logistics", "log_loss"),
        ("multi-class", "softmax"),
    ],
)
def test_an_unknown_objective_gets_the_nearest_name_as_a_suggestion(given, suggested):
    with pytest.raises(ParameterError) as error:
        Config.parse({"loss": given})
    message = str(error.value)
    assert message.startswith(f"objective={given!r} (given as 'loss') is unknown: it must be one of ")
    assert ", ".join(OBJECTIVES) in message
    assert message.endswith(f"(did you mean {suggested!r}?)")


def test_a_name_that_is_like_no_other_gets_no_suggestion():
    with pytest.raises(ParameterError, match="objective='xyzzy' is unknown") as error:
        Config(objective="xyzzy")
    assert "did you mean" not in str(error.value)


def test_an_objective_is_a_name():
    with pytest.raises(ParameterTypeError, match="objective=3 must be a str, one of squared_error"):
        Config(objective=3)


def test_a_spelling_means_one_objective():
    names = [name for one in OBJECTIVES.values() for name in (one.name, *one.spellings)]
    assert [name for name, often in Counter(names).items() if often > 1] == []


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_spelling_is_read_as_the_name(name):
    expected = config_of(name)
    for spelling in objective_info(name).spellings:
        assert config_of(spelling, num_class=expected.num_class) == expected


# What an objective takes


@pytest.mark.parametrize("parameter", [*SPECIFIC, "num_class"])
def test_the_objectives_that_take_a_parameter_are_listed_in_words(parameter):
    taking = [f"'{name}'" for name, one in OBJECTIVES.items() if parameter in one.parameters]
    assert taking
    assert objectives_taking(parameter).split(" or ") == taking


def test_no_objective_takes_what_is_for_all_or_for_none():
    assert objectives_taking("learning_rate") == objectives_taking("") == ""


def test_parameters_of_some_objectives_are_fields_and_listed_once():
    fields = {field.name for field in dataclasses.fields(Config)}
    assert set(SPECIFIC) < fields
    assert len(set(SPECIFIC)) == len(SPECIFIC)
    # The number of classes has checks of its own.
    assert set(SPECIFIC) == {name for one in OBJECTIVES.values() for name in one.parameters} - {"num_class"}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_metric_of_an_objective_exists(name):
    metric = objective_info(name).metric
    assert metric in (NONE if name == OWN else METRICS)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_losses_of_each_row_and_column_take_several_columns(name):
    assert takes_targets(name) == (name not in ONE_COLUMN)
    if name in ONE_COLUMN:
        with pytest.raises(ParameterError) as error:
            config_of(name, num_target=2)
        assert str(error.value) == (
            f"num_target=2 contradicts objective={name!r}, which is for y of one column; leave it at 1, and train a model for "
            "each column"
        )
    else:
        assert outputs_of(config_of(name, num_target=2)) == 2


def test_whether_an_unknown_objective_takes_several_columns_is_an_error():
    with pytest.raises(ParameterError, match="objective = 'l2' is unknown"):
        takes_targets("l2")


# Outputs


OUTPUTS = [
    # a configuration, and its outputs, levels, whether each is a prediction of its own, and link
    ({}, 1, (0.5,), False, "identity"),
    ({"num_target": 1}, 1, (0.5,), False, "identity"),
    ({"num_target": 4}, 4, (0.5,), True, "identity"),
    ({"objective": "log_loss", "num_target": 2}, 2, (0.5,), True, "logistic"),
    ({"objective": "softmax", "num_class": 2}, 2, (0.5,), False, "softmax"),
    ({"objective": "one_vs_rest", "num_class": 7}, 7, (0.5,), False, "one_vs_rest"),
    ({"objective": "quantile", "quantile_alpha": 0.9}, 1, (0.9,), False, "identity"),
    ({"objective": "quantile", "quantile_alpha": [0.9]}, 1, (0.9,), False, "identity"),
    ({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}, 3, (0.1, 0.5, 0.9), True, "sorted"),
    ({"objective": "quantile", "num_target": 3}, 3, (0.5,), True, "identity"),
    ({"objective": "rank_ndcg"}, 1, (0.5,), False, "identity"),
    ({"objective": "cox"}, 1, (0.5,), False, "exp"),
    ({"objective": OWN, "num_class": 3}, 3, (0.5,), False, "identity"),
    ({"objective": OWN, "num_class": 1}, 1, (0.5,), False, "identity"),
    ({"objective": OWN, "num_target": 2}, 2, (0.5,), True, "identity"),
    ({"objective": OWN, "num_class": 3, "num_target": 2}, 3, (0.5,), True, "identity"),
]


@pytest.mark.parametrize(("given", "outputs", "levels", "by_output", "link"), OUTPUTS)
def test_a_row_has_a_score_for_each_class_column_or_level(given, outputs, levels, by_output, link):
    config = Config(**given)
    assert outputs_of(config) == outputs
    assert levels_of(config) == levels
    assert is_by_output(config) == by_output
    assert link_of(config) == link


@pytest.mark.parametrize("name", OBJECTIVES)
def test_predictions_are_made_by_the_link_of_the_objective(name):
    assert name in LINKS.get(link_of(config_of(name)), {*OBJECTIVES}.difference(*LINKS.values()))
    assert link_of(config_of(name)) == objective_info(name).link


def test_parameters_have_a_value_for_each_output():
    names = ["quantile_alpha", "fair_c"]
    several = Config(objective="quantile", quantile_alpha=[0.1, 0.5, 0.9])
    assert values_by_output(several, names) == [[0.1, 1.0], [0.5, 1.0], [0.9, 1.0]]
    assert values_by_output(Config(num_target=2), names) == [[0.5, 1.0], [0.5, 1.0]]
    assert values_by_output(Config(objective="softmax", num_class=3), []) == [[], [], []]
    assert values_by_output(Config(), iter(names)) == [[0.5, 1.0]]


# Checks


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"quantile_alpha": [0.1, 0.9]},
            "quantile_alpha=[0.1, 0.9] needs objective='quantile', but objective='squared_error'; give one level",
        ),
        (
            {"objective": "expectile", "quantile_alpha": (0.25, 0.75)},
            "quantile_alpha=[0.25, 0.75] needs objective='quantile', but objective='expectile'; give one level",
        ),
        (
            {"objective": "quantile", "quantile_alpha": [0.1, 0.9], "num_target": 2},
            "quantile_alpha=[0.1, 0.9] has several levels and num_target=2: levels take y of one column; give one level, or "
            "train a model for each column",
        ),
        # Both are wrong: the number of columns is checked first.
        (
            {"objective": "cox", "quantile_alpha": [0.1, 0.9], "num_target": 5},
            "num_target=5 contradicts objective='cox', which is for y of one column; leave it at 1, and train a model for each "
            "column",
        ),
    ],
)
def test_outputs_that_contradict_each_other_are_refused(given, message):
    with pytest.raises(ParameterError) as error:
        Config(**given)
    assert str(error.value) == message
    unchecked = SimpleNamespace(**{"objective": "squared_error", "num_target": 1, **given})
    unchecked.quantile_alpha = tuple(given["quantile_alpha"])
    with pytest.raises(ParameterError) as error:
        check_outputs(unchecked)
    assert str(error.value) == message


@pytest.mark.parametrize("given", [given for given, *_ in OUTPUTS])
def test_outputs_that_fit_pass_the_check(given):
    check_outputs(Config(**given))


@pytest.mark.parametrize("parameter", SPECIFIC)
def test_a_parameter_fits_exactly_the_objectives_that_list_it(parameter):
    default = Config.parameter(parameter).default
    value = {
        "quantile_alpha": 0.9, "expectile_alpha": 0.9, "huber_delta": 2.0, "fair_c": 2.0, "poisson_max_delta_step": 0.1,
        "tweedie_variance_power": 1.2, "scale_pos_weight": 3.0, "focal_gamma": 1.0, "focal_alpha": 0.3,
        "lambdarank_truncation_level": 5, "lambdarank_norm": False, "lambdarank_sigmoid": 2.0, "label_gain": (0.0, 1.0),
        "aft_loss_distribution": "extreme", "aft_loss_distribution_scale": 2.0,
    }[parameter]  # fmt: skip
    for name, one in OBJECTIVES.items():
        # A metric that takes the parameter would be another reason to accept it.
        given = {parameter: value, "eval_metric": "none"}
        if parameter in one.parameters or (name, parameter) == (OWN, "label_gain"):
            assert getattr(config_of(name, **given), parameter) == value
        else:
            with pytest.raises(ParameterError) as error:
                config_of(name, **given)
            assert str(error.value) == (
                f"{parameter}={value!r} needs objective={objectives_taking(parameter)}, but objective={name!r}; leave it at "
                f"{default}"
            )
