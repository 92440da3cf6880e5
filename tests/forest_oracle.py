"""The obvious, slow version of growing one tree of a forest, from codes.

Nothing here is clever. A node lists every split that it could have, in the order in which ties are decided: columns as they are
drawn, missing values right before left, then the lowest cut. Costs are computed anew from the rows of each side. The first split
that is strictly better than those before it wins.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from oracles import random_bits, scrambled

EPSILON = float(np.finfo(float).eps)
TREE, DRAW, CUT = 7, 10, 11  # what random numbers are drawn for: trees, columns, cuts
# The rows that order categories; the sides of categories that a node does not have; which way an order runs.
HALF, ABSENT, ORDER = 23, 24, 25
FEW_CATEGORIES = 4  # that all rows of a node order and score


@dataclass(frozen=True, eq=False)
class Problem:
    """What a tree is grown from. The code of a missing value is the number of bins of its column."""

    codes: np.ndarray  # rows × columns
    bins: list
    values: list  # of each column the value that stands for each bin, ascending
    target: np.ndarray  # rows × outputs: numbers of classes, or numbers
    weight: np.ndarray  # whole numbers; a row of weight 0 is not in the bag
    classes: tuple = ()  # classes of each output; () for numbers
    categorical: tuple = ()  # columns

    @property
    def columns(self):
        return self.codes.shape[1]


@dataclass(frozen=True)
class Rules:
    """What a tree may be."""

    criterion: str = "gini"
    splitter: str = "best"
    max_depth: int = 0
    least_split: int = 2
    least_leaf: int = 1
    least_weight: float = 0.0
    max_features: int = 0  # 0: all
    least_decrease: float = 0.0
    max_leaves: int = 0
    ccp_alpha: float = 0.0
    monotone: dict = field(default_factory=dict)  # by column: 1 rising, -1 falling


@dataclass(frozen=True, eq=False)
class Split:
    """A way to part the rows of a node. `cut` is a code, or the set of the categories that go left."""

    column: int
    cut: object
    missing_left: bool
    left: np.ndarray  # rows
    right: np.ndarray
    score: float  # decrease of the cost; a fraction where that is one


@dataclass(eq=False)
class Node:
    """A node, with the nodes below it."""

    rows: np.ndarray
    key: int
    depth: int = 0
    bounds: tuple = (-math.inf, math.inf)
    split: Split | None = None
    children: tuple = ()
    gain: float = 0.0


# Costs: weight times impurity


def median(y, weight):
    """Weighted median; the middle of two values where exactly half of the weight is on either side."""
    order = np.argsort(y, kind="stable")
    total, held = int(weight.sum()), 0
    for place, row in enumerate(order):
        held += int(weight[row])
        if 2 * held > total:
            return float(y[row])
        if 2 * held == total:
            above = next(float(y[other]) for other in order[place + 1 :] if weight[other] > 0)
            return (float(y[row]) + above) / 2
    raise AssertionError("a node without weight")


def class_weights(problem, rows, output):
    weights = [0] * problem.classes[output]
    for row in rows:
        weights[int(problem.target[row, output])] += int(problem.weight[row])
    return weights


def all_class_weights(problem, rows):
    return [w for k in range(len(problem.classes)) for w in class_weights(problem, rows, k)]


def cost(problem, criterion, rows):
    """Weight times impurity of some rows, a mean over outputs."""
    outputs = problem.target.shape[1]
    return sum(cost_of_output(problem, criterion, rows, k) for k in range(outputs)) / outputs


def cost_of_output(problem, criterion, rows, output):
    weight = problem.weight[rows]
    total = int(weight.sum())
    if criterion in ("gini", "entropy"):
        held = class_weights(problem, rows, output)
        if criterion == "gini":
            return total - Fraction(sum(w * w for w in held), total)
        return -math.fsum(w * math.log2(w / total) for w in held if w > 0)
    y = problem.target[rows, output].astype(float)
    if criterion == "absolute_error":
        middle = median(y, weight)
        return math.fsum(w * abs(v - middle) for v, w in zip(y, weight.tolist(), strict=True))
    mean = math.fsum(y * weight) / total
    if criterion == "squared_error":
        return math.fsum(w * (v - mean) ** 2 for v, w in zip(y, weight.tolist(), strict=True))
    if mean <= 0:
        return math.inf  # of the Poisson deviance, which needs a mean above 0
    return math.fsum(w * v * math.log(v / mean) for v, w in zip(y, weight.tolist(), strict=True) if v > 0)


def value_of(problem, criterion, rows):
    """What a leaf holds: the weight of each class, outputs one after another, or a number for each output."""
    outputs = range(problem.target.shape[1])
    if problem.classes:
        return [float(w) for w in all_class_weights(problem, rows)]
    weight = problem.weight[rows]
    if criterion == "absolute_error":
        return [median(problem.target[rows, k], weight) for k in outputs]
    return [math.fsum(problem.target[rows, k] * weight) / int(weight.sum()) for k in outputs]


def prediction_of(problem, criterion, rows):
    """The number that a direction is about: the share of the second class, or the prediction."""
    value = value_of(problem, criterion, rows)
    return value[1] / sum(value) if problem.classes else value[0]


# Splits of one node


def drawn_columns(problem, rules, node):
    """Columns as they are drawn; those that are the same in all rows count, but one that is not must be among them."""
    waiting = list(range(problem.columns))
    wanted = rules.max_features or problem.columns
    taken, useful = 0, 0
    while waiting and (taken < wanted or useful == 0):
        bits = random_bits(node.key, DRAW, taken) >> 32
        place = (bits * len(waiting)) >> 32
        column = waiting[place]
        waiting[place] = waiting[-1]
        waiting.pop()
        if len(set(problem.codes[node.rows, column].tolist())) > 1:
            useful += 1
            yield taken, column
        taken += 1


def parted(problem, node, column, members, missing_left):
    """Rows of a node whose code is among some, and the others."""
    codes = problem.codes[node.rows, column]
    missing = codes == problem.bins[column]
    left = np.where(missing, missing_left, np.isin(codes, list(members)))
    return node.rows[left], node.rows[~left]


def scoring_rows(problem, node, column):
    """The rows that score a column's sets of categories, if these are many, or None: all rows order and score."""
    ordering = np.array([random_bits(node.key, HALF, int(row)) & 1 for row in node.rows], bool)
    codes = problem.codes[node.rows, column]
    many = len(set(codes.tolist())) > FEW_CATEGORIES
    return node.rows[~ordering] if many and len(set(codes[~ordering].tolist())) > 1 else None


