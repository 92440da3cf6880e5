"""Categorical columns, from the frame to the prediction."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import category_oracle
import spinney as sp
from spinney.errors import DataError, DataTypeError, ModelFormatError, ParameterError
from spinney.params import Config
from spinney.training import growers

COLOURS = np.array(["red", "green", "blue", "mauve", "ecru", "teal", "ochre"])
EFFECT = dict(zip(COLOURS, (2.0, -1.0, 0.5, 3.0, -2.5, 0.0, 1.5), strict=True))
LOOSE = {"cat_smooth": 1.0, "min_data_per_group": 1, "min_child_samples": 2, "cat_l2": 0.0}


def frame(rows=400, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    colour = rng.choice(COLOURS, rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.06, 0.04])
    number = rng.normal(size=rows)
    y = np.array([EFFECT[c] for c in colour]) + number + 0.1 * rng.normal(size=rows)
    colour = colour.astype(object)
    if gaps:
        colour[rng.random(rows) < 0.1] = None
    return pd.DataFrame({"number": number, "colour": colour}), y


def test_text_and_categories_of_every_library_give_the_same_model():
    X, y = frame()
    text = [None if pd.isna(value) else str(value) for value in X["colour"]]
    tables = [
        X,
        X.astype({"colour": "category"}),
        X.assign(colour=pd.Categorical(text, categories=sorted(EFFECT, reverse=True))),
        X.astype({"colour": "string"}),
        pl.DataFrame({"number": X["number"].to_numpy(), "colour": text}),
        pl.DataFrame(
            {"number": X["number"].to_numpy(), "colour": text}, schema_overrides={"colour": pl.Categorical}
        ),
        pl.DataFrame(
            {"number": X["number"].to_numpy(), "colour": text},
            schema_overrides={"colour": pl.Enum(sorted(EFFECT))},
        ),
        pa.table({"number": X["number"].to_numpy(), "colour": text}),
        pa.table({"number": X["number"].to_numpy(), "colour": pa.array(text).dictionary_encode()}),
    ]
    models = [sp.train({}, sp.Dataset(table, y), 5) for table in tables]
    assert all(model == models[0] for model in models)
    expected = models[0].predict(X)
    assert np.sqrt(np.mean((sp.train(LOOSE, sp.Dataset(X, y), 60).predict(X) - y) ** 2)) < 0.6
    for table in tables:
        assert models[0].predict(table).tolist() == expected.tolist()
        assert models[0].predict_leaf(table).tolist() == models[0].predict_leaf(X).tolist()


def test_whole_numbers_are_categories_when_named():
    X, y = frame()
    codes = {colour: 100 - 7 * place for place, colour in enumerate(sorted(EFFECT))}
    number = np.array([np.nan if pd.isna(value) else codes[value] for value in X["colour"]])
    array = np.stack([X["number"], number], axis=1)
    models = [
        sp.train({}, sp.Dataset(array, y, categorical=[1]), 5),
        sp.train({}, sp.Dataset(array, y, categorical=[np.int64(1)]), 5),
        sp.train({}, sp.Dataset(np.asfortranarray(array), y, categorical=(1,)), 5),
    ]
    assert models[0].forest.equal(models[1].forest)
    assert models[0].forest.equal(models[2].forest)
    table = pd.DataFrame({"number": X["number"], "code": pd.array(number, dtype="Int64")})
    named = sp.train({}, sp.Dataset(table, y, categorical=["code"]), 5)
    assert named.forest.equal(models[0].forest)
    assert named.predict(table).tolist() == models[0].predict(array).tolist()
    assert not sp.train({}, sp.Dataset(array, y), 5).forest.equal(named.forest)


def test_whole_numbers_as_categories_are_the_same_from_every_library():
    z = np.random.default_rng(0).integers(0, 6, 400)
    table = pd.DataFrame({"c": pd.Categorical(z)})
    arrow = pa.Table.from_pandas(table)
    models = [sp.train(LOOSE, sp.Dataset(X, z * 1.0), 20) for X in (table, arrow)]
    assert models[0] == models[1]
    np.testing.assert_allclose(models[0].predict(arrow), z, atol=0.8)
    assert models[0].predict(arrow).tolist() == models[0].predict(table).tolist()
    flags = pd.DataFrame({"c": pd.Categorical(z > 2)})
    assert sp.train(LOOSE, sp.Dataset(flags, z * 1.0), 2) == sp.train(
        LOOSE, sp.Dataset(pa.Table.from_pandas(flags), z * 1.0), 2
    )


def test_arrow_dictionaries_inside_pandas_are_categories():
    text = ["a", "b", None, ""] * 20
    dtype = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    inside = pd.DataFrame({"c": pd.Series(pa.array(text).dictionary_encode(), dtype=dtype)})
    plain = pd.DataFrame({"c": text})
    y = np.arange(80.0) % 4
    assert sp.train(LOOSE, sp.Dataset(inside, y), 2) == sp.train(LOOSE, sp.Dataset(plain, y), 2)


def test_missing_values_can_be_set_apart_from_all_categories():
    rng = np.random.default_rng(0)
    text = rng.integers(0, 50, 2_000).astype(str).astype(object)
    gone = rng.random(2_000) < 0.3
    text[gone] = None
    params = {"max_leaves": 2, "learning_rate": 1.0, "reg_lambda": 0.0, "cat_l2": 0.0}
    model = sp.train(params, sp.Dataset(pd.DataFrame({"c": text}), gone * 1.0, categorical=["c"]), 1)
    np.testing.assert_allclose(model.predict(pd.DataFrame({"c": text})), gone, atol=1e-6)


def test_the_order_of_categories_and_rows_of_a_later_table_does_not_matter():
    X, y = frame()
    model = sp.train(LOOSE, sp.Dataset(X.astype({"colour": "category"}), y), 10)
    order = np.random.default_rng(1).permutation(len(y))
    later = X.iloc[order].assign(
        colour=lambda t: pd.Categorical(t["colour"], categories=sorted(EFFECT)[::-1])
    )
    assert model.predict(later).tolist() == model.predict(X)[order].tolist()
    for row in range(0, 40, 7):
        assert model.predict(X.iloc[[row]])[0] == model.predict(X)[row]


def sums_of(codes, bins, g, h):
    def of(rows):
        return (float(g[rows].sum()), float(h[rows].sum()), int(rows.sum()))

    return [of(codes == b) for b in range(bins)], of(codes < 0)


@pytest.mark.parametrize("levels", [1, 2, 4, 5, 12, 70])
@pytest.mark.parametrize("seed", range(4))
def test_the_root_split_is_that_of_the_oracle(levels, seed):
    rng = np.random.default_rng([levels, seed])
    rows = 300
    codes = rng.integers(0, levels, rows)
    y = np.round(rng.normal(size=levels)[codes] * 8 + rng.normal(size=rows) * 4)
    codes[rng.random(rows) < 0.1 * (seed % 2)] = -1
    params = {
        "base_score": 0.0, "max_leaves": 2, "learning_rate": 1.0, "reg_lambda": float(rng.choice([0.0, 1.0])),
        "cat_smooth": float(rng.choice([1.0, 5.0, 10.0])), "cat_l2": float(rng.choice([0.0, 10.0])),
        "min_data_per_group": int(rng.choice([1, 20])), "max_cat_threshold": int(rng.choice([2, 32])),
        "min_child_samples": int(rng.choice([1, 20])), "cat_charge": float(rng.choice([0.0, 0.2, 2.0])),
    }  # fmt: skip
    text = np.array([f"c{code:03}" if code >= 0 else None for code in codes], dtype=object)
    data = sp.Dataset(pd.DataFrame({"c": text}), y)
    model = sp.train(params, data, 1)
    categories = model.schema.categories[0]
    numbers = np.array([-1 if value is None else categories.numbers[value] for value in text])
    sums, missing = sums_of(numbers, len(categories.values), -y, np.ones(rows))
    noise = category_oracle.noise_of(y, np.ones(rows))
    best = category_oracle.best_split(sums, missing, Config.parse(params), noise)
    tree = model.forest.tree(0)
    total = -y.sum()
    own = total**2 / (rows + params["reg_lambda"])
    if best is None or best[0] - own <= 1e-9 * own:
        assert tree.nodes == 1
        return
    assert tree.nodes == 3
    assert set(tree.sets.members(0)) == best[1]
    assert tree.gain[0] == pytest.approx(0.5 * (best[0] - own), rel=1e-3)
    held_back = params["reg_lambda"] + (params["cat_l2"] if levels > 4 else 0.0)
    left = np.isin(numbers, list(best[1])) | ((numbers < 0) & best[2])
    assert tree.value[1] == pytest.approx(y[left].sum() / (left.sum() + held_back), rel=1e-9)
    if missing[2]:
        assert bool(tree.default_left[0]) == best[2]


@pytest.mark.parametrize(
    "params",
    [{}, LOOSE, {"subsample": 0.5}, {"sampling_method": "goss", "goss_warm_up": False}, {"colsample_bynode": 0.5},
     {"max_cat_to_onehot": 20}, {"reg_alpha": 0.5, "max_delta_step": 0.4}, {"grow_policy": "depthwise"}],
)  # fmt: skip
def test_any_number_of_threads_gives_the_same_bytes_and_scores_follow_the_trees(monkeypatch, params):
    monkeypatch.setattr(growers, "SHARE_VALUES", 0)
    X, y = frame(rows=9_000)
    X["other"] = pd.Categorical(np.random.default_rng(3).integers(0, 300, len(y)).astype(str))
    models, told = [], []
    for n_jobs in (1, 2, 3, 8):
        data = sp.Dataset(X, y, n_jobs=n_jobs)
        held = sp.Dataset(X.iloc[::3], y[::3], reference=data, n_jobs=n_jobs)
        history = sp.History()
        valid = {"train": data, "held": held}
        models.append(sp.train(params | {"n_jobs": n_jobs}, data, 4, valid=valid, callbacks=[history]))
        told.append(repr(history.evals))
    assert len({model.to_bytes() for model in models}) == len(set(told)) == 1
    for name, rows in (("train", slice(None)), ("held", slice(None, None, 3))):
        rmse = float(np.sqrt(np.mean((models[0].predict(X.iloc[rows]) - y[rows]) ** 2)))
        assert history.evals[name]["rmse"][-1] == pytest.approx(rmse, rel=1e-12)


def test_a_model_with_categories_comes_back_from_its_file():
    X, y = frame()
    model = sp.train(LOOSE, sp.Dataset(X, y), 8)
    again = sp.Model.from_bytes(model.to_bytes())
    assert again == model
    assert again.predict(X).tolist() == model.predict(X).tolist()
    told = json.loads(model.to_json())
    assert told["format"] == 2
    assert told["categories"][0] is None
    assert sorted(told["categories"][1]["values"]) == sorted(EFFECT)
    splits = [line for line in model.to_json().splitlines() if '"feature": "colour"' in line]
    listed = [json.loads(line.split('"categories": ')[1].split("]")[0] + "]") for line in splits]
    assert listed
    assert all(colours and set(colours) <= set(EFFECT) for colours in listed)


def test_a_model_without_categories_is_written_as_before():
    model = sp.train({}, sp.Dataset(np.arange(40.0).reshape(-1, 1), np.arange(40.0)), 1)
    assert json.loads(model.to_json())["format"] == 1
    assert b"set_node" not in model.to_bytes()


def test_rare_categories_share_a_number():
    rng = np.random.default_rng(0)
    levels = np.array([f"l{k}" for k in range(400)])
    share = np.concatenate([np.full(200, 0.00498), np.full(200, 0.00002)])
    text = rng.choice(levels, 20_000, p=share / share.sum())
    data = sp.Dataset(pd.DataFrame({"c": text}), np.zeros(20_000), max_bin=100)
    categories = data.schema.categories[0]
    assert 150 <= categories.kept <= 200 < len(categories.values)
    assert data.binned.matrix().bins[0] == categories.count == categories.kept + 1
    assert categories.numbers[categories.values[-1]] == categories.kept
    many = sp.Dataset(pd.DataFrame({"c": pd.Categorical(rng.integers(0, 5000, 20_000))}), np.zeros(20_000))
    assert many.schema.categories[0].kept > 4_000


def test_a_row_of_weight_zero_brings_no_category():
    X, y = frame(gaps=False)
    weight = (X["colour"] != "teal").to_numpy().astype(float)
    data = sp.Dataset(X, y, weight=weight, unseen="missing")
    assert "teal" not in data.schema.categories[1].values


@pytest.mark.parametrize("unseen", ["missing", "rarest", "error"])
def test_unseen_categories_follow_the_policy(unseen):
    X, y = frame()
    seen = X[X["colour"] != "red"]
    model = sp.train(LOOSE, sp.Dataset(seen, y[seen.index], unseen=unseen), 5)
    assert model.params.unseen == unseen
    later = X.assign(colour="red")
    if unseen == "error":
        with pytest.raises(DataError, match="'red', a category that training did not see"):
            model.predict(later)
        data = sp.Dataset(seen, y[seen.index], unseen="error")
        with pytest.raises(DataError, match="colour"):
            sp.Dataset(X, y, reference=data)
        return
    rarest = model.schema.categories[1].values[-1]
    same_as = X.assign(colour=None if unseen == "missing" else rarest)
    assert model.predict(later).tolist() == model.predict(same_as).tolist()
    data = sp.Dataset(seen, y[seen.index], unseen=unseen)
    history = sp.History()
    held = sp.Dataset(later, y, reference=data)
    again = sp.train(LOOSE, data, 5, valid={"later": held}, callbacks=[history])
    rmse = float(np.sqrt(np.mean((again.predict(later) - y) ** 2)))
    assert history.evals["later"]["rmse"][-1] == pytest.approx(rmse, rel=1e-12)


def test_names_like_a_missing_marker_are_categories():
    text = np.array(["nan", "None", "", "NA", "<NA>", "null"] * 30, dtype=object)
    y = np.arange(180.0) % 6
    model = sp.train(
        LOOSE | {"reg_lambda": 0.0, "learning_rate": 1.0}, sp.Dataset(pd.DataFrame({"c": text}), y), 8
    )
    assert set(model.schema.categories[0].values) == set(text)
    np.testing.assert_allclose(model.predict(pd.DataFrame({"c": text})), y, atol=1e-6)


def test_any_text_is_a_category():
    text = np.array(["ä", "日本", "a\nb", '"', "\\", "\u0000x", "😀"] * 20, dtype=object)
    model = sp.train(LOOSE, sp.Dataset(pd.DataFrame({"größe": text}), np.arange(140.0) % 7), 2)
    assert (
        sp.Model.from_bytes(model.to_bytes()).predict(pd.DataFrame({"größe": text})).tolist()
        == model.predict(pd.DataFrame({"größe": text})).tolist()
    )


def test_every_kind_of_text_and_of_missing_marker_in_one_column():
    odd = np.array(
        [np.str_("a"), "b", None, np.nan, np.float32("nan"), pd.NaT, pd.NA, np.str_("b")] * 8, dtype=object
    )
    table = pd.DataFrame({"c": pd.Series(odd, dtype=object)})
    plain = pd.DataFrame({"c": ["a", "b", None, None, None, None, None, "b"] * 8})
    y = np.arange(64.0) % 8
    assert sp.train(LOOSE, sp.Dataset(table, y), 2) == sp.train(LOOSE, sp.Dataset(plain, y), 2)
    only = pd.DataFrame(
        {"c": pd.Series(np.array([np.str_("a"), np.str_("b")] * 20, dtype=object), dtype=object)}
    )
    assert sp.Dataset(only, np.zeros(40)).schema.categories[0].values == ("a", "b")


def test_a_reference_decides_which_columns_are_categorical():
    data = sp.Dataset(np.eye(3), np.zeros(3), categorical=[1])
    assert sp.Dataset(np.eye(3), np.zeros(3), reference=data, categorical=[1]).schema is data.schema
    with pytest.raises(ParameterError, match="names column 0, which is one of numbers"):
        sp.Dataset(np.eye(3), np.zeros(3), reference=data, categorical=[0])


def test_a_huge_smoothing_leaves_no_category_to_take():
    X, y = frame()
    model = sp.train({"cat_smooth": 1e30}, sp.Dataset(X, y), 2)
    assert (model.forest.feature != 1).all() or not len(model.forest.sets.node)


def test_sparse_tables_have_no_categories():
    from scipy import sparse

    with pytest.raises(DataTypeError, match="sparse table cannot have categorical"):
        sp.Dataset(sparse.csr_array(np.eye(3)), categorical=[0])
    X, y = frame()
    model = sp.train({}, sp.Dataset(X, y), 1)
    with pytest.raises(DataTypeError, match="sparse"):
        model.predict(sparse.csr_array(np.eye(2)))


def test_columns_of_one_category_or_of_none_at_all_say_nothing():
    y = np.arange(60.0)
    table = pd.DataFrame({"one": ["x"] * 60, "none": pd.Series([None] * 60, dtype="string")})
    model = sp.train({"min_child_samples": 1}, sp.Dataset(table, y), 2)
    assert model.forest.nodes == 2
    assert len(set(model.predict(table))) == 1
    assert sp.Model.from_bytes(model.to_bytes()) == model


def test_a_column_of_truth_values_may_be_read_as_numbers():
    table = pd.DataFrame({"flag": [True, False] * 40})
    model = sp.train({"min_child_samples": 1}, sp.Dataset(table, np.arange(80.0) % 2), 3)
    assert model.schema.categories is None
    assert model.predict(table)[0] < model.predict(table)[1]


@pytest.mark.parametrize("kind", [sp.GBMClassifier, sp.GBMRegressor])
def test_estimators_take_frames_with_text(kind):
    from sklearn.base import clone

    X, y = frame()
    target = (y > 0).astype(int) if kind is sp.GBMClassifier else y
    fitted = clone(kind(n_estimators=5, min_data_per_group=5)).fit(X, target, eval_set=(X, target))
    assert fitted.predict(X).shape == (400,)
    held = kind(n_estimators=5, validation_fraction=0.2, early_stopping_rounds=2).fit(X, target)
    assert held.feature_importances_[1] > 0
    numbers = X.assign(colour=X["colour"].map({c: k for k, c in enumerate(COLOURS)}))
    named = kind(n_estimators=5, categorical=["colour"]).fit(numbers, target)
    assert named.model_.schema.categories[1].whole
    assert [stage.tobytes() for stage in fitted.staged_predict(X)][-1] == fitted.predict(X).tobytes()


def hostile(change):
    """A model with categories, its sets changed."""
    from dataclasses import replace

    from spinney.tree import Sets

    X, y = frame()
    model = sp.train(LOOSE, sp.Dataset(X, y), 2)
    sets = {name: getattr(model.forest.sets, name).copy() for name in ("node", "start", "bits")}
    change(sets)
    return replace(model, forest=replace(model.forest, sets=Sets(**sets)))


@pytest.mark.parametrize(
    "change",
    [
        lambda sets: sets["node"].__setitem__(0, 10**6),
        lambda sets: sets["node"].__setitem__(0, -1),
        lambda sets: sets.__setitem__("node", sets["node"][:-1]),
        lambda sets: sets.__setitem__("bits", sets["bits"][:-1]),
        lambda sets: sets["start"].__setitem__(1, -(2**62)),
        lambda sets: sets["start"].__setitem__(-1, 2**62),
        lambda sets: sets.__setitem__("start", sets["start"][:-1]),
        lambda sets: sets.__setitem__("bits", sets["bits"].astype(np.int32)),
    ],
)
def test_sets_that_do_not_fit_are_refused(change):
    with pytest.raises(ModelFormatError, match="set_"):
        hostile(change)


def test_a_charge_keeps_sets_of_noise_away_and_leaves_sets_that_matter():
    rng = np.random.default_rng(4)
    rows = 4_000
    noise, signal = rng.integers(0, 60, rows), rng.integers(0, 60, rows)
    y = (signal % 7 == 0) * 2.0 + rng.normal(size=rows)
    X = pd.DataFrame({"noise": pd.Categorical(noise), "signal": pd.Categorical(signal)})
    splits = {
        charge: sp.train({"cat_charge": charge, "min_data_per_group": 1}, sp.Dataset(X, y), 10).importance(
            "split"
        )
        for charge in (0.0, 2.0)
    }
    assert splits[0.0][0] > 30
    assert splits[2.0][0] < splits[0.0][0] / 10
    assert splits[2.0][1] > 5


def test_charges_do_not_depend_on_the_scale_of_target_and_weights():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"c": pd.Categorical(rng.integers(0, 40, 1_000))})
    y = np.round(rng.normal(size=40) * 8)[X["c"].cat.codes] + np.round(rng.normal(size=1_000) * 64)
    params = {"cat_charge": 1.0, "reg_lambda": 0.0, "cat_l2": 0.0, "cat_smooth": 1.0, "min_child_weight": 0.0}
    one = sp.train(params | {"base_score": 0.0}, sp.Dataset(X, y), 3)
    large = sp.train(params | {"base_score": 0.0}, sp.Dataset(X, y * 1024, weight=np.full(1_000, 4.0)), 3)
    assert np.array_equal(one.forest.feature, large.forest.feature)
    assert np.array_equal(one.forest.sets.bits, large.forest.sets.bits)
