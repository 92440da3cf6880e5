import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.metrics import r2_score

from compact_forests import leaves, random_model, random_table
from oracles import random_bits
from sklearn_forests import converted
from spinney.data import read_table
from spinney.errors import DataError, ParameterError, SpinneyError
from spinney.inspection.forest_leaves import leaf_predictions
from spinney.inspection.permutation import out_of_bag_importance
from spinney.jit.team import Team
from spinney.sampling.kernels.random import PURPOSE_SHUFFLE as SHUFFLE
from spinney.sampling.orders import shuffled_orders


def naive_order(seed, tree, column, count):
    """The order of a column by whole numbers of Python: from the last row on, each changes places with one not after it."""
    seed = random_bits(random_bits(seed, SHUFFLE, tree), SHUFFLE, column)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = (random_bits(seed, SHUFFLE, i) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def naive_importances(case, seed):
    """Loss of score of every tree of scikit-learn, column by column, on the rows that it did not see; (columns, trees)."""
    columns, trees = case.table.columns, case.model.trees
    found = np.full((columns, trees), np.nan)
    for tree, (grown, out) in enumerate(zip(case.sklearn.estimators_, case.out, strict=True)):
        X, target = case.matrix[out], case.target[out]
        if len(X) == 0:
            continue

        def score(X, grown=grown, target=target):
            predicted = grown.predict(X).reshape(len(X), -1)
            return (
                np.all(predicted == target, axis=1).mean()
                if case.model.classes
                else r2_score(target, predicted)
            )

        for column in range(columns):
            shuffled = X.copy()
            shuffled[:, column] = X[naive_order(seed, tree, column, len(X)), column]
            found[column, tree] = score(X) - score(shuffled)
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["classes", "two classes", "outputs", "numbers", "two numbers", "one class"])
def test_importances_are_the_losses_of_each_tree_on_the_rows_that_it_did_not_see(forest, name):
    case = forest(name)
    expected = naive_importances(case, seed=4)
    found = out_of_bag_importance(case.model, case.table, case.target, seed=4)
    np.testing.assert_allclose(found.importances, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, expected.mean(axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.importances_std, expected.std(axis=1), rtol=1e-9, atol=1e-12)


def drawn(seed, tree, column, count):
    """The order that is drawn for one column."""
    return shuffled_orders(seed, tree, [column], count, Team(1))[0].tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_the_order_of_a_column_depends_on_seed_tree_and_column(seed):
    order = drawn(seed, 2, 3, 50)
    assert order == naive_order(seed, 2, 3, 50)
    assert sorted(order) == list(range(50))
    assert order not in [drawn(seed ^ 1, 2, 3, 50), drawn(seed, 1, 3, 50), drawn(seed, 2, 4, 50)]


def test_every_order_is_about_as_likely():
    orders, times = np.unique([drawn(seed, 0, 0, 3) for seed in range(1200)], axis=0, return_counts=True)
    assert len(orders) == 6
    # 200 expected; the standard deviation is 13.
    assert times.min() > 140
    assert times.max() < 260


@pytest.mark.parametrize("name", ["one tree", "one tree of numbers"])
def test_the_mean_over_many_orders_is_that_of_scikit_learn(forest, name):
    case = forest(name)
    found = np.array(
        [
            out_of_bag_importance(case.model, case.table, case.target, seed).importances[:, 0]
            for seed in range(80)
        ]
    )
    out = case.out[0]
    theirs = sklearn_importance(
        case.sklearn.estimators_[0], case.matrix[out], case.target[out, 0], n_repeats=80, random_state=0
    )
    noise = np.sqrt((found.var(axis=0) + theirs.importances_std**2) / 80)
    assert (abs(found.mean(axis=0) - theirs.importances_mean) <= 4 * noise + 1e-12).all()
    assert found.mean() > 0


@pytest.mark.parametrize("name", ["classes", "numbers"])
@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_a_sparse_table_has_the_importances_of_the_same_dense_one(forest, name, form):
    case = forest(name)
    sparse = read_table(form(case.matrix))
    found = out_of_bag_importance(case.model, sparse, case.target, seed=1)
    dense = out_of_bag_importance(case.model, case.table, case.target, seed=1)
    assert np.array_equal(found.importances, dense.importances)


def test_a_frame_of_several_types_has_the_importances_of_the_same_matrix(forest):
    case = forest("classes")
    frame = pd.DataFrame(case.matrix, columns=list("abcd")).astype({"b": np.float32, "c": "Float64"})
    table = read_table(frame)
    assert len(table.panels) > 1
    found = out_of_bag_importance(case.model, table, case.target, seed=1)
    dense = out_of_bag_importance(case.model, case.table, case.target, seed=1)
    assert np.array_equal(found.importances, dense.importances)


def test_columns_are_shuffled_a_few_at_a_time_with_the_same_result(forest, monkeypatch):
    case = forest("outputs")
    whole = out_of_bag_importance(case.model, case.table, case.target)
    monkeypatch.setattr("spinney.inspection.shuffled_scores.CELLS", 4 * 70 * 2)
    again = out_of_bag_importance(case.model, case.table, case.target)
    assert np.array_equal(again.importances, whole.importances)


def test_importances_are_shown_in_one_short_line(forest):
    case = forest("classes")
    found = out_of_bag_importance(case.model, case.table, case.target)
    text = repr(found)
    assert text.startswith("PermutationImportance(accuracy out of bag; ")
    assert len(text) < 200
    assert "\n" not in text


def test_a_column_that_no_tree_splits_on_is_worth_nothing(forest):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), np.zeros(50)])
    case = forest(converted(RandomForestRegressor(6, random_state=0), X, X[:, 0]))
    found = out_of_bag_importance(case.model, case.table, case.target)
    assert (found.importances[1] == 0).all()
    assert found.importances_mean[0] > 0.5


