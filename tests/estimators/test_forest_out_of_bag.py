import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, r2_score

import spinney as sp
from spinney.errors import DataError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.sampling.bags import bag_counts


@pytest.fixture(scope="module")
def forest(table, three):
    return sp.RandomForestClassifier(25, oob_score=True, random_state=2).fit(
        table, np.array(list("abc"))[three]
    )


def test_rows_are_judged_by_the_trees_that_did_not_see_them(forest, table, three):
    shares, trees = np.zeros((200, 3)), np.zeros(200)
    for number, tree in enumerate(forest.estimators_):
        out = bag_counts(2, number, 200, 200, True) == 0
        shares[out] += tree.predict_proba(table[out])
        trees[out] += 1
        said = tree.predict(table[out])
        assert forest.tree_oob_scores_[number] == (said == np.array(list("abc"))[three[out]]).mean()
    shares /= trees[:, None]
    np.testing.assert_allclose(forest.oob_decision_function_, shares)
    assert forest.oob_score_ == (shares.argmax(axis=1) == three).mean()


def test_numbers_out_of_bag(table, numbers):
    forest = sp.RandomForestRegressor(25, oob_score=True).fit(table, numbers)
    assert forest.oob_prediction_.shape == (200,)
    assert forest.oob_score_ == pytest.approx(r2_score(numbers, forest.oob_prediction_))
    assert forest.tree_oob_scores_.mean() < forest.oob_score_ < forest.score(table, numbers)


def test_several_outputs_out_of_bag(table, numbers, two, three):
    forest = sp.RandomForestRegressor(25, oob_score=True).fit(table, np.column_stack([numbers, two]))
    assert forest.oob_prediction_.shape == (200, 2)
    classes = sp.RandomForestClassifier(25, oob_score=True).fit(table, np.column_stack([two, three]))
    assert classes.oob_decision_function_.shape == (200, 3, 2)
    assert not classes.oob_decision_function_[:, 2, 0].any()
    np.testing.assert_allclose(classes.oob_decision_function_.sum(axis=1), 1)


def test_a_function_may_give_the_score(table, two, numbers):
    forest = sp.RandomForestClassifier(25, oob_score=balanced_accuracy_score).fit(table, two)
    assert forest.oob_score_ == balanced_accuracy_score(two, forest.oob_decision_function_.argmax(axis=1))
    number = sp.RandomForestRegressor(25, oob_score=mean_absolute_error).fit(table, numbers)
    assert number.oob_score_ == pytest.approx(np.abs(numbers - number.oob_prediction_).mean())
    with pytest.raises(OwnFunctionError, match="must return a number"):
        sp.RandomForestClassifier(25, oob_score=lambda y, p: "good").fit(table, two)


def test_rows_that_all_trees_saw_are_warned_of_and_left_out(table, two):
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores") as caught:
        forest = sp.RandomForestClassifier(2, oob_score=True).fit(table, two)
    assert caught[0].filename == __file__
    never = np.isnan(forest.oob_decision_function_).all(axis=1)
    assert 0 < never.sum() < 200
    right = forest.oob_decision_function_[~never].argmax(axis=1) == two[~never]
    assert forest.oob_score_ == right.mean()


def test_nothing_out_of_bag_is_an_error(table, two):
    with pytest.raises(DataError, match="nothing is out of bag"):
        sp.RandomForestClassifier(1, oob_score=True, max_samples=50.0).fit(table, two)


@pytest.mark.parametrize("kind", [sp.ExtraTreesClassifier, sp.ExtraTreesRegressor])
def test_without_bags_nothing_is_out_of_them(kind, table, two):
    with pytest.raises(ParameterError, match="Out of bag estimation only available if bootstrap=True"):
        kind(oob_score=True).fit(table, two)
    assert hasattr(kind(25, oob_score=True, bootstrap=True).fit(table, two), "oob_score_")
    assert hasattr(kind(25, oob_score=True, max_samples=0.5).fit(table, two), "oob_score_")
    fitted = kind(2).fit(table, two)
    with pytest.raises(ParameterError, match="every tree sees all rows"):
        fitted.diagnose(table, two, out_of_bag=True)


@pytest.mark.parametrize("given", [None, "yes", 1])
def test_what_is_neither_truth_nor_function_is_refused(given):
    with pytest.raises(ParameterTypeError, match="oob_score="):
        sp.RandomForestClassifier(oob_score=given).fit([[0.0], [1.0]], [0, 1])


