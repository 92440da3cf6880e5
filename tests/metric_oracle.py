"""The obvious, slow versions of the metrics, in NumPy. Scores and predictions are outputs × rows."""

import math

import numpy as np

import oracles

# Values of the parameters that metrics take.
PARAMETERS = {
    "quantile_alpha": 0.3,
    "huber_delta": 0.8,
    "fair_c": 1.3,
    "expectile_alpha": 0.7,
    "tweedie_variance_power": 1.4,
    "focal_gamma": 1.5,
    "focal_alpha": 0.35,
}
DELTA, C, POWER = PARAMETERS["huber_delta"], PARAMETERS["fair_c"], PARAMETERS["tweedie_variance_power"]
GAMMA, ALPHA = PARAMETERS["focal_gamma"], PARAMETERS["focal_alpha"]
LINKS = {"numbers": "identity", "positive": "exp", "two": "logistic", "many": "softmax"}


def predictions(scores, link):
    if link == "identity":
        return scores
    if link == "exp":
        return np.exp(scores)
    if link == "softmax":
        return oracles.probabilities(scores)
    p = 1 / (1 + np.exp(-scores))
    return p / p.sum(axis=0) if link == "one_vs_rest" else p


def mean(losses, weight):
    return float(np.sum(losses * weight) / np.sum(weight))


def auc(scores, positive, weight):
    """Share of the pairs of a positive and another row that are in order; ties count half."""
    won = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            pair = weight[i] * weight[j]
            won += pair * (0.5 * (scores[i] == scores[j]) + (scores[i] > scores[j]))
            total += pair
    return won / total if total else float("nan")


def average_precision(scores, positive, weight):
    """Precision at each threshold, weighted by the recall that it adds."""
    total, found, area = weight[positive].sum(), 0.0, 0.0
    for threshold in sorted(set(scores.tolist()), reverse=True):
        taken = scores >= threshold
        now = weight[taken & positive].sum()
        if weight[taken].sum() > 0:
            area += (now - found) / total * now / weight[taken].sum()
        found = now
    return area


def classes_of(scores):
    return (scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)


def rest(area, s, p, y, w):
    """An area of the second of two classes, or of each class against the rest."""
    if len(s) == 1:
        return area(s[0], y > 0.5, w)
    return float(np.mean([area(p[k], y == k, w) for k in range(len(s))]))


def each_other(s, p, y, w):
    found = []
    for a in range(len(s)):
        for b in range(len(s)):
            both = (y == a) | (y == b)
            if a != b:
                found.append(auc(p[a][both], y[both] == a, w[both]))
    return float(np.mean(found))


def f1_of(guess, y, w, k):
    found = w[(guess == k) & (y == k)].sum()
    both = w[guess == k].sum() + w[y == k].sum()
    return 2 * found / both if both else 0.0


def f1_macro(s, y, w):
    guess, y = classes_of(s), np.where(y > 0.5, y, 0.0)
    present = sorted({*guess[w > 0].tolist(), *y[w > 0].astype(int).tolist()})
    return float(np.mean([f1_of(guess, y, w, k) for k in present]))


def balanced_accuracy(s, y, w):
    guess = classes_of(s)
    present = [k for k in range(max(len(s), 2)) if w[y == k].sum() > 0]
    return float(np.mean([w[(y == k) & (guess == k)].sum() / w[y == k].sum() for k in present]))


def brier(p, y):
    if len(p) == 1:
        return (p[0] - y) ** 2
    return sum((p[k] - (y == k)) ** 2 for k in range(len(p)))


def log(values):
    return np.log(np.where(values > 0, values, 1.0))


def huber(e):
    return np.where(abs(e) <= DELTA, e**2 / 2, DELTA * (abs(e) - DELTA / 2))


def focal(s, y):
    p = 1 / (1 + np.exp(-s))
    return -y * ALPHA * (1 - p) ** GAMMA * np.log(p) - (1 - y) * (1 - ALPHA) * p**GAMMA * np.log(1 - p)


def sided(e, alpha):
    return np.where(e >= 0, alpha, 1 - alpha)


