"""Losses and metrics of ranking beside LightGBM's and XGBoost's."""

import lightgbm
import numpy as np
import pytest
import xgboost

import spinney as sp
from spinney import metrics, objectives
from spinney.data import Labels
from spinney.data.labels import allocate_gradients
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params import Config

QUERIES, SIZE = 60, 40
QUIET = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_col_wise": True}


def table(seed, levels=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(QUERIES * SIZE, 10))
    quality = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) * 0.5
    steps = np.quantile(quality, np.linspace(0.5, 0.97, levels - 1))
    return X, np.searchsorted(steps, quality) * 1.0, np.full(QUERIES, SIZE)


def value_of(name, scores, y, sizes):
    labels = Labels(y, queries=np.repeat(np.arange(len(sizes)), sizes))
    with Team(1) as team:
        predictions = Predictions(np.array(scores, float)[None], "identity", team)
        return metrics.get(name, Config(objective="rank_ndcg")).compute(predictions, labels).value


def test_metrics_are_those_of_lightgbm_and_xgboost():
    X, y, sizes = table(0)
    y[:SIZE] = 0  # a query without relevant rows
    params = {"objective": "lambdarank", "eval_at": [1, 5, 10], "metric": ["ndcg", "map"], **QUIET}
    told = {}
    data = lightgbm.Dataset(X, y, group=sizes)
    model = lightgbm.train(
        params,
        data,
        3,
        valid_sets=[data],
        valid_names=["train"],
        callbacks=[lightgbm.record_evaluation(told)],
    )
    scores = model.predict(X)
    for name, values in told["train"].items():
        assert value_of(name, scores, y, sizes) == pytest.approx(values[-1], rel=1e-9), name

    relevant = (y > 2) * 1.0
    matrix = xgboost.DMatrix(X, relevant, group=sizes)
    names = ["ndcg@5", "ndcg@100", "map@5", "map@100"]  # without a place it judges 32
    booster = xgboost.train({"objective": "rank:ndcg", "eval_metric": names, "nthread": 1}, matrix, 3)
    found = dict(part.split(":") for part in booster.eval(matrix, "t").split("\t")[1:])
    scores = booster.predict(matrix, output_margin=True)
    for name in names:
        assert value_of(name, scores, relevant, sizes) == pytest.approx(
            float(found[f"t-{name}"]), abs=1e-6
        ), name


@pytest.mark.parametrize("truncation", [3, 30])
@pytest.mark.parametrize("norm", [False, True])
def test_gradients_are_those_of_lightgbm(truncation, norm):
    # The leaves of one tree tell the sums of their rows' gradients and hessians.
    X, y, sizes = table(1)
    scores = np.random.default_rng(2).normal(size=len(y))
    params = {
        "objective": "lambdarank", "lambdarank_truncation_level": truncation, "lambdarank_norm": norm,
        "learning_rate": 1.0, "num_leaves": 60, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "lambda_l2": 0.0,
        **QUIET,
    }  # fmt: skip
    model = lightgbm.train(params, lightgbm.Dataset(X, y, group=sizes, init_score=scores), 1)
    tree = model.trees_to_dataframe()
    leaves = tree[tree.left_child.isna()].set_index("node_index")
    made = allocate_gradients(scores[None].copy())
    labels = Labels(y, queries=np.repeat(np.arange(QUERIES), SIZE))
    config = Config(objective="rank_ndcg", lambdarank_truncation_level=truncation, lambdarank_norm=norm)
    with Team(1) as team:
        objectives.get(config).filler(labels, made, team)(0)
    pairs, place = made.pairs[0].astype(float), model.predict(X, pred_leaf=True).ravel()
    size = np.abs(pairs).sum(axis=0) / len(leaves)
    assert len(leaves) > 40
    for leaf, row in leaves.iterrows():
        g, h = pairs[place == int(leaf.split("L")[1])].sum(axis=0)
        assert h == pytest.approx(row.weight, rel=1e-3, abs=1e-4 * size[1])
        assert g == pytest.approx(-row.value * row.weight, rel=1e-3, abs=1e-3 * size[0])


@pytest.mark.parametrize("ours", ["rank_ndcg", "rank_xendcg"])
def test_held_out_lists_are_as_good_as_lightgbms(ours):
    theirs = {"rank_ndcg": "lambdarank"}.get(ours, ours)
    differences = []
    for seed in range(4):
        X, y, sizes = table(seed)
        other, target, _ = table(seed + 100)
        shared = {"learning_rate": 0.1, "num_leaves": 15, "min_data_in_leaf": 20, "lambda_l2": 1.0}
        model = lightgbm.train(
            {"objective": theirs, **shared, **QUIET}, lightgbm.Dataset(X, y, group=sizes), 30
        )
        expected = value_of("ndcg@10", model.predict(other), target, sizes)
        mine = sp.train({"objective": ours, "n_jobs": 1, **shared}, sp.Dataset(X, y, group=sizes), 30)
        differences.append(value_of("ndcg@10", mine.predict(other), target, sizes) - expected)
    assert np.mean(differences) > -0.01
