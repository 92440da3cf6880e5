"""Every model predicts rows that come in batches or stand in files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, feather

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError


def problem(rows=60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.random(rows), "tree": rng.choice(["oak", "ash"], rows), "b": rng.random(rows)}
    )
    return frame, (frame["a"] > 0.5).astype(float) + (frame["tree"] == "oak")


@pytest.fixture(scope="module")
def models():
    """One model of each kind, of names and of none."""
    frame, y = problem()
    plain = frame[["a", "b"]]
    return {
        "boosted": sp.train({}, sp.Dataset(frame, y), 3),
        "classes": sp.train({"objective": "softmax", "num_class": 3}, sp.Dataset(frame, y), 3),
        "forest": sp.RandomForestClassifier(5, random_state=0).fit(frame, y.astype(int)).model_,
        "several": sp.RandomForestClassifier(3, random_state=0)
        .fit(frame, np.stack([y, y > 0], axis=1).astype(int))
        .model_,
        "adaboost": sp.AdaBoostRegressor(n_estimators=3, random_state=0).fit(plain, y).model_,
        "isolation": sp.IsolationForest(5, random_state=0).fit(plain).model_,
    }


NAMES = ("boosted", "classes", "forest", "several", "adaboost", "isolation")


def joined(parts):
    return (
        [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        if isinstance(parts[0], list)
        else np.concatenate(parts)
    )


def check_equal(found, wanted):
    for one, two in zip(*((x if isinstance(x, list) else [x]) for x in (found, wanted)), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_predicted_as_all_rows_at_once(models, name):
    model, (frame, y) = models[name], problem()
    table = frame[list(model.feature_names)]
    for source in (
        lambda: (table.iloc[k : k + 17] for k in range(0, 60, 17)),
        ((table.iloc[k : k + 17], y[k : k + 17]) for k in range(0, 60, 17)),
        [{"X": table}],
    ):
        check_equal(joined(list(model.predict_batches(source))), model.predict(table))


@pytest.mark.parametrize("name", NAMES)
def test_files_are_predicted_in_their_order_whatever_else_they_hold(models, name, tmp_path):
    model, (frame, y) = models[name], problem()
    mixed = frame.assign(y=y)[["y", "tree", "b", "a"]]
    for k in range(3):
        pq.write_table(pa.Table.from_pandas(mixed[k * 20 : k * 20 + 20]), tmp_path / f"{k}.parquet")
    wanted = model.predict(frame[list(model.feature_names)])
    check_equal(model.predict_files(tmp_path), wanted)
    out = tmp_path / "found" / "all.parquet"
    out.parent.mkdir()
    assert model.predict_files(sorted(tmp_path.glob("*.parquet")), out=out) is None
    found = pq.read_table(out)
    columns = [np.asarray(one).reshape(60, -1) for one in (wanted if isinstance(wanted, list) else [wanted])]
    assert np.array_equal(
        np.column_stack([found[k].to_numpy() for k in range(found.num_columns)]), np.hstack(columns)
    )
    assert found.column_names[0] in ("prediction", "prediction_0", "prediction_0_0")
    assert [path.name for path in out.parent.iterdir()] == ["all.parquet"]


@pytest.mark.parametrize("ending", ["csv", "arrow", "feather"])
def test_predictions_are_written_to_files_of_other_kinds(models, tmp_path, ending):
    frame, _ = problem()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model, out = models["boosted"], tmp_path / f"found.{ending}"
    model.predict_files(tmp_path / "rows.csv", out=out, n_jobs=1, rounds=2)
    table = csv.read_csv(out) if ending == "csv" else feather.read_table(out)
    assert np.array_equal(
        table["prediction"].to_numpy(), model.predict(pd.read_csv(tmp_path / "rows.csv"), rounds=2)
    )


def test_margins_of_batches_are_where_scores_begin(models):
    frame, _ = problem()
    margin, model = np.linspace(0, 1, 60), models["boosted"]
    (found,) = model.predict_batches([{"X": frame, "base_margin": margin}])
    assert np.array_equal(found, model.predict(frame, base_margin=margin))
    with pytest.raises(ParameterError, match="base_margin is given beside batches that have one"):
        next(model.predict_batches([{"X": frame, "base_margin": margin}], base_margin=margin))


def test_margins_of_files_are_columns(models, tmp_path):
    frame, y = problem()
    path = tmp_path / "rows.csv"
    frame.assign(m=y, n=-y, o=y / 2).to_csv(path, index=False)
    table = pd.read_csv(path)
    for name, columns in (("boosted", "m"), ("classes", ["m", "n", "o"])):
        margin, model = table[columns].to_numpy(), models[name]
        wanted = model.predict(table[list(model.feature_names)], base_margin=margin)
        assert np.array_equal(model.predict_files(path, base_margin=columns), wanted)
    with pytest.raises(ParameterTypeError, match=r"base_margin holds 0\.5; give names of columns"):
        models["boosted"].predict_files(path, base_margin=[0.5])
    with pytest.raises(ParameterError, match="a ForestModel has no scores to start from; leave it out"):
        models["forest"].predict_files(path, base_margin="m")


def test_what_cannot_be_predicted_is_named_and_leaves_no_file(models, tmp_path):
    model, (frame, _) = models["boosted"], problem()
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    frame.loc[7, "b"] = np.inf
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "b.parquet")
    with pytest.raises(
        DataError, match=r"b\.parquet': column \"b\" holds an infinite value in row 7, counted from 0"
    ):
        model.predict_files(tmp_path, out=tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]
    frame.drop(columns="b").to_csv(tmp_path / "c.csv")
    with pytest.raises(DataError, match=r"c\.csv' has no column 'b' \(columns\)"):
        model.predict_files(tmp_path / "c.csv")
    with pytest.raises(DataError, match="batch 1: The feature names should match"):
        list(model.predict_batches([frame.drop(7), frame.drop(columns="b")]))


def test_where_predictions_are_to_be_written_is_checked(models, tmp_path):
    frame, _ = problem()
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    model = models["boosted"]
    for out, error, said in (
        (tmp_path / "a.txt", DataError, "is of no known kind; give .parquet"),
        (tmp_path / "no" / "a.csv", DataError, "is in a folder that does not exist"),
        (3, ParameterTypeError, "out=3 must be a path"),
        ("a\0.csv", DataError, r"out='a\\x00.csv' holds a null character"),
        ("\ud800.csv", DataError, r"out='\\ud800.csv' cannot be written as a path"),
    ):
        with pytest.raises(error, match=said):
            model.predict_files(tmp_path / "a.parquet", out=out)


@pytest.mark.parametrize("out", ["0.parquet", "link.parquet", "in/../0.parquet", "hard.parquet"])
def test_predictions_never_take_the_place_of_the_rows(models, tmp_path, out):
    frame, _ = problem()
    paths = [tmp_path / f"{k}.parquet" for k in range(2)]
    for path in paths:
        frame.to_parquet(path)
    (tmp_path / "in").mkdir()
    (tmp_path / "link.parquet").symlink_to(paths[0])
    (tmp_path / "hard.parquet").hardlink_to(paths[0])
    for given in (paths, paths[0]):
        with pytest.raises(
            DataError, match=rf"out='.*{out}' is the file '.*0\.parquet', whose rows are to be predicted"
        ):
            models["boosted"].predict_files(given, out=tmp_path / out)
    assert pd.read_parquet(paths[0]).equals(frame)
    assert models["boosted"].predict_files(paths[1], out=tmp_path / out) is None


def test_a_margin_may_be_a_column_of_the_model(models, tmp_path):
    frame, _ = problem()
    frame.to_parquet(tmp_path / "rows.parquet")
    found = models["boosted"].predict_files(tmp_path / "rows.parquet", base_margin="a")
    check_equal(found, models["boosted"].predict(frame, base_margin=frame["a"]))


@pytest.mark.parametrize("wrong", [{"rounds": 99}, {"n_jobs": 0}])
def test_a_wrong_parameter_is_no_fault_of_a_batch(models, wrong):
    frame, _ = problem()
    with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} ?="):
        list(models["boosted"].predict_batches([frame], **wrong))
