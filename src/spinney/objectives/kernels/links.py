"""Link functions of all rows, from scores to predictions; and logarithms, from predictions to scores."""

from spinney.jit import Member, f64, i64, kernel, out
from spinney.jit.math import exp, log, sigmoid


@kernel
def sigmoid_all(team: Member, count: i64, scores: f64["count"], result: out(f64["count"])):
    """Logistic function of every score."""
    for i in range(count * team.rank // team.size, count * (team.rank + 1) // team.size):
        result[i] = sigmoid(scores[i])


@kernel
def softmax_all(
    team: Member,
    rows: i64,
    outputs: i64,
    scores: f64["rows * outputs"],
    result: out(f64["rows * outputs"]),
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
def one_vs_rest_all(
    team: Member,
    rows: i64,
    outputs: i64,
    scores: f64["rows * outputs"],
    result: out(f64["rows * outputs"]),
):
    """Logistic function of every score of a row-major table, divided by their sum over the row.

    Scores so low that all functions are 0 are first raised, the largest to -700. There logistic function and exponential are the
    same number.
    """
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        top = scores[i * outputs]
        for k in range(1, outputs):
            top = max(top, scores[i * outputs + k])
        raised = -700.0 - top if top < -700.0 else 0.0
        total = 0.0
        for k in range(outputs):
            p = sigmoid(scores[i * outputs + k] + raised)
            result[i * outputs + k] = p
            total += p
        for k in range(outputs):
            result[i * outputs + k] /= total


@kernel
def exp_all(team: Member, count: i64, values: f64["count"], result: out(f64["count"])):
    """Exponential of every value."""
    for i in range(count * team.rank // team.size, count * (team.rank + 1) // team.size):
        result[i] = exp(values[i])


@kernel
def log_all(count: i64, values: f64["count"], result: out(f64["count"])):
    """Natural logarithm of every value."""
    for i in range(count):
        result[i] = log(values[i])
