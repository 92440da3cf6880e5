"""Holding out a share of the training rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_fit2d_1sample

import spinney as sp
from spinney.data import Labels
from spinney.errors import DataError
from spinney.training.holdout import held_out

EARLY = {"n_estimators": 100, "learning_rate": 0.5, "early_stopping_rounds": 4, "validation_fraction": 0.25}


def chosen_of(groups, share, seed, weight=None):
    """Rows that are held out."""
    return held_out(Labels(groups * 1.0, weight), np.asarray(groups), share, seed)


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    share=st.floats(0.01, 0.6),
    seed=st.integers(0, 2**40),
)
def test_the_share_is_met_and_every_group_keeps_a_row(sizes, share, seed):
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    wanted = max(1, round(share * sum(sizes)))
    if wanted > sum(sizes) - len(sizes):
        with pytest.raises(DataError, match=r"validation_fraction=.* must be left to train on"):
            chosen_of(groups, share, seed)
        return
    chosen = chosen_of(groups, share, seed)
    assert chosen.sum() == wanted
    assert set(groups[~chosen]) == set(groups)
    np.testing.assert_array_equal(chosen, chosen_of(groups, share, seed))


@given(share=st.floats(0.05, 0.5), seed=st.integers(0, 1000))
def test_large_groups_give_the_same_share_to_within_a_row(share, seed):
    groups = np.repeat([0, 1, 2], [200, 100, 20])
    taken = np.bincount(groups[chosen_of(groups, share, seed)], minlength=3)
    assert np.all(np.abs(taken - share * np.array([200, 100, 20])) <= 1)


def test_another_seed_holds_out_other_rows():
    groups = np.zeros(100, np.int64)
    assert np.any(chosen_of(groups, 0.3, 1) != chosen_of(groups, 0.3, 2))


def test_rows_of_weight_zero_are_never_held_out():
    weight = np.where(np.arange(100) < 50, 0.0, 2.0)
    chosen = chosen_of(np.zeros(100, np.int64), 0.5, 0, weight)
    assert (chosen[:50].sum(), chosen.sum()) == (0, 25)


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_a_fraction_is_the_same_as_rows_held_out_by_hand(kind, table, three):
    groups = three if kind is sp.GBMClassifier else np.zeros(len(three), np.int64)
    chosen = chosen_of(groups, 0.25, 5)
    alone = kind(random_state=5, **EARLY).fit(table, three)
    by_hand = kind(random_state=5, **{**EARLY, "validation_fraction": None})
    by_hand.fit(table[~chosen], three[~chosen], eval_set=(table[chosen], three[chosen]))
    assert alone.model_ == by_hand.model_
    assert alone.evals_result_ == by_hand.evals_result_
    assert alone.best_iteration_ is not None


def test_weights_and_margins_go_with_their_rows(table, numbers):
    weight, margin = np.linspace(1, 2, 200), np.linspace(-1, 1, 200)
    chosen = chosen_of(np.zeros(200, np.int64), 0.25, 0)
    alone = sp.GBMRegressor(**EARLY).fit(table, numbers, weight, base_margin=margin)
    by_hand = sp.GBMRegressor(**{**EARLY, "validation_fraction": None}).fit(
        table[~chosen],
        numbers[~chosen],
        weight[~chosen],
        base_margin=margin[~chosen],
        eval_set=[(table[chosen], numbers[chosen])],
        eval_sample_weight=[weight[chosen]],
        eval_base_margin=[margin[chosen]],
    )
    assert alone.model_ == by_hand.model_
    assert alone.evals_result_ == by_hand.evals_result_


def test_only_rows_with_a_weight_are_held_out(table, numbers):
    weight = (np.arange(200) % 2).astype(float)
    chosen = chosen_of(np.zeros(200, np.int64), 0.25, 0, weight)
    alone = sp.GBMRegressor(**EARLY).fit(table, numbers, weight)
    by_hand = sp.GBMRegressor(**{**EARLY, "validation_fraction": None})
    by_hand.fit(table[~chosen], numbers[~chosen], weight[~chosen], eval_set=(table[chosen], numbers[chosen]))
    assert alone.model_ == by_hand.model_
    assert alone.evals_result_["validation_0"]["rmse"] == pytest.approx(
        by_hand.evals_result_["validation_0"]["rmse"]
    )


def test_class_weights_do_not_weigh_the_rows_held_out(table, two):
    model = sp.GBMClassifier(class_weight={1: 50.0}, n_estimators=5, validation_fraction=0.25).fit(table, two)
    chosen = chosen_of(two, 0.25, 0)
    shares = model.predict_proba(table[chosen])[np.arange(chosen.sum()), two[chosen]]
    assert model.evals_result_["validation_0"]["logloss"][-1] == pytest.approx(
        -np.log(shares).mean(), rel=1e-9
    )


def test_a_class_of_one_row_stays_in_training(table, two):
    y = two.copy()
    y[17] = 2
    model = sp.GBMClassifier(n_estimators=3, validation_fraction=0.5).fit(table, y)
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_fraction_that_leaves_nothing_is_an_error(table, numbers):
    with pytest.raises(
        DataError,
        match=r"validation_fraction=1.0 holds out 200 of 200 rows, but a row must be left to train on: "
        r"give more rows, or a smaller fraction$",
    ):
        sp.GBMRegressor(validation_fraction=1.0).fit(table, numbers)


def test_a_classifier_must_keep_a_row_of_every_class(table):
    with pytest.raises(
        DataError,
        match=r"holds out 1 of 2 rows, but a row of every class must be left to train on: give more rows$",
    ):
        sp.GBMClassifier(validation_fraction=0.1).fit(table[:2], [0, 1])


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_one_row_is_too_few_to_hold_one_out(kind, table):
    estimator = kind(n_estimators=5, validation_fraction=0.1)
    with pytest.raises(
        DataError, match=r"holds out 1 of 1 sample, but a row must be left to train on: give more rows$"
    ):
        estimator.fit(table[:1], [1])
    check_fit2d_1sample(kind.__name__, estimator)
