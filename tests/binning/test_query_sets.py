"""Data sets whose rows belong to queries: reading, parts, folds and copies."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

import spinney as sp
from spinney.errors import DataError

RNG = np.random.default_rng(18)
ROWS, QUERIES = 90, 12
X = RNG.normal(size=(ROWS, 3))
Y = RNG.integers(0, 3, ROWS).astype(float)
# Rows of a query stand anywhere.
QID = RNG.permutation(np.arange(ROWS) % QUERIES)
NAMES = np.array([f"query {one}" for one in QID])
DATA = sp.Dataset(X, Y, qid=NAMES)


def first_rows(qid):
    """Number of each row's query in the order of their first rows."""
    return [list(dict.fromkeys(qid)).index(one) for one in qid]


def test_a_data_set_knows_the_query_of_each_row():
    assert DATA.queries.tolist() == DATA.labels().queries.tolist() == first_rows(NAMES)
    assert DATA.describe()["queries"] == QUERIES
    assert sp.Dataset(X, Y).describe()["queries"] == 0
    assert sp.Dataset(X, Y, group=pd.Series([40, 50])).queries.tolist() == [0] * 40 + [1] * 50
    assert sp.Dataset(X, Y, group=[90], reference=DATA).queries.tolist() == [0] * 90


def test_a_weight_of_each_query_is_that_of_its_rows():
    by_query = np.arange(1.0, QUERIES + 1)
    found = sp.Dataset(X, Y, qid=NAMES, weight=by_query).weight
    assert found.tolist() == by_query[DATA.queries].tolist()
    with pytest.raises(
        DataError, match=r"weight has 5 values; .* 90 rows, or one for each of the 12 queries"
    ):
        sp.Dataset(X, Y, qid=NAMES, weight=np.ones(5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"qid": NAMES[1:]}, "qid has 89 values, but X has 90 rows"),
        ({"group": [40, 40]}, "group adds up to 80 rows, but X has 90"),
        ({"group": QID + 1}, "group adds up to .* if it is the query of each row, give it as qid"),
        ({"group": [90], "qid": QID}, "group and qid are both given"),
    ],
)
def test_queries_that_do_not_fit_are_refused(given, message):
    with pytest.raises(DataError, match=message):
        sp.Dataset(X, Y, **given)


def test_a_pickled_data_set_has_its_queries():
    assert pickle.loads(pickle.dumps(DATA)).queries.tolist() == DATA.queries.tolist()


def test_split_keeps_queries_whole_and_numbers_them_anew():
    parts = sp.split(DATA, valid=0.25, test=0.25, seed=3)
    names = [NAMES[part.index] for part in parts]
    assert sum(len(set(one)) for one in names) == QUERIES
    assert [part.rows for part in parts] == pytest.approx([45, 22, 22], abs=8)
    for part, own in zip(parts, names, strict=True):
        assert part.queries.tolist() == first_rows(own)
        assert part.describe()["queries"] == len(set(own))
    again = sp.split(parts[0], valid=0.5)[1]
    assert again.queries.tolist() == first_rows(NAMES[again.index])


def test_split_of_a_data_set_without_target_keeps_queries_whole_too():
    parts = sp.split(sp.Dataset(X, qid=QID), valid=0.5)
    assert not set(QID[parts[0].index]) & set(QID[parts[1].index])


@pytest.mark.parametrize("folds", [4, GroupKFold(4)], ids=["number", "splitter"])
def test_cross_validation_keeps_queries_whole(folds):
    found = sp.cv({"objective": "squared_error", "max_leaves": 4}, DATA, folds=folds, rounds=1)
    for fold in found.folds:
        assert not set(NAMES[fold.train]) & set(NAMES[fold.test])


def test_more_folds_than_queries_are_refused():
    with pytest.raises(DataError, match=r"folds=13 is more than there are queries \(12\)"):
        sp.cv({}, DATA, folds=13, rounds=1)


def test_more_parts_than_queries_are_refused():
    one = sp.Dataset(X, Y, group=[ROWS])
    with pytest.raises(DataError, match="the valid part gets no query: there are too few queries"):
        sp.split(one, valid=0.5)
