import numpy as np
import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config, gains_of
from spinney.params.metrics import METRICS

RANKING = [name for name, one in METRICS.items() if one.form == "by_query"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("rank:ndcg", "rank_ndcg"),
        ("lambdarank", "rank_ndcg"),
        ("rank:map", "rank_map"),
        ("rank:pairwise", "rank_pairwise"),
        ("rank_xendcg", "rank_xendcg"),
        ("xe_ndcg_mart", "rank_xendcg"),
    ],
)
def test_objectives_have_the_names_of_other_libraries(spelling, name):
    assert Config.parse({"objective": spelling}).objective == name


def test_parameters_have_the_names_of_other_libraries():
    config = Config.parse(
        {
            "objective": "rank:ndcg",
            "lambdarank_num_pair_per_sample": 8,
            "lambdarank_normalization": False,
            "sigmoid": 2,
            "ndcg_at": [3],
        }
    )
    assert config.lambdarank_truncation_level == 8
    assert config.lambdarank_norm is False
    assert config.lambdarank_sigmoid == 2.0
    assert config.eval_at == (3,)


def test_metrics_are_named_with_their_places():
    config = Config(objective="rank_ndcg", eval_metric=["ndcg", "map@7", "lambdarank@2"], eval_at=[5, 10])
    assert config.eval_metric == ("ndcg@5", "ndcg@10", "map@7", "lambdarank@2")
    assert Config(**config.to_dict()) == config
    assert Config(objective="rank_ndcg", eval_metric="ndcg,mrr").eval_metric == ("ndcg", "mrr")


@pytest.mark.parametrize(
    "name", ["ndcg@", "ndcg@0", "ndcg@x", "ndcg@-1", "ndcg@10-", "rmse@3", "nd@3", "ndcg@" + "9" * 5000]
)
def test_a_place_is_a_whole_number_after_a_metric_of_ranking(name):
    with pytest.raises(ParameterError, match=rf"only {', '.join(RANKING)} take a cutoff, as in ndcg@10"):
        Config(objective="rank_ndcg", eval_metric=name)


@pytest.mark.parametrize("metric", ["rmse", "auc", "logloss"])
def test_other_metrics_do_not_fit_ranks(metric):
    with pytest.raises(ParameterError, match=f"the metrics that fit are {', '.join(RANKING)}"):
        Config(objective="rank_ndcg", eval_metric=metric)


def test_metrics_of_ranking_fit_nothing_else():
    with pytest.raises(ParameterError, match="does not fit objective='squared_error'"):
        Config(eval_metric="ndcg@5")
    with pytest.raises(ParameterError, match=r"eval_at=\(5,\) needs an objective that ranks"):
        Config(eval_at=5)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([0], ParameterError, "1 or more"),
        ([5, 5], ParameterError, "5 twice"),
        ([], ParameterError, "is empty"),
        ([1.5], ParameterTypeError, "whole numbers; found 1.5"),
        ([True], ParameterTypeError, "whole numbers; found True"),
        ([float("nan")], ParameterTypeError, "whole numbers; found nan"),
        ([float("inf")], ParameterTypeError, "whole numbers; found inf"),
        ([2**40], ParameterError, "1 or more"),
        ("5", ParameterTypeError, "must be a list"),
        (["5"], ParameterTypeError, "whole numbers; found '5'"),
    ],
)
def test_places_that_are_none_are_refused(value, error, message):
    with pytest.raises(error, match=f"eval_at=.*{message}"):
        Config(objective="rank_ndcg", eval_at=value)


def test_places_may_be_numpy_numbers():
    assert Config(objective="rank_ndcg", eval_at=np.array([3, 5])).eval_at == (3, 5)
    assert Config(objective="rank_ndcg", eval_at=np.int64(3)).eval_at == (3,)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([0, 2, 1], ParameterError, "falls from 2 to 1 at place 2"),
        ([-1, 2], ParameterError, "-1 at place 0"),
        ([0, float("nan")], ParameterError, "nan at place 1"),
        ([0, 1e31], ParameterError, r"1e\+31 at place 1"),
        ([0, 10**400], ParameterError, "at place 1"),
        ([0, 0], ParameterError, "nothing to gain"),
        ([], ParameterError, "nothing to gain"),
        ("0,1", ParameterTypeError, "must be a list"),
        ([0, "1"], ParameterTypeError, "only numbers; found '1'"),
        ([0, True], ParameterTypeError, "only numbers; found True"),
    ],
)
def test_gains_that_are_none_are_refused(value, error, message):
    with pytest.raises(error, match=f"label_gain=.*{message}"):
        Config(objective="rank_ndcg", label_gain=value)


def test_gains_double_where_none_are_given():
    assert gains_of(None)[:4] == (0.0, 1.0, 3.0, 7.0)
    assert gains_of(None)[-1] == 2.0**30 - 1
    assert Config(objective="rank_ndcg", label_gain=np.arange(3)).label_gain == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("lambdarank_truncation_level", 5),
        ("lambdarank_norm", False),
        ("lambdarank_sigmoid", 2.0),
        ("label_gain", [0, 1]),
    ],
)
def test_only_losses_of_ranking_take_their_parameters(parameter, value):
    with pytest.raises(ParameterError, match=f"{parameter}=.* needs objective='rank_ndcg'"):
        Config(**{parameter: value})
