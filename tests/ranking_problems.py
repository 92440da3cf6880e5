"""Small problems of ranking: queries of several sizes, relevances from 0 to 4."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import ndcg_score


class Lists(NamedTuple):
    """Rows of queries, those of a query together."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    qid: NDArray[np.int64]
    group: list[int]


def lists(queries, seed, columns=4, sizes=(3, 14)):
    """Queries whose relevance follows from two columns, some noise and what is special about the query."""
    rng = np.random.default_rng(seed)
    group = rng.integers(*sizes, queries)
    qid = np.repeat(np.arange(queries), group)
    X = rng.normal(size=(len(qid), columns))
    latent = X[:, 0] + 0.6 * np.abs(X[:, 1]) + 0.5 * rng.normal(size=len(qid))
    y = np.digitize(latent + rng.normal(size=queries)[qid], [0.3, 0.9, 1.6, 2.2]).astype(float)
    return Lists(X, y, qid, group.tolist())


def interleaved(problem, seed):
    """An order of the rows in which queries are mixed, and those of a query keep their order."""
    rng = np.random.default_rng(seed)
    order = np.empty(len(problem.qid), np.int64)
    mixed = rng.permutation(problem.qid)
    order[np.argsort(mixed, kind="stable")] = np.argsort(problem.qid, kind="stable")
    return order


def naive_ndcg(y, scores, qid, k=None, gain=lambda y: 2**y - 1):
    """Mean NDCG over queries with distinct scores, as scikit-learn computes it; 1 for a query without relevant rows."""
    found = []
    for query in dict.fromkeys(qid.tolist()):
        mine = qid == query
        if not y[mine].any() or mine.sum() == 1:
            found.append(1.0)
        else:
            found.append(ndcg_score([gain(y[mine])], [scores[mine]], k=k))
    return np.array(found)
