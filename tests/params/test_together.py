from dataclasses import replace

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config, kind_of, metric_row, metrics_for, parse, table
from spinney.params.metrics import METRICS as ROWS
from spinney.params.objectives import OBJECTIVES as LOSSES
from spinney.params.objectives import ObjectiveRow

OBJECTIVES = next(row for row in table() if row.name == "objective").choices
METRICS = {name: row.spellings for name, row in ROWS.items()}


MANY = ("softmax", "one_vs_rest")


def given_for(objective, **more):
    return {"objective": objective, "num_class": 3 if objective in MANY else 0, **more}


def message_of(given):
    with pytest.raises(ParameterError) as caught:
        parse(given)
    return str(caught.value)


def test_one_leaf_is_an_error_that_says_what_to_give():
    assert message_of({"num_leaves": 1}).startswith("max_leaves=1 (given as 'num_leaves') is not allowed")


def test_no_threads_is_an_error_that_says_what_to_give():
    assert message_of({"n_jobs": 0}) == (
        "n_jobs=0 is not allowed: give 1 or more threads, or None for all cores"
    )


def test_more_leaves_than_the_depth_allows_is_no_contradiction():
    config = parse({"max_depth": 2, "max_leaves": 31})
    assert (config.max_depth, config.max_leaves) == (2, 31)


@pytest.mark.parametrize("objective", ["squared_error", "softmax"])
def test_scale_pos_weight_needs_two_classes(objective):
    message = message_of(given_for(objective, scale_pos_weight=2))
    assert "scale_pos_weight=2.0 needs objective='log_loss'" in message
    assert repr(objective) in message


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_scale_pos_weight_of_one_fits_every_objective(objective):
    assert parse(given_for(objective, scale_pos_weight=1)).scale_pos_weight == 1.0


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
    assert parse({"objective": objective, "num_class": 1}).num_class == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_accepted_exactly_where_it_fits(objective, metric):
    fits = metric in metrics_for(objective) or (metric == "error" and objective in MANY)
    if fits:
        assert parse(given_for(objective, eval_metric=metric)).eval_metric == (metric,)
    else:
        message = message_of(given_for(objective, eval_metric=metric))
        assert f"eval_metric={metric!r} does not fit objective={objective!r}" in message
        assert ", ".join(metrics_for(objective)) in message


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_metric_fits_by_what_the_objective_predicts(objective):
    fitting = {name for name, row in ROWS.items() if kind_of(objective) in row.fits}
    if objective == "own":
        fitting |= {"error", "accuracy", "balanced_accuracy", "f1", "f1_macro"}  # a score speaks for a class
        fitting |= {"ndcg", "map", "mrr"}  # or ranks rows
    assert set(metrics_for(objective)) == fitting
    assert len(metrics_for(objective)) == len(fitting)


def test_several_scores_of_a_function_are_judged_by_the_class_they_speak_for():
    accepted = {name for name in ROWS if name in metrics_for("own", 3)}
    assert accepted == {"merror", "accuracy", "balanced_accuracy", "f1", "f1_macro"}
    several = {"objective": "own", "num_class": 3}
    assert parse(several | {"eval_metric": ["error", "f1"]}).eval_metric == ("error", "f1")
    assert metric_row("error", "own", 3).name == "merror"
    for metric in set(ROWS) - accepted - {"error"}:
        message = message_of(several | {"eval_metric": metric})
        assert (
            f"{metric!r} does not fit objective='own' with num_class=3; the metrics that fit are" in message
        )
        assert ", ".join(metrics_for("own", 3)) in message


@pytest.fixture
def an_objective_of_each_kind(monkeypatch):
    """By what it predicts."""
    counts = ObjectiveRow(name="counts", metric="poisson_deviance", link="exp")
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
    for kind in ROWS[metric].fits:
        for spelling in METRICS[metric]:
            given = given_for(an_objective_of_each_kind[kind], metric=spelling)
            assert parse(given).eval_metric == (spelling,)
            assert metric_row(spelling, an_objective_of_each_kind[kind]).name == metric


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
    assert len(parse(given_for(objective, metric=metric)).eval_metric) == 1


