"""Tree for tree against XGBoost's exact method.

Each of XGBoost's trees is grown again by us from the scores that it started from, so that a tie in one tree does not spoil the
next. Gains of ours have the factor ½ of the derivation, XGBoost's have not: its gamma is twice ours. Of two splits whose gains
differ by less than float32 can tell, which XGBoost computes them in, either may be chosen; such a node is a tie, and what is
below it is not compared. We take the lower column, then the lower cut; XGBoost the lower column, then, in a column without
missing values, the higher cut.

Where a column has a single value, either side may be the left one: XGBoost may send the missing rows there, we the others.
Such a split is mirrored; its children are compared crosswise.

XGBoost's gradients are float32 too. Where a probability is nearly 1, little is left of its digits in p - 1: a leaf whose value
differs by no more than that is rounded.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers.base import library

Array = npt.NDArray[Any]
Params = Mapping[str, Any]

FLOAT32 = 1e-6  # of the scores of both sides: what XGBoost's gains can be wrong by
ROUNDING = 2.0**-23  # of a probability: what XGBoost's gradient of a row can be wrong by
LEAST_GAIN = 1e-6  # XGBoost splits nothing that gains less
SETTINGS: Mapping[str, Params] = {
    "plain": {},
    "lambda": {"reg_lambda": 7.0},
    "no lambda": {"reg_lambda": 0.0, "min_child_weight": 2.0},
    "alpha": {"reg_alpha": 0.5},
    "gamma": {"gamma": 0.6},
    "small steps": {"max_delta_step": 0.3},
    "shallow": {"max_depth": 2, "learning_rate": 1.0},
}
POSITIVE: Params = {"scale_pos_weight": 3.0}  # for two classes only


@dataclass
class Compared:
    """How many trees, nodes and ties have been seen, and the differences that are no ties.

    Trees are the same where every node is, mirrored or rounded or not. Nodes below a tie are not seen, so `nodes` may fall short
    of `theirs`, the nodes that XGBoost's trees have.
    """

    trees: int = 0
    same: int = 0
    nodes: int = 0
    theirs: int = 0
    mirrored: int = 0
    rounded: int = 0
    ties: int = 0
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(
            self.trees + other.trees,
            self.same + other.same,
            self.nodes + other.nodes,
            self.theirs + other.theirs,
            self.mirrored + other.mirrored,
            self.rounded + other.rounded,
            self.ties + other.ties,
            self.wrong + other.wrong,
        )


def theirs_of(params: Params, objective: str) -> dict[str, Any]:
    """Return XGBoost's spelling of our parameters."""
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


def compare(
    X: Any,
    y: Array,
    params: Params,
    objective: str,
    rounds: int = 10,
    weight: Array | None = None,
    base_score: float | None = None,
    absent: str = "zero",
) -> Compared:
    """Compare the trees of some rounds."""
    sp, xgb = library("spinney"), library("xgboost")
    params = {"max_depth": 6, "learning_rate": 0.3, "reg_lambda": 1.0} | dict(params)
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
    start = start_of(booster, objective)
    dense = densely(X, absent)
    found = Compared()
    for k in range(rounds):
        if k == 0:
            margin = np.full(len(y), start)
            model = sp.train(ours | {"base_score": start}, sp.Dataset(X, y, weight=weight, absent=absent), 1)
        else:
            margin = booster.predict(data, output_margin=True, iteration_range=(0, k))
            model = sp.train(ours, sp.Dataset(X, y, weight=weight, base_margin=margin, absent=absent), 1)
        pairs = gradients(np.asarray(margin, np.float64), y, weight, params, objective)
        before = found.ties, len(found.wrong)
        same_below(found, model.forest.tree(0), trees[k], dense, pairs, params)
        size = trees[k]["tree_param"]
        found.theirs += int(size["num_nodes"]) - int(size["num_deleted"])
        found.trees += 1
        found.same += before == (found.ties, len(found.wrong))
    return found


def start_of(booster: Any, objective: str) -> float:
    """Return the raw score that XGBoost started from."""
    config = json.loads(booster.save_config())["learner"]["learner_model_param"]
    start = float(config["base_score"].strip("[]"))
    return float(np.log(start / (1 - start))) if objective == "log_loss" else start