def ordered_categories(problem, node, column):
    """Codes of a node by a mean of their rows: of the first output's numbers; of two classes the share of the second one; of more
    classes, or several outputs, that of the class which the node has most of. The missing values are one more category. Where
    some rows score, the others order, up or down by chance; a category that has none of these has the mean of all of them.
    """
    scoring = scoring_rows(problem, node, column)
    ordering = node.rows if scoring is None else np.setdiff1d(node.rows, scoring)
    rows = {int(code): [] for code in problem.codes[node.rows, column]}
    for row in ordering:
        rows[int(problem.codes[row, column])].append(row)
    weights = all_class_weights(problem, node.rows) if problem.classes else []
    chosen = 1 if len(weights) == 2 else max(range(len(weights)), key=weights.__getitem__, default=0)

    def mean(some):
        if len(some) == 0:
            return 0 if len(ordering) == 0 else mean(ordering)
        weight = problem.weight[some]
        if problem.classes:
            return Fraction(all_class_weights(problem, some)[chosen], int(weight.sum()))
        return math.fsum(problem.target[some, 0] * weight) / int(weight.sum())

    sign = 1 if scoring is None else 1 - 2 * (random_bits(node.key, ORDER, 0) & 1)
    return sorted(rows, key=lambda code: (sign * mean(rows[code]), code))


