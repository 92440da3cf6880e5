"""Target encoding and hold-outs on tables whose rows occur several times: fresh rows are predicted as well as without."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import spinney as sp
from duplicate_data import REPEATED, repeated, table
from spinney.target_encoding.duplicates import Duplicates
from spinney.training.holdout import find_row_groups

CASES = {
    "1 to 4 times": {"categories": 800},
    "twice": {"categories": 800},
    "twice as many draws": {"categories": 800},
    "half of them twice": {"categories": 1_500, "coarse": True, "columns": 2, "strength": 2.0, "rows": 4_000},
}


def losses(how, rows=2_000, **given):
    """One less the AUC on fresh rows, with target encoding and without."""
    X, y = table(rows, **given)
    fresh, truth = table(5_000, **given, seed=1)
    own = repeated(how, rows)
    models = [
        sp.GBMClassifier(n_jobs=1, target_stats=stats).fit(X.iloc[own], y[own]) for stats in (100, None)
    ]
    return [1.0 - roc_auc_score(truth, model.predict_proba(fresh)[:, 1]) for model in models]


@pytest.mark.parametrize("how", CASES)
def test_target_encoding_costs_no_more_on_repeated_rows_than_noise(how):
    encoded, without = losses(how, **CASES[how])
    assert encoded < without + 0.01


@pytest.mark.parametrize("how", REPEATED)
def test_rows_that_occur_several_times_are_held_out_together(how):
    X, y = table(500, 60, columns=4)
    rows = repeated(how, 500)
    dataset = sp.Dataset(X.iloc[rows], y[rows])
    kin = find_row_groups(None, dataset.binned, Duplicates(dataset.binned)).everywhere
    assert len(np.unique(kin.number)) == len(np.unique(rows))
    assert len(np.unique(np.column_stack([kin.number, rows]), axis=0)) == len(np.unique(rows))


def test_a_table_copied_whole_finds_about_the_rounds_of_the_table():
    X, y = table(500, 60)
    rounds = [
        sp.GBMClassifier(n_jobs=1).fit(X.iloc[rows], y[rows]).n_iter_
        for rows in (np.arange(500), np.tile(np.arange(500), 2))
    ]
    assert max(rounds) < 60


@pytest.mark.parametrize("how", ["1 to 4 times", "twice as many draws"])
def test_a_model_of_repeated_rows_is_the_same_on_any_number_of_threads(how):
    X, y = table(600, 150)
    rows = repeated(how, 600)
    params = {"objective": "log_loss", "target_stats": 100, "max_leaves": 6, "learning_rate": 0.3}
    models = [
        sp.train(params | {"n_jobs": threads}, sp.Dataset(X.iloc[rows], y[rows]), "auto")
        for threads in (1, 2, 3)
    ]
    assert models[0].statistics is not None
    assert models[1:] == models[:1] * 2
