"""Small tables with everything that is awkward in them, and the two ways to grow a tree on one."""

import itertools

import numpy as np

import oracles
import spinney as sp
import tree_oracle
from spinney.data.kernels.records import GRADIENT_BLOCK, Gradients
from spinney.dataset import as_dataset
from spinney.growth.hist import HistGrower
from spinney.jit import barrier
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag
from spinney.tree import concatenate

TREE_ARRAYS = ("feature", "threshold", "left", "default_left", "count")


def column(rng, rows, kind):
    """One column of a kind."""
    if kind == "numbers":
        return rng.normal(size=rows)
    if kind == "few":
        return rng.integers(0, 3, rows).astype(float)
    if kind == "constant":
        return np.full(rows, 7.0)
    if kind == "missing":
        return np.full(rows, np.nan)
    if kind == "holes":
        return np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 6, rows))
    if kind == "one value and holes":
        return np.where(rng.random(rows) < 0.5, np.nan, -1.0)
    if kind == "mostly zero":
        return np.where(rng.random(rows) < 0.15, rng.integers(-2, 3, rows), 0.0)
    if kind == "one-hot":
        return (rng.random(rows) < 0.1).astype(float)
    if kind == "mostly missing":
        return np.where(rng.random(rows) < 0.2, rng.integers(0, 3, rows), np.nan)
    if kind == "zeros of both signs":
        return rng.choice([-0.0, 0.0, 5e-324, -5e-324], rows)
    assert kind == "huge and tiny"
    return rng.choice([-1.7e308, -1e-300, 0.0, 3e-310, 1e-5, 1.7e308], rows)


KINDS = (
    "numbers", "few", "constant", "missing", "holes", "one value and holes", "zeros of both signs", "huge and tiny",
    "mostly zero", "one-hot", "mostly missing",
)  # fmt: skip
WEIGHTS = ("none", "plain", "zeros", "huge", "tiny", "both")


def table(rng, rows, columns):
    """Columns of kinds drawn at random; now and then two are equal, so that gains are tied."""
    made = [column(rng, rows, rng.choice(KINDS)) for _ in range(columns)]
    if columns > 1 and rng.random() < 0.3:
        made[-1] = made[0].copy()
    return np.stack(made, axis=1)


def weights(rng, rows, kind):
    if kind == "none":
        return None
    weight = rng.integers(1, 5, rows) * 0.3
    if kind == "zeros":
        weight[rng.random(rows) < 0.4] = 0.0
        weight[rng.integers(rows)] = 1.0
    elif kind == "huge":
        weight *= 1e30
    elif kind == "tiny":
        weight *= 1e-30
    elif kind == "both":
        weight *= rng.choice([1e30, 1.0, 1e-30], rows)
    return weight


def parameters(rng, columns=1):
    """Parameters of a tree, drawn at random."""
    drawn = {
        "grow_policy": rng.choice(["lossguide", "depthwise"]),
        "max_leaves": rng.choice([0, 2, 3, 6, 31]),
        "max_depth": rng.choice([0, 0, 1, 2, 4]),
        "min_child_samples": rng.choice([0, 1, 2, 5]),
        "min_child_weight": rng.choice([0.0, 1e-3, 1.5]),
        "reg_lambda": rng.choice([0.0, 1.0, 0.37]),
        "reg_alpha": rng.choice([0.0, 0.0, 0.45]),
        "max_delta_step": rng.choice([0.0, 0.0, 0.3]),
        "gamma": rng.choice([0.0, 0.0, 0.2]),
        "learning_rate": rng.choice([1.0, 0.1]),
    }
    if columns > 2 and rng.random() < 0.3:
        for name in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
            drawn[name] = rng.choice([1.0, 0.6])
    return {name: value.item() if hasattr(value, "item") else value for name, value in drawn.items()}


def column_parameters(rng, columns):
    """Directions, groups and weights of columns, by position, and shares of them to draw."""
    drawn = {}
    if rng.random() < 0.7:
        drawn["monotone_constraints"] = rng.integers(-1, 2, columns).tolist()
    if rng.random() < 0.5:
        groups = [
            rng.choice(columns, rng.integers(1, columns + 1), replace=False)
            for _ in range(rng.integers(1, 5))
        ]
        drawn["interaction_constraints"] = [group.tolist() for group in groups]
    if rng.random() < 0.5:
        weights = rng.choice([0.0, 0.5, 1.0, 7.0], columns)
        weights[rng.integers(columns)] = 2.0
        drawn["feature_weights"] = weights.tolist()
    for name in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        drawn[name] = float(rng.choice([1.0, 1.0, 0.9, 0.6]))
    return drawn


