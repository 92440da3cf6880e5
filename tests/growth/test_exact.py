"""The exact grower: where every value has a bin, the trees of the histogram grower; else by its own rules."""

import numpy as np
import pytest
import scipy.sparse

import problems
import spinney as sp
from spinney.binning.views import sort_columns
from spinney.data import read_table
from spinney.growth.kernels.scan import CUTS

SHAPE = ("feature", "left", "default_left", "count")


def small_problem(seed):
    """A table of few values and gradients that both growers represent without rounding."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 120)), int(rng.integers(1, 6))
    X = problems.table(rng, rows, columns)
    X = np.round(np.clip(np.where(np.isnan(X), np.nan, X), -50, 50), 1)
    y = rng.integers(-4, 5, rows) * 0.5
    params = problems.parameters(rng, columns) | {
        "objective": "squared_error",
        "base_score": 0.0,
        "gamma": 0.0,
        "learning_rate": 1.0,
        "random_state": seed,
    }
    if seed % 2:
        # With a direction, a split that parts missing values alone is tried where hist has an empty bin for it.
        X = np.nan_to_num(X)
        params |= problems.column_parameters(rng, columns)
    return X, y, params


@pytest.mark.parametrize("threads", [1, 2])
def test_where_every_value_has_a_bin_the_trees_are_those_of_hist(threads):
    splits = 0
    for seed in range(150):
        X, y, params = small_problem(seed)
        data = sp.Dataset(X, y)
        params["n_jobs"] = threads
        exact = sp.train(params | {"tree_method": "exact"}, data, 1)
        hist = sp.train(params | {"tree_method": "hist"}, data, 1)
        a, b = exact.forest.tree(0), hist.forest.tree(0)
        for name in SHAPE:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=f"{seed} {name}")
        np.testing.assert_allclose(a.value, b.value, rtol=1e-12)
        np.testing.assert_allclose(a.gain, b.gain, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(exact.predict_leaf(X), hist.predict_leaf(X))
        splits += int((a.feature >= 0).sum())
    assert splits > 300


def test_cuts_are_halfway_between_the_neighbours_in_the_node():
    X = np.array([[1.2], [3.5], [3.5], [4.1], [7.8]])
    model = sp.train(
        {"tree_method": "exact", "objective": "squared_error", "min_child_samples": 1, "reg_lambda": 0},
        sp.Dataset(X, np.array([0.0, 5.0, 5.0, 30.0, 90.0])),
        1,
    )
    tree = model.forest.tree(0)
    assert sorted(tree.threshold[tree.feature >= 0].tolist()) == [
        (1.2 + 3.5) / 2,
        (3.5 + 4.1) / 2,
        (4.1 + 7.8) / 2,
    ]


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, np.nextafter(1.0, 2)), (-1.7e308, 1.7e308), (5e-324, 1e-323)]
)
def test_a_cut_parts_neighbours_however_close_or_far(low, high):
    X = np.array([[low], [high]] * 5)
    y = np.array([0.0, 1.0] * 5)
    model = sp.train(
        {
            "tree_method": "exact",
            "objective": "squared_error",
            "min_child_samples": 1,
            "reg_lambda": 0,
            "learning_rate": 1,
        },
        sp.Dataset(X, y),
        1,
    )
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


@pytest.mark.parametrize("rows", [CUTS - 1, CUTS, CUTS + 1, 2 * CUTS, 3 * CUTS + 7])
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "gaps"])
def test_the_best_cut_is_found_wherever_it_is(rows, missing):
    """Against trying every cut in turn."""
    rng = np.random.default_rng(rows)
    x = rng.permutation(rows).astype(float)
    if missing:
        x[::5] = np.nan
    for place in rng.integers(1, rows - 1, 6):
        y = np.where(x < place, 1.0, -2.0) + 0.1 * rng.integers(-2, 3, rows)
        y[np.isnan(x)] = rng.choice([1.0, -2.0])
        model = sp.train(
            {"tree_method": "exact", "objective": "squared_error", "max_leaves": 2, "min_child_samples": 1, "base_score": 0,
             "reg_lambda": 1.0, "n_jobs": 2},
            sp.Dataset(x[:, None], y),
            1,
        )  # fmt: skip
        tree = model.forest.tree(0)
        best = best_gain(x, y)
        np.testing.assert_allclose(tree.gain[0], best, rtol=1e-6)
        assert tree.count[1:].tolist() == [
            int(np.where(np.isnan(x), tree.default_left[0] == side, (x <= tree.threshold[0]) == side).sum())
            for side in (True, False)
        ]


def test_missing_values_may_be_all_that_a_split_parts():
    x = np.where(np.arange(4 * CUTS) % 3 == 0, np.nan, np.arange(4.0 * CUTS))
    y = np.where(np.isnan(x), 5.0, -1.0)
    params = {"tree_method": "exact", "objective": "squared_error", "max_leaves": 2}
    model = sp.train(params, sp.Dataset(x[:, None], y), 1)
    tree = model.forest.tree(0)
    assert tree.default_left[0] == 0
    assert tree.count[1:].tolist() == [int((~np.isnan(x)).sum()), int(np.isnan(x).sum())]
    assert model.predict_leaf(x[:, None])[:, 0].tolist() == np.where(np.isnan(x), 2, 1).tolist()


def best_gain(x, y):
    def score(part):
        return y[part].sum() ** 2 / (part.sum() + 1.0)

    gains = []
    for cut in np.unique(x[~np.isnan(x)]):
        for missing_left in (False, True):
            left = np.where(np.isnan(x), missing_left, x <= cut).astype(bool)
            if left.any() and not left.all():
                gains.append(0.5 * (score(left) + score(~left) - score(np.ones(len(x), bool))))
    return max(gains)


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("seed", range(6))
def test_sparse_and_dense_tables_give_the_same_bytes(seed, absent):
    rng = np.random.default_rng(seed)
    rows, columns = 500, 6
    stored = rng.random((rows, columns)) < rng.choice([0.02, 0.2, 0.9, 1.0], columns)
    values = rng.choice([-2.0, -1.0, 0.0, 0.5, 3.0, np.nan], (rows, columns)) + rng.choice(
        [0, 0.01], (rows, columns)
    )
    at = np.nonzero(stored)
    sparse = scipy.sparse.coo_array((values[at], at), shape=(rows, columns))
    dense = np.where(stored, values, np.nan if absent == "missing" else 0.0)
    y = rng.normal(size=rows) + np.nan_to_num(dense[:, 0])
    params = {"objective": "squared_error", "tree_method": "exact", "min_child_samples": 2, "max_depth": 5}
    expected = sp.train(params | {"n_jobs": 1}, sp.Dataset(dense, y, absent=absent), 4)
    for threads in (1, 2, 3):
        for X in (sparse, sparse.tocsr(), sparse.tocsc()):
            found = sp.train(params | {"n_jobs": threads}, sp.Dataset(X, y, absent=absent), 4)
            assert found.forest.equal(expected.forest)
    assert expected.forest.nodes > 20


PARAMS = {
    "depthwise": {"grow_policy": "depthwise", "max_depth": 5, "max_leaves": 0},
    "lossguide": {"max_leaves": 12},
    "columns": {"colsample_bytree": 0.7, "colsample_bylevel": 0.7, "colsample_bynode": 0.7},
    "half": {"subsample": 0.5},
    "goss": {"sampling_method": "goss", "goss_warm_up": False},
    "pruned": {"gamma": 3.0, "max_depth": 6, "max_leaves": 0},
    "local": {"tree_method": "approx", "proposal": "local", "max_depth": 5},
}


@pytest.mark.parametrize("case", PARAMS)
@pytest.mark.parametrize("objective", ["squared_error", "log_loss", "softmax"])
def test_any_number_of_threads_gives_the_same_bytes(tmp_path, case, objective):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((3_000, 6)) < 0.1, np.nan, rng.normal(size=(3_000, 6)).round(2))
    effect = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=3_000)
    y = effect
    if objective != "squared_error":
        y = 1.0 * (effect > 0) + (1.0 * (effect > 1) if objective == "softmax" else 0.0)
    weight = rng.uniform(0, 2, 3_000)
    params = {"objective": objective, "tree_method": "exact", "num_class": 3 if objective == "softmax" else 0}
    data = sp.Dataset(X, y, weight=weight)
    valid = sp.Dataset(X[:500], y[:500], reference=data)
    seen = set()
    for threads in (1, 2, 3, 8):
        history = sp.History()
        given = params | PARAMS[case] | {"n_jobs": threads}
        model = sp.train(given, data, 5, valid={"train": data, "part": valid}, callbacks=[history])
        model.save(tmp_path / "model")
        seen.add(((tmp_path / "model").read_bytes(), str(history.evals)))
    assert len(seen) == 1
    assert model.forest.nodes > 50
    # Scores moved while growing are those of the finished model.
    metric = next(iter(history.evals["part"]))
    again = sp.History()
    sp.train(
        given,
        data,
        5,
        valid={"again": sp.Dataset(X, data.target, weight=weight, reference=data)},
        callbacks=[again],
    )
    assert again.evals["again"][metric] == history.evals["train"][metric]


def test_pruning_takes_back_only_what_does_not_pay():
    """The whole tree, less every bottom split that gains too little, again and again."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(800, 5))
    y = np.where(X[:, 0] > 0, np.where(X[:, 1] > 0, 2.0, -2.0), X[:, 2]) + 0.5 * rng.normal(size=800)
    params = {
        "objective": "squared_error",
        "tree_method": "exact",
        "max_depth": 6,
        "max_leaves": 0,
        "min_child_samples": 5,
    }
    data = sp.Dataset(X, y)
    whole = sp.train(params, data, 1).forest.tree(0)
    for gamma in (0.5, 2.0, 8.0, 1e9):
        left = whole.left.copy()
        for node in range(whole.nodes - 1, -1, -1):
            if left[node] and not left[left[node]] and not left[left[node] + 1] and whole.gain[node] < gamma:
                left[node] = 0
        reached, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            reached.append(node)
            if left[node]:
                waiting += [left[node], left[node] + 1]
        found = sp.train(params | {"gamma": gamma}, data, 1).forest.tree(0)
        assert sorted(found.count.tolist()) == sorted(whole.count[reached].tolist())
        assert sorted(found.value.tolist()) == sorted(whole.value[reached].tolist())
    assert found.nodes == 1
    # A split that gains little stays where one below it gains enough: the first one of this table does.
    low = sp.train(params | {"gamma": float(whole.gain[0]) * 1.5}, data, 1).forest.tree(0)
    assert low.gain[0] == whole.gain[0] or low.nodes == 1


