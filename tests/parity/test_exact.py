"""Trees of tree_method exact are XGBoost's: see `benchmarks.parity` for what counts as a tie."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes

from benchmarks.parity import POSITIVE, SETTINGS, compare

ROUNDS = 10


def check(found):
    assert found.wrong == []
    assert found.trees == ROUNDS
    assert found.nodes > 3 * ROUNDS
    assert found.ties <= 0.02 * found.nodes
    assert found.same >= 0.6 * found.trees


@pytest.mark.parametrize("case", [*SETTINGS, "positive weight", "base score"])
def test_breast_cancer(case):
    X, y = load_breast_cancer(return_X_y=True)
    params = POSITIVE if case == "positive weight" else SETTINGS.get(case, {})
    base_score = 0.2 if case == "base score" else None
    check(compare(X.astype(np.float32), y, params, "log_loss", ROUNDS, base_score=base_score))


@pytest.mark.parametrize("case", [*SETTINGS, "base score"])
def test_diabetes(case):
    X, y = load_diabetes(return_X_y=True)
    y = np.float32(y / 50).astype(float)
    base_score = 1.5 if case == "base score" else 2.0
    check(
        compare(
            X.astype(np.float32), y, SETTINGS.get(case, {}), "squared_error", ROUNDS, base_score=base_score
        )
    )


def random_table(seed):
    """Values with gaps and repeats, weights, and settings drawn at random."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(30, 600)), int(rng.integers(1, 8))
    X = rng.normal(size=(rows, columns))
    for j in range(columns):
        if rng.random() < 0.4:
            X[:, j] = np.round(X[:, j] * rng.integers(1, 6))
        if rng.random() < 0.5:
            X[rng.random(rows) < rng.choice([0.05, 0.5, 0.95]), j] = np.nan
    X = X.astype(np.float32)
    effect = np.nan_to_num(X[:, 0]) * 1.3 + np.isnan(X[:, -1]) + rng.normal(size=rows)
    objective = str(rng.choice(["log_loss", "squared_error"]))
    y = (effect > 0.3).astype(float) if objective == "log_loss" else np.float32(effect).astype(float)
    if len(np.unique(y)) < 2:
        y[0] = 1 - y[0]
    weight = np.float32(rng.uniform(0.1, 3, rows)) if rng.random() < 0.5 else None
    params = {
        "reg_lambda": float(rng.choice([0.5, 1.0, 10.0])),
        "gamma": float(rng.choice([0.0, 0.0, 0.25])),
        "min_child_weight": float(rng.choice([0.25, 1.0, 5.0])),
        "max_depth": int(rng.integers(1, 8)),
    }
    params[str(rng.choice(["reg_alpha", "max_delta_step"]))] = float(rng.choice([0.0, 0.4]))
    return X, y, params, objective, weight


def test_two_hundred_trees_of_random_tables():
    same = trees = 0
    for seed in range(30):
        X, y, params, objective, weight = random_table(seed)
        base_score = 0.5 if objective == "log_loss" else 0.0
        found = compare(X, y, params, objective, ROUNDS, weight=weight, base_score=base_score)
        assert found.wrong == []
        same += found.same
        trees += found.trees
    assert trees == 300
    assert same >= 200


@pytest.mark.parametrize("seed", range(3))
def test_absent_entries_that_are_missing(seed):
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random(400, 12, 0.15, random_state=rng, dtype=np.float32).tocsr()
    y = (X.toarray()[:, :3].sum(axis=1) + 0.3 * rng.normal(size=400) > 0.2).astype(float)
    check(compare(X, y, {}, "log_loss", ROUNDS, absent="missing"))
