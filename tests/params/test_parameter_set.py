import re

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import AdaBoostConfig, Config, ForestConfig, IsolationConfig
from spinney.params.parameter import GROUPS

SETS = (Config, ForestConfig, AdaBoostConfig, IsolationConfig)
ALIASES = [(alias, parameter.name) for parameter in Config.table() for alias in parameter.aliases]


def message_of(given):
    with pytest.raises(ParameterError) as caught:
        Config.parse(given)
    return str(caught.value)


@pytest.mark.parametrize("parameters", SETS)
def test_every_default_is_valid_and_every_parameter_has_a_group_and_a_meaning(parameters):
    for parameter in parameters.table():
        assert getattr(parameters(), parameter.name) == parameter.default
        assert parameters(**{parameter.name: parameter.default}) == parameters()
        assert parameter.group in GROUPS
        assert parameter.doc.endswith(".")


@pytest.mark.parametrize("parameters", SETS)
def test_no_spelling_belongs_to_two_parameters(parameters):
    spellings = [name for parameter in parameters.table() for name in (parameter.name, *parameter.aliases)]
    assert len(spellings) == len(set(spellings))
    assert list(parameters.by_spelling()) == spellings


@pytest.mark.parametrize(("alias", "name"), ALIASES)
def test_every_alias_leads_to_its_canonical_name(alias, name):
    assert Config.canonical({alias: "anything"}) == {name: "anything"}


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("eta", "learning_rate"),
        ("num_leaves", "max_leaves"),
        ("lambda", "reg_lambda"),
        ("lambda_l1", "reg_alpha"),
        ("min_data_in_leaf", "min_child_samples"),
        ("min_sum_hessian_in_leaf", "min_child_weight"),
        ("min_split_loss", "gamma"),
        ("min_gain_to_split", "gamma"),
        ("min_split_gain", "gamma"),
        ("max_features", "colsample_bynode"),
        ("bagging_fraction", "subsample"),
        ("feature_fraction", "colsample_bytree"),
        ("nthread", "n_jobs"),
        ("seed", "random_state"),
        ("metric", "eval_metric"),
        ("app", "objective"),
    ],
)
def test_well_known_spellings_of_other_libraries_are_accepted(alias, name):
    assert (alias, name) in ALIASES


def test_canonical_keeps_only_what_was_given_and_leaves_values_alone():
    marker = object()
    assert Config.canonical({"eta": marker, "max_bins": None}) == {"learning_rate": marker, "max_bin": None}


@pytest.mark.parametrize("second", [0.1, 0.3])
def test_two_spellings_of_one_parameter_are_an_error_even_with_equal_values(second):
    message = message_of({"eta": 0.1, "learning_rate": second})
    assert "eta=0.1" in message
    assert f"learning_rate={second}" in message
    assert "give only one" in message


def test_two_aliases_name_the_parameter_they_both_mean():
    assert "reg_lambda" in message_of({"lambda": 1.0, "lambda_l2": 1.0})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("learning_rat", "'learning_rate'"),
        ("learningrate", "'learning_rate'"),
        ("Max_Depth", "'max_depth'"),
        ("max-depth", "'max_depth'"),
        ("num_leafs", "(another spelling of 'max_leaves')"),
        ("colsample_by_tree", "'colsample_bytree'"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(wrong, right):
    message = message_of({wrong: 1})
    assert f"unknown parameter {wrong!r}; did you mean " in message
    assert right in message


@pytest.mark.parametrize("name", ["booster", "device", "num_parallel_tree", "zzz", ""])
def test_a_name_like_no_other_points_to_the_page_without_a_suggestion(name):
    message = message_of({name: 1})
    assert f"unknown parameter {name!r}" in message
    assert "did you mean" not in message
    assert "docs/parameters.md" in message


@pytest.mark.parametrize("name", ["rounds", "num_boost_round", "n_estimators", "num_iterations"])
def test_the_number_of_rounds_is_sent_to_train(name):
    assert re.search(rf"{name}=200 .*`train`.*`rounds=`", message_of({name: 200}))


def test_validation_data_is_sent_to_train():
    assert "`valid=`" in message_of({"evals": []})


@pytest.mark.parametrize("name", ["verbosity", "verbose", "silent"])
def test_silence_is_refused_because_nothing_is_printed(name):
    message = message_of({name: -1})
    assert repr(name) in message
    assert "nothing is printed unless" in message


def test_a_name_must_be_a_string():
    with pytest.raises(ParameterTypeError, match="parameter name 3 must be a str"):
        Config.parse({3: 1})


@pytest.mark.parametrize("given", [None, ["eta"], "eta=0.1"])
def test_parameters_must_be_a_mapping(given):
    with pytest.raises(ParameterTypeError, match="must be a mapping"):
        Config.parse(given)


@pytest.mark.parametrize("objective", ["rank_ndcg", "rank:map", "lambdarank", "xendcg"])
def test_rankings_have_a_smaller_penalty_unless_one_is_given(objective):
    assert Config.parse({"objective": objective}).reg_lambda == 1.0
    assert Config.parse({"objective": objective, "lambda_l2": 5.0}).reg_lambda == 5.0
    assert Config.parse({"objective": "poisson"}).reg_lambda == Config.parse({}).reg_lambda == 5.0
