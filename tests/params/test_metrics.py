"""The table of metrics: their names and cutoffs, and which of them fit an objective."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import ParameterError
from spinney.params import Config
from spinney.params.metrics import (
    LAST_CUTOFF,
    METRICS,
    NONE,
    at_cutoffs,
    is_spelled,
    kind_of,
    metric_info,
    metrics_for,
    name_and_cutoff,
    resolve_metrics,
)
from spinney.params.objectives import OBJECTIVES, OWN

RANKING = tuple(name for name, one in METRICS.items() if one.form == "by_query")
# What each objective predicts, and the metric that is used where none is given.
DEFAULTS = {
    "squared_error": ("numbers", "rmse"),
    "squared_log_error": ("numbers", "rmsle"),
    "absolute_error": ("numbers", "mae"),
    "huber": ("numbers", "huber"),
    "pseudo_huber": ("numbers", "pseudo_huber"),
    "fair": ("numbers", "fair"),
    "quantile": ("numbers", "pinball"),
    "expectile": ("numbers", "expectile"),
    "mape": ("numbers", "mape_floored"),
    "poisson": ("positive", "poisson_deviance"),
    "gamma": ("positive", "gamma_deviance"),
    "tweedie": ("positive", "tweedie_deviance"),
    "log_loss": ("two", "logloss"),
    "focal": ("two", "focal"),
    "softmax": ("many", "mlogloss"),
    "one_vs_rest": ("many", "mlogloss"),
    "rank_ndcg": ("ranks", "ndcg"),
    "rank_map": ("ranks", "map"),
    "rank_pairwise": ("ranks", "ndcg"),
    "rank_xendcg": ("ranks", "ndcg"),
    "cox": ("hazards", "cox_nloglik"),
    "aft": ("times", "aft_nloglik"),
}


def message_of(**params):
    with pytest.raises(ParameterError) as error:
        Config(**params)
    return str(error.value)


# Defaults


def test_every_objective_but_a_function_has_a_default_metric():
    assert {*DEFAULTS} == {*OBJECTIVES} - {OWN}


@pytest.mark.parametrize("objective", DEFAULTS)
def test_the_metric_of_an_objective_stands_first_and_the_others_that_fit_follow(objective):
    kind, own = DEFAULTS[objective]
    found = metrics_for(objective, 3 if kind == "many" else 0)
    assert kind_of(objective) == kind
    assert found[0] == own
    assert kind in METRICS[own].fits
    assert list(found[1:]) == [name for name, one in METRICS.items() if kind in one.fits and name != own]


def test_a_function_as_objective_has_no_metric_of_its_own():
    # One score is a number, may rank rows, or chooses one of two classes; several choose one of many.
    found = metrics_for(OWN)
    assert metrics_for(OWN, 1) == found
    assert {"rmse", "auc", "error", "f1", *RANKING} < {*found}
    assert not {*found} & {"logloss", "brier", "merror", "concordance", "poisson_deviance"}
    assert metrics_for(OWN, 2) == metrics_for(OWN, 9) == (
        "merror", "accuracy", "balanced_accuracy", "f1", "f1_macro",
    )  # fmt: skip


@pytest.mark.parametrize("function", [kind_of, metrics_for, lambda objective: metric_info("rmse", objective)])
def test_an_unknown_objective_has_no_metrics(function):
    with pytest.raises(ParameterError, match="objective = 'rank' is unknown; there are squared_error, "):
        function("rank")


# Names


def test_metrics_of_ranking_are_those_by_query():
    assert {"ndcg", "map", "mrr"} <= {*RANKING}
    assert {*RANKING} == {name for name, one in METRICS.items() if one.fits == ("ranks",)}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_found_by_its_name_and_by_every_spelling(name):
    metric = METRICS[name]
    for spelling in (name, *metric.spellings):
        assert is_spelled(spelling, metric)
    for other in ("", name.upper(), f"{name}@5", f" {name}"):
        assert not is_spelled(other, metric) or other in metric.spellings


def test_a_name_of_two_metrics_means_those_of_different_objectives():
    names = [name for one in METRICS.values() for name in (one.name, *one.spellings)]
    for name in (name for name, often in Counter(names).items() if often > 1):
        kinds = [kind for one in METRICS.values() if is_spelled(name, one) for kind in one.fits]
        assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("objective", DEFAULTS)
def test_a_name_means_the_metric_that_fits_and_else_the_first_that_has_it(objective):
    fitting = metrics_for(objective, 3)
    for name in {name for one in METRICS.values() for name in (one.name, *one.spellings)}:
        having = [one.name for one in METRICS.values() if is_spelled(name, one)]
        expected = ([one for one in having if one in fitting] or having)[0]
        assert metric_info(name, objective, 3).name == expected


@pytest.mark.parametrize("name", ["rsme", "", "RMSE", "none", "custom"])
def test_a_metric_that_is_unknown_is_refused_with_all_that_there_are(name):
    with pytest.raises(ParameterError) as error:
        metric_info(name, "squared_error")
    assert str(error.value) == f"eval_metric = {name!r} is unknown; there are {', '.join(METRICS)}"


@pytest.mark.parametrize(
    ("name", "meant"), [("rsme", "rmse"), ("log-loss", "logloss"), ("nDCG", "ndcg"), ("Accuracy", "accuracy")]
)
def test_the_nearest_metric_is_suggested(name, meant):
    message = message_of(eval_metric=["mae", name])
    assert f"eval_metric=['mae', {name!r}] holds the unknown name {name!r}" in message
    assert f"did you mean {meant!r}?" in message


# Cutoffs


@given(
    st.sampled_from(sorted({name for one in RANKING for name in (one, *METRICS[one].spellings)})), st.data()
)
def test_a_cutoff_is_what_follows_the_name_of_a_metric_of_ranking(name, data):
    cutoff = data.draw(st.integers(1, LAST_CUTOFF) | st.integers(1, 20))
    assert name_and_cutoff(f"{name}@{cutoff}") == (name, cutoff)
    assert name_and_cutoff(name) == (name, None)
    assert metric_info(f"{name}@{cutoff}", "rank_ndcg").form == "by_query"
    assert at_cutoffs(name, (cutoff, 3)) == (f"{name}@{cutoff}", f"{name}@3")


@pytest.mark.parametrize("name", sorted(set(METRICS) - {*RANKING}))
def test_other_metrics_take_no_cutoff(name):
    assert name_and_cutoff(name) == (name, None)
    assert at_cutoffs(name, [5]) == at_cutoffs(name, None) == (name,)
    with pytest.raises(ParameterError) as error:
        name_and_cutoff(f"{name}@5")
    assert str(error.value) == (
        f"eval_metric='{name}@5' is unknown: only {', '.join(RANKING)} take a cutoff, as in ndcg@10, "
        "a whole number of 1 or more"
    )


@pytest.mark.parametrize(
    "cutoff",
    ["", "0", "00", "-1", "+1", "1.0", "1e1", " 5", "5 ", "five", "5@5", "@5", "²", str(LAST_CUTOFF + 1)],
)
def test_cutoffs_that_are_no_places_of_a_list_are_refused(cutoff):
    for metric in RANKING:
        with pytest.raises(ParameterError, match=f"only {', '.join(RANKING)} take a cutoff"):
            name_and_cutoff(f"{metric}@{cutoff}")


def test_a_cutoff_is_the_number_and_not_its_digits():
    assert name_and_cutoff("ndcg@007") == ("ndcg", 7)
    assert Config(objective="rank_ndcg", eval_metric="ndcg@007").eval_metric == ("ndcg@7",)
    assert "names the metric 'ndcg@7' twice" in message_of(
        objective="rank_ndcg", eval_metric=["ndcg@7", "ndcg@07"]
    )


def test_names_with_a_cutoff_keep_it_and_no_cutoffs_leave_the_name():
    assert at_cutoffs("map@3", (5, 10)) == ("map@3",)
    assert at_cutoffs("map", None) == ("map",)
    assert at_cutoffs("map", ()) == ()
    assert at_cutoffs("lambdarank", iter([2, 1])) == ("lambdarank@2", "lambdarank@1")


# Metrics of a configuration


def resolved_one_by_one(names, cutoffs):
    """The metrics of a list, each at every cutoff; None where one comes twice."""
    found = []
    for name in names:
        if "@" in name or name not in RANKING or cutoffs is None:
            found.append(name)
        else:
            found += [f"{name}@{cutoff}" for cutoff in cutoffs]
    return tuple(found) if len(set(found)) == len(found) else None


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*RANKING, "ndcg@1", "ndcg@2", "map@2", "mrr@9"]), max_size=4),
    st.none() | st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True),
)
def test_metrics_of_ranking_get_the_cutoffs_that_their_names_lack(names, cutoffs):
    expected = resolved_one_by_one(names, cutoffs)
    params = {"objective": "rank_map", "eval_metric": names, "eval_at": cutoffs}
    if expected is None:
        assert "twice; give it once" in message_of(**params)
    else:
        config = Config(**params)
        assert config.eval_metric == expected
        assert resolve_metrics(config) == expected


@pytest.mark.parametrize("objective", DEFAULTS)
def test_where_no_metric_is_given_none_is_resolved(objective):
    classes = {"num_class": 3} if kind_of(objective) == "many" else {}
    config = Config(objective=objective, **classes)
    assert resolve_metrics(config) == config.eval_metric == ()


@pytest.mark.parametrize("word", ["none", *NONE["none"]])
def test_no_metric_at_all_is_chosen_alone(word):
    for objective in ("squared_error", "rank_ndcg", OWN):
        assert Config(objective=objective, eval_metric=[word]).eval_metric == ("none",)
    for names in (["rmse", word], [word, "rmse"], [word, word]):
        assert (
            message_of(eval_metric=names)
            == f"eval_metric={names!r} names metrics and none at all; give one or the other"
        )


@pytest.mark.parametrize(
    ("params", "of", "fitting"),
    [
        ({"objective": "rank_map"}, "", ", ".join(["map", *(name for name in RANKING if name != "map")])),
        ({"objective": "cox"}, "", "cox_nloglik, concordance"),
        ({"objective": "aft"}, "", "aft_nloglik, concordance, interval_regression_accuracy"),
        (
            {"objective": OWN, "num_class": 4},
            " with num_class=4",
            "merror, accuracy, balanced_accuracy, f1, f1_macro",
        ),
        ({"objective": OWN, "num_class": 4, "num_target": 2}, " with num_class=4 and num_target=2", "none"),
        (
            {"objective": "quantile", "quantile_alpha": [0.1, 0.9]},
            " with quantile_alpha=[0.1, 0.9]",
            "pinball",
        ),
    ],
)
def test_a_metric_that_does_not_fit_is_refused_with_those_that_do(params, of, fitting):
    message = message_of(**params, eval_metric="brier")
    assert message == (
        f"eval_metric='brier' does not fit objective={params['objective']!r}{of}; the metrics that fit are {fitting}"
    )
    for name in fitting.split(", "):
        assert Config(**params, eval_metric=name).eval_metric == (name,)


def test_several_levels_have_the_metric_of_levels_by_any_of_its_names():
    for name in ("pinball", "quantile", "mean_pinball_loss"):
        config = Config(objective="quantile", quantile_alpha=[0.1, 0.9], eval_metric=name)
        assert config.eval_metric == (name,)


def test_the_first_metric_that_is_wrong_is_named():
    message = message_of(objective="log_loss", eval_metric=["auc", "concordance", "mlogloss"])
    assert message.startswith("eval_metric='concordance' does not fit objective='log_loss'; ")


def test_one_metric_by_two_names_is_computed_under_both():
    assert Config(objective="log_loss", eval_metric=["auc", "roc_auc"]).eval_metric == ("auc", "roc_auc")
    assert message_of(objective="log_loss", eval_metric=["roc_auc", "roc_auc"]) == (
        "eval_metric=['roc_auc', 'roc_auc'] names the metric 'roc_auc' twice; give it once"
    )