def gradients(rng, rows, weight=None):
    """(g, h) pairs as an objective leaves them: float32, weighted by weights that are at most 1."""
    w = np.ones(rows) if weight is None else weight
    g = rng.choice([rng.normal(size=rows), rng.integers(-2, 3, rows) * 0.5])
    h = rng.choice([np.ones(rows), rng.uniform(0.01, 1, rows)])
    return np.stack([g * w, h * w], axis=1).astype(np.float32)


def unit_of(weight):
    """Power of two just above the largest weight."""
    return 1.0 if weight is None else float(np.ldexp(1.0, int(np.frexp(weight.max())[1])))


def largest_of(pairs):
    """Largest |g| and h of every block of rows."""
    size = np.abs(pairs.astype(np.float64))
    return np.array(
        [[size[first : first + GRADIENT_BLOCK].max(axis=0) for first in range(0, len(size), GRADIENT_BLOCK)]]
    )


def gradients_record(scores, pairs, unit=1.0):
    """Scores of one output and a copy of gradients, as growers take them."""
    largest = largest_of(pairs)
    return Gradients(len(pairs), 1, largest.shape[1], unit, scores, pairs[None].copy(), largest)


def part_of(dataset, rows, what=None):
    """A data set of some rows of another, which share its codes."""
    return as_dataset(dataset.binned.take(rows, what))


def grown(grower, seed=0, rate=0.1):
    """A tree by a grower, which moves its scores."""
    tree, by_leaf = grower.grow(0, seed, rate)
    grower.add(by_leaf)
    return tree


def cuts_by_column(cuts):
    """The cuts of each column as an array of its own."""
    return [cuts.values[a:b] for a, b in itertools.pairwise(cuts.starts)]


def fast_tree(dataset, pairs, params, *, unit=1.0, seed=0, bag=None, threads=1):
    """A tree by the kernels; returns it and the scores that it moved from 0."""
    scores = np.zeros((1, dataset.rows))
    seen = Bag.of_all(dataset.rows)
    if bag is not None:
        seen.rows[: len(bag)], seen.count = bag, len(bag)
    config = Config.parse(params)
    with Team(threads) as team:
        gradients = gradients_record(scores, pairs, unit)
        grower = HistGrower(dataset.binned.matrix(), dataset.cuts, config, gradients, seen, team)
        return grown(grower, seed, config.learning_rate), scores[0]


def forest(data, pairs, params, threads, delay=0, trees=2, watch=None):
    """Some trees on the same gradients, as one forest, and the scores that they moved from 0; gamma prunes them."""
    with Team(threads) as team:
        team.sync[barrier.DELAY] = delay
        scores = np.zeros((1, data.rows))
        config = Config.parse(params | {"max_bin": data.max_bin})
        grower = HistGrower(
            data.binned.matrix(), data.cuts, config, gradients_record(scores, pairs), Bag.of_all(data.rows), team,
            prune=config.gamma > 0,
        )  # fmt: skip
        if watch is not None:
            watch(grower)
        return concatenate([grown(grower, seed, config.learning_rate) for seed in range(trees)]), scores


def slow_tree(dataset, pairs, params, *, unit=1.0, seed=0, bag=None):
    """The same by the oracle."""
    bins = oracles.bins_of_matrix(dataset.binned.matrix())
    return tree_oracle.Grower(
        bins, cuts_by_column(dataset.cuts), pairs, Config.parse(params), unit, seed, bag
    ).grow()


def assert_same_tree(fast, slow):
    """Structure bit for bit, numbers to the last digits."""
    for name in TREE_ARRAYS:
        assert getattr(fast, name).tolist() == slow[name], name
    for name, rtol in (("value", 1e-12), ("cover", 1e-12), ("gain", 1e-9)):
        np.testing.assert_allclose(getattr(fast, name), slow[name], rtol=rtol, atol=0, err_msg=name)


def random_problem(seed, most_rows=60):
    """A data set, gradients and parameters for one tree."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, most_rows)), int(rng.integers(1, 7))
    X = table(rng, rows, columns)
    weight = weights(rng, rows, rng.choice(WEIGHTS))
    unit = unit_of(weight)
    max_bin = int(rng.choice([2, 3, 5, 16, 255, 256, 257, 65_535, 65_536]))
    rules = {
        "bundle": bool(rng.random() < 0.7),
        "bundle_order": str(rng.choice(["auto", "degree", "nonzero"])),
    }
    dataset = sp.Dataset(X, weight=weight, max_bin=max_bin, **rules)
    pairs = gradients(rng, rows, None if weight is None else weight / unit)
    bag = None
    if weight is not None and not weight.all():
        bag = np.flatnonzero(weight).astype(np.int32)
    elif rng.random() < 0.2:
        bag = np.sort(rng.choice(rows, rng.integers(1, rows + 1), replace=False)).astype(np.int32)
    given = {"unit": unit, "seed": int(rng.integers(2**62)), "bag": bag}
    return X, dataset, pairs, parameters(rng, columns) | {"max_bin": max_bin}, given
