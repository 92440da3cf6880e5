import json
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import (
    Config,
    ObjectiveInfo,
    kind_of,
    metric_info,
    metrics_for,
    objective_info,
    takes_targets,
)
from spinney.params.metrics import METRICS
from spinney.params.objectives import OBJECTIVES as LOSSES
from spinney.params.parameter import Float, Int
from spinney.params.parameter_set import ParameterSet

PARAMETERS = {parameter.name: parameter for parameter in Config.table()}

share = st.floats(0, 1, exclude_min=True)
positive = st.floats(0, exclude_min=True, allow_infinity=False)
not_negative = st.floats(0, allow_infinity=False)
finite = st.floats(allow_nan=False, allow_infinity=False)
limit = st.integers(0, 2**30).filter(lambda number: number != 1)
direction = st.sampled_from([-1, 0, 1, 1.0, np.int64(-1)])
key = st.text(max_size=3) | st.integers(0, 20)

NUMBERS = {
    "base_score": st.none() | finite,
    "max_depth": st.integers(-1, 2**31 - 1),
    "max_leaves": limit | limit.map(float),
    "min_child_samples": st.integers(0, 2**63 - 1),
    "min_child_weight": not_negative,
    "learning_rate": positive | st.integers(1, 10),
    "gamma": not_negative,
    "reg_lambda": not_negative,
    "reg_alpha": not_negative,
    "max_delta_step": not_negative,
    "subsample": share,
    "colsample_bytree": share,
    "colsample_bylevel": share,
    "colsample_bynode": share,
    "max_bin": st.integers(2, 65536),
    "preset": st.sampled_from(["default", "best"]),
    "models": st.integers(1, 1000),
    "early_stopping_rounds": st.none() | st.integers(0, 2**31 - 1),
    "min_delta": not_negative,
    "random_state": st.integers(0, 2**63 - 1),
    "n_jobs": st.none() | st.integers(1, 64) | st.integers(-64, -1),
    "tree_method": st.sampled_from(["hist", "auto", "approx", "exact"]),
    "proposal": st.just("global"),
    "sketch_eps": st.none(),
    "grow_policy": st.sampled_from(["lossguide", "depthwise", "leafwise", "level"]),
    "max_cat_to_onehot": st.integers(1, 100),
    "max_cat_threshold": st.integers(1, 100),
    "min_data_per_group": st.integers(1, 2**63 - 1),
    "cat_smooth": not_negative,
    "cat_charge": not_negative,
    "target_stats": st.none() | st.integers(1, 2**31 - 1),
    "target_stats_smooth": not_negative,
    "target_stats_pairs": st.integers(0, 2**31 - 1),
    "cat_l2": not_negative,
    "sampling_method": st.sampled_from(["uniform", "bagging"]),
    "top_rate": st.floats(0, 1),
    "other_rate": share,
    "goss_warm_up": st.booleans() | st.sampled_from([0, 1, np.True_]),
    "leaf_values": st.sampled_from(["sample", "all"]),
    "bundle": st.booleans(),
    "bundle_order": st.sampled_from(["auto", "degree", "nonzero"]),
    "max_conflict_rate": st.floats(0, 1),
    "absent": st.sampled_from(["zero", "missing"]),
    "unseen": st.sampled_from(["missing", "error", "rarest"]),
    "monotone_constraints": st.none()
    | st.lists(direction)
    | st.dictionaries(key, direction)
    | st.just("(1,-1)"),
    "interaction_constraints": st.none() | st.lists(st.sets(key, min_size=1) | st.lists(key, min_size=1)),
    "first_metric_only": st.booleans(),
    "feature_weights": st.none() | st.lists(positive) | st.dictionaries(key, not_negative),
}


# Those that only some objectives take.
level = st.floats(0, 1, exclude_min=True, exclude_max=True)
SPECIAL = {
    "scale_pos_weight": positive,
    "quantile_alpha": level | st.lists(level, min_size=1, max_size=5, unique=True).map(sorted),
    "expectile_alpha": level,
    "huber_delta": st.floats(1e-30, 1e30),
    "fair_c": st.floats(1e-30, 1e30),
    "poisson_max_delta_step": st.floats(0, 10),
    "tweedie_variance_power": st.floats(1, 2, exclude_min=True, exclude_max=True),
    "focal_gamma": st.floats(0, 100),
    "focal_alpha": st.none() | level,
    "lambdarank_truncation_level": st.integers(1, 2**31 - 1),
    "lambdarank_norm": st.booleans(),
    "lambdarank_sigmoid": st.floats(1e-6, 1e6),
    "label_gain": st.none() | st.lists(st.floats(1e-30, 1e30), min_size=1).map(sorted),
    "aft_loss_distribution": st.sampled_from(["normal", "logistic", "extreme"]),
    "aft_loss_distribution_scale": st.floats(1e-6, 1e6),
}


