"""Numbers worked out by hand, through the public functions."""

import numpy as np
import pytest

import problems
import spinney as sp
from spinney.params import Config

FREE = {"min_child_samples": 1, "min_child_weight": 0.0, "max_leaves": 2, "learning_rate": 1.0}
NAN = np.nan


def stump(x, g, h, **params):
    pairs = np.column_stack([g, h]).astype(np.float32)
    data = sp.Dataset(np.array(x).reshape(-1, 1))
    return problems.fast_tree(data, pairs, FREE | params)[0]


class TestDefaultDirection:
    G = (-0.5, 0.3, -0.2, -0.6, 0.4)
    H = (0.2, 0.3, 0.1, 0.25, 0.15)

    @pytest.mark.kernels
    @pytest.mark.parametrize(
        ("x", "gain"),
        [([2, 5, 1, 1, 1], 0.1829), ([2, 5, 9, 1, 9], 0.4079)],
        ids=["missing left", "missing right"],
    )
    def test_gain_of_sending_the_missing_rows_to_one_side(self, x, gain):
        # In place of the missing values stand ones that lie on one side of the threshold 3.
        two_bins = np.where(np.array(x) < 3, 0.0, 1.0)
        assert stump(two_bins, self.G, self.H, reg_lambda=1.0).gain[0] == pytest.approx(gain, abs=1e-4)

    @pytest.mark.kernels
    def test_missing_values_go_right_where_that_gains_more(self):
        tree = stump([2, 5, NAN, 1, NAN], self.G, self.H, reg_lambda=1.0)
        assert tree.feature[0] == 0
        assert 2 < tree.threshold[0] < 5
        assert tree.default_left[0] == 0
        assert tree.gain[0] == pytest.approx(0.4079, abs=1e-4)
        assert tree.count.tolist() == [5, 2, 3]


class TestFirstOrderBoosting:
    X = np.array([0, 0.5, 0.7, 0.9, 3, 3.2, 3.5, 5.2, 5.5, 5.6, 6, 6.2]).reshape(-1, 1)
    Y = np.array([0.5, 0.2, 0.3, 0.6, 5, 5.2, 5.1, 3.3, 2.1, 2.2, 2, 1.9])

    @pytest.fixture
    def model(self):
        params = {"max_leaves": 3, "learning_rate": 0.5, "reg_lambda": 0.0, "min_child_samples": 1}
        return sp.train(params, sp.Dataset(self.X, self.Y), rounds=1)

    def test_boosting_starts_from_the_mean(self, model):
        assert model.predict(self.X, rounds=0) == pytest.approx(np.full(12, 2.3667), abs=1e-4)

    def test_a_tree_of_three_leaves_splits_between_the_groups(self, model):
        tree = model.forest.tree(0)
        low, high = sorted(tree.threshold[tree.feature >= 0])
        assert 0.9 < low < 3
        assert 3.5 < high < 5.2
        assert sorted(tree.count[tree.feature < 0]) == [3, 4, 5]

    def test_leaves_hold_the_means_of_the_residuals(self, model):
        means = model.forest.value[model.predict_leaf(self.X)[[0, 4, 7], 0]] / 0.5
        assert means == pytest.approx([-1.967, 2.733, -0.067], abs=1e-3)

    def test_half_a_step_leaves_these_residuals(self, model):
        expected = [
            -0.883, -1.183, -1.083, -0.783, 1.267, 1.467, 1.367, 0.967, -0.233, -0.133, -0.333, -0.433,
        ]  # fmt: skip
        assert self.Y - model.predict(self.X) == pytest.approx(np.array(expected), abs=1e-3)


def test_a_logistic_leaf_of_three_negatives_and_one_positive():
    params = {"objective": "log_loss", "base_score": 0.0, "learning_rate": 0.5, "reg_lambda": 0.0}
    X = np.zeros((4, 1))
    model = sp.train(params, sp.Dataset(X, [0, 0, 0, 1]), rounds=1)
    tree = model.forest.tree(0)
    assert tree.cover[0] == 1.0
    assert tree.value[0] / 0.5 == -1.0
    assert model.predict_raw(X).tolist() == [-0.5] * 4
    assert model.predict(X) == pytest.approx(np.full(4, 0.3775), abs=1e-4)


@pytest.mark.parametrize("reg_lambda", [0.0, 1.0, 0.5])
def test_a_leaf_of_residuals_weighs_their_sum_over_their_number_plus_lambda(reg_lambda):
    y = np.array([1.0, 2.0, 4.0, 9.0, 10.0])
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    model = sp.train(FREE | {"reg_lambda": reg_lambda, "base_score": 0.0}, sp.Dataset(X, y), rounds=1)
    assert model.predict([[0.0], [1.0]]) == pytest.approx(
        [7 / (3 + reg_lambda), 19 / (2 + reg_lambda)], rel=1e-12
    )


def test_an_l1_penalty_takes_its_share_of_the_sum():
    X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0])
    leaf = {"base_score": 0.0, "learning_rate": 1.0, "reg_lambda": 1.0}
    assert sp.train(leaf | {"reg_alpha": 4.0}, sp.Dataset(X, y), rounds=1).predict([[0.0]]) == pytest.approx(
        [6 / 5]
    )
    assert sp.train(leaf | {"reg_alpha": 11.0}, sp.Dataset(X, y), rounds=1).predict([[0.0]]).tolist() == [0.0]
    assert sp.train(leaf | {"max_delta_step": 0.5}, sp.Dataset(X, y), rounds=1).predict([[0.0]]).tolist() == [
        0.5
    ]


def test_defaults_are_the_documented_ones():
    config = Config.parse({})
    assert (config.learning_rate, config.max_leaves, config.grow_policy) == (0.1, 31, "lossguide")
    assert (config.min_child_samples, config.min_child_weight, config.reg_lambda, config.max_bin) == (
        5,
        1e-3,
        5.0,
        255,
    )
    assert config.max_cat_threshold == 8
