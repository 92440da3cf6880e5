"""Metrics over rows that come in batches or stand in files are those that training says of the same rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spinney as sp
from paged import batches_of
from spinney.errors import DataError, ParameterError, ParameterTypeError

ROWS = 120
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.random(ROWS), "tree": RNG.choice(["oak", "ash", None], ROWS)})
NUMBERS = FRAME["a"].to_numpy() + (FRAME["tree"] == "oak") + 0.1 * RNG.random(ROWS)
GRADES = np.floor(2 * NUMBERS / NUMBERS.max() * 0.999 + 0.5)
LISTS = {"qid": np.repeat(np.arange(12), 10)}
WEIGHT = RNG.integers(1, 5, ROWS) / 2
TIMES = np.where(RNG.random(ROWS) < 0.7, NUMBERS + 1, -NUMBERS - 1)  # censored where negative


def trained(params, y, more):
    """A model, and what training says of the rows in the end."""
    data, history = sp.Dataset(FRAME, y, **more), sp.History()
    model = sp.train({"max_depth": 3, **params}, data, 5, valid={"all": data}, callbacks=[history])
    return model, {name: values[-1] for name, values in history.evals["all"].items()}


@pytest.mark.parametrize(
    ("params", "y", "more"),
    [
        ({}, NUMBERS, {}),
        ({"eval_metric": ["mae", "r2"]}, NUMBERS, {"weight": WEIGHT, "base_margin": NUMBERS / 2}),
        ({"objective": "log_loss", "eval_metric": ["auc", "logloss"]}, (NUMBERS > 1) * 1.0, {"weight": WEIGHT}),
        ({"objective": "softmax", "num_class": 3, "eval_metric": ["mlogloss", "f1_macro"]}, GRADES, {}),
        ({"objective": "lambdarank", "eval_at": [3, 5]}, GRADES, LISTS),
        ({"objective": "quantile", "quantile_alpha": [0.2, 0.8]}, NUMBERS, {}),
        ({"num_target": 2}, np.stack([NUMBERS, -NUMBERS], axis=1), {"weight": WEIGHT}),
        ({"objective": "cox", "eval_metric": ["cox_nloglik", "concordance"]}, TIMES, {}),
        ({"objective": "huber", "huber_delta": 0.3}, NUMBERS, {}),
    ],
)  # fmt: skip
def test_batches_are_judged_as_training_judges_all_rows_at_once(params, y, more):
    model, wanted = trained(params, y, more)
    assert model.evaluate_batches(batches_of(FRAME, y, 37, **more)) == wanted
    assert model.evaluate_batches(batches_of(FRAME, y, ROWS, **more)(), n_jobs=1) == wanted


def test_files_are_judged_by_the_columns_that_are_named(tmp_path):
    more = {"weight": WEIGHT, "base_margin": NUMBERS / 2}
    model, wanted = trained({"eval_metric": "mae"}, NUMBERS, more)
    table = pa.Table.from_pandas(
        FRAME.assign(y=NUMBERS, w=WEIGHT, m=NUMBERS / 2, q=LISTS["qid"]), preserve_index=False
    )
    for k in range(2):
        pq.write_table(table[k * 60 : k * 60 + 60], tmp_path / f"{k}.parquet")
    named = {"target": "y", "weight": "w", "base_margin": "m"}
    assert model.evaluate_files(tmp_path, **named) == wanted
    assert model.evaluate_files(tmp_path, "mae", **named, rounds=0).keys() == wanted.keys()
    assert model.evaluate_files(tmp_path, "mae", **named, rounds=0) != wanted
    model, wanted = trained({"objective": "lambdarank"}, GRADES, LISTS)
    graded = table.drop_columns("y").append_column("y", pa.array(GRADES))
    pq.write_table(graded, tmp_path / "graded.parquet")
    for name in ("qid", "group"):
        assert model.evaluate_files(tmp_path / "graded.parquet", target="y", **{name: "q"}) == wanted


def test_groups_of_batches_are_counted_on():
    model, wanted = trained({"objective": "lambdarank"}, GRADES, LISTS)
    halves = [{"X": FRAME[k : k + 60], "y": GRADES[k : k + 60], "group": [10] * 6} for k in (0, 60)]
    assert model.evaluate_batches(halves) == wanted


def test_any_metric_that_fits_can_be_named_in_any_spelling():
    # A parameter of the metric of the training stays where it is.
    model, wanted = trained({"eval_metric": ["mae", "huber"], "huber_delta": 0.2}, NUMBERS, {})
    rows = batches_of(FRAME, NUMBERS, 50)
    found = model.evaluate_batches(rows, ["l1", "rmse"])
    assert list(found) == ["l1", "rmse"]
    assert found["l1"] == wanted["mae"]
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((model.predict(FRAME) - NUMBERS) ** 2)))
    ranker, wanted = trained(
        {"objective": "lambdarank", "eval_metric": "ndcg", "eval_at": [3, 5]}, GRADES, LISTS
    )
    assert ranker.evaluate_batches(batches_of(FRAME, GRADES, 50, **LISTS), "ndcg") == wanted


@pytest.mark.parametrize(
    ("source", "metrics", "error", "said"),
    [
        ([FRAME], None, DataError, "batch 0: it has no y; evaluation needs the target of every row"),
        ([], None, DataError, "source gave no rows"),
        ([(FRAME[:0], NUMBERS[:0])], None, DataError, "source gave no rows"),
        ([(FRAME, NUMBERS), (FRAME, NUMBERS[:3])], None, DataError, "batch 1: y has 3 values, but X has 120 rows"),
        ([(FRAME, NUMBERS), (FRAME.assign(a=np.inf), NUMBERS)], None, DataError,
         'batch 1: column "a" holds an infinite value in row 0'),
        ([(FRAME, NUMBERS)], "mlogloss", ParameterError, "^metrics=.mlogloss. does not fit objective=.squared_error."),
        ([(FRAME, NUMBERS)], 3, ParameterTypeError, "metrics must be a name or a list of names, got 3"),
        ([(FRAME, NUMBERS)], [print], ParameterTypeError, "metrics must be a name or a list of names"),
        ([(FRAME, np.full(ROWS, np.nan))], None, DataError, "batch 0: Input y contains NaN"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_named(source, metrics, error, said):
    model, _ = trained({}, NUMBERS, {})
    with pytest.raises(error, match=said):
        model.evaluate_batches(source, metrics)


def test_a_model_without_a_metric_needs_one():
    model = sp.train({"eval_metric": "none"}, sp.Dataset(FRAME, NUMBERS), 2)
    with pytest.raises(ParameterError, match="trained without a metric; name one"):
        model.evaluate_batches([(FRAME, NUMBERS)])
    assert list(model.evaluate_batches([(FRAME, NUMBERS)], "rmse")) == ["rmse"]


def test_queries_are_told_by_their_sizes_or_by_their_names():
    model, _ = trained({"objective": "lambdarank"}, GRADES, LISTS)
    named, sized = (
        {"X": FRAME[:60], "y": GRADES[:60], **more} for more in ({"qid": [0] * 60}, {"group": [60]})
    )
    for first, second, said in ((named, sized, "group, but .* qid"), (sized, named, "qid, but .* group")):
        with pytest.raises(DataError, match=f"batch 1: it has {said}; give one of them"):
            model.evaluate_batches([first, second])


@pytest.mark.parametrize("metric", ["nope", "auc", "rmse@3", "none"])
def test_a_wrong_metric_is_called_by_the_name_of_the_argument(metric):
    model, _ = trained({"objective": "cox"}, TIMES, {})
    with pytest.raises(ParameterError, match=r"^metrics ?=") as found:
        model.evaluate_batches([(FRAME, TIMES)], metric)
    assert "eval_metric" not in str(found.value)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_columns_of_the_model_may_be_weights_margins_and_queries_too(tmp_path, kind):
    table = pd.DataFrame({"a": WEIGHT, "q": LISTS["qid"]})
    model = sp.train({"objective": "lambdarank"}, sp.Dataset(table, GRADES, **LISTS), 3)
    named = table.assign(y=GRADES)
    path = tmp_path / f"rows.{kind}"
    named.to_parquet(path) if kind == "parquet" else named.to_csv(path, index=False)
    found = model.evaluate_files(path, target="y", weight="a", base_margin="q", qid="q")
    batch = {"X": table, "y": GRADES, "weight": WEIGHT, "base_margin": LISTS["qid"], **LISTS}
    assert found == model.evaluate_batches([batch])
