"""Leaf values from all rows, where a sample of them grows the tree."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney as sp
from spinney.errors import ParameterError
from spinney.training import boosting

SAMPLED = {
    "uniform": {"subsample": 0.3},
    "goss": {"sampling_method": "goss", "top_rate": 0.1, "other_rate": 0.2, "goss_warm_up": False},
    "gradient_based": {"sampling_method": "gradient_based", "subsample": 0.3},
    "weighted": {"sampling_method": "weighted", "subsample": 0.3},
}
METHODS = {
    "hist": {},
    "approx": {"tree_method": "approx"},
    "local": {"tree_method": "approx", "proposal": "local"},
    "exact": {"tree_method": "exact"},
}
ROWS = 1_500
RATE, PENALTY = 0.3, 2.0
PARAMS = {
    "leaf_values": "all",
    "learning_rate": RATE,
    "reg_lambda": PENALTY,
    "max_leaves": 12,
    "min_child_samples": 5,
}


def problem(rows=ROWS):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + 0.2 * rng.normal(size=rows)
    return X, y, rng.integers(0, 3, rows).astype(float)


def softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def slow_gradients(objective, scores, target):
    """Gradients and hessians, rows × outputs."""
    if objective == "squared_error":
        return scores - target[:, None], np.ones_like(scores)
    if objective == "log_loss":
        p = 1 / (1 + np.exp(-scores))
        return p - target[:, None], p * (1 - p)
    p = softmax(scores)
    k = scores.shape[1]
    return p - np.eye(k)[target.astype(int)], k / (k - 1) * p * (1 - p)


@pytest.mark.parametrize("objective", ["squared_error", "log_loss", "softmax"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampling", SAMPLED)
def test_values_covers_and_counts_are_those_of_all_rows(sampling, method, objective):
    X, y, weight = problem()
    target = {"squared_error": y, "log_loss": y > 0, "softmax": np.digitize(y, [-0.5, 0.5])}[
        objective
    ].astype(float)
    outputs = 3 if objective == "softmax" else 1
    params = PARAMS | SAMPLED[sampling] | METHODS[method]
    params |= {"objective": objective, "num_class": 3 if outputs == 3 else 0}
    model = sp.train(params, sp.Dataset(X, target, weight=weight), 3)
    scores = np.tile(model.base_score, (ROWS, 1))
    leaves = model.predict_leaf(X)
    for done in range(3):
        g, h = slow_gradients(objective, scores, target)
        for output in range(outputs):
            t = done * outputs + output
            tree, leaf = model.forest.tree(t), leaves[:, t]
            G, H = (np.bincount(leaf, weight * of[:, output], tree.nodes) for of in (g, h))
            ends = tree.feature < 0
            assert ends.sum() > 4
            np.testing.assert_allclose(
                tree.value[ends], (-RATE * G / (H + PENALTY))[ends], rtol=1e-4, atol=1e-6
            )
            np.testing.assert_allclose(tree.cover[ends], H[ends], rtol=1e-5)
            assert tree.count[ends].tolist() == np.bincount(leaf, weight > 0, tree.nodes)[ends].tolist()
            inner = np.flatnonzero(~ends)
            assert (
                tree.count[inner].tolist()
                == (tree.count[tree.left[inner]] + tree.count[tree.left[inner] + 1]).tolist()
            )
            scores[:, output] += tree.value[leaf]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampling", SAMPLED)
def test_the_first_tree_has_the_splits_of_the_sample_and_other_values(sampling, method):
    X, y, _ = problem()
    data = sp.Dataset(X, y, keep_table=True)
    params = PARAMS | SAMPLED[sampling] | METHODS[method]
    all_rows, sample = (sp.train(params | {"leaf_values": of}, data, 1).forest for of in ("all", "sample"))
    for name in ("feature", "threshold", "left", "default_left", "gain"):
        assert getattr(all_rows, name).tolist() == getattr(sample, name).tolist()
    assert not np.array_equal(all_rows.value, sample.value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampling", SAMPLED)
def test_the_model_is_the_same_on_any_number_of_threads(monkeypatch, sampling, method):
    monkeypatch.setattr(boosting, "SHARE_VALUES", 0)
    X, y, weight = problem(5_000)
    data = sp.Dataset(X, y, weight=weight, keep_table=True)
    params = PARAMS | SAMPLED[sampling] | METHODS[method]
    assert len({sp.train(params | {"n_jobs": n}, data, 4).to_bytes() for n in (1, 2, 3, 8)}) == 1


@pytest.mark.parametrize("method", METHODS)
def test_scores_of_all_rows_and_of_others_are_moved_by_the_new_values(method):
    X, y, _ = problem()
    data = sp.Dataset(X[:1_000], y[:1_000], keep_table=True)
    other = sp.Dataset(X[1_000:], y[1_000:], reference=data, keep_table=True)
    history = sp.History()
    params = PARAMS | SAMPLED["goss"] | METHODS[method]
    model = sp.train(params, data, 5, valid={"train": data, "other": other}, callbacks=[history])
    for name, rows in (("train", slice(1_000)), ("other", slice(1_000, None))):
        rmse = np.sqrt(np.mean((model.predict(X[rows]) - y[rows]) ** 2))
        assert history.evals[name]["rmse"][-1] == pytest.approx(rmse, rel=1e-9)


def test_sparse_bundled_and_plain_columns_give_one_model():
    rng = np.random.default_rng(1)
    owner = rng.integers(0, 30, 4_000)
    X = scipy.sparse.csr_array((np.ones(4_000), (np.arange(4_000), owner)), shape=(4_000, 30))
    y = np.sin(owner) + 0.1 * rng.normal(size=4_000)
    params = PARAMS | SAMPLED["goss"]
    ways = [sp.Dataset(X, y), sp.Dataset(X, y, bundle=False), sp.Dataset(X.toarray(), y, bundle=False)]
    forests = [sp.train(params, data, 5).forest for data in ways]
    assert forests[0].equal(forests[1])
    assert forests[0].equal(forests[2])


def test_sets_of_categories_keep_their_penalty():
    rng = np.random.default_rng(2)
    city = rng.integers(0, 25, 3_000)
    y = np.cos(city) + 0.3 * rng.normal(size=3_000)
    X = pd.DataFrame({"city": pd.Categorical.from_codes(city, [f"c{i}" for i in range(25)])})
    params = PARAMS | {
        "subsample": 0.5,
        "cat_l2": 7.0,
        "cat_smooth": 1.0,
        "min_data_per_group": 1,
        "max_leaves": 3,
    }
    model = sp.train(params, sp.Dataset(X, y), 1)
    tree, leaf = model.forest.tree(0), model.predict_leaf(X)[:, 0]
    G = np.bincount(leaf, model.base_score[0] - y, tree.nodes)
    H = np.bincount(leaf, minlength=tree.nodes)
    ends = tree.feature < 0
    np.testing.assert_allclose(tree.value[ends], (-RATE * G / (H + PENALTY + 7.0))[ends], rtol=1e-5)


def test_directions_hold():
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (2_000, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    params = PARAMS | SAMPLED["goss"] | {"monotone_constraints": [1, 0], "max_leaves": 31}
    model = sp.train(params, sp.Dataset(X, y), 20)
    grid = np.linspace(-2, 2, 200)
    for second in (-1.5, 0.0, 1.5):
        assert (np.diff(model.predict(np.column_stack([grid, np.full(200, second)]))) >= 0).all()


@pytest.mark.parametrize("params", [{}, {"sampling_method": "goss", "top_rate": 0.5, "other_rate": 0.5}])
def test_a_tree_that_sees_all_rows_is_left_alone(params):
    X, y, _ = problem()
    data = sp.Dataset(X, y)
    plain = sp.train(PARAMS | {"leaf_values": "sample"}, data, 3).forest
    assert sp.train(PARAMS | params, data, 3).forest.equal(plain)


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y, _ = problem(3_000)
    weight = np.where(np.arange(3_000) < 1_500, 1.0, 0.0)
    params = PARAMS | {"sampling_method": "weighted", "subsample": 0.4}
    with_them = sp.train(params, sp.Dataset(X, y, weight=weight), 2).forest
    assert {int(with_them.tree(t).count[0]) for t in range(2)} == {1_500}


def test_another_word_is_refused():
    with pytest.raises(ParameterError, match="leaf_values"):
        sp.train({"leaf_values": "some"}, sp.Dataset(np.zeros((3, 1)), np.zeros(3)), 1)
