import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

import spinney as sp
from spinney.data import ForestTarget
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.estimators.forest_targets import weigh_rows

LABELS = [np.array(["ash", "oak"]), np.array([1, 2, 3])]
CODES = np.array([[0, 0], [1, 1], [1, 2], [1, 0], [1, 0]])
ONE, BOTH = ForestTarget(CODES[:, :1], (2,)), ForestTarget(CODES, (2, 3))


def weighed(class_weight, target=ONE, weight=None, draws_rows=True):
    return weigh_rows(class_weight, LABELS[: target.outputs], target, weight, draws_rows=draws_rows)


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("balanced", ONE),
        ({"ash": 3.0, "oak": 0.5}, ONE),
        ({"oak": 0.5}, ONE),
        ("balanced", BOTH),
        ([{"ash": 2.0}, {1: 0.5, 3: 4.0}], BOTH),
    ],
)
def test_factors_are_scikit_learns(given, target):
    y = np.array([[LABELS[k][code] for k, code in enumerate(row)] for row in target.values], dtype=object)
    # It wants the factor of every class.
    named = [{**dict.fromkeys(LABELS[1], 1.0), **one} for one in given[1:]] if isinstance(given, list) else []
    full = [{"oak": 1.0, **given[0]}, *named] if named else given
    if isinstance(given, dict):
        full = {"ash": 1.0, **given}
    expected = compute_sample_weight(full, y if target.outputs > 1 else y[:, 0])
    np.testing.assert_allclose(weighed(given, target)[0], expected)


def test_weights_of_rows_count_where_classes_are_balanced():
    weight = np.array([3.0, 1.0, 1.0, 0.0, 1.0])
    found, kind = weighed("balanced", weight=weight)
    assert kind == "balanced"
    np.testing.assert_allclose(np.bincount(CODES[:, 0], found), [3.0, 3.0])


def test_bags_are_balanced_where_there_are_bags():
    assert weighed("balanced_subsample") == (None, "balanced_subsample")
    found, kind = weighed("balanced_subsample", draws_rows=False)
    assert kind == "balanced"
    np.testing.assert_array_equal(found, weighed("balanced")[0])


def test_without_factors_weights_stay_what_they_are():
    weight = np.arange(5.0)
    assert weighed(None, weight=weight)[0] is weight
    assert weighed(None) == (None, "none")


@pytest.mark.parametrize(
    ("given", "target", "error", "message"),
    [
        ({"ash": 1.0}, BOTH, ParameterError, "is one dict, but y has 2 outputs: give a list of 2 dicts"),
        ([{"ash": 1.0}], BOTH, ParameterError, "a list of 1 dicts, but y has 2 output"),
        ([{"ash": 1.0}, {1: 1.0}], ONE, ParameterError, "a list of 2 dicts, but y has 1 output"),
        ([{}, {7: 1.0}], BOTH, ParameterError, r"class_weight\[1\] names 7, which is no class"),
        ({"ash": 0.0, "oak": 0}, ONE, DataError, "leaves no row a weight above 0"),
        ({"ash": -1.0}, ONE, ParameterError, "must be finite and 0 or more"),
    ],
)
def test_wrong_factors_are_told_what_is_right(given, target, error, message):
    with pytest.raises(error, match=message):
        weighed(given, target)


@pytest.mark.parametrize("given", ["balance", 3, [1, 2], ["balanced"]])
def test_factors_of_the_wrong_kind_are_refused_before_any_work(given):
    with pytest.raises(ParameterTypeError, match="must be 'balanced', 'balanced_subsample', None, a dict"):
        sp.RandomForestClassifier(class_weight=given).fit([[0.0], [1.0]], [0, 1])


def test_a_single_tree_has_no_bag_to_balance():
    with pytest.raises(ParameterTypeError, match="must be 'balanced', None, a dict"):
        sp.DecisionTreeClassifier(class_weight="balanced_subsample").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.ExtraTreesClassifier])
@pytest.mark.parametrize("given", ["balanced", "balanced_subsample"])
def test_a_rare_class_is_found_more_often_when_classes_are_balanced(kind, given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 2.2).astype(int)
    plain = kind(30, max_depth=4).fit(X, y).predict(X).sum()
    balanced = kind(30, max_depth=4, class_weight=given).fit(X, y)
    assert balanced.predict(X).sum() > 2 * max(plain, y.sum() // 4)
    assert balanced.model_.config.class_weight == (
        given if balanced.bootstrap and given == "balanced_subsample" else "balanced"
    )


@pytest.mark.parametrize(
    "kind", [sp.RandomForestClassifier, sp.ExtraTreesClassifier, sp.DecisionTreeClassifier]
)
def test_factors_and_weights_multiply(kind, table, three):
    weight = np.random.default_rng(1).integers(1, 4, len(three)).astype(float)
    factors = {0: 1.0, 1: 2.0, 2: 5.0}
    by_class = kind(class_weight=factors, random_state=1).fit(table, three, weight)
    by_row = kind(random_state=1).fit(table, three, weight * np.array([1.0, 2.0, 5.0])[three])
    np.testing.assert_array_equal(by_class.predict_proba(table), by_row.predict_proba(table))


@pytest.mark.parametrize(
    "kind",
    [
        sp.RandomForestClassifier,
        sp.RandomForestRegressor,
        sp.ExtraTreesClassifier,
        sp.DecisionTreeClassifier,
        sp.DecisionTreeRegressor,
    ],
)
def test_a_row_of_weight_zero_is_as_good_as_gone(kind, table, two):
    weight = np.ones(len(two))
    weight[::3] = 0
    kept = weight > 0
    zeroed, dropped = kind().fit(table, two, weight), kind().fit(table[kept], two[kept])
    assert zeroed.model_ == dropped.model_


def test_equal_weights_change_nothing(table, two):
    forest = sp.RandomForestClassifier(5).fit(table, two, np.ones(len(two)))
    assert forest.model_ == sp.RandomForestClassifier(5).fit(table, two).model_


def test_a_class_without_weight_is_known_and_never_predicted(table, three):
    weight = (three != 1).astype(float)
    forest = sp.RandomForestClassifier(5).fit(table, three, weight)
    assert forest.classes_.tolist() == [0, 1, 2]
    assert forest.predict_proba(table).shape == (200, 3)
    assert not forest.predict_proba(table)[:, 1].any()


@pytest.mark.parametrize("kind", [sp.RandomForestClassifier, sp.DecisionTreeRegressor])
def test_weights_that_are_all_zero_are_an_error(kind):
    with pytest.raises(DataError, match="sample_weight holds only zeros"):
        kind().fit([[0.0], [1.0]], [0, 1], [0, 0])


@pytest.mark.parametrize(
    ("kind", "levels"), [(sp.DecisionTreeClassifier, 3), (sp.DecisionTreeRegressor, 200)], ids=str
)
def test_rows_that_weigh_next_to_nothing_still_have_leaves_of_their_own(kind, levels, table):
    X, y = np.arange(200.0)[:, None], np.arange(200) * levels // 200
    weight = np.where(np.arange(200) < 100, 1e-40, 1e40)
    tree = kind(min_samples_leaf=2, random_state=0).fit(X, y, weight)
    assert np.abs(tree.predict(X)[:100] - y[:100]).max() <= 1
    assert tree.model_.to_bytes() == sp.ForestModel.from_bytes(tree.model_.to_bytes()).to_bytes()
