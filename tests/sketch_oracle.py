"""Exact ranks and quantiles, and sketches with blocks so small that few values make many levels."""

from fractions import Fraction

import numpy as np

from spinney import QuantileSketch

SLACK = 1e-9  # what rounding may add to the error of a rank


class SmallBlocks(QuantileSketch):
    _block = 8


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
