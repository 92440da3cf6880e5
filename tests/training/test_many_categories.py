"""Columns of hundreds of categories: their order is sorted at its ends only, and below some node they are left alone."""

import numpy as np
import pandas as pd
import pytest

import category_oracle
import spinney as sp
from spinney.params import parse
from spinney.training import boosting

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


def best_of(numbers, bins, y, params):
    """The oracle's split of some rows, and the score of leaving them together."""
    count = np.bincount(numbers + 1, minlength=bins + 1)
    g = np.bincount(numbers + 1, -y, bins + 1)
    sums = [(float(a), float(b), int(b)) for a, b in zip(g, count, strict=True)]
    return category_oracle.best_split(sums[1:], sums[0], parse(params)), y.sum() ** 2 / (
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
    categories = model._parts.schema.categories[0]
    numbers = np.array([-1 if value is None else categories.numbers[value] for value in text])
    best, _ = best_of(numbers, len(categories.values), y, params)
    tree = model.forest.tree(0)
    assert set(tree.sets.members(0)) == best[1]
    if missing:
        assert bool(tree.default_left[0]) == best[2]


@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_growth_ends_where_the_oracle_finds_nothing_more(monkeypatch, missing):
    monkeypatch.setattr(boosting, "SHARE_VALUES", 0)
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
    categories = model._parts.schema.categories[0]
    numbers = np.array([-1 if value is None else categories.numbers[value] for value in text])
    leaf = model.predict_leaf(pd.DataFrame({"c": text}))[:, 0]
    found = np.unique(leaf)
    assert len(found) > 8
    for one in found:
        best, own = best_of(numbers[leaf == one], len(categories.values), y[leaf == one], params)
        assert best is None or best[0] <= own * (1 + 1e-9)
