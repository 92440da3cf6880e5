"""The README's table of speed, from made-up rows; nothing here is timed."""

from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import readme
from benchmarks.rows import Row
from benchmarks.settings import Options

ROOT = Path(__file__).resolve().parents[2]
ABOUT = {"cpu": "a machine", "versions": {"spinney": "1.2.3", "lightgbm": "4.7.0", "scikit-learn": "1.9.1"}}


def row(case, measure, peer, ratio, **fields):
    return Row(case=case, measure=measure, peer=peer, ours=2.0, theirs=2.0 * ratio, **fields)


def made_up():
    return {
        "train-255": [
            row("train-255", "train", "lightgbm col-wise", 2.044),
            row("train-255", "dataset + train", "lightgbm col-wise", 9.0),
            row("train-255", "dataset + train", "sklearn", 0.734),
            row("train-255", "train", "xgboost", 12.34, note="no min_child_samples"),
        ],
        "predict-one": [row("predict-one", "one row", "sklearn", 950.0)],
        "depthwise": [
            row("depthwise", "train: depth 6", "xgboost depth 6", 1.5),
            row("depthwise", "train: depth 8", "xgboost depth 8", 20.0),
        ],
        "predict-sparse": [row("predict-sparse", "90 000 columns", "lightgbm", 5.0)],
        "flights-peers": [],
    }


def test_the_table_has_the_measured_peers_and_lines_and_no_others():
    text = readme.render(made_up(), ABOUT, Options())
    assert text.startswith(
        "Measured by `python -m benchmarks readme` with spinney 1.2.3 on a machine,\n2 threads each"
    )
    assert text.splitlines()[4:] == [
        "| case | LightGBM 4.7 | XGBoost² | scikit-learn 1.9¹ |",
        "| --- | --- | --- | --- |",
        "| train, 500 000 × 28, 255 leaves, 255 bins, 100 rounds | 2.04x | 12.3x | .73x |",
        "| predict one row |  |  | 950x |",
        "| train, level by level, 500 000 × 28, depth 6 / depth 8, 100 rounds |  | 1.50x / 20.0x |  |",
        "",
        "¹ Bins while training, so training is compared with making the data set and training.",
        "² Has no min_child_samples.",
    ]


def test_a_smoke_test_says_so():
    assert readme.render(made_up(), ABOUT, Options(quick=True)).startswith("A smoke test")


def test_the_readme_has_the_lines_that_the_command_prints():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    inside = text[text.index(readme.BEGIN) : text.index(readme.END)]
    titles = [
        line.split("|")[1].strip().rstrip(readme.MARKS)
        for line in inside.splitlines()
        if line.startswith("|")
    ]
    assert titles[2:] == [line.title for line in readme.LINES]


def test_the_command_runs_the_cases_of_the_table_and_prints_it_alone(monkeypatch, capsys):
    asked = {}

    def measure(chosen, options, path, say):
        asked.update({case.name: case.peers for case in chosen})
        say("making the table")
        return made_up()

    monkeypatch.setattr(command, "measure", measure)
    assert command.main(["readme", "--quick", "--peers", "xgboost,sklearn"]) == 0
    assert list(asked) == list(dict.fromkeys(line.case for line in readme.LINES))
    assert asked["train-255"] == ("xgboost", "sklearn")
    assert asked["exact"] == ("xgboost",)
    assert asked["flights-categories"] == ()
    printed = capsys.readouterr()
    assert printed.out.startswith("A smoke test")
    assert "making the table" in printed.err


def test_the_table_is_not_mixed_with_other_cases(capsys):
    with pytest.raises(SystemExit):
        command.main(["readme", "exact"])
    assert "stands alone" in capsys.readouterr().err