@st.composite
def parameters(draw):
    """Valid parameters, each under one of its spellings."""
    chosen = {name: draw(NUMBERS[name]) for name in draw(st.sets(st.sampled_from(sorted(NUMBERS))))}
    objective = draw(st.sampled_from(sorted(PARAMETERS["objective"].choices)))
    chosen["objective"] = draw(st.sampled_from([objective, *PARAMETERS["objective"].choices[objective]]))
    if "num_class" in objective_info(objective).parameters:
        chosen["num_class"] = draw(st.integers(0 if objective == "own" else 2, 1000))
    if kind_of(objective) == "ranks":
        chosen["eval_at"] = draw(st.none() | st.lists(st.integers(1, 9), min_size=1, unique=True))
    elif objective not in ("own", "cox", "aft"):
        chosen["leaf_estimation"] = draw(st.sampled_from(["newton", "line_search"]))
    for name in objective_info(objective).parameters:
        if name in SPECIAL:
            chosen[name] = draw(SPECIAL[name])
    levels = np.size(chosen.get("quantile_alpha", 0.5))
    if takes_targets(objective) and levels == 1 and chosen.get("num_class", 0) < 2:
        chosen["num_target"] = draw(st.integers(1, 1000))
    fitting = metrics_for(objective, chosen.get("num_class", 0)) if levels == 1 else ["pinball"]
    chosen["eval_metric"] = draw(st.lists(st.sampled_from(fitting), unique=True))
    names = {name: [name, *(one for one in PARAMETERS[name].aliases if one != "alpha")] for name in chosen}
    return {draw(st.sampled_from(names[name])): value for name, value in chosen.items()}


def test_the_strategies_cover_every_parameter():
    others = {"objective", "num_class", "num_target", "eval_metric", "eval_at", "leaf_estimation"}
    assert set(NUMBERS) | set(SPECIAL) | others == set(PARAMETERS)


@settings(deadline=None, max_examples=50)
@given(parameters())
def test_a_config_comes_back_equal_from_its_dict_and_from_json(params):
    config = Config.parse(params)
    values = config.to_dict()
    assert Config.parse(values) == config
    assert json.loads(json.dumps(values)) == values
    assert json.dumps(Config.parse(json.loads(json.dumps(values))).to_dict()) == json.dumps(values)


@settings(deadline=None, max_examples=50)
@given(parameters())
def test_checking_a_checked_config_changes_nothing(params):
    config = Config.parse(params)
    assert replace(config) == config
    assert hash(replace(config)) == hash(config)


def test_no_parameters_give_the_defaults():
    config = Config.parse({})
    assert config == Config()
    assert {name: getattr(config, name) for name in PARAMETERS} == {
        name: parameter.default for name, parameter in PARAMETERS.items()
    }


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_a_default_can_be_given(name):
    assert Config.parse({name: PARAMETERS[name].default}) == Config()


def test_the_boosting_defaults_are_those_of_the_documentation():
    config = Config()
    assert (config.learning_rate, config.max_leaves, config.max_depth, config.max_bin) == (0.1, 31, 0, 255)
    assert (config.min_child_samples, config.min_child_weight, config.reg_lambda) == (5, 1e-3, 5.0)
    assert (config.objective, config.grow_policy, config.tree_method) == (
        "squared_error",
        "lossguide",
        "hist",
    )


def test_the_table_has_one_parameter_for_each_field_in_order():
    assert list(PARAMETERS) == [field.name for field in fields(Config)]


def test_the_dict_holds_every_parameter():
    assert list(Config().to_dict()) == list(PARAMETERS)


def test_what_cannot_change_a_model_stays_out_of_what_describes_it():
    one, many = Config(n_jobs=1), Config(n_jobs=8)
    assert one.to_dict(model_only=True) == many.to_dict(model_only=True)
    # What a preset sets is there, and a mean of models is one model.
    unsaved = {"n_jobs", "bundle", "bundle_order", "preset", "models"}
    assert set(one.to_dict()) - set(one.to_dict(model_only=True)) == unsaved


@dataclass(frozen=True, kw_only=True)
class Added(ParameterSet):
    gamma: float = Float(0.0, omit_default=True, group="regularisation", doc="Added later.")
    max_leaves: int = Int(31, group="growing a tree", doc="Known before.")