@pytest.mark.parametrize("kind", problems.KINDS)
def test_columns_of_every_kind(kind):
    rng = np.random.default_rng(3)
    for rows in (1, 2, 30):
        X = np.stack([problems.column(rng, rows, kind), problems.column(rng, rows, "few")], axis=1)
        y = rng.normal(size=rows)
        params = {
            "objective": "squared_error",
            "tree_method": "exact",
            "min_child_samples": 1,
            "min_child_weight": 0.0,
        }
        model = sp.train(params, sp.Dataset(X, y), 3)
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("kind", problems.WEIGHTS)
def test_weights_of_every_kind(kind):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    weight = problems.weights(rng, 200, kind)
    params = {
        "objective": "squared_error",
        "tree_method": "exact",
        "min_child_weight": 0.0,
        "reg_lambda": 0.0,
    }
    model = sp.train(params, sp.Dataset(X, y, weight=weight), 5)
    kept = np.ones(200, bool) if weight is None else weight > 0
    alone = sp.train(params, sp.Dataset(X[kept], y[kept], weight=None if weight is None else weight[kept]), 5)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-9, atol=1e-12)


def test_sorted_columns_list_what_is_stored():
    X = scipy.sparse.csr_array(np.array([[0.0, 3.0], [-1.0, 0.0], [0.0, np.nan], [2.0, 0.0]]))
    found = sort_columns(read_table(X), 2)
    assert found.values.tolist() == [-1.0, 0.0, 2.0, 0.0, 3.0]
    assert [(e >> 32, e & 0xFFFFFFFF) for e in found.record.entries.tolist()] == [
        (0, 1),
        (2, 3),
        (1, 0),
        (2, 2),
    ]
    assert found.record.rest.tolist() == [1, 0]
