"""Predictions from scores, by output and row."""

from spinney.jit import Member, f64, i64, kernel, out
from spinney.jit.math import exp, sigmoid
from spinney.metrics.kernels.pointwise import log1p_exp


@kernel
def probabilities_of(team: Member, rows: i64, scores: f64["rows"], result: out(f64["rows"])):
    """Logistic function of every score."""
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        result[i] = sigmoid(scores[i])


@kernel
def exponentials_of(team: Member, rows: i64, scores: f64["rows"], result: out(f64["rows"])):
    """e to the power of every score."""
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        result[i] = exp(scores[i])


@kernel
def class_probabilities_of(
    team: Member,
    rows: i64,
    outputs: i64,
    scores: f64["rows * outputs"],
    result: out(f64["rows * outputs"]),
):
    """Softmax of every row."""
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        top = scores[i]
        for k in range(1, outputs):
            top = max(top, scores[k * rows + i])
        total = 0.0
        for k in range(outputs):
            e = exp(scores[k * rows + i] - top)
            result[k * rows + i] = e
            total += e
        for k in range(outputs):
            result[k * rows + i] /= total


@kernel
def log_probabilities_of(team: Member, count: i64, scores: f64["count"], result: out(f64["count"])):
    """Logarithm of the logistic function of every score. Softmax of these gives probabilities in proportion to that function."""
    for i in range(count * team.rank // team.size, count * (team.rank + 1) // team.size):
        result[i] = -log1p_exp(-scores[i])
