"""What a ranker's score takes, and what it goes by."""

import numpy as np
import pytest

import spinney as sp
from ranking_problems import lists
from spinney.errors import DataError

FEW = {"n_estimators": 4, "max_leaves": 5, "min_child_samples": 2, "learning_rate": 0.3, "n_jobs": 1}
X, Y, QID, GROUP = lists(40, seed=1)


@pytest.fixture(scope="module")
def fitted():
    """A ranker of the training queries."""
    return sp.GBMRanker(**FEW).fit(X, Y, group=GROUP)


def test_no_rows_have_no_score(fitted):
    for given in ({}, {"qid": []}, {"group": []}):
        with pytest.raises(DataError, match="X has no rows"):
            fitted.score(X[:0], Y[:0], **given)


def test_gains_are_for_the_score_of_a_loss_of_ones_own_too():
    def loss(y_true, y_pred):
        return y_pred - np.asarray(y_true), np.ones(len(y_pred))

    gains = [0, 1, 1, 1, 50]
    ranker = sp.GBMRanker(objective=loss, label_gain=gains, **FEW).fit(X, Y, qid=QID)
    plain = sp.GBMRanker(objective=loss, **FEW).fit(X, Y, qid=QID)
    assert ranker.score(X, Y, qid=QID) != plain.score(X, Y, qid=QID)
