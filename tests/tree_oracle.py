"""The obvious, slow version of growing a tree.

Nothing here is clever. Sums are Python integers, loops go over rows, columns and bins in the order in which ties are
decided: lowest column, then missing values right before left, then lowest bin.
"""

import math
from dataclasses import dataclass

import numpy as np

from oracles import COLUMNS, LEVEL, NODE, ROUNDING, chosen, chosen_by_weight, random_bits, scrambled
from spinney.growth.kernels.packing import (
    CELL_BITS,
    EXACT_LIMIT,
    LARGEST,
    MIN_COUNT_BITS,
    SMALL_BAG,
    SUM_BLOCK,
    SUM_LIMIT,
)
from spinney.tree import Tree

NOISE = 1e-12  # relative gain that could be rounding alone


# Quantized gradients


def power_scale(largest, total, count, largest_limit, total_limit):
    """Largest power of two that keeps every value and the sum within their limits."""
    if largest <= 0:
        return 1.0
    powers = (math.ldexp(1.0, e) for e in range(400, -400, -1))
    return next(s for s in powers if largest * s <= largest_limit and total * s + count <= total_limit)


def few_limits(in_bag):
    """What the sums of |g| and h over few rows may come to: the count leaves the bits that it does not need to both."""
    bits = CELL_BITS - max(MIN_COUNT_BITS, in_bag.bit_length())
    return 2 ** (bits - bits // 2 - 1) - 1, 2 ** (bits // 2) - 1


@dataclass
class Steps:
    """Steps of one tree's fixed-point gradients: coarse ones for histograms, fine ones for leaves."""

    g: float
    h: float
    exact_g: float
    exact_h: float

    @classmethod
    def of(cls, pairs, in_bag):
        size = np.abs(pairs.astype(np.float64))
        largest = size.max(axis=0)
        total = [math.fsum(size[:, 0]), math.fsum(size[:, 1])]
        if in_bag <= SMALL_BAG:
            total_of_bag = [min(total[k], in_bag * largest[k]) for k in (0, 1)]
            limits = few_limits(in_bag)
            coarse = [
                power_scale(largest[k], total_of_bag[k], 2 * in_bag, limits[k], limits[k]) for k in (0, 1)
            ]
        else:
            coarse = [power_scale(largest[k], total[k], in_bag, LARGEST, SUM_LIMIT) for k in (0, 1)]
        fine = [power_scale(largest[k], total[k], in_bag, EXACT_LIMIT, EXACT_LIMIT) for k in (0, 1)]
        return cls(*coarse, *fine)


def quantized(pairs, rows, steps, seed):
    """(g, h) of each row in steps: to the nearest one for few rows, up or down at random for many."""
    result = {}
    for row in rows:
        if len(rows) <= SMALL_BAG:
            g, h = float(pairs[row, 0]) * steps.g, float(pairs[row, 1]) * steps.h
            result[int(row)] = (int(math.copysign(math.floor(abs(g) + 0.5), g)), math.floor(h + 0.5))
            continue
        up_g = up_h = 0.5
        if len(rows) > SUM_BLOCK:
            bits = random_bits(seed, ROUNDING, int(row))
            up_g, up_h = (bits >> 32) / 2**32, (bits & (2**32 - 1)) / 2**32
        g = math.floor(float(pairs[row, 0]) * steps.g + up_g + 65536.0) - 65536
        h = math.floor(float(pairs[row, 1]) * steps.h + up_h)
        result[int(row)] = (min(max(g, -LARGEST), LARGEST), min(h, LARGEST))
    return result


# Trees


@dataclass
class Rules:
    """Penalties in the units of these gradients."""

    reg_lambda: float
    reg_alpha: float
    max_step: float

    def shrunk(self, g):
        return math.copysign(max(abs(g) - self.reg_alpha, 0.0), g)

    def weight(self, g, h):
        """Best weight of a leaf."""
        d = h + self.reg_lambda
        w = 0.0 if d <= 0 else -self.shrunk(g) / d
        return min(max(w, -self.max_step), self.max_step) if self.max_step else w

    def score(self, g, h):
        """Twice the loss that the best weight saves."""
        s, d = self.shrunk(g), h + self.reg_lambda
        if d <= 0:
            return 0.0
        if not self.max_step:
            return s * s / d
        w = self.weight(g, h)
        return -(2.0 * s * w + d * w * w)

    def clipped(self, g, h, bounds):
        """Best weight within bounds."""
        return min(max(self.weight(g, h), bounds[0]), bounds[1])

    def saved(self, g, h, w):
        """Twice the loss that a weight saves."""
        return -(2.0 * (g * w + self.reg_alpha * abs(w)) + (h + self.reg_lambda) * w * w)

    def both(self, *sums):
        """Score of two children: their g and h."""
        left_g, left_h, right_g, right_h = map(float, sums)
        if self.reg_alpha or self.max_step:
            return self.score(left_g, left_h) + self.score(right_g, right_h)
        a, b = left_h + self.reg_lambda, right_h + self.reg_lambda
        return (left_g * left_g * b + right_g * right_g * a) / (a * b)


@dataclass
class Node:
    """A node while its tree grows."""

    rows: np.ndarray
    depth: int
    g: int
    h: int
    split: tuple | None = None  # (column, bin, missing left, gain)
    child: int = 0
    bounds: tuple = (-math.inf, math.inf)  # of the weight, in real units
    path: frozenset = frozenset()  # columns of the splits above
    left: tuple = ()  # g and h of the left side of the split
    turns: tuple = ()  # from the root: 0 left, 1 right

    @property
    def key(self):
        """What is drawn for a node depends on its turns."""
        key = 1
        for turn in self.turns:
            key = scrambled(2 * key + turn)
        return key


class Grower:
    """One tree from bins (rows × columns), gradients and a `Config`."""

    def __init__(self, bins, cuts, pairs, config, unit=1.0, seed=0, bag=None):
        self.bins, self.cuts, self.pairs = bins, cuts, pairs
        self.config, self.unit, self.seed = config, unit, seed
        self.rows = np.arange(len(bins)) if bag is None else np.asarray(bag)
        self.steps = steps = Steps.of(pairs, len(self.rows))
        self.small = quantized(pairs, self.rows, steps, seed)
        self.rules = Rules(config.reg_lambda / unit, config.reg_alpha / unit, config.max_delta_step)
        self.coarse = Rules(
            self.rules.reg_lambda * steps.h,
            self.rules.reg_alpha * steps.g,
            config.max_delta_step * steps.g / steps.h,
        )
        self.directions = config.monotone_constraints or (0,) * bins.shape[1]
        self.columns = self.drawn(range(bins.shape[1]), config.colsample_bytree, COLUMNS, seed)

    def drawn(self, columns, share, purpose, seed):
        """Some of the columns: all of them for a share of 1, else by chance or weight."""
        wanted = max(1, round(share * len(columns)))
        weights = self.config.feature_weights
        if share < 1 and weights:
            return chosen_by_weight(columns, wanted, seed, purpose, [w / max(weights) for w in weights])
        return chosen(columns, wanted, seed, purpose) if wanted < len(columns) else list(columns)

    def columns_of(self, node):
        drawn = self.drawn(self.columns, self.config.colsample_bylevel, LEVEL + node.depth, self.seed)
        drawn = self.drawn(drawn, self.config.colsample_bynode, NODE, scrambled(self.seed ^ node.key))
        groups = self.config.interaction_constraints
        if not groups or not node.path:
            return drawn
        together = node.path.union(*(group for group in groups if node.path <= set(group)))
        return [column for column in drawn if column in together]

    def histogram(self, node, column):
        """[g, h, count] of every bin of a column, the missing one last."""
        cells = [[0, 0, 0] for _ in range(len(self.cuts[column]) + 2)]
        for row in node.rows:
            g, h = self.small[int(row)]
            cell = cells[self.bins[row, column]]
            cell[0], cell[1], cell[2] = cell[0] + g, cell[1] + h, cell[2] + 1
        return cells

    def search(self, node):
        """Best split of a node, or None."""
        config, count, best, best_score = self.config, len(node.rows), None, -1.0
        if 0 < config.max_depth <= node.depth:
            return None
        fewest = max(1, config.min_child_samples)
        least = max(
            config.min_child_weight / self.unit * self.steps.h, 0.0 if self.rules.reg_lambda else 1e-30
        )
        own = self.coarse.score(float(node.g), float(node.h))
        if any(self.directions):
            own = self.bounded_own(node)
        for column in self.columns_of(node):
            *cells, missing = self.histogram(node, column)
            for missing_left in (False, True) if missing[2] else (False,):
                left = missing.copy() if missing_left else [0, 0, 0]
                last = len(cells) if missing[2] and not missing_left else len(cells) - 1
                for cut in range(last):
                    left = [a + b for a, b in zip(left, cells[cut], strict=True)]
                    present = left[2] - missing[2] if missing_left else left[2]
                    other = count - missing[2] - present
                    if 0 < missing[2] < fewest and (present < other if missing_left else present > other):
                        continue  # few missing values do not join the smaller side
                    right_h, right_count = node.h - left[1], count - left[2]
                    if min(left[2], right_count) < fewest or min(left[1], right_h) < least:
                        continue
                    score = self.coarse.both(left[0], left[1], node.g - left[0], right_h)
                    if any(self.directions):
                        weights = self.children_weights(node, left[0], left[1])
                        if self.directions[column] * (weights[1] - weights[0]) < 0:
                            continue
                        score = self.coarse.saved(float(left[0]), float(left[1]), weights[0])
                        score += self.coarse.saved(float(node.g - left[0]), float(right_h), weights[1])
                        score -= own
                    if score > best_score:
                        default = missing_left if missing[2] else 2 * left[2] >= count
                        best, best_score = (column, cut, default), score
                        left_sums = tuple(left[:2])
        more = best_score if any(self.directions) else best_score - own
        if best is None or more <= NOISE * abs(own):
            return None
        gain = 0.5 * more * self.steps.h / self.steps.g**2 - config.gamma / self.unit
        node.left = left_sums
        return (*best, gain) if gain > 0 else None

    def coarse_bounds(self, node):
        return [bound * (self.steps.g / self.steps.h) for bound in node.bounds]

    def bounded_own(self, node):
        """Score of the node's own weight."""
        g, h = float(node.g), float(node.h)
        return self.coarse.saved(g, h, self.coarse.clipped(g, h, self.coarse_bounds(node)))

    def children_weights(self, node, left_g, left_h):
        bounds = self.coarse_bounds(node)
        left = self.coarse.clipped(float(left_g), float(left_h), bounds)
        return left, self.coarse.clipped(float(node.g - left_g), float(node.h - left_h), bounds)

    def children_bounds(self, node):
        """Bounds of both children: the parent's, but one side stays below the middle of their weights."""
        sign = self.directions[node.split[0]]
        if sign == 0:
            return node.bounds, node.bounds
        weights = self.children_weights(node, *node.left)
        middle = (weights[0] + weights[1]) / 2 / (self.steps.g / self.steps.h)
        low, high = (node.bounds[0], middle), (middle, node.bounds[1])
        return (low, high) if sign > 0 else (high, low)

    def node(self, rows, turns=(), bounds=(-math.inf, math.inf), path=frozenset()):
        pairs = [self.small[int(row)] for row in rows]
        g, h = sum(g for g, _ in pairs), sum(h for _, h in pairs)
        node = Node(rows, len(turns), g, h, bounds=bounds, path=path, turns=turns)
        node.split = self.search(node)
        return node

    def grow(self):
        """Split leaf after leaf; the queue is a list that is looked through for its first."""
        nodes = [self.node(self.rows)]
        waiting, leaves = [0], 1
        by_depth = self.config.grow_policy == "depthwise"
        while leaves < (self.config.max_leaves or math.inf):
            waiting = [n for n in waiting if nodes[n].split is not None]
            if not waiting:
                break
            n = min(waiting, key=lambda n: (nodes[n].depth if by_depth else 0, -nodes[n].split[3], n))
            waiting.remove(n)
            column, cut, default_left, _ = nodes[n].split
            b = self.bins[nodes[n].rows, column]
            goes_left = np.where(b > len(self.cuts[column]), default_left, b <= cut)
            nodes[n].child = len(nodes)
            path, bounds = nodes[n].path | {column}, self.children_bounds(nodes[n])
            for turn, side in enumerate((goes_left, ~goes_left)):
                waiting.append(len(nodes))
                turns = (*nodes[n].turns, turn)
                nodes.append(self.node(nodes[n].rows[side], turns, bounds[turn], path))
            leaves += 1
        return self.tree(nodes)

    def tree(self, nodes):
        """Flat arrays; leaf values come from fixed-point sums far finer than those of the search."""
        steps, tree = self.steps, {name: [] for name in Tree.__dataclass_fields__}
        for node in nodes:
            g = sum(int(float(self.pairs[row, 0]) * steps.exact_g) for row in node.rows) / steps.exact_g
            h = sum(int(float(self.pairs[row, 1]) * steps.exact_h) for row in node.rows) / steps.exact_h
            column, cut, default_left, gain = node.split if node.child else (-1, 0, False, 0.0)
            cuts = np.append(self.cuts[column], np.finfo(np.float64).max)
            tree["feature"].append(column)
            tree["threshold"].append(cuts[cut] if node.child else 0.0)
            tree["left"].append(node.child)
            tree["default_left"].append(default_left)
            tree["value"].append(self.config.learning_rate * self.rules.clipped(g, h, node.bounds))
            tree["gain"].append(gain * self.unit)
            tree["cover"].append(h * self.unit)
            tree["count"].append(len(node.rows))
        return tree
