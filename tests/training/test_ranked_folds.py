"""Cross-validation and splits of rankings."""

import numpy as np
import pytest

import spinney as sp
from ranking_problems import interleaved, lists, naive_ndcg

LISTS = lists(30, seed=21)
ORDER = interleaved(LISTS, seed=2)
X, Y, QID = LISTS.X[ORDER], LISTS.y[ORDER], LISTS.qid[ORDER]
DATA = sp.Dataset(X, Y, qid=QID)
PARAMS = {"objective": "rank_ndcg", "max_leaves": 4, "min_child_samples": 2, "n_jobs": 1}


def test_folds_are_trained_and_judged_on_whole_queries():
    found = sp.cv(PARAMS | {"eval_metric": ["ndcg", "ndcg@3"]}, DATA, folds=3, rounds=3)
    for k, fold in enumerate(found.folds):
        train = sp.Dataset(X[fold.train], Y[fold.train], qid=QID[fold.train], reference=DATA)
        assert found.models[k].predict_raw(X[fold.test]).tolist() == found.oof[fold.test].tolist()
        alone = sp.train(PARAMS | {"eval_metric": ["ndcg", "ndcg@3"]}, train, rounds=3)
        assert found.models[k] == alone
        scores = found.oof[fold.test] - 1e-9 * np.arange(len(fold.test))
        for name, place in (("ndcg", None), ("ndcg@3", 3)):
            expected = naive_ndcg(Y[fold.test], scores, QID[fold.test], k=place).mean()
            assert found.history["test"][name].folds[k, -1] == pytest.approx(expected)


def test_a_validation_part_has_its_own_queries():
    train, valid = sp.split(DATA, valid=0.3)
    history = sp.History()
    model = sp.train(PARAMS, train, rounds=3, valid={"valid": valid}, callbacks=[history])
    scores = model.predict_raw(X[valid.index]) - 1e-9 * np.arange(valid.rows)
    expected = naive_ndcg(Y[valid.index], scores, QID[valid.index]).mean()
    assert history.evals["valid"]["ndcg"][-1] == pytest.approx(expected)


def test_a_function_sees_the_queries_of_each_part():
    seen = []

    def loss(scores, labels):
        seen.append(labels.queries.tolist())
        return scores - labels, np.ones(len(scores))

    def queries(scores, labels):
        return "queries", float(labels.queries.max() + 1), True

    found = sp.cv({"max_leaves": 3}, DATA, folds=3, rounds=1, objective=loss, metrics=[queries])
    for k, fold in enumerate(found.folds):
        names = list(dict.fromkeys(QID[fold.train].tolist()))
        assert seen[k] == [names.index(one) for one in QID[fold.train]]
        assert found.history["test"]["queries"].folds[k, 0] == len(set(QID[fold.test]))