def test_a_tree_without_rows_to_be_evaluated_on_is_left_out_and_without_any_there_is_an_error(forest):
    case = converted(RandomForestClassifier(3, random_state=0), np.arange(9.0)[:, None], np.arange(9) % 2)
    case.bags[1] = 1
    forest(case)
    found = out_of_bag_importance(case.model, case.table, case.target)
    assert np.isnan(found.importances).tolist() == [[False, True, False]]
    assert found.importances_mean[0] == pytest.approx(np.nanmean(found.importances))
    case.bags[:] = 1
    with pytest.raises(DataError, match="no tree has rows that it has not seen"):
        out_of_bag_importance(case.model, case.table, case.target)


def test_without_bags_there_is_an_error(forest):
    case = forest("no bags")
    with pytest.raises(ParameterError, match=r"permutation importance needs .* bootstrap=True"):
        out_of_bag_importance(case.model, case.table, case.target)


def test_threads_change_no_bit(forest):
    case = forest("numbers")
    found = [out_of_bag_importance(case.model, case.table, case.target, 3, n_jobs=jobs) for jobs in (1, 2, 3)]
    assert all(np.array_equal(one.importances, found[0].importances) for one in found)


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_categories_and_missing_values_go_where_a_prediction_sends_them(dtype, monkeypatch):
    categories = (0, 70, 0, 3)
    model = random_model(4, splits=(25, 0, 9), classes=(3,), categories=categories)
    rng = np.random.default_rng(5)
    X, target = random_table(6, rows=100, categories=categories, dtype=dtype), rng.integers(3, size=(100, 1))
    bags = rng.integers(0, 2, size=(3, 100)).astype(np.int32)
    monkeypatch.setattr(
        "spinney.inspection.out_of_bag.bag_counts", lambda seed, tree, rows, drawn, replace: bags[tree]
    )
    found = out_of_bag_importance(model, model.read(X), target, seed=2)
    for tree, bag in enumerate(bags):
        out = bag == 0
        predicted = leaf_predictions(model, tree).argmax(axis=1)[:, None]

        def score(X, tree=tree, out=out, predicted=predicted):
            return np.mean(predicted[leaves(model.forest, X, categories)[:, tree]] == target[out])

        for column in range(4):
            shuffled = X[out]
            shuffled[:, column] = shuffled[naive_order(2, tree, column, len(shuffled)), column]
            assert found.importances[column, tree] == pytest.approx(
                score(X[out]) - score(shuffled), abs=1e-12
            )
    assert (found.importances[:, 0] != 0).all()
    assert (found.importances[:, 1] == 0).all()


def test_a_seed_that_is_no_whole_number_is_refused(forest):
    case = forest("classes")
    for seed in (-1, 0.5, "seed", True):
        with pytest.raises(SpinneyError, match=r"random_state=.* must be .*(>= 0 and|Generator or None)"):
            out_of_bag_importance(case.model, case.table, case.target, seed)
