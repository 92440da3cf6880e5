"""The case about AdaBoost, run small; nothing here is timed or downloaded."""

from dataclasses import replace

import pytest

from benchmarks.bench import Bench
from benchmarks.cases import adaboost
from benchmarks.peers import OUR_ADABOOST, OURS, PEERS
from benchmarks.registry import CASES
from benchmarks.settings import Options


@pytest.mark.parametrize("objective", ["log_loss", "squared_error"])
def test_both_libraries_boost_the_same_trees(objective):
    settings = replace(adaboost.PLANS["fit: depth 4"].settings, objective=objective)
    ours, theirs = (peer.estimator(settings, 28) for peer in (OUR_ADABOOST(), PEERS["sklearn-adaboost"]()))
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.n_estimators == theirs.n_estimators == 100
    assert ours.max_depth == theirs.estimator.max_depth == 4
    assert ours.learning_rate == theirs.learning_rate


def test_stumps_and_deeper_trees_are_timed_and_judged_beside_the_twin():
    case = CASES["adaboost"]
    bench = Bench(
        Options(quick=True, threads=1), OURS(), [PEERS[peer]() for peer in case.peers], lambda text: None
    )
    rows = case.run(bench, "adaboost")
    assert [(row.measure, row.peer) for row in rows] == [
        (measure, "sklearn-adaboost") for measure in ("fit: stumps", "fit: depth 4")
    ]
    for row in rows:
        ours, theirs = row.quality["auc"]
        assert ours == pytest.approx(theirs, abs=0.02)
        assert row.holds is not None