@pytest.mark.parametrize(
    ("objective", "metric"),
    [
        ("squared_error", "accuracy"),
        ("squared_error", "logloss"),
        ("softmax", "mae"),
        ("log_loss", "auc_ovo"),
    ],
)
def test_a_metric_that_makes_no_sense_is_told_with_those_that_do(objective, metric):
    message = message_of(given_for(objective, metric=metric))
    assert (
        f"eval_metric={metric!r} does not fit objective={objective!r}; the metrics that fit are " in message
    )
    assert metrics_for(objective)[-1] in message


@pytest.mark.parametrize("word", ["none", "None", "null", "na", "custom"])
def test_no_metric_at_all_can_be_asked_for(word):
    config = parse({"metric": word})
    assert config.eval_metric == ("none",)
    assert parse(config.to_dict()) == config


def test_metrics_and_none_contradict_each_other():
    assert "asks for metrics and for none" in message_of({"metric": ["mae", "none"]})


def test_a_spelling_with_two_meanings_follows_the_objective():
    assert [metric_row(name, "log_loss").name for name in ("log_loss", "error")] == ["logloss", "error"]
    assert [metric_row(name, "softmax").name for name in ("log_loss", "error")] == ["mlogloss", "merror"]


def test_metrics_keep_their_order():
    assert parse(given_for("binary", metrics=("error", "auc"))).eval_metric == ("error", "auc")


def test_a_metric_named_twice_is_an_error():
    assert "names the metric 'auc' twice" in message_of(given_for("binary", metric=["auc", "auc"]))
    both = parse(given_for("binary", metric=["auc", "roc_auc"]))  # two names in the results
    assert both.eval_metric == ("auc", "roc_auc")
    assert parse(both.to_dict()) == both


def test_an_unknown_metric_gets_a_suggestion():
    message = message_of({"metric": ["mae", "rsme"]})
    assert "eval_metric=['mae', 'rsme'] (given as 'metric') holds the unknown name 'rsme'" in message
    assert "did you mean 'rmse'?" in message


@pytest.mark.parametrize("value", [3, {"rmse"}, b"rmse", {"rmse": 1}])
def test_metrics_are_one_string_or_a_sequence(value):
    with pytest.raises(ParameterTypeError, match="must be a str or a sequence of str"):
        parse({"eval_metric": value})


@pytest.mark.parametrize("value", [len, ["rmse", len]])
def test_functions_are_no_parameters(value):
    with pytest.raises(
        ParameterTypeError, match="holds a function; give functions to `train` as its argument `metrics=`"
    ):
        parse({"metrics": value})


def test_metrics_may_stand_in_one_string_with_commas_between():
    found = parse({"objective": "log_loss", "metric": "auc, binary_logloss,error"}).eval_metric
    assert found == ("auc", "binary_logloss", "error")


def test_metrics_hold_only_strings():
    with pytest.raises(ParameterTypeError, match=r"must hold only str.*found 3"):
        parse({"eval_metric": ["rmse", 3]})


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
    value, takers = LEVELS[name]
    if objective in takers:
        assert getattr(parse(given_for(objective, **{name: value})), name) == value
    else:
        message = message_of(given_for(objective, **{name: value}))
        named = " or ".join(map(repr, takers))
        assert (
            f"{name}={value!r} needs objective={named}, but objective={objective!r}; leave it at" in message
        )


def test_a_parameter_of_an_objective_is_taken_by_its_metric_with_others_too():
    assert parse({"eval_metric": ["rmse", "pinball"], "quantile": 0.9}).quantile_alpha == 0.9


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
    config = parse(given)
    objective, name, value = canonical
    assert (config.objective, getattr(config, name)) == (objective, value)


@pytest.mark.parametrize(("objective", "level"), [("quantile", "quantile_alpha"), ("huber", "huber_delta")])
def test_alpha_is_an_error_where_it_has_two_meanings(objective, level):
    message = message_of({"objective": objective, "alpha": 0.9})
    assert f"alpha=0.9 has two meanings with objective={objective!r}" in message
    assert "reg_alpha" in message
    assert level in message


def test_alpha_is_the_l1_penalty_elsewhere():
    assert parse({"alpha": 0.9}).reg_alpha == 0.9
    assert parse({"objective": "quantile", "reg_alpha": 0.9}).reg_alpha == 0.9
