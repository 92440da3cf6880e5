"""Target encoding of pairs of columns: which pairs are chosen, and how their rows are encoded."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import spinney as sp
from spinney.collective import ALONE
from spinney.data import Labels
from spinney.data.target_encoding import EncodedFeature
from spinney.jit.team import Team
from spinney.sampling.orders import shuffled_orders
from spinney.target_encoding import pairs
from spinney.target_encoding.fit import fit_target_encoding
from spinney.target_encoding.pairs import choose_pairs
from spinney.target_encoding.sums import WeightedTargets, assign_folds

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
PARAMS = {"target_stats": 5, "max_leaves": 6, "n_jobs": 1}
RNG = np.random.default_rng(3)
CODES = RNG.integers(0, [8, 9, 7, 6], (ROWS, 4))
CODES[:, 3] = (CODES[:, 1] * 4 + 3) % 9  # the second column by other names
EFFECT = RNG.normal(size=(8, 9))
Y = EFFECT[CODES[:, 0], CODES[:, 1]] + 0.3 * RNG.normal(size=ROWS)
WEIGHT = RNG.integers(0, 4, ROWS) / 2.0


def frame(codes=CODES, missing=0.05):
    table = pd.DataFrame({name: codes[:, k].astype(float) for k, name in enumerate("abcd")})
    gaps = np.random.default_rng(5).random(table.shape) < missing
    gaps[:, 3] = gaps[:, 1]
    table = table.mask(gaps)
    return table.astype("category").assign(x=np.arange(len(codes)) % 13)


def chosen_by_loops(codes, sizes, target, weight, fold, smooth, most):
    """Pairs by the error of the encoded rows, row by row."""
    mean = np.average(target, weights=weight)

    def error(key):
        squares, by_key = 0.0, dict.fromkeys(key.tolist(), 0.0)
        for row in np.flatnonzero(weight):
            others = (key == key[row]) & (fold != fold[row])
            mass = weight[others].sum()
            mean_of_others = (weight[others] @ target[others] + smooth * mean) / (mass + smooth)
            by_key[key[row]] += weight[row] * (
                (mean_of_others - target[row]) ** 2 - (mean - target[row]) ** 2
            )
            squares += weight[row] * (mean_of_others - mean) ** 2
        spread, rows = weight @ (target - mean) ** 2, weight.sum() ** 2 / (weight**2).sum()
        noise_margin = 10 * np.sqrt(squares / spread / rows) - sum(sorted(by_key.values())[:3]) / spread
        return sum(by_key.values()) / spread, noise_margin

    alone = [error(code)[0] for code in codes]
    distinct = [len(np.unique(code)) for code in codes]
    found, same = [], set()
    for i, j in combinations(range(len(codes)), 2):
        key = codes[i] * (sizes[j] + 1) + codes[j]
        count = len(np.unique(key))
        if count == distinct[i] == distinct[j]:
            same.add(j)
        own, noise_margin = error(key)
        gain = min(alone[i], alone[j], 0.0) - own
        if gain > noise_margin and count >= 1.2 * max(distinct[i], distinct[j]):
            found.append((-gain, i, j))
    return [(i, j) for _, i, j in sorted(found) if not {i, j} & same][:most]


@pytest.fixture(scope="module")
def dataset():
    return sp.Dataset(frame(), Y)


def features_of(dataset):
    counts = dataset.schema.category_counts
    return [EncodedFeature((column,), int(counts[column])) for column in range(4)]


def codes_of(dataset):
    features = dataset.binned.matrix().features
    return [dataset.binned.matrix().by_column[features.group[column]].astype(np.int64) for column in range(4)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [1, 3])
def test_pairs_are_chosen_by_the_error_of_encoded_rows(dataset, weighted, most):
    labels = Labels(Y, WEIGHT if weighted else None)
    weight = WEIGHT if weighted else np.ones(ROWS)
    targets = WeightedTargets.of(labels, Y[None], 2.0, np.arange(ROWS), ALONE)
    found = choose_pairs(dataset.binned, features_of(dataset), most, targets)
    sizes = [feature.size for feature in features_of(dataset)]
    fold = assign_folds(np.arange(ROWS), seed=0)
    expected = chosen_by_loops(codes_of(dataset), sizes, Y, weight, fold, 2.0, most)
    assert [feature.columns for feature in found] == expected
    assert expected[0] == (0, 1)


@pytest.mark.parametrize("most", [0, 1])
def test_there_are_no_more_than_requested(dataset, most):
    model = sp.train(PARAMS | {"target_stats_pairs": most}, dataset, 1)
    assert sum(feature.observed_pairs is not None for feature in model.statistics.features) == most


def test_a_row_gets_the_mean_of_the_rows_of_its_pair_in_other_folds(dataset):
    fitted = fit_target_encoding(dataset.binned, Labels(Y), Y[None], [0, 1], 2.0, seed=4, pairs=1)
    codes = codes_of(dataset)
    key = codes[0] * 10 + codes[1]
    pair = fitted.encoding.features[2]
    assert pair.columns == (0, 1)
    assert pair.observed_pairs.tolist() == np.unique(key).tolist()
    number = pair.number({0: codes[0], 1: codes[1]})
    for row in range(0, ROWS, 23):
        others = (key == key[row]) & (fitted.fold != fitted.fold[row])
        mean_of_others = (Y[others].sum() + 2.0 * Y.mean()) / (others.sum() + 2.0)
        assert fitted.by_fold[4][fitted.fold[row], number[row]] == pytest.approx(
            mean_of_others, rel=1e-9, abs=1e-12
        )
        assert fitted.by_fold[5][fitted.fold[row], number[row]] == pytest.approx(1.25 * others.sum())
        same = key == key[row]
        of_all_rows = (Y[same].sum() + 2.0 * Y.mean()) / (same.sum() + 2.0)
        assert fitted.encoding.values_of(4)[number[row]] == pytest.approx(of_all_rows, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("min_rows", [1, 1_000])
def test_few_rows_without_a_category_make_no_pair(dataset, min_rows):
    fitted = fit_target_encoding(
        dataset.binned, Labels(Y), Y[None], [0, 1], 2.0, seed=4, pairs=1, min_rows=min_rows
    )
    codes = codes_of(dataset)
    missing = (codes[0] == 8) | (codes[1] == 9)
    pair = fitted.encoding.features[2]
    number = pair.number({0: codes[0], 1: codes[1]})
    assert (number[missing] == pair.size).all() == (min_rows > missing.sum())
    assert (number[~missing] < pair.size).all()
    assert fitted.encoding.values_of(4)[-1] == pytest.approx(Y.mean())
    assert fitted.encoding.values_of(5)[-1] == 0


def test_columns_of_which_one_is_missing_where_the_other_is_not_make_no_pair_or_a_whole_one():
    rng = np.random.default_rng(0)
    here, code = rng.random(2_000) < 0.5, rng.integers(0, 30, 2_000)
    effects = rng.normal(size=(2, 30))
    table = pd.DataFrame(
        {"a": np.where(here, code, np.nan), "b": np.where(here, np.nan, code)}, dtype="category"
    )
    y = np.where(here, effects[0][code], effects[1][code]) + 0.1 * rng.normal(size=2_000)
    model = sp.train(PARAMS, sp.Dataset(table, y), 40)
    assert np.corrcoef(model.predict(table), y)[0, 1] > 0.95


def test_a_pair_that_no_row_had_gets_the_overall_mean(dataset):
    codes = CODES.copy()
    codes[(codes[:, 0] == 2) & (codes[:, 1] == 3), 1] = 4
    model = sp.train(PARAMS, sp.Dataset(frame(codes, missing=0.0), Y), 3)
    table = model.read(frame(np.array([[2, 3, 1, 6]]), missing=0.0))
    mean, rows = table.panels[-1].values[0, 8:10]
    assert mean == pytest.approx(Y.mean())
    assert rows == 0


def test_columns_that_matter_together_are_predicted_better(dataset):
    losses = {}
    for most in (0, 12):
        history = sp.History()
        kept, held = sp.split(dataset, test=0.3, seed=1)
        sp.train(PARAMS | {"target_stats_pairs": most}, kept, 40, valid={"v": held}, callbacks=[history])
        losses[most] = min(history.evals["v"]["rmse"])
    assert losses[12] < 0.9 * losses[0]


def test_the_number_of_threads_changes_no_byte(dataset):
    models = [sp.train(PARAMS | {"n_jobs": threads}, dataset, 4) for threads in (1, 2, 3, 8)]
    assert all(model.to_bytes() == models[0].to_bytes() for model in models)


def test_other_seeds_have_the_same_pairs_so_that_one_model_can_hold_them(dataset):
    one, other = (sp.train(PARAMS | {"random_state": seed}, dataset, 1).statistics for seed in (0, 1))
    assert one.same(other)
    mean = sp.train(PARAMS | {"models": 2}, dataset, "auto", max_rounds=3)
    assert mean.statistics.same(one)


def test_a_sample_chooses_where_rows_are_very_many(monkeypatch, dataset):
    monkeypatch.setattr(pairs, "ROWS", 450)
    sizes = []
    best = pairs._best_pairs

    def recorded(sample, *rest):
        sizes.append(sample.shape[1])
        return best(sample, *rest)

    monkeypatch.setattr(pairs, "_best_pairs", recorded)
    model = sp.train(PARAMS, dataset, 1)
    assert 350 < sizes[0] < 550
    assert (0, 1) in [feature.columns for feature in model.statistics.features]
    codes = codes_of(dataset)
    observed = model.statistics.features[
        [s.columns for s in model.statistics.features].index((0, 1))
    ].observed_pairs
    assert observed.tolist() == np.unique(codes[0] * 10 + codes[1]).tolist()


def test_pairs_of_too_many_values_are_left_out(monkeypatch, dataset):
    monkeypatch.setattr(pairs, "VALUES", 2 * 70)
    model = sp.train(PARAMS, dataset, 1)
    assert (0, 1) not in [feature.columns for feature in model.statistics.features]


def test_rows_of_weight_0_count_for_nothing(monkeypatch):
    monkeypatch.setattr(pairs, "ROWS", ROWS)
    rng = np.random.default_rng(7)
    noise = rng.integers(0, [8, 9, 7, 6], (3 * ROWS, 4))
    table = pd.concat([frame(missing=0.0), frame(noise, missing=0.0)])
    table = table.astype(dict.fromkeys("abcd", "int64")).astype(dict.fromkeys("abcd", "category"))
    weight = np.repeat([1.0, 0.0], [ROWS, 3 * ROWS])
    y = np.concatenate([Y, rng.normal(size=3 * ROWS)])
    alone = sp.train(PARAMS, sp.Dataset(table[:ROWS], Y), 1).statistics
    with_zero_weights = sp.train(PARAMS, sp.Dataset(table, y, weight=weight), 1).statistics
    assert [feature.columns for feature in with_zero_weights.features] == [
        feature.columns for feature in alone.features
    ]
    assert (0, 1) in [feature.columns for feature in with_zero_weights.features]
    assert np.array_equal(with_zero_weights.sizes, alone.sizes)


def test_importance_is_halved_between_the_columns_of_a_pair(dataset):
    model = sp.train(PARAMS, dataset, 5)
    titles = model.statistics.titles(model.feature_names)
    assert "a & b: mean of y" in titles
    both = np.isin(model.forest.feature, 5 + np.flatnonzero([title.startswith("a & b:") for title in titles]))
    assert both.any()
    splits = model.importance("split")
    assert splits.sum() == (model.forest.feature >= 0).sum()
    assert splits[0] >= both.sum() / 2
    assert splits[1] >= both.sum() / 2
    assert model.importance("total_gain").sum() == pytest.approx(model.forest.gain.sum())
    assert '"feature": "a & b: mean of y"' in model.to_json()


def test_shuffling_a_column_gives_the_pairs_that_the_shuffled_table_has(dataset):
    model = sp.train(PARAMS, dataset, 20)
    table = frame()

    def error(X):
        return np.sqrt(np.mean((model.predict(X) - Y) ** 2))

    groups = {"a": ["a"], "b": ["b"], "both": ["a", "b"], "c": ["c"]}
    found = sp.permutation_importance(model, table, Y, columns=groups, repeats=2, seed=3, metric="rmse")
    for place, columns in enumerate(groups.values()):
        for turn in range(2):
            (order,) = shuffled_orders(3, turn, ["abc".index(columns[0])], ROWS, Team(1))
            shuffled = table.assign(**{name: table[name].to_numpy()[order] for name in columns})
            shuffled = shuffled.astype(table.dtypes.to_dict())
            expected = error(shuffled) - error(table)
            assert found.importances[place, turn] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("smooth", "weight", "size"),
    [(1e308, 1.0, 1.0), (10.0, 1e-300, 1e20), (0.0, 1e200, 1e15), (1e-200, None, 1e6)],
)
def test_very_large_and_very_small_numbers_give_finite_means(smooth, weight, size):
    """None: every other weight is so small beside the others that it is lost in their sum."""
    weights = np.where(np.arange(ROWS) % 2, 1.0, 1e-16) if weight is None else np.full(ROWS, weight)
    dataset = sp.Dataset(frame(), (Y + 3.0) * size, weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sp.train(PARAMS | {"target_stats_smooth": smooth}, dataset, 2)
    values = model.statistics.values
    assert np.isfinite(values).all()
    assert np.isfinite(model.predict(frame())).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rare", [False, True])
def test_noise_has_no_pairs(seed, rare):
    rng = np.random.default_rng(seed)
    y = (rng.random(2000) < 0.01) * 1.0 if rare else rng.normal(size=2000)
    dataset = sp.Dataset(rng.integers(0, 40, (2000, 6)) * 1.0, y, categorical=range(6))
    model = sp.train(PARAMS | {"target_stats_smooth": 10.0}, dataset, 1)
    assert sum(feature.observed_pairs is not None for feature in model.statistics.features) == 0


def test_rules_for_columns_hold_for_their_pairs(dataset):
    apart = sp.train(PARAMS | {"interaction_constraints": [["a", "x"], ["b", "c", "d"]]}, dataset, 3)
    assert all(feature.observed_pairs is None for feature in apart.statistics.features)
    rules = {"feature_weights": {"a": 0.0}, "colsample_bytree": 0.9, "monotone_constraints": {"x": 1}}
    never = sp.train(PARAMS | rules, dataset, 3)
    assert never.importance("split")[0] == 0


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_sample_of_hardly_any_rows_chooses_nothing(monkeypatch, rows, dataset):
    monkeypatch.setattr(pairs, "ROWS", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sp.train(PARAMS, dataset, 1)
    assert all(feature.observed_pairs is None for feature in model.statistics.features)
