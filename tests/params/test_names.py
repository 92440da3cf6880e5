import re

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import parse, resolve, table

ROWS = table()
ALIASES = [(alias, row.name) for row in ROWS for alias in row.aliases]


def message_of(given):
    with pytest.raises(ParameterError) as caught:
        parse(given)
    return str(caught.value)


@pytest.mark.parametrize(("alias", "name"), ALIASES)
def test_every_alias_leads_to_its_canonical_name(alias, name):
    assert resolve({alias: "anything"}) == {name: "anything"}


def test_no_spelling_belongs_to_two_parameters():
    spellings = [row.name for row in ROWS] + [alias for alias, _ in ALIASES]
    assert len(spellings) == len(set(spellings))


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


def test_resolve_keeps_only_what_was_given_and_leaves_values_alone():
    marker = object()
    assert resolve({"eta": marker, "max_bins": None}) == {"learning_rate": marker, "max_bin": None}


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
def test_asking_for_silence_is_told_that_nothing_is_printed(name):
    message = message_of({name: -1})
    assert repr(name) in message
    assert "nothing is printed unless" in message


def test_a_name_must_be_a_string():
    with pytest.raises(ParameterTypeError, match="parameter name 3 must be a str"):
        parse({3: 1})


@pytest.mark.parametrize("given", [None, ["eta"], "eta=0.1"])
def test_parameters_must_be_a_mapping(given):
    with pytest.raises(ParameterTypeError, match="must be a mapping"):
        parse(given)


@pytest.mark.parametrize("objective", ["rank_ndcg", "rank:map", "lambdarank", "xendcg"])
def test_rankings_have_a_smaller_penalty_unless_one_is_given(objective):
    assert parse({"objective": objective}).reg_lambda == 1.0
    assert parse({"objective": objective, "lambda_l2": 5.0}).reg_lambda == 5.0
    assert parse({"objective": "poisson"}).reg_lambda == parse({}).reg_lambda == 5.0