def densely(X: Any, absent: str) -> Array:
    """Return the table with a value in every place."""
    if not hasattr(X, "toarray"):
        return np.asarray(X)
    if absent == "zero":
        zeros: Array = X.toarray()
        return zeros
    dense = np.full(X.shape, np.nan, np.float32)
    entries = X.tocoo()
    dense[entries.row, entries.col] = entries.data
    return dense


def gradients(margin: Array, y: Array, weight: Array | None, params: Params, objective: str) -> Array:
    """Return the gradient and the hessian of every row, and what XGBoost's gradient can be wrong by."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if objective == "squared_error":
        return np.stack([(margin - y) * w, w, np.zeros(len(y))])
    w = np.where(y > 0.5, params.get("scale_pos_weight", 1.0), 1.0) * w
    p = 1 / (1 + np.exp(-margin))
    return np.stack([(p - y) * w, p * (1 - p) * w, ROUNDING * w])


def score(pairs: Array, rows: Array, params: Params) -> float:
    """Return the score of a node: twice what its weight saves."""
    g, h = pairs[:2, rows].sum(axis=1)
    alpha, step = params.get("reg_alpha", 0.0), params.get("max_delta_step", 0.0)
    g = np.sign(g) * max(abs(g) - alpha, 0.0)
    d = h + params.get("reg_lambda", 1.0)
    if d <= 0:
        return 0.0
    w = -g / d
    if step:
        w = np.clip(w, -step, step)
    return float(-(2 * g * w + d * w * w))


def same_below(found: Compared, tree: Any, other: Any, X: Array, pairs: Array, params: Params) -> None:
    """Compare two trees from the root down."""
    waiting = [(0, 0, np.arange(len(X)))]
    while waiting:
        mine, theirs, rows = waiting.pop()
        found.nodes += 1
        split = tree.feature[mine] >= 0, other["left_children"][theirs] >= 0
        if split == (False, False):
            values = float(tree.value[mine]), float(other["split_conditions"][theirs])
            _judge_leaf(found, mine, rows, values, pairs, params)
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
        mirrored = split == (True, True) and bool((sides[0] != sides[1]).all())
        if not mirrored and (split != (True, True) or (sides[0] != sides[1]).any()):
            _judge_difference(found, mine, rows, sides, pairs, params)
            continue
        found.mirrored += mirrored
        if tree.feature[mine] != other["split_indices"][theirs]:
            found.ties += 1  # two columns part the rows alike
        left, children = sides[0], [other["left_children"][theirs], other["right_children"][theirs]]
        if mirrored:
            children.reverse()
        waiting += [
            (tree.left[mine], children[0], rows[left]),
            (tree.left[mine] + 1, children[1], rows[~left]),
        ]


def _judge_leaf(
    found: Compared, node: int, rows: Array, values: tuple[float, float], pairs: Array, params: Params
) -> None:
    """Count a leaf as rounded where its values differ only by what XGBoost's gradients are wrong by."""
    if np.isclose(*values, rtol=1e-5, atol=1e-6):
        return
    _, h, rounding = pairs[:, rows].sum(axis=1)
    if abs(values[0] - values[1]) <= params["learning_rate"] * rounding / (h + params.get("reg_lambda", 1.0)):
        found.rounded += 1
    else:
        found.wrong.append(f"leaf {node} has the value {values[0]}, theirs {values[1]}")


def _judge_difference(
    found: Compared, node: int, rows: Array, sides: list[Array], pairs: Array, params: Params
) -> None:
    """Count a tie where two splits, or one and none, gain the same as far as XGBoost can tell."""
    sums = [score(pairs, rows[side], params) + score(pairs, rows[~side], params) for side in sides]
    own = score(pairs, rows, params)
    bar = own + max(2.0 * params.get("gamma", 0.0), LEAST_GAIN)
    gap = abs(sums[0] - (sums[1] if len(sums) == 2 else bar))
    if gap <= FLOAT32 * max(sums) + LEAST_GAIN:
        found.ties += 1
    else:
        found.wrong.append(f"node {node} of {len(rows)} rows: {len(sums)} splits of scores {sums}, own {own}")
