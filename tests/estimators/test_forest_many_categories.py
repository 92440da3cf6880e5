"""Columns of many categories: no bias, no sets that follow chance, and categories that a node does not have."""

import numpy as np
import pytest

import spinney as sp

NUMBERS = {
    "forest": (sp.RandomForestRegressor, {"n_estimators": 20}),
    "exact forest": (sp.RandomForestRegressor, {"n_estimators": 20, "tree_method": "exact"}),
    "extra trees": (sp.ExtraTreesRegressor, {"n_estimators": 20}),
    "tree": (sp.DecisionTreeRegressor, {}),
    "forest of medians": (sp.RandomForestRegressor, {"n_estimators": 3, "criterion": "absolute_error"}),
    "AdaBoost": (sp.AdaBoostRegressor, {"n_estimators": 10}),
}
CLASSES = {
    "forest": (sp.RandomForestClassifier, {"n_estimators": 20}),
    "forest of entropy": (sp.RandomForestClassifier, {"n_estimators": 20, "criterion": "entropy"}),
    "extra trees": (sp.ExtraTreesClassifier, {"n_estimators": 20}),
    "tree": (sp.DecisionTreeClassifier, {}),
}
LEVELS = [50, pytest.param(1000, marks=pytest.mark.slow), 3000, pytest.param(20000, marks=pytest.mark.slow)]


def table(levels, rows, seed):
    """A column of categories, and other rows of categories that it has."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, rows)
    fresh = rng.choice(np.unique(codes), 4000)
    return rng, codes[:, None].astype(float), fresh[:, None].astype(float)


def rows_of(levels, kind):
    """Fewer where medians are slow."""
    return 1500 if "medians" in kind else max(4000, levels)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("kind", NUMBERS)
def test_of_noise_known_categories_are_predicted_without_bias(kind, levels):
    rows = rows_of(levels, kind)
    rng, X, fresh = table(levels, rows, seed=levels)
    y = rng.normal(size=rows)
    maker, settings = NUMBERS[kind]
    for sign in (1, -1):
        fitted = maker(categorical=[0], random_state=0, **settings).fit(X, sign * y)
        off = fitted.predict(fresh).mean() - sign * y.mean()
        # The mean of so many rows, and that of what trees predict for the categories drawn, each vary by chance. Trees of
        # AdaBoost are few and grown for the rows that are hardest to predict: their medians vary by .04 or so.
        more = 0.04**2 if kind == "AdaBoost" else 0.0
        assert abs(off) < 3 * np.sqrt(1 / rows + 1 / len(fresh) + 1 / levels + more)


@pytest.mark.slow
def test_rare_categories_are_not_predicted_larger_than_frequent_ones():
    off = []
    for seed in range(12):
        rng, X, fresh = table(20_000, 20_000, seed)
        y = rng.normal(size=len(X))
        model = sp.AdaBoostRegressor(n_estimators=30, categorical=[0], random_state=seed)
        off.append(np.mean([model.fit(X, sign * y).predict(fresh).mean() for sign in (1, -1)]))
    assert abs(np.mean(off)) < 2.5 * np.std(off) / np.sqrt(len(off))


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("kind", CLASSES)
def test_of_noise_the_share_of_a_rare_class_is_predicted_without_bias(kind, levels):
    rows = max(4000, levels)
    rng, X, fresh = table(levels, rows, seed=levels + 1)
    y = rng.random(rows) < 0.3
    maker, settings = CLASSES[kind]
    for labels in (y, ~y):
        fitted = maker(categorical=[0], random_state=0, **settings).fit(X, labels)
        off = fitted.predict_proba(fresh)[:, 1].mean() - labels.mean()
        assert abs(off) < 3 * np.sqrt(0.21 * (1 / rows + 1 / len(fresh) + 1 / levels))


def three_classes(rng, score):
    return np.digitize(score + rng.logistic(size=len(score)), [-0.5, 0.8])


@pytest.mark.parametrize(
    ("rows", "levels", "effect"),
    [
        (1000, 200, 1.0),
        (4000, 200, 1.0),
        (4000, 1000, 1.0),
        (3000, 12, 1.0),
        (4000, 400, 0.0),
        (2000, 1500, 1.0),
    ],
)
def test_sets_of_categories_are_no_worse_than_numbers_in_their_place(rows, levels, effect):
    rng = np.random.default_rng(rows + levels)
    codes = rng.integers(0, levels, rows + 3000)
    X = np.column_stack([codes, rng.normal(size=(len(codes), 2))])
    score = X[:, 1] + effect * rng.normal(size=levels)[codes]
    y = score + rng.normal(size=len(score))
    found = []
    for categorical in ([0], "auto"):
        forest = sp.RandomForestRegressor(20, categorical=categorical, random_state=0).fit(X[:rows], y[:rows])
        found.append(forest.score(X[rows:], y[rows:]))
    assert found[0] > found[1] - 0.01
    y = three_classes(rng, score)
    found = []
    for categorical in ([0], "auto"):
        forest = sp.RandomForestClassifier(20, categorical=categorical, random_state=0).fit(
            X[:rows], y[:rows]
        )
        shares = forest.predict_proba(X[rows:])
        found.append(np.square(shares - np.eye(3)[y[rows:]]).sum(axis=1).mean())
    assert found[0] < found[1] + 0.01


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "classes"])
def test_forests_of_many_categories_do_not_depend_on_threads(criterion):
    rng, X, _ = table(300, 600, seed=5)
    y = rng.integers(0, 3, 600) if criterion == "classes" else rng.normal(size=600)
    maker = sp.RandomForestClassifier if criterion == "classes" else sp.RandomForestRegressor
    settings = {} if criterion == "classes" else {"criterion": criterion}
    files = {
        maker(5, categorical=[0], random_state=0, n_jobs=jobs, **settings).fit(X, y).model_.to_bytes()
        for jobs in (1, 2, 3)
    }
    assert len(files) == 1


def test_rows_of_two_categories_can_always_be_parted():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    tree = sp.DecisionTreeRegressor(categorical=[0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), y)
