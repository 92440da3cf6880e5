"""Every loss as a formula of one row in NumPy, with targets that fit it, to differentiate and minimise."""

import numpy as np

from spinney import objectives
from spinney.params import Config

PARAMS = {
    "quantile": {"quantile_alpha": 0.8},
    "expectile": {"expectile_alpha": 0.3},
    "huber": {"huber_delta": 0.7},
    "pseudo_huber": {"huber_delta": 0.7},
    "fair": {"fair_c": 1.5},
    "poisson": {"poisson_max_delta_step": 0.4},
    "tweedie": {"tweedie_variance_power": 1.3},
    "focal": {"focal_gamma": 1.5, "focal_alpha": 0.3},
    "softmax": {"num_class": 4},
    "one_vs_rest": {"num_class": 4},
}
NUMBERS = [
    "squared_error",
    "absolute_error",
    "huber",
    "pseudo_huber",
    "fair",
    "quantile",
    "expectile",
    "mape",
]
SHARES = ["log_loss", "focal"]
CLASSES = ["softmax", "one_vs_rest"]
ONE_SCORE = [*NUMBERS, "squared_log_error", "poisson", "gamma", "tweedie", *SHARES]
NAMES = [*ONE_SCORE, *CLASSES]


def params_of(name):
    """Parameters of an objective, others than the defaults where it has some."""
    return {"objective": name, **PARAMS.get(name, {})}


def objective_of(name):
    """An objective with those parameters, of four classes where it has classes."""
    return objectives.get(Config(**params_of(name)))


def target_of(name, rows, rng):
    """A target that fits an objective, probabilities among the labels of two classes."""
    if name in CLASSES:
        return rng.permutation(np.arange(rows) % 4) * 1.0
    if name in SHARES:
        return np.where(rng.random(rows) < 0.2, rng.random(rows), rng.integers(0, 2, rows) * 1.0)
    if name == "gamma":
        return rng.gamma(2.0, size=rows)
    if name in ("poisson", "tweedie"):
        return rng.poisson(1.5, rows) * (1.0 if name == "poisson" else 0.7)
    if name == "squared_log_error":
        return rng.gamma(2.0, size=rows) - 0.9
    return rng.standard_t(3, rows) * 2


def log1p_exp(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def focal_of_class(score, power):
    return np.exp(-power * log1p_exp(score)) * log1p_exp(-score)


def loss(name, score, y, **params):
    """Loss of each row from its score, (rows,), or from (outputs, rows) of them."""
    e = score - y
    if name == "squared_error":
        return e**2 / 2
    if name == "squared_log_error":
        return (np.log1p(score) - np.log1p(y)) ** 2 / 2
    if name == "absolute_error":
        return np.abs(e)
    if name == "huber":
        delta = params["huber_delta"]
        return np.where(np.abs(e) <= delta, e**2 / 2, delta * (np.abs(e) - delta / 2))
    if name == "pseudo_huber":
        delta = params["huber_delta"]
        return delta**2 * (np.sqrt(1 + (e / delta) ** 2) - 1)
    if name == "fair":
        t = np.abs(e) / params["fair_c"]
        return params["fair_c"] ** 2 * (t - np.log1p(t))
    if name == "quantile":
        return np.where(e < 0, -params["quantile_alpha"] * e, (1 - params["quantile_alpha"]) * e)
    if name == "expectile":
        return np.where(e < 0, params["expectile_alpha"], 1 - params["expectile_alpha"]) * e**2
    if name == "mape":
        return np.abs(e) / np.maximum(1, np.abs(y))
    if name == "poisson":
        return np.exp(score) - y * score
    if name == "gamma":
        return score + y * np.exp(-score)
    if name == "tweedie":
        power = params["tweedie_variance_power"]
        return -y * np.exp((1 - power) * score) / (1 - power) + np.exp((2 - power) * score) / (2 - power)
    if name == "log_loss":
        return y * log1p_exp(-score) + (1 - y) * log1p_exp(score)
    if name == "focal":
        power, alpha = params["focal_gamma"], params["focal_alpha"]
        return alpha * y * focal_of_class(score, power) + (1 - alpha) * (1 - y) * focal_of_class(
            -score, power
        )
    hit = np.arange(len(score))[:, None] == y
    if name == "one_vs_rest":
        return np.sum(np.where(hit, log1p_exp(-score), log1p_exp(score)), axis=0)
    assert name == "softmax"
    top = score.max(axis=0)
    return top + np.log(np.sum(np.exp(score - top), axis=0)) - np.sum(np.where(hit, score, 0), axis=0)


def hessian(name, score, y, curvature, **params):
    """What an objective takes as its hessian where the loss has some curvature, as docs/losses.md gives it."""
    e = score - y
    if name in ("absolute_error", "quantile", "huber"):
        return np.ones_like(score)
    if name == "mape":
        return 1 / np.maximum(1, np.abs(y))
    if name == "pseudo_huber":
        s = np.sqrt(1 + (e / params["huber_delta"]) ** 2)
        return np.where(np.abs(e) <= params["huber_delta"], curvature, 0.5 / s)
    if name == "fair":
        return np.where(np.abs(e) <= params["fair_c"], curvature, 0.5 / (1 + np.abs(e) / params["fair_c"]))
    if name == "squared_log_error":
        r = np.log1p(score) - np.log1p(y)
        return np.where(r <= 1 / 3, curvature, 2 * r / (1 + score) ** 2)
    if name == "poisson":
        return np.exp(params["poisson_max_delta_step"]) * curvature
    if name == "focal":
        return focal_hessian(score, y, **params)
    if name == "softmax":
        return len(score) / (len(score) - 1) * curvature
    return curvature


def focal_hessian(score, y, focal_gamma, focal_alpha):
    """Curvature of each class's part by differences, or what (1 - p)**gamma leaves of it if that is more."""
    step = np.longdouble(1e-4)
    total = 0
    for sign, share in ((1, focal_alpha * y), (-1, (1 - focal_alpha) * (1 - y))):
        own = sign * score
        up, here, down = (focal_of_class(own + move, focal_gamma) for move in (step, 0, -step))
        p, q = np.exp(-log1p_exp(-own)), np.exp(-log1p_exp(own))
        total = total + share * np.maximum((up - 2 * here + down) / step**2, q**focal_gamma * p * q)
    return total
