"""Isolation trees grown naively, node by node, from the same random bits."""

import math

import numpy as np

from spinney.sampling.kernels.random import (
    PURPOSE_CUT,
    PURPOSE_SET,
    PURPOSE_SIDE,
    PURPOSE_SPLIT,
    mixed,
    random_bits,
)

TRIES = 8


def bits(key, purpose, position):
    with np.errstate(over="ignore"):
        return int(random_bits(np.int64(key), purpose, position))


def unit(key, purpose):
    return ((bits(key, purpose, 0) >> 11) & (2**53 - 1)) * 2.0**-53


def place(key, draw, many):
    return (((bits(key, PURPOSE_SPLIT, draw) >> 32) & (2**32 - 1)) * many) >> 32


def child_key(key, right):
    with np.errstate(over="ignore"):
        return int(mixed(np.int64(2) * np.int64(key) + np.int64(right + 1)))


def parts(values):
    """Whether a column can part rows."""
    known = values[~np.isnan(values)]
    return len(known) > 0 and known.min() < known.max()


def choose(X, columns, key):
    """The column that splits the rows, None where none can, and the columns that the nodes below choose from."""
    for draw in range(min(TRIES, len(columns))):
        column = columns[place(key, draw, len(columns))]
        if parts(X[:, column]):
            return column, columns
    able = [column for column in columns if parts(X[:, column])]
    return (able[place(key, TRIES, len(able))], able) if able else (None, able)


def drawn_set(values, categories, key):
    """Categories of the rows that go left."""
    present = {int(one) for one in values[~np.isnan(values)]}
    attempt = 0
    while True:
        words = [bits(key, PURPOSE_SET, (attempt << 20) + k) for k in range((categories + 63) // 64)]
        left = {one for one in present if (words[one >> 6] >> (one & 63)) & 1}
        if left and left != present:
            return left, present
        attempt += 1


def grow(X, columns, categories, key, depth):
    """A node as a dictionary; `depth` is how many splits may follow."""
    node = {"count": len(X)}
    if len(X) < 2 or depth == 0:
        return node
    column, columns = choose(X, columns, key)
    if column is None:
        return node
    values = X[:, column]
    known = ~np.isnan(values)
    if categories[column]:
        chosen, present = drawn_set(values, categories[column], key)
        left = np.isin(values, list(chosen))
        cut = 0.0
    else:
        low, high = values[known].min(), values[known].max()
        width = high - low
        share = unit(key, PURPOSE_CUT)
        cut = low + share * width if math.isfinite(width) else 2 * (low / 2 + share * (high / 2 - low / 2))
        cut = cut if low <= cut < high else low
        left = values <= cut
    counts = int((left & known).sum()), int((~left & known).sum())
    missing_left = unit(key, PURPOSE_SIDE) * sum(counts) < counts[0]
    if categories[column]:
        others_left = counts[0] < counts[1] or (counts[0] == counts[1] and missing_left)
        node["set"] = chosen | (set(range(categories[column])) - present if others_left else set())
    left = np.where(known, left, missing_left)
    node |= {"column": int(column), "cut": float(cut), "missing_left": bool(missing_left)}
    node["children"] = [
        grow(X[side], columns, categories, child_key(key, right), depth - 1)
        for right, side in enumerate((left, ~left))
    ]
    return node


def nested(tree, node=0):
    """A tree of ours in the same form."""
    found = {"count": int(tree.count[node])}
    if tree.feature[node] < 0:
        return found
    members = tree.sets.members(node)
    if members is not None:
        found["set"] = set(members)
    left = int(tree.left[node])
    return found | {
        "column": int(tree.feature[node]),
        "cut": float(tree.threshold[node]),
        "missing_left": bool(tree.default_left[node]),
        "children": [nested(tree, left), nested(tree, left + 1)],
    }


def path(tree, row):
    """Nodes from the root to the leaf of a row; (node, column of its split)."""
    node, passed = 0, []
    while tree.feature[node] >= 0:
        column = int(tree.feature[node])
        members, x = tree.sets.members(node), row[column]
        if np.isnan(x):
            left = bool(tree.default_left[node])
        else:
            left = x <= tree.threshold[node] if members is None else int(x) in members
        passed.append((node, column))
        node = int(tree.left[node]) + (0 if left else 1)
    return [*passed, (node, -1)]


def average(n):
    """c(n)."""
    if n <= 2:
        return float(n == 2)
    return 2 * (math.log(n - 1) + 0.5772156649015329) - 2 * (n - 1) / n


def length(tree, row):
    """Length of a row's path."""
    passed = path(tree, row)
    return len(passed) - 1 + average(int(tree.count[passed[-1][0]]))