def score_of_set(problem, rules, node, column, left):
    """How much a set of categories decreases the cost of the rows that score it, scaled to all rows of the node."""
    scoring = scoring_rows(problem, node, column)
    if scoring is None:
        return math.inf
    parts = [rows for rows in (np.intersect1d(scoring, left), np.setdiff1d(scoring, left)) if len(rows)]
    if len(parts) < 2:
        return -math.inf
    decrease = cost(problem, rules.criterion, scoring) - sum(
        cost(problem, rules.criterion, side) for side in parts
    )
    if decrease == -math.inf:
        return decrease
    return decrease * Fraction(int(problem.weight[node.rows].sum()), int(problem.weight[scoring].sum()))


def with_absent(problem, node, column, members, left):
    """A set of categories with those that the node does not have by chance, and where missing values would go."""
    share = int(problem.weight[left].sum()) / int(problem.weight[node.rows].sum())
    chance = min(int(share * 64 + (random_bits(node.key, ABSENT, 1) >> 32) / 2**32), 63)
    found = set(members)
    for code in set(range(problem.bins[column])) - set(problem.codes[node.rows, column].tolist()):
        bit = 0
        for digit in range(6):
            fresh = random_bits(node.key, ABSENT, 2 + code // 64 * 6 + digit) >> (code % 64) & 1
            bit = bit | fresh if chance >> digit & 1 else bit & fresh
        found |= {code} if bit else set()
    return frozenset(found), random_bits(node.key, ABSENT, 0) & 63 < chance


def moved_to_the_middle(problem, column, low, high):
    """The largest cut of the gap between two occupied codes whose bin lies in its lower half."""
    values = problem.values[column]
    middle = values[low] + (values[high] - values[low]) / 2
    return max([low, *(k for k in range(low, high) if values[k] <= middle)])


def ways_to_part(problem, node, column):
    """(cut, codes that go left, missing values left) of a column, in the order in which ties are decided."""
    bins = problem.bins[column]
    if column in problem.categorical:
        order = ordered_categories(problem, node, column)
        for k in range(1, len(order)):
            members = set(order[:k])
            yield frozenset(members - {bins}), members, bins in members
        return
    occupied = sorted(set(problem.codes[node.rows, column].tolist()))
    has_missing = occupied[-1] == bins
    known = [code for code in occupied if code < bins]
    for missing_left in (False, True) if has_missing else (False,):
        for k in range(1, len(known)):
            yield moved_to_the_middle(problem, column, known[k - 1], known[k]), set(known[:k]), missing_left
        if has_missing and not missing_left:
            yield bins - 1, set(known), False


def random_way(problem, node, column, draw):
    """The one way in which extra trees try a column: a number in the range of its values, or categories by chance."""
    bins, values = problem.bins[column], problem.values[column]
    occupied = sorted(set(problem.codes[node.rows, column].tolist()))
    has_missing = occupied[-1] == bins
    bits = random_bits(node.key, CUT, draw)
    if column in problem.categorical:
        members = {code for code in occupied if random_bits(bits, CUT, code) & 1}
        yield frozenset(members - {bins}), members, bins in members
        return
    known = [code for code in occupied if code < bins]
    low, high = known[0], known[-1]
    if low == high:
        yield bins - 1, set(known), False
        return
    threshold = values[low] + (bits >> 32) / 2**32 * (values[high] - values[low])
    cut = max([low, *(k for k in range(low, high) if values[k] <= threshold)])
    yield cut, {code for code in known if code <= cut}, has_missing and bool(bits & 1)


def splits_of(problem, rules, node):
    """Every split that a node may have, in the order in which ties are decided."""
    whole = cost(problem, rules.criterion, node.rows)
    for draw, column in drawn_columns(problem, rules, node):
        random = rules.splitter == "random"
        ways = random_way(problem, node, column, draw) if random else ways_to_part(problem, node, column)
        for cut, members, missing_left in ways:
            left, right = parted(problem, node, column, members, missing_left)
            if not allowed(problem, rules, node, column, left, right):
                continue
            score = whole - cost(problem, rules.criterion, left) - cost(problem, rules.criterion, right)
            unseen_left = len(left) > len(right)
            if column in problem.categorical:
                if not random:
                    score = min(score, score_of_set(problem, rules, node, column, left))
                cut, unseen_left = with_absent(problem, node, column, cut, left)
            if score > -math.inf:
                if not (problem.codes[node.rows, column] == problem.bins[column]).any():
                    missing_left = unseen_left
                yield Split(column, cut, missing_left, left, right, score)


def allowed(problem, rules, node, column, left, right):
    """Whether both sides are large enough and on the sides that directions leave them."""
    if min(len(left), len(right)) < max(rules.least_leaf, 1):
        return False
    if min(int(problem.weight[left].sum()), int(problem.weight[right].sum())) < rules.least_weight:
        return False
    sign = rules.monotone.get(column, 0)
    if sign == 0:
        return True
    a, b = (prediction_of(problem, rules.criterion, rows) for rows in (left, right))
    low, high = node.bounds
    return low <= min(a, b) and max(a, b) <= high and (b - a) * sign >= 0


def is_leaf(problem, rules, node):
    """Whether nothing needs to be tried: pure, too small or too deep."""
    pure = all(len(set(problem.target[node.rows, k].tolist())) == 1 for k in range(problem.target.shape[1]))
    small = len(node.rows) < max(rules.least_split, 2 * rules.least_leaf)
    light = int(problem.weight[node.rows].sum()) < 2 * rules.least_weight
    return pure or small or light or 0 < rules.max_depth <= node.depth


# Trees


def first_best(splits):
    """The best split; of equal ones the first."""
    best = None
    for split in splits:
        if best is None or split.score > best.score:
            best = split
    return best


def key_of_tree(seed, tree):
    return random_bits(seed, TREE, tree)


def path_of_child(key, right):
    return scrambled(2 * key + right + 1)


def grow(problem, rules, key):
    """A whole tree."""
    root = Node(np.flatnonzero(problem.weight > 0), key)
    total = int(problem.weight.sum())
    waiting = [root]
    plan(problem, rules, root, total)
    leaves = 1
    while waiting:
        best = max(waiting, key=lambda node: node.gain) if rules.max_leaves else waiting[-1]
        waiting.remove(best)
        if best.split is None or 0 < rules.max_leaves <= leaves:
            best.split = None
            continue
        leaves += 1
        open_children(problem, rules, best)
        for child in reversed(best.children):
            plan(problem, rules, child, total)
            waiting.append(child)
    if rules.ccp_alpha > 0:
        prune(problem, rules, root, total)
    return root


def plan(problem, rules, node, total):
    """Find the split of a node, if it has one."""
    if is_leaf(problem, rules, node):
        return
    split = first_best(splits_of(problem, rules, node))
    if split is not None and split.score / total + EPSILON >= rules.least_decrease:
        node.split, node.gain = split, float(split.score / total)


def open_children(problem, rules, node):
    """Nodes for both sides of a split, within the bounds that its column's direction leaves them."""
    split = node.split
    low, high = node.bounds
    bounds = [node.bounds, node.bounds]
    sign = rules.monotone.get(split.column, 0)
    if sign != 0:
        a, b = (prediction_of(problem, rules.criterion, rows) for rows in (split.left, split.right))
        middle = (a + b) / 2
        bounds = [(low, middle), (middle, high)] if sign > 0 else [(middle, high), (low, middle)]
    node.children = tuple(
        Node(rows, path_of_child(node.key, side), node.depth + 1, bounds[side])
        for side, rows in enumerate((split.left, split.right))
    )


def prune(problem, rules, root, total):
    """Minimal cost-complexity pruning: the weakest link goes first, as long as it is not stronger than alpha."""

    def weighted(node):
        return cost(problem, rules.criterion, node.rows) / total

    def strength(node):
        below = list(leaves_of(node))
        return (weighted(node) - math.fsum(map(weighted, below))) / (len(below) - 1)

    while root.split is not None:
        weakest = min((node for node in nodes_of(root) if node.split is not None), key=strength)
        if strength(weakest) > rules.ccp_alpha:
            break
        weakest.split, weakest.children, weakest.gain = None, (), 0.0


def nodes_of(node):
    """All nodes, a node before its left side, that before its right side."""
    yield node
    for child in node.children if node.split is not None else ():
        yield from nodes_of(child)


def leaves_of(node):
    """Leaves from left to right."""
    return (other for other in nodes_of(node) if other.split is None)
