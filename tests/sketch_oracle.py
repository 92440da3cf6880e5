"""Exact ranks and quantiles, and sketches with blocks so small that few values make many levels."""

from fractions import Fraction

import numpy as np

from spinney import QuantileSketch

SLACK = 1e-9  # what rounding may add to the error of a rank


class SmallBlocks(QuantileSketch):
    _block = 8


class MediumBlocks(QuantileSketch):
    _block = 1024


class Exact:
    """All values, with weights as fractions."""

    def __init__(self, values, weights=None):
        values = np.asarray(values, np.float64)
        weights = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
        mass = {}
        for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
            if value == value and weight > 0:
                mass[value + 0.0] = mass.get(value + 0.0, 0) + Fraction(weight)
        self.values = sorted(mass)
        below, self.below = Fraction(0), []
        for value in self.values:
            self.below.append(below)
            below += mass[value]
        self.total = below
        self.below.append(below)

    def shares(self, side="left"):
        """The share of the weight below each value ("left"), or at or below it ("right")."""
        some = self.below[:-1] if side == "left" else self.below[1:]
        return np.array([float(part / self.total) for part in some])

    def share(self, z, side="left"):
        """The share of the weight below one number, or at or below it."""
        return float(self.below[int(np.searchsorted(self.values, z, side))] / self.total)

    def quantile(self, q):
        """The smallest value with q of the weight at or below it, or half-way to the next where that is q exactly."""
        for i, value in enumerate(self.values):
            if self.below[i + 1] == q * self.total and i + 1 < len(self.values):
                return (value + self.values[i + 1]) / 2
            if self.below[i + 1] >= q * self.total:
                return value
        raise AssertionError


def check_ranks(sketch, exact, allowed=None):
    """Every rank is as good as was promised: at each value, and just above it."""
    allowed = sketch.eps if allowed is None else allowed
    values = np.array(exact.values)
    assert np.abs(sketch.rank(values) - exact.shares()).max() <= allowed + SLACK
    above = np.nextafter(values, np.inf)
    assert np.abs(sketch.rank(above) - exact.shares("right")).max() <= allowed + SLACK


def check_quantiles(sketch, exact, wanted):
    """Every quantile has about q of the weight below it, its own weight left aside."""
    for q, value in zip(wanted, sketch.quantile(wanted), strict=True):
        assert exact.share(value) <= q + sketch.eps + SLACK
        assert exact.share(value, "right") >= q - sketch.eps - SLACK


def naive_points(values, weights, eps, block):
    """Points, masses and error that a sketch of these values has, step by step as its docstring says."""
    levels, at = {}, 0
    allowed = [0.0]
    for level in range(1, 48):
        allowed.append(allowed[-1] + 1.0 / (3 * (level + 2)))
    while at + block <= len(values):
        mass = added({}, zip(values[at : at + block], weights[at : at + block], strict=True))
        level, known = 0, 0.0
        while True:
            if len(mass) > int(3 * (max(level, 1) + 2) / eps) + 2:
                mass, error = pruned(mass, eps * allowed[level + 1], known)
                level, known = level + 1, known + error
            if level not in levels:
                break
            old, old_error = levels.pop(level)
            mass, known = added(dict(old), mass.items()), old_error + known
        levels[level] = (mass, known)
        at += block
    whole = {}
    for level in sorted(levels):
        added(whole, levels[level][0].items())
    added(whole, zip(values[at:], weights[at:], strict=True))
    points = sorted(whole)
    return points, [whole[point] for point in points], sum(error for _, error in levels.values())


def added(mass, pairs):
    """Weights added up by value."""
    for value, weight in pairs:
        mass[value + 0.0] = mass.get(value + 0.0, 0.0) + weight
    return mass


def pruned(mass, share, known):
    """Groups of neighbouring values, with at most `delta` of mass on either side of the one that stands for each."""
    total = 0.0
    for value in sorted(mass):
        total += mass[value]
    delta = share * total - known
    waiting = [(value, mass[value]) for value in sorted(mass)]
    found, worst = {}, 0.0
    while waiting:
        before = after = 0.0
        while len(waiting) > 1 and before + waiting[0][1] <= delta:
            before += waiting.pop(0)[1]
        value, own = waiting.pop(0)
        while waiting and after + waiting[0][1] <= delta:
            after += waiting.pop(0)[1]
        found[value] = before + own + after
        worst = max(worst, before, after)
    return found, worst