def tweedie(y, f):
    first = y ** (2 - POWER) / ((1 - POWER) * (2 - POWER))
    return 2 * (first - y * f ** (1 - POWER) / (1 - POWER) + f ** (2 - POWER) / (2 - POWER))


def r2(y, f, w):
    return 1 - mean((y - f) ** 2, w) / mean((y - mean(y, w)) ** 2, w)


def log_factorials(y):
    return np.array([math.lgamma(value + 1) for value in y])


# By name: a function of raw scores, predictions, target and weights.
METRICS = {
    "rmse": lambda s, p, y, w: mean((p[0] - y) ** 2, w) ** 0.5,
    "mse": lambda s, p, y, w: mean((p[0] - y) ** 2, w),
    "mae": lambda s, p, y, w: mean(abs(p[0] - y), w),
    "r2": lambda s, p, y, w: r2(y, p[0], w),
    "rmsle": lambda s, p, y, w: mean((np.log1p(np.maximum(p[0], -1 + 1e-6)) - np.log1p(y)) ** 2, w) ** 0.5,
    "msle": lambda s, p, y, w: mean((np.log1p(np.maximum(p[0], -1 + 1e-6)) - np.log1p(y)) ** 2, w),
    "mape_floored": lambda s, p, y, w: mean(abs(p[0] - y) / np.maximum(abs(y), 1.0), w),
    "mape": lambda s, p, y, w: mean(abs(p[0] - y) / np.maximum(abs(y), np.finfo(float).eps), w),
    "huber": lambda s, p, y, w: mean(huber(p[0] - y), w),
    "pseudo_huber": lambda s, p, y, w: mean(DELTA**2 * (np.hypot(1, (p[0] - y) / DELTA) - 1), w),
    "fair": lambda s, p, y, w: mean(C * abs(p[0] - y) - C**2 * np.log1p(abs(p[0] - y) / C), w),
    "pinball": lambda s, p, y, w: mean(abs(y - p[0]) * sided(y - p[0], 0.3), w),
    "expectile": lambda s, p, y, w: mean((y - p[0]) ** 2 * sided(y - p[0], 0.7), w),
    "poisson_deviance": lambda s, p, y, w: mean(2 * (y * (log(y) - s[0]) - y + p[0]), w),
    "gamma_deviance": lambda s, p, y, w: mean(2 * (s[0] - np.log(y) + y / p[0] - 1), w),
    "tweedie_deviance": lambda s, p, y, w: mean(tweedie(y, p[0]), w),
    "poisson_nloglik": lambda s, p, y, w: mean(p[0] - y * s[0] + log_factorials(y), w),
    "gamma_nloglik": lambda s, p, y, w: mean(y / p[0] + s[0], w),
    "tweedie_nloglik": lambda s, p, y, w: mean(p[0] ** 0.6 / 0.6 + y * p[0] ** -0.4 / 0.4, w),
    "logloss": lambda s, p, y, w: mean(y * np.logaddexp(0, -s[0]) + (1 - y) * np.logaddexp(0, s[0]), w),
    "focal": lambda s, p, y, w: mean(focal(s[0], y), w),
    "auc": lambda s, p, y, w: rest(auc, s, p, y, w),
    "average_precision": lambda s, p, y, w: rest(average_precision, s, p, y, w),
    "error": lambda s, p, y, w: mean((s[0] > 0) != (y > 0.5), w),
    "mlogloss": lambda s, p, y, w: mean(-np.log(p[y.astype(int), np.arange(len(y))]), w),
    "merror": lambda s, p, y, w: mean(s.argmax(axis=0) != y, w),
    "auc_ovr": lambda s, p, y, w: rest(auc, s, p, y, w),
    "auc_ovo": each_other,
    "accuracy": lambda s, p, y, w: mean(classes_of(s) == y, w),
    "balanced_accuracy": lambda s, p, y, w: balanced_accuracy(s, y, w),
    "f1": lambda s, p, y, w: f1_of(classes_of(s), y, w, 1) if len(s) == 1 else f1_macro(s, y, w),
    "f1_macro": lambda s, p, y, w: f1_macro(s, y, w),
    "brier": lambda s, p, y, w: mean(brier(p, y), w),
}
