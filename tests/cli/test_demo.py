import re

import numpy as np
import pytest
from typer.testing import CliRunner

import spinney as sp
from spinney.cli import demo
from spinney.cli.app import app
from spinney.errors import SpinneyError


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_the_demo_trains_judges_saves_and_loads_on_real_tables():
    result = run("demo")
    assert result.exit_code == 0, result.output
    for word in ("breast_cancer", "diabetes", "log loss", "RMSE", "baseline", "rows/s"):
        assert word in result.output
    assert result.output.count("predicts the same bits") == 2


def test_the_demo_runs_on_as_many_generated_rows_as_asked_for():
    result = run("demo", "--rows", "400")
    assert result.exit_code == 0, result.output
    assert re.search(r"two_classes\W+300\W+100\W+log loss", result.output)
    assert re.search(r"numbers\W+300\W+100\W+RMSE", result.output)


def test_the_demo_keeps_the_models_where_it_is_told_to(tmp_path):
    result = run("demo", "--rows", "200", "--save", str(tmp_path))
    assert result.exit_code == 0, result.output
    models = {path.name: sp.load(path) for path in tmp_path.iterdir()}
    assert {name: model.objective for name, model in models.items()} == {
        "two_classes.safetensors": "log_loss",
        "numbers.safetensors": "squared_error",
    }


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("99", "99 rows"),
        ("-1", "-1 rows"),
        ("10000001", "10000001 rows"),
        ("many", "many"),
        ("1.5", "integer"),
    ],
)
def test_a_wrong_number_of_rows_is_a_clear_error(rows, told):
    result = run("demo", "--rows", rows)
    assert result.exit_code == 2
    assert "--rows" in result.output
    assert told in result.output or "integer" in result.output


def test_the_allowed_numbers_of_rows_are_told():
    assert "from 100 to 10000000" in " ".join(run("demo", "--rows", "0").output.split())


def test_a_folder_to_save_to_that_is_missing_is_a_clear_error(tmp_path):
    result = run("demo", "--save", str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "--save" in result.output


def test_both_models_beat_the_mean_on_held_out_rows():
    for task in demo.real_tables():
        mean = np.full(len(task.y_held), task.y.mean())
        outcome = demo.train(task)
        name, metric = next(iter(demo.METRICS[task.objective].items()))
        assert metric(task.y_held, outcome.predictions) < 0.9 * metric(task.y_held, mean), name


def test_generated_tables_are_the_same_each_time():
    first, second = list(demo.generated_tables(120)), list(demo.generated_tables(120))
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a.X, b.X)
        assert np.array_equal(a.y_held, b.y_held)


def test_held_out_rows_are_not_trained_on():
    for task in demo.real_tables():
        seen = {row.tobytes() for row in task.X}
        assert not any(row.tobytes() in seen for row in task.X_held)


def test_a_saved_model_that_predicts_otherwise_is_an_error(tmp_path):
    task = next(demo.generated_tables(200))
    outcome = demo.train(task)
    wrong = demo.DemoResult(
        outcome.model, outcome.predictions + 1e-16 + outcome.predictions * 1e-15, 0.0, 0.0
    )
    with pytest.raises(SpinneyError, match="predicts otherwise"):
        demo.save_and_check(task, wrong, tmp_path / "model.safetensors")
