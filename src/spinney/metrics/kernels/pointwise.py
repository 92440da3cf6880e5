"""Metrics that are means of a loss over rows: the formula of each, and frames that sum them over blocks of rows."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i64, inline, out, own, record
from spinney.jit.math import exp, log

LOSS_BLOCK = 8192  # rows


@record(per_thread=True)
class LossBuffer:
    """Memory of a thread for the losses of a block of rows."""

    losses: out(f64["LOSS_BLOCK"])


loss = hole("the loss of one row")


@inline
def weight_of(labels, i):
    """Weight of a row."""
    return labels.weight[i] if labels.weighted != 0 else 1.0


def sum_losses(
    team: Member,
    labels: LabelArrays,
    outputs: i64,
    count: i64,
    parameters: f64["count"],
    blocks: i64,
    values: f64["labels.rows * outputs"],
    buffer: LossBuffer,
    sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    losses = own(buffer, team.rank).losses
    for b in range(team.rank, blocks, team.size):
        begin = b * LOSS_BLOCK
        rows = min(LOSS_BLOCK, labels.rows - begin)
        # The losses first, in a loop that is vectorized, then their sum in order: log loss in one loop takes 60 ns a row.
        for i in range(rows):
            w = weight_of(labels, begin + i)
            one = w * loss(values[begin + i], labels.target[begin + i], parameters)
            losses[i] = one if w > 0.0 else 0.0
        total = 0.0
        for i in range(rows):
            total += losses[i]
        sums[b] = total


def sum_losses_of_outputs(
    team: Member,
    labels: LabelArrays,
    outputs: i64,
    count: i64,
    parameters: f64["count"],
    blocks: i64,
    values: f64["labels.rows * outputs"],
    buffer: LossBuffer,
    sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * LOSS_BLOCK, min((b + 1) * LOSS_BLOCK, labels.rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(values, i, labels.rows, outputs, labels.target[i])
        sums[b] = total


def sum_losses_of_intervals(
    team: Member,
    labels: LabelArrays,
    outputs: i64,
    count: i64,
    parameters: f64["count"],
    blocks: i64,
    values: f64["labels.rows * outputs"],
    buffer: LossBuffer,
    sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    rows = labels.rows
    for b in range(team.rank, blocks, team.size):
        total = 0.0
        for i in range(b * LOSS_BLOCK, min((b + 1) * LOSS_BLOCK, rows)):
            w = weight_of(labels, i)
            if w > 0.0:
                total += w * loss(values[i], labels.target[i], labels.target[rows + i], parameters)
        sums[b] = total


def metric(formula):
    """Declare the kernel `<name>_losses` of a metric, whose name is that of its formula.

    The formula gives the loss of one row from its value, its target and the parameters. Whether the value is a score or a
    prediction, and which parameters there are, is declared in `params`.
    """
    found = inline(formula)
    framed(f"{formula.__name__}_losses", sum_losses, loss=found)
    return found


def metric_of_outputs(formula):
    """Declare the same for rows of several values, by output and row: `formula(values, row, rows, outputs, target)`."""
    found = inline(formula)
    framed(f"{formula.__name__}_losses", sum_losses_of_outputs, loss=found)
    return found


def metric_of_interval(formula):
    """Declare the same for targets that are intervals: `formula(value, lower, upper, parameters)`."""
    found = inline(formula)
    framed(f"{formula.__name__}_losses", sum_losses_of_intervals, loss=found)
    return found


# --- Functions for several formulas


@inline
def log1p(x):
    """log(1 + x) of x > -1, to full relative precision."""
    u = 1.0 + x
    return x if u == 1.0 else log(u) * (x / (u - 1.0))


@inline
def log1p_exp(x):
    """log(1 + e**x) without overflow."""
    e = exp(-abs(x))
    return max(x, 0.0) + log(1.0 + e)


@inline
def power(x, exponent):
    """x ** exponent of x > 0."""
    return exp(exponent * log(x))


@inline
def log_gamma(x):
    """Logarithm of the gamma function of x > 0."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    # Stirling's series; at 10 the first term left out is below 2e-17.
    y = 1.0 / (x * x)
    series = 1.0 / 1188.0 - y * (691.0 / 360360.0 - y / 156.0)
    series = 1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * series)))
    return (x - 0.5) * log(x) - x + 0.9189385332046728 + series / x - log(product)


# --- The formulas. f is the prediction, F the score, y the target, e = f - y


@metric
def mse(prediction, target, parameters):
    """Squared error: (f - y)²."""
    return (prediction - target) * (prediction - target)


@metric
def mae(prediction, target, parameters):
    """Absolute error: |f - y|."""
    return abs(prediction - target)


EPSILON = 2.220446049250313e-16  # in place of a target of 0


@metric
def mape(prediction, target, parameters):
    """Absolute error as a share of the target: |f - y| / |y|, where y is not 0."""
    return abs(prediction - target) / max(abs(target), EPSILON)


@metric
def mape_floored(prediction, target, parameters):
    """Absolute error as a share of the target, of 1 at least: |f - y| / max(1, |y|)."""
    return abs(prediction - target) / max(abs(target), 1.0)


LOWEST = -1.0 + 1e-6  # prediction whose logarithm is taken


@metric
def msle(prediction, target, parameters):
    """Squared difference of logarithms: (log(1 + f) - log(1 + y))²."""
    difference = log1p(max(prediction, LOWEST)) - log1p(target)
    return difference * difference