def test_a_parameter_that_was_added_is_left_out_of_files_while_it_has_its_default():
    assert Added().to_dict(model_only=True) == {"max_leaves": 31}
    assert Added(gamma=0.5).to_dict(model_only=True) == {"gamma": 0.5, "max_leaves": 31}
    assert Added().to_dict(model_only=False) == {"gamma": 0.0, "max_leaves": 31}


def test_a_config_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Config().max_depth = 3


OBJECTIVES = Config.parameter("objective").choices


MANY = ("softmax", "one_vs_rest")


def given_for(objective, **more):
    return {"objective": objective, "num_class": 3 if objective in MANY else 0, **more}


def message_of(given):
    with pytest.raises(ParameterError) as caught:
        Config.parse(given)
    return str(caught.value)


def test_one_leaf_is_an_error_with_what_to_give_instead():
    assert message_of({"num_leaves": 1}).startswith("max_leaves=1 (given as 'num_leaves') is not allowed")


def test_no_threads_is_an_error_with_what_to_give_instead():
    assert message_of({"n_jobs": 0}) == (
        "n_jobs=0 is not allowed: give 1 or more threads, or None for all cores"
    )


def test_more_leaves_than_the_depth_allows_is_no_contradiction():
    config = Config.parse({"max_depth": 2, "max_leaves": 31})
    assert (config.max_depth, config.max_leaves) == (2, 31)


@pytest.mark.parametrize("objective", ["squared_error", "softmax"])
def test_scale_pos_weight_needs_two_classes(objective):
    message = message_of(given_for(objective, scale_pos_weight=2))
    assert "scale_pos_weight=2.0 needs objective='log_loss'" in message
    assert repr(objective) in message


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_scale_pos_weight_of_one_fits_every_objective(objective):
    assert Config.parse(given_for(objective, scale_pos_weight=1)).scale_pos_weight == 1.0


@pytest.mark.parametrize("num_class", [0, 1])
def test_softmax_needs_the_number_of_classes(num_class):
    message = message_of({"objective": "multi:softprob", "num_class": num_class})
    assert f"num_class={num_class} contradicts objective='softmax'" in message
    assert "2 or more" in message


@pytest.mark.parametrize("objective", ["squared_error", "log_loss"])
def test_other_objectives_have_no_number_of_classes(objective):
    message = message_of({"objective": objective, "num_class": 2})
    assert f"num_class=2 contradicts objective={objective!r}" in message
    assert "objective='softmax'" in message


@pytest.mark.parametrize("objective", ["squared_error", "log_loss"])
def test_one_class_is_read_as_not_set(objective):
    assert Config.parse({"objective": objective, "num_class": 1}).num_class == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_accepted_exactly_where_it_fits(objective, metric):
    fits = metric in metrics_for(objective) or (metric == "error" and objective in MANY)
    if fits:
        assert Config.parse(given_for(objective, eval_metric=metric)).eval_metric == (metric,)
    else:
        message = message_of(given_for(objective, eval_metric=metric))
        assert f"eval_metric={metric!r} does not fit objective={objective!r}" in message
        assert ", ".join(metrics_for(objective)) in message


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_metric_fits_by_what_the_objective_predicts(objective):
    fitting = {name for name, metric in METRICS.items() if kind_of(objective) in metric.fits}
    if objective == "own":
        fitting |= {"error", "accuracy", "balanced_accuracy", "f1", "f1_macro"}  # a score predicts a class
        fitting |= {name for name, metric in METRICS.items() if metric.form == "by_query"}  # or ranks rows
    assert set(metrics_for(objective)) == fitting
    assert len(metrics_for(objective)) == len(fitting)


def test_metrics_of_several_scores_of_a_function_look_at_the_class_they_predict():
    accepted = {name for name in METRICS if name in metrics_for("own", 3)}
    assert accepted == {"merror", "accuracy", "balanced_accuracy", "f1", "f1_macro"}
    several = {"objective": "own", "num_class": 3}
    assert Config.parse(several | {"eval_metric": ["error", "f1"]}).eval_metric == ("error", "f1")
    assert metric_info("error", "own", 3).name == "merror"
    for metric in set(METRICS) - accepted - {"error"}:
        message = message_of(several | {"eval_metric": metric})
        assert (
            f"{metric!r} does not fit objective='own' with num_class=3; the metrics that fit are" in message
        )
        assert ", ".join(metrics_for("own", 3)) in message


