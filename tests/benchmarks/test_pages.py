"""Pages of the documentation from made-up results."""

import json
from dataclasses import replace

import pytest

from benchmarks import page
from benchmarks.pages import PAGES, forests, methods, threads
from benchmarks.pages.plot import bars
from benchmarks.pages.results import Results, ResultsMissingError

AUC = {"auc": {"ours": 0.8, "theirs": 0.79}}


def row(measure, peer="xgboost", **fields):
    return {
        "measure": measure, "peer": peer, "ours": 2.0, "theirs": 6.0, "ratio": 3.0, "unit": "s", "quality": AUC, "holds": True,
        "facts": {}, "samples": {"ours": [1.0] * 5}, **fields,
    }  # fmt: skip


def made_up():
    costs = [
        row(f"{measure}: {way}", facts={"rounds": 5, "raw table, MB": 381.5})
        for measure in ("train", "dataset + train", "peak memory")
        for way in methods.WAYS
    ]
    counts = {
        "trees": 80,
        "the same": 79,
        "nodes": 5000,
        "of": 5010,
        "mirrored": 3,
        "rounded leaves": 2,
        "ties": 1,
        "other differences": 0,
    }
    tables = [
        row(
            name,
            unit="log_loss",
            ours=0.4,
            theirs=0.4 - apart,
            facts={
                "rows": 1000,
                "spread of exact": 0.02,
                "spread of hist": 0.03,
                "mean difference": apart,
                "standard error": 0.001,
                "fit exact, s": 0.02,
                "fit hist, s": slower / 1000,
            },
        )
        for name, apart, slower in (("a", -0.01, 10), ("b", 0.01, 5), ("c", 0.0001, 20))
    ]
    return {
        "methods": costs,
        "exact": [row("train")],
        "approx": [row("train")],
        "hist-exact": [row("train")],
        "depthwise": [row("train: depth 6"), row("train: depth 8")],
        "exact-sparse": [row("train: sparse")],
        "exact-parity": [row("agaricus", facts=counts)],
        "small-tables": tables,
    }


def write(folder, results, quick=False):
    about = {
        "cpu": "a machine",
        "cores": 2,
        "python": "3.11.7",
        "versions": {"spinney": "1.2.3", "xgboost": "3.2.0"},
    }
    for case, rows in results.items():
        content = {"environment": about, "options": {"quick": quick, "threads": 2}, "rows": rows}
        (folder / f"{case}.json").write_text(json.dumps(content), encoding="utf-8")


def test_the_page_of_methods_holds_the_figures(tmp_path):
    write(tmp_path, made_up())
    files = methods.write(Results(tmp_path))
    text = files["methods.md"]
    assert set(files) == {"methods.md", "methods.svg"}
    assert "Measured on a machine, 2 threads" in text
    assert '| `approx`, `proposal="local"` | 2.00 | 2.00 | 2 | 0.8000 |' in text
    assert "| the same, depth 8 | 2.00 | 6.00 | 3.00x | 0.8000 | 0.7900 |" in text
    assert "| agaricus | 80 | 79 | 5,010 | 5,000 | 3 | 2 | 1 | 0 |" in text
    assert (
        "`exact` is ahead by more than twice the standard error on 1, `hist` on 1;\non 1 neither is" in text
    )
    assert "takes 1.0 to 4.0 times as long" in text
    assert "{" not in text
    assert files["methods.svg"].count("<rect") == 1 + len(methods.WAYS)


def test_pages_without_results_are_left_alone_and_named(tmp_path):
    docs, results = tmp_path / "docs", tmp_path / "results"
    docs.mkdir()
    results.mkdir()
    for one in PAGES:
        (docs / one.name).write_text("as it was")
    said = []
    write(results, made_up())
    (results / "exact.json").unlink()
    page.main(docs, results, said.append)
    assert said == [
        "bundling.md is left alone: run `python -m benchmarks flights density` first",
        "methods.md is left alone: run `python -m benchmarks exact` first",
        f"forests.md is left alone: run `python -m benchmarks {' '.join(forests.CASES)}` first",
        "threads.md is left alone: run `python -m benchmarks threads` first",
    ]
    assert {path.read_text() for path in docs.iterdir()} == {"as it was"}
    write(results, {"exact": made_up()["exact"]})
    page.main(docs, results, said.append)
    assert said[-3] == "methods.md is written"
    assert (docs / "methods.md").read_text(encoding="utf-8").startswith("# Exact")


