"""The case about cross-validation in small: the same folds for everybody, log losses side by side; nothing is timed here."""

import numpy as np

from benchmarks.bench import Bench
from benchmarks.cases.cross_validation import _folds
from benchmarks.peers import OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.settings import Options


def test_lightgbm_gets_the_same_folds_and_comes_to_about_the_same_loss():
    bench = Bench(Options(quick=True, threads=1), OURS(), [PEERS["lightgbm"]()], lambda text: None)
    rows = CASES["cv"].run(bench, "cv")
    assert [row.measure for row in rows] == ["cv", "dataset + cv"]
    ours, theirs = rows[0].quality["log_loss"]
    assert 0.0 < abs(ours - theirs) < 0.01


def test_every_row_is_tested_once():
    folds = _folds(23)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(23))
    assert all(sorted([*train, *test]) == list(range(23)) for train, test in folds)