@pytest.fixture
def an_objective_of_each_kind(monkeypatch):
    """By what it predicts."""
    counts = ObjectiveInfo(name="counts", metric="poisson_deviance", link="exp")
    monkeypatch.setitem(LOSSES, "counts", counts)
    return {
        "numbers": "squared_error",
        "positive": "counts",
        "two": "log_loss",
        "many": "softmax",
        "ranks": "rank_ndcg",
        "hazards": "cox",
        "times": "aft",
    }


@pytest.mark.parametrize("metric", METRICS)
def test_every_spelling_of_a_metric_means_it_and_keeps_its_name(metric, an_objective_of_each_kind):
    for kind in METRICS[metric].fits:
        for spelling in METRICS[metric].spellings:
            given = given_for(an_objective_of_each_kind[kind], metric=spelling)
            assert Config.parse(given).eval_metric == (spelling,)
            assert metric_info(spelling, an_objective_of_each_kind[kind]).name == metric


@pytest.mark.parametrize(
    ("objective", "metric"),
    [
        ("squared_error", "auc"),
        ("squared_error", "average_precision"),
        ("log_loss", "l2"),
        ("log_loss", "l1"),
        ("log_loss", "r2"),
        ("counts", "mae"),
        ("counts", "auc"),
    ],
)
@pytest.mark.usefixtures("an_objective_of_each_kind")
def test_metrics_of_another_objective_fit_where_they_make_sense(objective, metric):
    assert len(Config.parse(given_for(objective, metric=metric)).eval_metric) == 1


@pytest.mark.parametrize(
    ("objective", "metric"),
    [
        ("squared_error", "accuracy"),
        ("squared_error", "logloss"),
        ("softmax", "mae"),
        ("log_loss", "auc_ovo"),
    ],
)
def test_a_metric_that_makes_no_sense_is_refused_with_those_that_do(objective, metric):
    message = message_of(given_for(objective, metric=metric))
    assert (
        f"eval_metric={metric!r} does not fit objective={objective!r}; the metrics that fit are " in message
    )
    assert metrics_for(objective)[-1] in message


@pytest.mark.parametrize("word", ["none", "None", "null", "na", "custom"])
def test_no_metric_at_all_can_be_chosen(word):
    config = Config.parse({"metric": word})
    assert config.eval_metric == ("none",)
    assert Config.parse(config.to_dict()) == config


def test_metrics_and_none_contradict_each_other():
    assert "names metrics and none at all" in message_of({"metric": ["mae", "none"]})


def test_a_spelling_with_two_meanings_follows_the_objective():
    assert [metric_info(name, "log_loss").name for name in ("log_loss", "error")] == ["logloss", "error"]
    assert [metric_info(name, "softmax").name for name in ("log_loss", "error")] == ["mlogloss", "merror"]


def test_metrics_keep_their_order():
    assert Config.parse(given_for("binary", metrics=("error", "auc"))).eval_metric == ("error", "auc")


def test_a_metric_named_twice_is_an_error():
    assert "names the metric 'auc' twice" in message_of(given_for("binary", metric=["auc", "auc"]))
    both = Config.parse(given_for("binary", metric=["auc", "roc_auc"]))  # two names in the results
    assert both.eval_metric == ("auc", "roc_auc")
    assert Config.parse(both.to_dict()) == both


def test_an_unknown_metric_gets_a_suggestion():
    message = message_of({"metric": ["mae", "rsme"]})
    assert "eval_metric=['mae', 'rsme'] (given as 'metric') holds the unknown name 'rsme'" in message
    assert "did you mean 'rmse'?" in message


@pytest.mark.parametrize("value", [3, {"rmse"}, b"rmse", {"rmse": 1}])
def test_metrics_are_one_string_or_a_sequence(value):
    with pytest.raises(ParameterTypeError, match="must be a str or a sequence of str"):
        Config.parse({"eval_metric": value})


@pytest.mark.parametrize("value", [len, ["rmse", len]])
def test_functions_are_no_parameters(value):
    with pytest.raises(
        ParameterTypeError, match="holds a function; give functions to `train` as its argument `metrics=`"
    ):
        Config.parse({"metrics": value})


def test_metrics_may_stand_in_one_string_with_commas_between():
    found = Config.parse({"objective": "log_loss", "metric": "auc, binary_logloss,error"}).eval_metric
    assert found == ("auc", "binary_logloss", "error")


def test_metrics_hold_only_strings():
    with pytest.raises(ParameterTypeError, match=r"must hold only str.*found 3"):
        Config.parse({"eval_metric": ["rmse", 3]})


def test_replacing_a_value_checks_the_values_together_again():
    config = Config(objective="log_loss", eval_metric="error")
    with pytest.raises(ParameterError, match="eval_metric='error' does not fit objective='squared_error'"):
        replace(config, objective="squared_error")


