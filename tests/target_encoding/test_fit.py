"""Target encoding: no row is encoded with its own target, and a model file holds all that prediction needs."""

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.data import Labels
from spinney.data.target_encoding import COUNT
from spinney.sampling.orders import random_words
from spinney.target_encoding.fit import fit_target_encoding
from spinney.target_encoding.sums import FOLDS, assign_folds

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS, CITIES = 1_500, 120
PARAMS = {"target_stats": 8, "max_leaves": 8}


def problem(seed=0):
    """Rows of many cities, each with an effect of its own; some cities are missing."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, CITIES, ROWS)
    x = rng.normal(size=ROWS)
    y = rng.normal(size=CITIES)[city] + x + 0.5 * rng.normal(size=ROWS)
    names = np.array([f"city {k}" for k in range(CITIES)], object)[city]
    names[rng.random(ROWS) < 0.02] = None
    few = pd.Categorical(rng.choice(["red", "green", "blue"], ROWS))
    return pd.DataFrame({"x": x, "city": pd.Categorical(names), "colour": few}), y


@pytest.fixture(scope="module")
def table():
    return problem()


@pytest.fixture(scope="module")
def data(table):
    X, y = table
    whole = sp.Dataset(X[:1000], y[:1000])
    return whole, sp.Dataset(X[1000:], y[1000:], reference=whole)


@pytest.fixture(scope="module")
def model(data):
    return sp.train(PARAMS, data[0], rounds=20)


def naive(codes, size, target, weight, fold, smooth):
    """How each row is encoded, and how other rows are, by loops."""
    mean = sum(w * t for w, t in zip(weight, target, strict=True)) / sum(weight)

    def of(rows, code):
        chosen = [k for k in rows if codes[k] == code]
        mass = sum(weight[k] for k in chosen)
        summed = sum(weight[k] * target[k] for k in chosen)
        return (summed + smooth * mean) / (mass + smooth), mass

    every_row = range(len(codes))
    encoded = [of([k for k in every_row if fold[k] != fold[i]], codes[i]) for i in every_row]
    return encoded, [of(every_row, code) for code in range(size)]


def small(weighted, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, 80).astype(float)
    X[rng.random(80) < 0.1] = np.nan
    y = rng.normal(size=80)
    weight = rng.integers(1, 5, 80) / 4 if weighted else None
    return sp.Dataset(X[:, None], y, weight=weight, categorical=[0]), Labels(y, weight)


def fitted_on(dataset, labels, smooth=3.0, seed=5):
    return fit_target_encoding(dataset.binned, labels, labels.target[None], [0], smooth, seed)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_gets_the_mean_of_the_rows_of_its_category_in_other_folds(weighted):
    dataset, labels = small(weighted)
    fitted = fitted_on(dataset, labels)
    weight = np.ones(80) if labels.weight is None else labels.weight
    codes = dataset.binned.matrix().by_column[0]
    encoded, for_others = naive(codes, 13, labels.target, weight, fitted.fold, 3.0)
    mean, rows = (fitted.by_fold[k][fitted.fold, codes] for k in (0, 1))
    np.testing.assert_allclose(mean, [one[0] for one in encoded], atol=1e-12)
    np.testing.assert_allclose(rows, [one[1] * FOLDS / (FOLDS - 1) for one in encoded], atol=1e-12)
    np.testing.assert_allclose(fitted.encoding.values_of(0), [one[0] for one in for_others], atol=1e-12)
    np.testing.assert_allclose(fitted.encoding.values_of(1), [one[1] for one in for_others], atol=1e-12)
    assert fitted.encoding.output.tolist() == [0, COUNT]


def test_how_a_row_is_encoded_does_not_depend_on_its_own_target():
    dataset, labels = small(False)
    before = fitted_on(dataset, labels, smooth=0.0)
    codes = dataset.binned.matrix().by_column[0]
    for row in range(0, 80, 7):
        target = labels.target.copy()
        target[row] += 0.75
        after = fitted_on(dataset, Labels(target), smooth=0.0)
        same = before.by_fold[0][before.fold[row], codes[row]]
        assert after.by_fold[0][after.fold[row], codes[row]] == pytest.approx(same, rel=1e-12)


def test_a_category_without_rows_has_the_overall_mean_however_little_is_mixed():
    X = np.repeat(np.arange(12.0), 5)
    y = 1000.0 + X
    fitted = fitted_on(sp.Dataset(X[:, None], y, categorical=[0]), Labels(y), smooth=0.0)
    np.testing.assert_allclose(fitted.encoding.values_of(0), [*range(1000, 1012), 1005.5])
    seldom = [[X[fitted.fold != fold].tolist().count(k) == 0 for k in range(12)] for fold in range(FOLDS)]
    assert np.array_equal(fitted.by_fold[0][:, :12] == 1005.5, seldom)


@pytest.mark.parametrize("missing", [4, 5])
def test_few_rows_without_a_category_do_not_decide_the_value_of_unseen_ones(missing):
    city = np.random.default_rng(0).integers(0, 12, 400).astype(float)
    city[:missing] = np.nan
    X = np.column_stack([city, np.arange(400.0)])
    y = np.where(np.isnan(city), 50.0, np.nan_to_num(city))
    dataset = sp.Dataset(X, y, categorical=[0])
    model = sp.train(PARAMS | {"min_child_samples": 5}, dataset, rounds=20)
    mean, rows = model.read([[99.0, 3.0]]).panels[-1].values[0, :2]
    if missing < 5:
        assert (mean, rows) == (pytest.approx(y.mean()), 0.0)
    else:
        assert (mean, rows) == (pytest.approx((50.0 * missing + 10.0 * y.mean()) / (missing + 10)), missing)
    assert (abs(model.predict([[99.0, 200.0]])[0] - y.mean()) < 2.0) == (missing < 5)


def test_rows_of_a_group_are_not_encoded_with_each_others_target(table):
    X, y = table
    dataset, groups = sp.Dataset(X, y), np.arange(ROWS) % 50
    labels = dataset.labels()
    fitted = fit_target_encoding(dataset.binned, labels, y[None], [1], 10.0, 0, row_groups=groups)
    assert np.array_equal(fitted.fold, fitted.fold[:50][groups])
    found = sp.train(PARAMS, dataset, "auto", groups=groups, max_rounds=5)
    cuts = [
        model.forest.threshold[model.forest.feature >= 3].tolist()
        for model in (found, sp.train(PARAMS, dataset, "auto", max_rounds=5))
    ]
    assert cuts[0] != cuts[1]


def test_a_row_of_weight_0_counts_for_nothing():
    dataset, labels = small(False)
    weight = np.ones(80)
    weight[::9] = 0.0
    target = labels.target.copy()
    target[::9] = 100.0
    one, other = (fitted_on(dataset, Labels(y, weight)).encoding for y in (labels.target, target))
    np.testing.assert_allclose(one.values, other.values, atol=1e-12)


def test_folds_depend_on_seed_and_row_and_are_of_about_one_size():
    fold = assign_folds(np.arange(10_000), seed=3)
    assert np.array_equal(assign_folds(np.arange(5_000), seed=3), fold[:5_000])
    assert not np.array_equal(assign_folds(np.arange(10_000), seed=4), fold)
    sizes = np.bincount(fold)
    assert len(sizes) == FOLDS
    assert abs(sizes - 2_000).max() < 200


def test_random_words_are_those_of_the_kernels():
    def mixed(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    golden = 0x9E3779B97F4A7C15
    wanted = [mixed((mixed((7 + 3 * golden) % 2**64) + (k + 1) * golden) % 2**64) for k in range(5)]
    assert random_words(7, 3, np.arange(5)).tolist() == wanted


def test_nothing_is_fitted_to_a_random_target_of_very_many_categories():
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, 5_000, (12_000, 2)).astype(float), rng.normal(size=12_000)
    dataset = sp.Dataset(X, y, categorical=[0, 1])
    folds = sp.cv({"target_stats": 8}, dataset, rounds=30, seed=1)
    constant = sp.cv({"max_leaves": 2, "gamma": 1e9}, dataset, rounds=1, seed=1)
    best = folds.history["test"]["rmse"].mean.min()
    assert best >= constant.history["test"]["rmse"].mean[0] * (1 - 1e-3)


def test_categories_with_effects_of_their_own_are_predicted_better(data):
    history = {}
    for stats in (None, 8):
        history[stats] = sp.History()
        sp.train({"target_stats": stats}, data[0], 30, valid={"v": data[1]}, callbacks=[history[stats]])
    with_stats, without = (history[k].evals["v"]["rmse"][-1] for k in (8, None))
    assert with_stats < 0.9 * without


def test_validation_rows_are_encoded_as_prediction_encodes_them(table, data):
    X, y = table
    history = sp.History()
    model = sp.train(PARAMS, data[0], rounds=10, valid={"v": data[1]}, callbacks=[history])
    error = np.sqrt(np.mean((model.predict(X[1000:]) - y[1000:]) ** 2))
    assert error == pytest.approx(history.evals["v"]["rmse"][-1], rel=1e-9)


def test_the_number_of_threads_changes_no_byte(data, model):
    for threads in (1, 3, 8):
        assert sp.train(PARAMS | {"n_jobs": threads}, data[0], rounds=20).to_bytes() == model.to_bytes()


def test_frames_of_either_library_and_an_array_give_the_same_trees(table):
    polars = pytest.importorskip("polars")
    X, y = table
    numbers = X["city"].cat.codes.to_numpy().astype(float)
    numbers[numbers < 0] = np.nan
    array = np.column_stack([X["x"], numbers])
    frame = X[["x", "city"]]
    models = [
        sp.train(PARAMS, dataset, rounds=5)
        for dataset in (
            sp.Dataset(frame, y),
            sp.Dataset(polars.from_pandas(frame), y),
            sp.Dataset(array, y, categorical=[1], names=["x", "city"]),
        )
    ]
    assert models[0].to_bytes() == models[1].to_bytes()
    # Of equally frequent categories the first in their order is first, and text has another order than numbers.
    assert models[2].statistics.encoded_count == 2
    assert models[2].importance("split").sum() > 0


def test_a_part_gives_the_bytes_of_a_data_set_of_its_rows(table):
    X, y = table
    whole = sp.Dataset(X, y)
    part, _ = sp.split(whole, test=0.3, seed=2)
    apart = sp.Dataset(X.iloc[part.index], y[part.index], reference=whole)
    assert sp.train(PARAMS, part, 5).to_bytes() == sp.train(PARAMS, apart, 5).to_bytes()


def test_rows_held_out_by_auto_take_no_part_in_the_encoding(table):
    X, y = table
    model = sp.train(PARAMS | {"random_state": 1}, sp.Dataset(X, y), "auto", max_rounds=3)
    rows = model.statistics.values_of(1)
    assert rows.sum() == ROWS  # a small table is fitted again on all its rows
    other = sp.Dataset(X, y)
    folds = sp.cv(PARAMS, other, rounds=2, folds=3)
    for fold, one in zip(folds.folds, folds.models, strict=True):
        assert one.statistics.values_of(1).sum() == len(fold.train)


def test_a_file_brings_them_back_and_takes_raw_categories(table, model, tmp_path):
    X, _ = table
    model.save(tmp_path / "model")
    again = sp.load(tmp_path / "model")
    assert again == model
    assert again.statistics.same(model.statistics)
    rows = pd.DataFrame({"x": [0.0, 0.0], "city": ["nowhere", None], "colour": ["red", "red"]})
    unseen, missing = again.predict(rows.astype({"city": "category", "colour": "category"}))
    assert unseen == missing
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.predict(X[:0]).shape == (0,)


def test_splits_on_encoded_columns_count_for_their_column(model):
    assert model.statistics.titles(model.feature_names) == ("city: mean of y", "city: rows")
    assert len(model.importance("split")) == 3
    assert model.importance("split").sum() == (model.forest.feature >= 0).sum()
    assert (model.forest.feature == 3).any()
    assert '"feature": "city: mean of y"' in model.to_json()


def test_shuffling_a_column_shuffles_its_encoded_columns(table, model):
    X, y = table
    found = sp.permutation_importance(model, X, y, columns=["city"], repeats=1, metric="rmse")
    order = np.random.default_rng(0).permutation(ROWS)
    shuffled = X.assign(city=pd.Categorical(X["city"].to_numpy()[order], X["city"].cat.categories))
    before, after = (np.sqrt(np.mean((model.predict(one) - y) ** 2)) for one in (X, shuffled))
    assert found.importances_mean[0] == pytest.approx(after - before, rel=0.15)


def test_going_on_with_the_same_rows_gives_the_bytes_of_one_training(data, model):
    half = sp.train(PARAMS, data[0], rounds=10)
    assert sp.train(PARAMS, data[0], rounds=10, init_model=half).to_bytes() == model.to_bytes()


def test_going_on_with_other_rows_keeps_the_encoding_for_the_trees_that_use_it(table, model):
    X, y = table
    other = sp.Dataset(X[1000:], y[1000:], schema=model.schema)
    on = sp.train(PARAMS, other, rounds=5, init_model=model)
    assert on.statistics.same(model.statistics)
    assert (on.forest.feature[on.forest.start[20] :] < 3).all()
    assert np.array_equal(on.predict(X, rounds=20), model.predict(X))


def test_a_mean_of_models_with_more_cuts_than_bytes_have_numbers_is_gone_on_from_by_codes(table, data):
    X, y = table
    params = PARAMS | {"max_leaves": 60, "min_child_samples": 1, "models": 3}
    mean, on = sp.train(params, data[0], 10), {**PARAMS, "target_stats": None}
    forest = mean.forest
    assert len(np.unique(forest.threshold[forest.feature == 3])) > 255
    expected = sp.train(on, sp.Dataset(X[:1000], y[:1000], keep_table=True), 1, init_model=mean)
    data[0].release()
    assert sp.train(on, data[0], 1, init_model=mean) == expected


@pytest.mark.parametrize("params", [{"random_state": 3}, {"max_bin": 20}])
def test_going_on_with_other_folds_or_bins_keeps_the_encoding_for_the_trees_that_use_it(table, model, params):
    X, y = (part[:1000] for part in table)
    again = sp.Dataset(X, y, schema=model.schema, max_bin=params.get("max_bin", 255))
    on = sp.train(PARAMS | params, again, rounds=5, init_model=model)
    assert on.statistics.same(model.statistics)
    assert (on.forest.feature[on.forest.start[20] :] < 3).all()
    assert np.array_equal(on.predict(X, rounds=20), model.predict(X))


def test_a_model_without_an_encoding_is_continued_without(data):
    plain = sp.train({}, data[0], rounds=2)
    assert sp.train(PARAMS, data[0], rounds=2, init_model=plain).statistics is None


def test_there_is_a_mean_for_each_class_and_each_column_of_the_target(table):
    X, y = table
    classes = np.digitize(y, [-1.0, 1.0]).astype(float)
    many = sp.train({**PARAMS, "objective": "softmax", "num_class": 3}, sp.Dataset(X, classes), 2)
    assert many.statistics.output.tolist() == [0, 1, 2, COUNT]
    shares = np.array([many.statistics.values_of(k) for k in range(3)])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    two = sp.train({**PARAMS, "objective": "log_loss"}, sp.Dataset(X, (y > 0) * 1.0), 2)
    assert two.statistics.output.tolist() == [0, COUNT]
    ids = np.arange(ROWS) % 17
    assert (
        sp.train({**PARAMS, "objective": "softmax", "num_class": 17}, sp.Dataset(X, ids), 1).statistics
        is None
    )
    pair = sp.train(PARAMS, sp.Dataset(X, np.column_stack([y, -y])), 2)
    assert pair.statistics.output.tolist() == [0, 1, COUNT]


def test_columns_of_most_categories_come_first_where_too_many_would_be_encoded():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, np.arange(10, 30), (400, 20)).astype(float)
    data = sp.Dataset(codes, rng.integers(0, 9, 400), categorical=range(20), max_bin=16)
    model = sp.train({**PARAMS, "objective": "softmax", "num_class": 9, "max_bin": 16}, data, 1)
    assert [feature.columns for feature in model.statistics.features] == [(k,) for k in range(8, 20)]
    few = sp.train({**PARAMS, "max_bin": 16}, data, 1).statistics
    assert {feature.columns for feature in few.features} >= {(k,) for k in range(20)}


def test_rows_of_a_query_are_in_one_fold(table):
    X, y = table
    queries = np.repeat(np.arange(ROWS // 10), 10)
    dataset = sp.Dataset(X, np.digitize(y, [0.0, 1.0]).astype(float), qid=queries)
    labels = dataset.labels()
    fold = fit_target_encoding(dataset.binned, labels, labels.target[None], [1], 10.0, 0).fold
    assert all(len(set(fold[queries == query])) == 1 for query in range(ROWS // 10))
    assert sp.train({**PARAMS, "objective": "rank_ndcg"}, dataset, 2).statistics.encoded_count == 2


def test_other_methods_survival_and_columns_of_few_categories_have_none(table):
    X, y = table
    dataset = sp.Dataset(X, np.exp(y), keep_table=True)
    assert sp.train({**PARAMS, "target_stats": CITIES}, dataset, 1).statistics is None
    assert sp.train({**PARAMS, "tree_method": "approx"}, dataset, 1).statistics is None
    assert sp.train({**PARAMS, "objective": "cox"}, dataset, 1).statistics is None


def test_rules_for_a_column_hold_for_its_encoded_columns(data):
    rules = {"monotone_constraints": {"x": 1}, "feature_weights": {"city": 0.0}, "colsample_bytree": 0.9}
    model = sp.train(PARAMS | rules, data[0], 3)
    assert model.importance("split")[1] == 0
    apart = sp.train(PARAMS | {"interaction_constraints": [["x", "colour"]]}, data[0], 3)
    source = apart.statistics.columns_behind()[0]
    for t in range(apart.forest.trees):
        tree = apart.forest.tree(t)
        used = set(source[tree.feature[tree.feature >= 0]].tolist())
        assert used <= {1} or 1 not in used
