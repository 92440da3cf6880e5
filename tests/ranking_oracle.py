"""The obvious, slow versions of losses and metrics of ranking: plain loops over queries, rows and pairs."""

import math

import numpy as np

from spinney.sampling.kernels.random import PURPOSE_TARGETS, random_bits, unit

GAINS = [2.0**i - 1 for i in range(31)]


def queries_of(rows, queries):
    """Rows of each query, in the order of the table; without queries all rows."""
    if queries is None:
        return [list(range(rows))]
    return [[i for i in range(rows) if queries[i] == q] for q in dict.fromkeys(queries)]


def ranked(rows, scores):
    """Rows from the largest score to the least; of equal ones the first comes first."""
    return sorted(rows, key=lambda i: -scores[i])


def dcg(relevances, gains, depth):
    return sum(gains[int(r)] / math.log2(2 + k) for k, r in enumerate(relevances[:depth]))


def average_precision(relevances, depth):
    """Mean precision at the places of relevant rows, of at most `depth` of them."""
    if not any(relevances):
        return 1.0
    hits = [k for k, r in enumerate(relevances[:depth]) if r > 0]
    total = sum((n + 1) / (k + 1) for n, k in enumerate(hits))
    return total / min(sum(r > 0 for r in relevances), depth)


def metric(name, scores, target, queries, weight=None, depth=10**6, gains=GAINS):
    values, weights = [], []
    for rows in queries_of(len(target), queries):
        found = [target[i] for i in ranked(rows, scores)]
        best = dcg(sorted(found, reverse=True), gains, depth)
        if name == "ndcg":
            values.append(dcg(found, gains, depth) / best if best > 0 else 1.0)
        elif name == "map":
            values.append(average_precision(found, depth))
        elif name == "mrr":
            first = next((k for k, r in enumerate(found) if r > 0), None)
            values.append(1.0 if first is None else 1 / (first + 1) if first < depth else 0.0)
        else:
            raise ValueError(f"the oracle has no metric {name!r}: write its value for one query here")
        weights.append(1.0 if weight is None else float(np.mean([weight[i] for i in rows])))
    return float(np.average(values, weights=weights))


def swapped(order, a, b):
    order = list(order)
    order[a], order[b] = order[b], order[a]
    return order


def cost_of_swap(name, relevances, a, b, gains, truncation):
    """By how much the metric of a list changes when two of its rows swap places."""
    other = swapped(relevances, a, b)
    if name == "rank_pairwise":
        return 1.0
    if name == "rank_map":
        whole = len(relevances)
        return abs(average_precision(relevances, whole) - average_precision(other, whole))
    best = dcg(sorted(relevances, reverse=True), gains, truncation)
    if best == 0:
        return 0.0
    return abs(dcg(relevances, gains, None) - dcg(other, gains, None)) / best


def pair_gradients(
    name, scores, target, queries, weight=None, truncation=30, norm=True, sigmoid=1.0, gains=GAINS
):
    """Gradients and hessians, (rows, 2)."""
    result = np.zeros((len(target), 2))
    for rows in queries_of(len(target), queries):
        order = ranked(rows, scores)
        relevances, total = [target[i] for i in order], 0.0
        for a in range(min(truncation, len(order))):
            for b in range(a + 1, len(order)):
                if relevances[a] == relevances[b]:
                    continue
                high, low = (order[a], order[b]) if relevances[a] > relevances[b] else (order[b], order[a])
                cost = cost_of_swap(name, relevances, a, b, gains, truncation)
                if norm and scores[order[0]] != scores[order[-1]]:
                    cost /= 0.01 + abs(scores[high] - scores[low])
                wrong = 1 / (1 + math.exp(min(sigmoid * (scores[high] - scores[low]), 700)))
                slope, bend = sigmoid * cost * wrong, sigmoid**2 * cost * wrong * (1 - wrong)
                result[high] += [-slope, bend]
                result[low] += [slope, bend]
                total += 2 * slope
        if norm and total > 0:
            result[rows] *= math.log2(1 + total) / total
    return result if weight is None else result * weight[:, None]


def list_gradients(scores, target, queries, seed, weight=None, gains=GAINS):
    """The same of rank_xendcg."""
    result = np.zeros((len(target), 2))
    for rows in queries_of(len(target), queries):
        y = target[rows]
        if len(set(y)) == 1:
            continue
        with np.errstate(over="ignore"):
            draws = np.array([unit(random_bits(seed, PURPOSE_TARGETS, row)) for row in rows])
        wanted = np.array([gains[int(r)] for r in y]) + 1 - draws
        e = np.exp(scores[rows] - scores[rows].max())
        share = e / e.sum()
        first = share - wanted / wanted.sum()
        part = first / (1 - share)
        second = share * (part.sum() - part)
        part = second / (1 - share)
        third = share * (part.sum() - part)
        result[rows] = np.stack([first + second + third, share * (1 - share)], axis=1)
    return result if weight is None else result * weight[:, None]