LEVELS = {
    "quantile_alpha": (0.9, ["quantile"]),
    "expectile_alpha": (0.9, ["expectile"]),
    "huber_delta": (2.0, ["huber", "pseudo_huber"]),
    "fair_c": (2.0, ["fair"]),
    "poisson_max_delta_step": (0.1, ["poisson"]),
    "tweedie_variance_power": (1.2, ["tweedie"]),
    "focal_gamma": (1.0, ["focal"]),
    "focal_alpha": (0.25, ["focal"]),
    "scale_pos_weight": (2.0, ["log_loss", "focal"]),
}


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_parameter_of_some_objectives_is_refused_with_the_others(objective, name):
    value, taking = LEVELS[name]
    if objective in taking:
        assert getattr(Config.parse(given_for(objective, **{name: value})), name) == value
    else:
        message = message_of(given_for(objective, **{name: value}))
        named = " or ".join(map(repr, taking))
        assert (
            f"{name}={value!r} needs objective={named}, but objective={objective!r}; leave it at" in message
        )


def test_a_parameter_of_an_objective_is_taken_by_its_metric_with_others_too():
    assert Config.parse({"eval_metric": ["rmse", "pinball"], "quantile": 0.9}).quantile_alpha == 0.9


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("quantile_alpha", [0, 1, -0.1, 1.1]),
        ("expectile_alpha", [0, 1]),
        ("huber_delta", [0, -1]),
        ("fair_c", [0, -1]),
        ("poisson_max_delta_step", [-0.1, 11]),
        ("tweedie_variance_power", [1, 2, 0, 3]),
        ("focal_gamma", [-1]),
        ("focal_alpha", [0, 1]),
    ],
)
def test_a_level_out_of_its_range_is_refused(name, wrong):
    for value in wrong:
        assert f"{name}={value!r} is out of range: it must be " in message_of(
            {"objective": LEVELS[name][1][0], name: value}
        )


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ({"objective": "reg:quantileerror", "quantile_alpha": 0.9}, ("quantile", "quantile_alpha", 0.9)),
        ({"objective": "quantile", "quantile": 0.9}, ("quantile", "quantile_alpha", 0.9)),
        ({"objective": "reg:pseudohubererror", "huber_slope": 3.0}, ("pseudo_huber", "huber_delta", 3.0)),
        ({"objective": "huber", "huber_delta": 3.0}, ("huber", "huber_delta", 3.0)),
        ({"objective": "fair", "fair_c": 3.0}, ("fair", "fair_c", 3.0)),
        ({"objective": "reg:expectileerror", "expectile_alpha": 0.2}, ("expectile", "expectile_alpha", 0.2)),
        (
            {"objective": "reg:tweedie", "tweedie_variance_power": 1.1},
            ("tweedie", "tweedie_variance_power", 1.1),
        ),
        (
            {"objective": "count:poisson", "poisson_max_delta_step": 0.1},
            ("poisson", "poisson_max_delta_step", 0.1),
        ),
        ({"objective": "reg:gamma"}, ("gamma", "num_class", 0)),
        ({"objective": "reg:squaredlogerror"}, ("squared_log_error", "num_class", 0)),
        ({"objective": "reg:absoluteerror"}, ("absolute_error", "num_class", 0)),
        ({"objective": "regression_l1"}, ("absolute_error", "num_class", 0)),
        ({"objective": "mape"}, ("mape", "num_class", 0)),
        ({"objective": "cross_entropy"}, ("log_loss", "num_class", 0)),
        ({"objective": "reg:logistic"}, ("log_loss", "num_class", 0)),
        ({"objective": "multiclassova", "num_class": 5}, ("one_vs_rest", "num_class", 5)),
    ],
)
def test_names_of_other_libraries_are_known(given, canonical):
    config = Config.parse(given)
    objective, name, value = canonical
    assert (config.objective, getattr(config, name)) == (objective, value)


@pytest.mark.parametrize(("objective", "level"), [("quantile", "quantile_alpha"), ("huber", "huber_delta")])
def test_alpha_is_an_error_where_it_has_two_meanings(objective, level):
    message = message_of({"objective": objective, "alpha": 0.9})
    assert f"alpha=0.9 has two meanings with objective={objective!r}" in message
    assert "reg_alpha" in message
    assert level in message


def test_alpha_is_the_l1_penalty_elsewhere():
    assert Config.parse({"alpha": 0.9}).reg_alpha == 0.9
    assert Config.parse({"objective": "quantile", "reg_alpha": 0.9}).reg_alpha == 0.9
