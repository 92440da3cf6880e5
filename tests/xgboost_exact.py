"""Tree for tree against XGBoost's exact method.

Each of XGBoost's trees is grown again by us from the scores that it started from, so that a tie in one tree does not spoil the
next. Gains of ours have the factor ½ of the derivation, XGBoost's have not: its gamma is twice ours. Of two splits whose gains
differ by less than float32 can tell, which XGBoost computes them in, either may be chosen; such a node is a tie, and what is
below it is not compared. We take the lower column, then the lower cut; XGBoost the lower column, then, in a column without
missing values, the higher cut.
"""

import json
from dataclasses import dataclass

import numpy as np
import xgboost as xgb

import spinney as sp

FLOAT32 = 1e-6  # of the scores of both sides: what XGBoost's gains can be wrong by
LEAST_GAIN = 1e-6  # XGBoost splits nothing that gains less


@dataclass
class Compared:
    """How many trees, nodes and ties have been seen."""

    trees: int = 0
    same: int = 0
    nodes: int = 0
    ties: int = 0


def theirs_of(params, objective):
    """XGBoost's spelling of our parameters."""
    return {
        "objective": {"log_loss": "binary:logistic", "squared_error": "reg:squarederror"}[objective],
        "tree_method": "exact",
        "max_depth": params["max_depth"],
        "eta": params["learning_rate"],
        "reg_lambda": params.get("reg_lambda", 1.0),
        "reg_alpha": params.get("reg_alpha", 0.0),
        "gamma": 2.0 * params.get("gamma", 0.0),
        "min_child_weight": params.get("min_child_weight", 1e-3),
        "max_delta_step": params.get("max_delta_step", 0.0),
        "scale_pos_weight": params.get("scale_pos_weight", 1.0),
        "nthread": 1,
    }


def compare(X, y, params, objective, rounds=10, weight=None, base_score=None, absent="zero"):
    """Compare some rounds; asserts that every difference is a tie."""
    params = {"max_depth": 6, "learning_rate": 0.3} | params
    theirs = theirs_of(params, objective)
    if base_score is not None:
        theirs["base_score"] = base_score
    data = xgb.DMatrix(X, y, weight=weight)
    booster = xgb.train(theirs, data, rounds)
    trees = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
    ours = params | {
        "objective": objective, "tree_method": "exact", "grow_policy": "depthwise", "max_leaves": 0, "min_child_samples": 0,
        "n_jobs": 1,
    }  # fmt: skip
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if absent == "missing":
        dense = np.full(X.shape, np.nan, np.float32)
        entries = X.tocoo()
        dense[entries.row, entries.col] = entries.data
    found = Compared()
    for k in range(rounds):
        margin = booster.predict(data, output_margin=True, iteration_range=(0, k)) if k else None
        if k == 0:
            start = json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"]
            start = float(start.strip("[]"))
            raw = np.log(start / (1 - start)) if objective == "log_loss" else start
            model = sp.train(ours | {"base_score": raw}, sp.Dataset(X, y, weight=weight, absent=absent), 1)
            margin = np.full(len(y), raw)
        else:
            model = sp.train(ours, sp.Dataset(X, y, weight=weight, base_margin=margin, absent=absent), 1)
        pairs = gradients(np.asarray(margin, np.float64), y, weight, params, objective)
        ties = found.ties
        same_below(found, model.forest.tree(0), trees[k], dense, pairs, params)
        found.trees += 1
        found.same += found.ties == ties
    return found


def gradients(margin, y, weight, params, objective):
    w = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if objective == "squared_error":
        return np.stack([(margin - y) * w, w])
    w = np.where(y > 0.5, params.get("scale_pos_weight", 1.0), 1.0) * w
    p = 1 / (1 + np.exp(-margin))
    return np.stack([(p - y) * w, p * (1 - p) * w])


def score(pairs, rows, params):
    """Score of a node: twice what its weight saves."""
    g, h = pairs[:, rows].sum(axis=1)
    alpha, step = params.get("reg_alpha", 0.0), params.get("max_delta_step", 0.0)
    g = np.sign(g) * max(abs(g) - alpha, 0.0)
    d = h + params.get("reg_lambda", 1.0)
    if d <= 0:
        return 0.0
    w = -g / d
    if step:
        w = np.clip(w, -step, step)
    return -(2 * g * w + d * w * w)


def same_below(found, tree, other, X, pairs, params):
    """Compare two trees from the root down."""
    waiting = [(0, 0, np.arange(len(X)))]
    while waiting:
        mine, theirs, rows = waiting.pop()
        found.nodes += 1
        split = tree.feature[mine] >= 0, other["left_children"][theirs] >= 0
        if split == (False, False):
            np.testing.assert_allclose(
                tree.value[mine], other["split_conditions"][theirs], rtol=1e-5, atol=1e-6
            )
            continue
        sides = []
        if split[0]:
            column = X[rows, tree.feature[mine]]
            sides.append(
                np.where(np.isnan(column), tree.default_left[mine] == 1, column <= tree.threshold[mine])
            )
        if split[1]:
            column = X[rows, other["split_indices"][theirs]]
            cut = np.float32(other["split_conditions"][theirs])
            sides.append(np.where(np.isnan(column), other["default_left"][theirs] == 1, column < cut))
        if split == (True, True) and (sides[0] == sides[1]).all():
            if tree.feature[mine] != other["split_indices"][theirs]:
                found.ties += 1  # two columns part the rows alike
            left = sides[0]
            waiting += [
                (tree.left[mine], other["left_children"][theirs], rows[left]),
                (tree.left[mine] + 1, other["right_children"][theirs], rows[~left]),
            ]
            continue
        # Different splits, or one none: then what they gain may not differ by more than XGBoost can tell.
        sums = [score(pairs, rows[side], params) + score(pairs, rows[~side], params) for side in sides]
        own = score(pairs, rows, params)
        bar = own + max(2.0 * params.get("gamma", 0.0), LEAST_GAIN)
        gap = abs(sums[0] - (sums[1] if len(sums) == 2 else bar))
        # A split may also have been pruned because of what is below it.
        pruned = len(sums) == 1 and params.get("gamma", 0.0) > 0
        assert gap <= FLOAT32 * max(sums) + LEAST_GAIN, (mine, theirs, len(rows), split, sums, own, pruned)
        found.ties += 1