def test_rows_of_weight_zero_have_no_prediction_and_do_not_count(table, two):
    weight = np.ones(200)
    weight[:50] = 0
    forest = sp.RandomForestClassifier(25, oob_score=True).fit(table, two, weight)
    without = sp.RandomForestClassifier(25, oob_score=True).fit(table[50:], two[50:])
    assert np.isnan(forest.oob_decision_function_[:50]).all()
    np.testing.assert_array_equal(forest.oob_decision_function_[50:], without.oob_decision_function_)
    assert forest.oob_score_ == without.oob_score_


def test_another_fit_forgets_scores_it_was_not_asked_for(table, two):
    forest = sp.RandomForestClassifier(25, oob_score=True).fit(table, two)
    forest.set_params(oob_score=False).fit(table, two)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")


def test_a_forest_of_classes_is_diagnosed(forest, table, three):
    y = np.array(list("abc"))[three]
    found = forest.diagnose(table, y, out_of_bag=True)
    assert found.margins.shape == (200,)
    assert 0 < found.strength < forest.diagnose(table, y).strength <= 1
    with pytest.raises(DataError, match="y holds the label 'z'"):
        forest.diagnose(table, ["z"] * 200)
    with pytest.raises(DataError, match="which had 200 rows, but X has 100"):
        forest.diagnose(table[:100], y[:100], out_of_bag=True)


def test_columns_are_shuffled_out_of_bag(forest, table, three):
    found = forest.permutation_importance(table, np.array(list("abc"))[three])
    assert found.importances.shape == (4, 25)
    assert found.importances_mean[:2].min() > found.importances_mean[2:].max()


def test_uncertainty_of_classes_and_numbers(forest, table, numbers, two, three):
    found = forest.predict_uncertainty(table)
    p = forest.predict_proba(table)
    np.testing.assert_allclose(found.variance, p * (1 - p))
    assert found.entropy.shape == (200,)
    several = sp.RandomForestClassifier(2).fit(table, np.column_stack([two, three]))
    assert [one.variance.shape for one in several.predict_uncertainty(table)] == [(200, 2), (200, 3)]
    number = sp.RandomForestRegressor(30).fit(table, numbers)
    said = np.array([tree.predict(table) for tree in number.estimators_])
    np.testing.assert_allclose(number.predict_uncertainty(table), said.std(axis=0))
    reach = number.predict_interval(table, 0.9, corrected=False)
    assert reach.shape == (200, 2)
    np.testing.assert_allclose(reach.mean(axis=1), number.predict(table))


def test_quantiles_need_the_rows_of_the_leaves(table, numbers, tmp_path):
    forest = sp.RandomForestRegressor(10, keep_leaf_rows=True, min_samples_leaf=5).fit(table, numbers)
    low, high = forest.predict_quantile(table, [0.1, 0.9]).T
    assert ((low <= numbers) & (numbers <= high)).mean() > 0.7
    forest.save(tmp_path / "forest")
    loaded = sp.load_estimator(tmp_path / "forest")
    np.testing.assert_array_equal(loaded.predict_quantile(table, 0.1), low)
    with pytest.raises(ParameterError, match="train with keep_leaf_rows=True"):
        sp.RandomForestRegressor(2).fit(table, numbers).predict_quantile(table, 0.5)
    assert sp.DecisionTreeRegressor(keep_leaf_rows=True).fit(table, numbers).predict_quantile(
        table, [0.5]
    ).shape == (
        200,
        1,
    )


def test_rows_of_one_leaf_are_near(forest, table):
    found = forest.proximity(table[:5], table[:7])
    leaves = forest.apply(table[:7])
    np.testing.assert_allclose(found, (leaves[:5, None] == leaves[None]).mean(axis=2))
    np.testing.assert_array_equal(np.diag(forest.proximity(table[:5])), 1)


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.RandomForestRegressor])
def test_one_row_has_no_score_out_of_bag(kind):
    with pytest.raises(DataError, match=r"^oob_score=True needs .* there is only 1 sample; give more rows"):
        kind(3, oob_score=True).fit([[1.0, 2.0]], [1])
    with pytest.raises(DataError, match="only 1 sample of weight above 0"):
        kind(3, oob_score=True).fit([[1.0], [2.0]], [1, 2], sample_weight=[0, 1])
    assert kind(3).fit([[1.0, 2.0]], [1]).predict([[0.0, 0.0]]) == [1]
