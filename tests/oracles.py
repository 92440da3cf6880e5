"""The obvious, slow versions of what the kernels do, in plain Python and NumPy; those of a tree are in `tree_oracle`."""

import itertools
import math
from fractions import Fraction

import numpy as np

from spinney.jit.math import exp, log
from spinney.sampling.kernels.random import PURPOSE_SHUFFLE

MASK = 2**64 - 1
# What random numbers are drawn for.
ROUNDING, LEVEL, NODE, ROWS, COLUMNS = 1, 1000, 1_000_000, 2, 3


# Binning


def cuts_of(values, max_bin, weight=None, spread=False):
    """Cuts of one column: values that weigh an average bin stand alone, the others share the remaining bins.

    Spread, a value weighs the cube root of its mass times the square of the distance between its neighbours.
    """
    mass = {}
    masses = np.ones(len(values)) if weight is None else whole_masses(weight)
    for row, x in enumerate(values.astype(np.float64)):
        w = float(masses[row])
        if x == x and w > 0:
            mass[x + 0.0] = mass.get(x + 0.0, 0.0) + w
    distinct = sorted(mass)
    most = min(max_bin, 65_535)
    middles = [between(a, b) for a, b in itertools.pairwise(distinct)]
    if len(distinct) <= most:
        return np.array(middles)
    masses = [mass[x] for x in distinct]
    if spread:
        halves = [0.5 * x for x in (distinct[0], *distinct, distinct[-1])]
        gaps = [above - below for below, above in zip(halves, halves[2:], strict=False)]
        masses = [exp((log(m) + 2.0 * log(gap)) / 3.0) for m, gap in zip(masses, gaps, strict=True)]
    rest, rest_bins = 0.0, most
    for m in masses:
        rest += m
    heavy = rest / most
    alone = [m >= heavy for m in masses]
    for m, lone in zip(masses, alone, strict=True):
        rest, rest_bins = (rest - m, rest_bins - 1) if lone else (rest, rest_bins)
    share = rest / max(rest_bins, 1)
    cuts, held = [], 0.0
    for i, middle in enumerate(middles):
        held += masses[i]
        rest -= 0.0 if alone[i] else masses[i]
        if alone[i] or held >= share or (alone[i + 1] and held >= 0.5 * share):
            cuts.append(middle)
            held = 0.0
            if len(cuts) == most - 1:
                break
            if not alone[i]:
                rest_bins -= 1
                share = rest / max(rest_bins, 1)
    return np.array(cuts)


def whole_masses(weight):
    """Weights as whole numbers whose sum is about 2**52; what weighs anything weighs 1 at least."""
    total = float(weight.sum())
    if total == 0:
        return [0] * len(weight)
    power = math.floor(52 - math.log2(total))
    return [max(math.floor(Fraction(float(w)) * Fraction(2) ** power), 1) if w > 0 else 0 for w in weight]


def between(low, high):
    middle = low * 0.5 + high * 0.5
    return middle if low <= middle < high else low


def bins_of(values, cuts):
    """Bin of each value; missing values have the number after the last bin."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="left"))


def bins_of_matrix(matrix):
    """Bins of all rows and columns, read back from groups, bundles and stored entries one by one."""
    features, sparse = matrix.features, matrix.sparse
    bins = np.empty((matrix.rows, matrix.columns), int)
    for column in range(matrix.columns):
        group, low, codes = (int(part[column]) for part in (features.group, features.low, features.codes))
        default = int(features.default[column])
        if group >= 0:
            code = matrix.by_column[group].astype(int) - low
        else:
            entries = slice(sparse.starts[column], sparse.starts[column + 1])
            code = np.full(matrix.rows, -1)
            code[sparse.column_rows[entries]] = sparse.column_codes[entries].astype(int) - 1
        own = (code >= 0) & (code < codes)
        bins[:, column] = np.where(own, code + (code >= default), default)
    return bins


# Random numbers


def scrambled(key):
    z = key & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_bits(seed, purpose, position):
    golden = 0x9E3779B97F4A7C15
    return scrambled(scrambled(seed + purpose * golden) + (position + 1) * golden)


def shuffled_order(seed, number, column, count):
    """The order of a column: from the last row on, each changes places with one not after it.

    `number` is that of the repeat, or of the tree.
    """
    seed = random_bits(random_bits(seed, PURPOSE_SHUFFLE, number), PURPOSE_SHUFFLE, column)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = (random_bits(seed, PURPOSE_SHUFFLE, i) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def chosen(numbers, wanted, seed, purpose):
    """Draw `wanted` of the numbers, keeping their order."""
    kept, numbers = [], list(numbers)
    for i, number in enumerate(numbers):
        if (random_bits(seed, purpose, i) >> 32) / 2**32 * (len(numbers) - i) < wanted - len(kept):
            kept.append(number)
    return kept


def chosen_by_key(rows, wanted, seed, purpose):
    """Draw `wanted` of the rows, keeping their order: the largest 31 random bits win, of equal ones the first."""
    by_key = sorted(rows, key=lambda row: (-(random_bits(seed, purpose, row) >> 33), row))
    return sorted(by_key[:wanted])


def chosen_by_weight(numbers, wanted, seed, purpose, weights):
    """Draw by weight, keeping the order: the shortest waiting times win, of equal ones the first."""
    numbers = list(numbers)
    able = [i for i, number in enumerate(numbers) if weights[number] > 0]
    unit = {i: (2 * (random_bits(seed, purpose, i) >> 32) + 1) / 2**33 for i in able}
    waiting = {i: -math.log(unit[i]) / weights[numbers[i]] for i in able}
    return [numbers[i] for i in sorted(sorted(able, key=waiting.get)[:wanted])]


# Gradients: (g, h) of every row, of every output and row for softmax


def squared_error(score, y, weight):
    return np.stack([(score - y) * weight, weight], axis=-1)


def log_loss(score, y, weight):
    p = 1 / (1 + np.exp(-score))
    return np.stack([(p - y) * weight, p * (1 - p) * weight], axis=-1)


def softmax(scores, y, weight):
    """Scores are outputs × rows."""
    p = probabilities(scores)
    classes = len(scores)
    hit = np.arange(classes)[:, None] == y
    return np.stack([(p - hit) * weight, classes / (classes - 1) * p * (1 - p) * weight], axis=-1)


def probabilities(scores):
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=0)


# Prediction


def leaf_of(tree, x):
    """Number of the leaf that a row of values reaches."""
    node = 0
    while tree.feature[node] >= 0:
        value = x[tree.feature[node]]
        left = bool(tree.default_left[node]) if np.isnan(value) else value <= tree.threshold[node]
        node = int(tree.left[node]) + (0 if left else 1)
    return node


def leaves(model, X):
    trees = [model.forest.tree(t) for t in range(model.forest.trees)]
    return np.array([[leaf_of(tree, x) for tree in trees] for x in X]).reshape(len(X), len(trees))


def raw_scores(model, X, trees=None):
    """Base score, then tree after tree, (rows, outputs)."""
    scores = np.tile(model.base_score, (len(X), 1))
    for t in range(model.forest.trees if trees is None else trees):
        tree = model.forest.tree(t)
        scores[:, t % model.outputs] += [tree.value[leaf_of(tree, x)] for x in X]
    return scores
