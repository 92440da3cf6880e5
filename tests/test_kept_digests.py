"""Trees that stay the same from version to version: digests of the leaves in which rows end.

Tables are of whole numbers and losses of sums of them, so that no function of a system's library has a say. A change that is
meant to change trees changes the digests here, and the changelog says so.
"""

import hashlib

import numpy as np
import pytest
from scipy import sparse

import spinney as sp

ROWS = 2_000
RNG = np.random.default_rng(12)
TABLE = RNG.integers(-40, 40, (ROWS, 6)) / 8.0
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
KINDS = RNG.integers(0, 60, ROWS)
MIXED = np.column_stack([KINDS, TABLE[:, :3]])
FULL = np.nan_to_num(TABLE)
TARGET = FULL[:, 0] * 3 + FULL[:, 1] * FULL[:, 2] + (KINDS * 37 % 11) / 4.0 + RNG.integers(-8, 8, ROWS) / 8.0
LABELS = np.median(TARGET) < TARGET
ONE_HOT = sparse.csr_array((np.ones(ROWS), (np.arange(ROWS), KINDS)), shape=(ROWS, 60))


def boosted(X, **params):
    given = {"categorical": [0]} if X is MIXED else {}
    return sp.train({"n_jobs": 2} | params, sp.Dataset(X, TARGET, **given), 5)


def grown(kind, X, y=None, **params):
    given = {"categorical": [0]} if X is MIXED else {}
    return getattr(sp, kind)(n_estimators=4, random_state=0, n_jobs=2, **given, **params).fit(X, y).model_


MODELS = {
    "hist": lambda: (boosted(TABLE), TABLE),
    "hist, few rows": lambda: (boosted(TABLE, subsample=0.2), TABLE),
    "hist, depthwise": lambda: (boosted(TABLE, grow_policy="depthwise", max_depth=5, max_leaves=0), TABLE),
    "hist, columns drawn": lambda: (boosted(TABLE, colsample_bytree=0.7, colsample_bynode=0.6), TABLE),
    "hist, goss": lambda: (boosted(TABLE, sampling_method="goss", goss_warm_up=False), TABLE),
    "hist, monotone": lambda: (boosted(TABLE, monotone_constraints=[1, 0, 0, -1, 0, 0]), TABLE),
    "hist, categories": lambda: (boosted(MIXED), MIXED),
    "hist, sparse": lambda: (boosted(ONE_HOT), ONE_HOT),
    "exact": lambda: (boosted(TABLE, tree_method="exact", max_depth=6), TABLE),
    "approx": lambda: (boosted(TABLE, tree_method="approx", max_depth=6), TABLE),
    "forest": lambda: (grown("RandomForestClassifier", TABLE, LABELS), TABLE),
    "forest, categories": lambda: (grown("RandomForestClassifier", MIXED, LABELS), MIXED),
    "forest, exact": lambda: (grown("RandomForestClassifier", TABLE, LABELS, tree_method="exact"), TABLE),
    "forest of numbers": lambda: (grown("RandomForestRegressor", TABLE, TARGET), TABLE),
    "extra trees": lambda: (grown("ExtraTreesClassifier", TABLE, LABELS), TABLE),
}
KEPT = {
    "hist": "7df746204d083941",
    "hist, few rows": "c05d26a59ef262a6",
    "hist, depthwise": "c1c1ee2d4734c344",
    "hist, columns drawn": "ba4e74fc5f5e7d2a",
    "hist, goss": "33a26fb07cf9f0af",
    "hist, monotone": "cbf9bc99ff9a4843",
    "hist, categories": "4370ed2549f6f733",
    "hist, sparse": "164b24a3264d06ba",
    "exact": "287e77f09507b92f",
    "approx": "287e77f09507b92f",
    "forest": "98f6fbd7f6646ff2",
    "forest, categories": "f3389bb01458ef91",
    "forest, exact": "98f6fbd7f6646ff2",
    "forest of numbers": "99c9555407d76203",
    "extra trees": "986b246b861a9804",
}


@pytest.mark.parametrize("name", MODELS)
def test_trees_are_those_of_earlier_versions(name):
    model, X = MODELS[name]()
    leaves = np.ascontiguousarray(model.predict_leaf(X), np.int64)
    assert len(np.unique(leaves)) > 8
    assert hashlib.sha256(leaves.tobytes()).hexdigest()[:16] == KEPT[name]