def made_up_forests():
    twins = [row("fit", "sklearn-forest"), row("fit", "intelex-forest", ratio=1.5)]
    found = {case: twins for case, _ in forests.SPEED}
    found["forest-large"] = [*twins, row("fit: depth 20", "xgboost-forest")]
    found["forest-predict"] = [row("predict", "sklearn-forest")]
    found["forest-memory"] = [row(measure, "sklearn-forest", unit="MB") for measure in ("memory", "file")]
    found["forest-growth"] = [row("trees 50 → 100", "", theirs=None)]
    found["forest-accuracy"] = [row("letter, extra trees", unit="error", facts={"in deviations": -0.3})]
    found["forest-missing"] = [row("10%, any", ours=0.7, theirs=0.6, facts={"boosting": 0.8, "rows": 20000})]
    return found


def test_the_page_of_forests_keeps_what_is_written_by_hand_around_its_figures(tmp_path):
    docs, results = tmp_path / "docs", tmp_path / "results"
    docs.mkdir()
    results.mkdir()
    write(results, made_up_forests())
    (docs / "forests.md").write_text(f"above\n{page.BEGIN}\nold\n{page.END}\nbelow\n", encoding="utf-8")
    page.main(docs, results, lambda text: None)
    text = (docs / "forests.md").read_text(encoding="utf-8")
    assert text.startswith(f"above\n{page.BEGIN}\nWritten by")
    assert text.endswith(f"|\n{page.END}\nbelow\n")
    assert "old" not in text
    assert (
        "| random forest, 1 000 000 × 28, 20 trees | 2.00 s | 3.0x | 1.5x |  | AUC 0.8000, 0.7900 |" in text
    )
    assert "| the same, depth 20 | 2.00 s |  |  | 3.0x | AUC 0.8000, 0.7900 |" in text
    assert "| memory | 2.0 MB | 6.0 MB | 0.33 |" in text
    assert "| letter, extra trees | error | 2.0000 | 6.0000 | -0.30 |" in text
    assert "| 10%, any | 0.8000 | 0.7000 | 0.6000 |" in text
    assert "LightGBM" not in text
    page.main(docs, results, lambda text: None)
    assert (docs / "forests.md").read_text(encoding="utf-8") == text


def test_the_page_of_forests_has_the_markers_of_its_figures():
    text = (page.DOCS / "forests.md").read_text(encoding="utf-8")
    assert text.count(page.BEGIN) == text.count(page.END) == 1
    assert text.index(page.BEGIN) < text.index(page.END)


def test_a_smoke_test_is_no_result(tmp_path):
    write(tmp_path, made_up(), quick=True)
    with pytest.raises(ResultsMissingError, match="small-tables"):
        methods.write(Results(tmp_path))


def test_a_row_is_found_by_measure_and_the_beginning_of_its_peer(tmp_path):
    write(tmp_path, {"a": [row("round", "xgboost"), row("round", "lightgbm row-wise", ours=1.0)]})
    assert Results(tmp_path).row("a", "round", "lightgbm")["ours"] == 1.0
    with pytest.raises(ResultsMissingError, match="benchmarks a`"):
        Results(tmp_path).row("a", "growth")


def test_the_largest_bar_fills_the_plot():
    plot = bars([("x", 1.0), ("y", 2.0)], across="way", up="ms")
    assert 'height="98.0"' in plot
    assert 'height="196.0"' in plot


def test_the_page_of_threads_has_a_line_for_each_learner_and_a_model_of_more_threads(tmp_path):
    facts = {"speed-up": 1.8, "serial share": 0.1, "processor time": 1.05}
    rows = [
        row("31 leaves: 2 threads", "lightgbm", unit="x", theirs=0.5, facts=facts),
        row("31 leaves: 2 threads", "xgboost", unit="x", theirs=0.8, facts=facts),
        row("31 leaves: work of 8 threads", "", unit="x", ours=1.1, theirs=None),
    ]
    write(tmp_path, {"threads": rows})
    text = threads.write(Results(tmp_path))["threads.md"]
    assert "| 31 leaves | 1.80x | lightgbm 2.00x, xgboost 1.25x | 1.05 | 1.10 |" in text
    assert "| XGBoost, published |  |  | 6.3x | 9.8x | 14.9x |  |" in text
    assert "{" not in text


def test_the_model_of_threads_is_that_of_one_thread_plus_what_several_add():
    costs = threads.Costs(work=10.0, extra=1.0, serial=0.0, job=0.0, meeting=0.0, kilobytes=0.0)
    assert [costs.speed_up(count) for count in (1, 2, 64)] == pytest.approx([1, 2, 64])
    for part in ("serial", "job", "meeting", "kilobytes", "extra"):
        slower = replace(costs, **{part: 2.0})
        assert slower.speed_up(64) < 64
