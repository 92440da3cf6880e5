"""From scores to predictions, and back."""

from spinney.jit import Member, f64, i64, kernel, out
from spinney.jit.math import exp, log, sigmoid


@kernel
def sigmoid_all(team: Member, count: i64, scores: f64["count"], result: out(f64["count"])):
    """Logistic function of every score."""
    for i in range(count * team.rank // team.size, count * (team.rank + 1) // team.size):
        result[i] = sigmoid(scores[i])


@kernel
def softmax_all(
    team: Member, rows: i64, outputs: i64, scores: f64["rows * outputs"], result: out(f64["rows * outputs"]),
):
    """Softmax of every row of a row-major table of scores."""
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        top = scores[i * outputs]
        for k in range(1, outputs):
            top = max(top, scores[i * outputs + k])
        total = 0.0
        for k in range(outputs):
            e = exp(scores[i * outputs + k] - top)
            result[i * outputs + k] = e
            total += e
        for k in range(outputs):
            result[i * outputs + k] /= total


@kernel
def log_all(count: i64, values: f64["count"], result: out(f64["count"])):
    """Natural logarithm of every value."""
    for i in range(count):
        result[i] = log(values[i])