@metric
def huber(prediction, target, parameters):
    """Huber's loss: e²/2 of the error e up to delta, linear beyond."""
    delta = parameters[0]
    error = abs(prediction - target)
    return 0.5 * error * error if error <= delta else delta * (error - 0.5 * delta)


@metric
def pseudo_huber(prediction, target, parameters):
    """Pseudo-Huber loss: delta² (sqrt(1 + (e / delta)²) - 1) of the error e, without cancellation."""
    ratio = (prediction - target) / parameters[0]
    return (prediction - target) * (prediction - target) / (np.sqrt(1.0 + ratio * ratio) + 1.0)


@metric
def fair(prediction, target, parameters):
    """Fair's loss: c² (|e| / c - log(1 + |e| / c)) of the error e."""
    c = parameters[0]
    ratio = abs(prediction - target) / c
    return c * c * (ratio - log1p(ratio))


@metric
def pinball(prediction, target, parameters):
    """Pinball loss of a quantile: alpha (y - f) where y is larger, else (1 - alpha) (f - y)."""
    alpha = parameters[0]
    return alpha * (target - prediction) if target >= prediction else (1.0 - alpha) * (prediction - target)


@metric
def expectile(prediction, target, parameters):
    """Asymmetric squared error of an expectile: alpha (y - f)² where y is larger, else (1 - alpha) (y - f)²."""
    alpha = parameters[0]
    error = target - prediction
    return (alpha if error >= 0.0 else 1.0 - alpha) * error * error


@metric
def poisson_deviance(prediction, target, parameters):
    """Poisson deviance: 2 (y log(y / f) - y + f)."""
    logs = target * log(target / prediction) if target > 0.0 else 0.0
    return 2.0 * (logs - target + prediction)


@metric
def poisson_nloglik(prediction, target, parameters):
    """Negative log-likelihood of a Poisson distribution: f - y log f + log y!."""
    return prediction - target * log(prediction) + log_gamma(target + 1.0)


@metric
def gamma_deviance(prediction, target, parameters):
    """Gamma deviance: 2 (log(f / y) + y / f - 1)."""
    return 2.0 * (log(prediction / target) + target / prediction - 1.0)


@metric
def gamma_nloglik(prediction, target, parameters):
    """Negative log-likelihood of a gamma distribution of shape 1: y / f + log f."""
    return target / prediction + log(prediction)


@metric
def tweedie_deviance(prediction, target, parameters):
    """Tweedie deviance: 2 (y^(2-p) / ((1-p)(2-p)) - y f^(1-p) / (1-p) + f^(2-p) / (2-p)); Poisson's at p = 1, gamma's at 2."""
    p = parameters[0]
    if p == 1.0:
        return poisson_deviance(prediction, target, parameters)
    if p == 2.0:
        return gamma_deviance(prediction, target, parameters)
    first = power(target, 2.0 - p) / ((1.0 - p) * (2.0 - p)) if target > 0.0 else 0.0
    near = power(prediction, 1.0 - p)
    return 2.0 * (first - target * near / (1.0 - p) + near * prediction / (2.0 - p))


@metric
def tweedie_nloglik(prediction, target, parameters):
    """Negative log-likelihood of a Tweedie distribution, as far as it depends on the prediction.

    f^(2-p) / (2-p) - y f^(1-p) / (1-p), 1 < p < 2; its limit at p = 1.
    """
    p = parameters[0]
    near = power(prediction, 1.0 - p)
    first = log(prediction) if p == 1.0 else near / (1.0 - p)
    last = log(prediction) if p == 2.0 else near * prediction / (2.0 - p)
    return last - target * first


@metric
def error(score, target, parameters):
    """Wrong class, of two: 1 where the score is on the side of the other class."""
    return 1.0 if (score > 0.0) != (target > 0.5) else 0.0


@metric
def logloss(score, target, parameters):
    """Logistic loss: -y log p - (1-y) log(1-p) with p = 1/(1+e^-F)."""
    # The common term of both sides, written out: two calls of `log1p_exp` are not vectorized and take 58 ns a row, not 4.
    rest = log(1.0 + exp(-abs(score)))
    return target * (max(-score, 0.0) + rest) + (1.0 - target) * (max(score, 0.0) + rest)


@metric
def focal(score, target, parameters):
    """Focal loss: -y α (1-p)^γ log p - (1-y) (1-α) p^γ log(1-p) with p = 1/(1+e^-F); both factors are 1 where α is NaN."""
    gamma, alpha = parameters[0], parameters[1]
    down = log1p_exp(-score)  # -log p
    up = log1p_exp(score)  # -log(1-p)
    balanced = alpha == alpha
    second = (alpha if balanced else 1.0) * target
    first = (1.0 - alpha if balanced else 1.0) * (1.0 - target)
    return second * exp(-gamma * up) * down + first * exp(-gamma * down) * up


@metric_of_outputs
def brier(probabilities, row, rows, outputs, target):
    """Squared error of probabilities: (p - y)² of two classes; of many the sum of (p_k - 1[y = k])²."""
    if outputs == 1:
        return (probabilities[row] - target) * (probabilities[row] - target)
    total = 0.0
    for k in range(outputs):
        error = probabilities[k * rows + row] - (1.0 if target == float(k) else 0.0)
        total += error * error
    return total
