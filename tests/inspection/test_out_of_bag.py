import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score

from sklearn_forests import converted
from spinney.errors import DataError, OwnFunctionError, ParameterError
from spinney.inspection.forest_leaves import CELLS
from spinney.inspection.out_of_bag import accuracy, out_of_bag, r2


def naive_means(predicted, out):
    """Mean over the trees that did not see a row, NaN where all did; (rows, values)."""
    found = np.full(predicted.shape[1:], np.nan)
    for row in range(predicted.shape[1]):
        seen = [predicted[tree, row] for tree in range(len(predicted)) if out[tree, row]]
        if seen:
            found[row] = np.mean(seen, axis=0)
    return found


@pytest.mark.parametrize("name", ["classes", "two classes", "outputs", "one class", "few trees", "weights"])
def test_the_decision_function_is_the_mean_of_the_trees_that_did_not_see_a_row(forest, name):
    case = forest(name)
    found = out_of_bag(case.model, case.table, case.target)
    decisions = found.decision_function if case.model.outputs > 1 else [found.decision_function]
    assert len(decisions) == len(case.model.classes)
    for decision, shares, classes in zip(decisions, case.shares, case.model.classes, strict=True):
        assert decision.shape == (case.table.rows, classes)
        np.testing.assert_allclose(decision, naive_means(shares, case.out), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["numbers", "two numbers", "few numbers"])
def test_the_prediction_is_the_mean_of_the_trees_that_did_not_see_a_row(forest, name):
    case = forest(name)
    found = out_of_bag(case.model, case.table, case.target)
    expected = naive_means(case.predictions(), case.out)
    several = case.model.outputs > 1
    np.testing.assert_allclose(found.prediction, expected if several else expected[:, 0], rtol=1e-12)


def test_rows_that_every_tree_saw_have_no_prediction_and_do_not_count(forest):
    for name, nothing in (("few trees", -1), ("few numbers", np.nan)):
        case = forest(name)
        found = out_of_bag(case.model, case.table, case.target)
        never = ~case.out.any(axis=0)
        assert 0 < never.sum() < len(never)
        assert np.array_equal(found.never, never)
        assert np.array_equal(found.trees, case.out.sum(axis=0))
        assert np.array_equal(
            found.prediction[never], np.full(never.sum(), nothing), equal_nan=name == "few numbers"
        )
        score = accuracy_score if name == "few trees" else r2_score
        expected = score(case.target[~never, 0], found.prediction[~never])
        assert found.score() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("outputs", [1, 2])
def test_scores_and_predictions_of_regressors_are_those_of_scikit_learn(forest, outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.column_stack([X[:, 0] + rng.normal(size=60), X[:, 1] ** 2])[:, :outputs]
    y = y[:, 0] if outputs == 1 else y
    case = forest(converted(RandomForestRegressor(25, oob_score=True, random_state=0), X, y))
    found = out_of_bag(case.model, case.table, case.target)
    np.testing.assert_allclose(found.prediction, case.sklearn.oob_prediction_, rtol=1e-12)
    assert found.score() == pytest.approx(case.sklearn.oob_score_, rel=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_and_decisions_of_classifiers_are_those_of_scikit_learn(forest, classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.clip((X[:, 0] + rng.normal(size=60) + classes / 2).astype(int), 0, classes - 1)
    case = forest(converted(RandomForestClassifier(25, oob_score=True, random_state=0), X, y))
    found = out_of_bag(case.model, case.table, case.target)
    np.testing.assert_allclose(found.decision_function, case.sklearn.oob_decision_function_, atol=1e-14)
    assert found.score() == pytest.approx(case.sklearn.oob_score_, rel=1e-12)


@pytest.mark.parametrize("name", ["classes", "outputs", "numbers", "two numbers"])
def test_each_tree_is_scored_by_the_rows_that_it_did_not_see(forest, name):
    case = forest(name)
    found = out_of_bag(case.model, case.table, case.target)
    for score, predicted, out in zip(found.tree_scores, case.predictions(), case.out, strict=True):
        if case.model.classes:
            expected = np.mean(
                [np.array_equal(*pair) for pair in zip(predicted[out], case.target[out], strict=True)]
            )
        else:
            expected = r2_score(case.target[out], predicted[out])
        assert score == pytest.approx(expected, rel=1e-12)


def test_a_tree_that_saw_every_row_has_no_score(forest):
    case = converted(RandomForestClassifier(4, random_state=0), np.arange(8.0)[:, None], np.arange(8) % 2)
    case.bags[1] = 1
    forest(case)
    found = out_of_bag(case.model, case.table, case.target)
    assert np.isnan(found.tree_scores).tolist() == [False, True, False, False]


def test_r2_of_fewer_than_two_rows_is_unknown_and_a_target_that_does_not_vary_is_all_or_nothing():
    one = np.ones((1, 1))
    assert np.isnan(r2(one, one))
    assert np.isnan(accuracy(one[:0], one[:0]))
    same, other = np.ones((3, 1)), np.array([[1.0], [1.0], [2.0]])
    for predicted in (same, other):
        assert r2(same, predicted) == r2_score(same, predicted)


def test_a_function_of_the_users_own_scores_rows_and_class_numbers(forest):
    case = forest("classes")
    found = out_of_bag(case.model, case.table, case.target)
    expected = balanced_accuracy_score(case.target[:, 0], found.prediction)
    assert found.score(balanced_accuracy_score) == expected
    with pytest.raises(
        OwnFunctionError, match=r"the oob_score function .* must return a number as its value, not 'high'"
    ):
        found.score(lambda target, predicted: "high")


def test_without_rows_out_of_bag_there_is_an_error_with_what_to_do(forest):
    case = forest("no bags")
    with pytest.raises(
        ParameterError, match=r"out-of-bag score .* bootstrap=False .* train with bootstrap=True"
    ):
        out_of_bag(case.model, case.table, case.target)
    case = converted(RandomForestClassifier(2, random_state=0), np.arange(8.0)[:, None], np.arange(8) % 2)
    case.bags[:] = 1
    forest(case)
    with pytest.raises(DataError, match="every row is in the bag of every tree"):
        out_of_bag(case.model, case.table, case.target)


def test_another_table_than_that_of_training_is_refused(forest):
    case = forest("classes")
    fewer = case.table.take(np.arange(case.table.rows) < 50)
    with pytest.raises(DataError, match=r"training table, which had 70 rows, but X has 50"):
        out_of_bag(case.model, fewer, case.target[:50])


@pytest.mark.parametrize("name", ["outputs", "numbers"])
def test_neither_threads_nor_the_number_of_trees_at_a_time_change_a_bit(forest, name, monkeypatch):
    case = forest(name)
    alone = out_of_bag(case.model, case.table, case.target, n_jobs=1)
    monkeypatch.setattr("spinney.inspection.forest_leaves.CELLS", 3 * case.table.rows)
    assert case.table.rows * case.model.trees < CELLS  # all at once before
    for n_jobs in (1, 2, 3):
        again = out_of_bag(case.model, case.table, case.target, n_jobs=n_jobs)
        assert np.array_equal(again.tree_scores, alone.tree_scores)
        assert all(np.array_equal(*pair) for pair in zip(again.values, alone.values, strict=True))
