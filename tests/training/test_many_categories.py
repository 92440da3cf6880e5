"""Columns of hundreds of categories: their order is sorted at its ends only, and below some node they are left alone."""

import numpy as np
import pandas as pd
import pytest

import category_oracle
import spinney as sp
from spinney.data import Categories, find_schema, read_table
from spinney.params import Config
from spinney.training import growers

ROWS, LEVELS = 8_000, 500


def problem(seed, missing=0.0, ties=False):
    """Numbers of categories, -1 for missing, and a target of small whole numbers, whose sums are exact."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(4 / LEVELS, ROWS), LEVELS) - 1
    effect = rng.integers(-3, 4, LEVELS) if ties else rng.normal(size=LEVELS) * 8
    y = np.round(effect[codes] + (0 if ties else 4) * rng.normal(size=ROWS))
    codes[rng.random(ROWS) < missing] = -1
    return codes, y


def dataset(codes, y):
    text = np.array([f"c{code:03}" if code >= 0 else None for code in codes], dtype=object)
    return sp.Dataset(pd.DataFrame({"c": text}), y), text


def best_of(numbers, bins, y, params, everybody=None):
    """The oracle's split of some rows, and the score of leaving them together; targets of all rows tell how large noise is."""
    count = np.bincount(numbers + 1, minlength=bins + 1)
    g = np.bincount(numbers + 1, -y, bins + 1)
    sums = [(float(a), float(b), int(b)) for a, b in zip(g, count, strict=True)]
    noise = category_oracle.noise_of(y if everybody is None else everybody, np.ones(1))
    return category_oracle.best_split(sums[1:], sums[0], Config.parse(params), noise), y.sum() ** 2 / (
        len(y) + params["reg_lambda"]
    )


@pytest.mark.parametrize("most", [1, 2, 32, 64, 65, 400])
@pytest.mark.parametrize(("missing", "ties"), [(0.0, False), (0.1, False), (0.1, True)])
def test_the_root_split_is_that_of_the_oracle(missing, ties, most):
    codes, y = problem(most, missing, ties)
    params = {
        "base_score": 0.0,
        "max_leaves": 2,
        "reg_lambda": 1.0,
        "max_cat_threshold": most,
        "min_data_per_group": 1,
    }
    params |= {"cat_smooth": 5.0, "min_child_samples": 1}
    data, text = dataset(codes, y)
    model = sp.train(params, data, 1)
    categories = model.schema.categories[0]
    numbers = np.array([-1 if value is None else categories.numbers[value] for value in text])
    best, _ = best_of(numbers, len(categories.values), y, params)
    tree = model.forest.tree(0)
    assert set(tree.sets.members(0)) == best[1]
    if missing:
        assert bool(tree.default_left[0]) == best[2]


@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_growth_ends_where_the_oracle_finds_nothing_more(monkeypatch, missing):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    codes, y = problem(7, missing)
    params = {
        "base_score": 0.0,
        "max_leaves": 0,
        "reg_lambda": 1.0,
        "min_data_per_group": 1,
        "min_child_samples": 1,
    }
    data, text = dataset(codes, y)
    model = sp.train(params, data, 1)
    assert len({sp.train(params | {"n_jobs": n}, data, 1).to_bytes() for n in (1, 2, 3, 8)}) == 1
    categories = model.schema.categories[0]
    numbers = np.array([-1 if value is None else categories.numbers[value] for value in text])
    leaf = model.predict_leaf(pd.DataFrame({"c": text}))[:, 0]
    found = np.unique(leaf)
    assert len(found) > 8
    for one in found:
        best, own = best_of(numbers[leaf == one], len(categories.values), y[leaf == one], params, y)
        assert best is None or best[0] <= own * (1 + 1e-9)


def expected_kept(counts, max_bin):
    """The stated rule, in whole numbers: `counts` holds the rows of each category."""
    if len(counts) <= min(max_bin, 65_000):
        return len(counts)
    covering = int(np.argmax(np.cumsum(np.sort(counts)[::-1]) * 100 >= counts.sum() * 99)) + 1
    return min(max(covering, max_bin), 65_000, len(counts))


@pytest.mark.parametrize(
    ("levels", "max_bin"),
    [(200, 255), (255, 255), (256, 255), (300, 2), (60_000, 255), (65_000, 65_536), (65_200, 65_536), (65_200, 65_100),
     (200_000, 255), (1_000_000, 255), (1_000_000, 65_536)],
)  # fmt: skip
@pytest.mark.parametrize("skewed", [False, True])
def test_the_number_of_categories_that_are_kept_follows_one_rule(levels, max_bin, skewed):
    rng = np.random.default_rng(levels)
    more = (
        np.minimum(rng.geometric(20 / levels, levels), levels) if skewed else rng.integers(0, levels, levels)
    )
    rows = np.concatenate([np.arange(levels), more])
    codes = rows - 1.0  # the first category is missing
    codes[codes < 0] = np.nan
    (found,) = find_schema(read_table(codes.reshape(-1, 1)), {0}, None, max_bin).categories
    counts = np.bincount(rows)[1:]
    assert found.kept == expected_kept(counts, max_bin)
    assert len(found.values) == levels - 1
    order = np.array(found.values)
    assert (np.diff(counts[order]) <= 0).all()
    assert found.rare == levels - 1 - found.kept


@pytest.mark.slow
def test_a_million_categories_train_and_come_back_from_their_file():
    rng = np.random.default_rng(0)
    many = 1_000_000
    codes = np.concatenate([np.arange(many), rng.integers(0, 500, 200_000)])
    text = pd.Categorical.from_codes(codes, categories=[f"c{k}" for k in range(many)])
    y = (codes % 7 == 0) * 1.0
    data = sp.Dataset(pd.DataFrame({"c": text}), y)
    assert data.describe()["categorical_columns"] == 1
    assert data.describe()["rare_categories"] == many - 65_000
    assert data.describe()["bins"] == 65_001
    model = sp.train({"max_leaves": 4, "max_cat_threshold": 32}, data, 1)
    few = pd.DataFrame({"c": ["c0", "c1", "c999999", "c999998", "else", None]})
    again = sp.Model.from_bytes(model.to_bytes())
    predicted = again.predict(few)
    assert predicted.tolist() == model.predict(few).tolist()
    assert predicted[0] > predicted[1]
    assert predicted[2] == predicted[3]
    assert predicted[4] == predicted[5]


def test_more_categories_than_can_be_kept_train_with_the_largest_max_bin():
    codes = np.arange(65_300.0).reshape(-1, 1)
    data = sp.Dataset(codes, np.zeros(65_300), categorical=[0], max_bin=65_536)
    assert data.schema.categories[0].kept == 65_000
    assert sp.train({}, data, 1).predict(codes[:2]).shape == (2,)


def test_categories_of_equal_counts_stand_in_their_own_order():
    values = ("b", "a", "d", "c")
    table = read_table(pd.DataFrame({"c": [*values, "d", "z", "z", "z"]}))
    assert find_schema(table, (), None, 255).categories == (Categories(("z", "d", "a", "b", "c"), 5),)
