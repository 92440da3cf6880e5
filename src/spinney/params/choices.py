"""The names that `objective`, `eval_metric` and other parameters of words accept.

Each table maps a canonical name to its other spellings. A new objective or metric is one line here.
"""

from collections.abc import Mapping

OBJECTIVES: Mapping[str, tuple[str, ...]] = {
    "squared_error": (
        "regression",
        "reg:squarederror",
        "l2",
        "mse",
        "regression_l2",
        "mean_squared_error",
    ),
    "log_loss": ("binary", "binary:logistic", "logistic"),
    "softmax": ("multiclass", "multi:softprob", "multi:softmax"),
}

# A spelling may stand in two lines; it then means the metric that fits the objective.
METRICS: Mapping[str, tuple[str, ...]] = {
    "rmse": ("root_mean_squared_error", "l2_root"),
    "mae": ("l1", "mean_absolute_error"),
    "logloss": ("binary_logloss", "log_loss"),
    "auc": ("roc_auc",),
    "error": ("binary_error",),
    "mlogloss": ("multi_logloss", "multiclass_logloss", "log_loss"),
    "merror": ("multi_error", "error"),
}

# The first metric of an objective is the one used when none is asked for.
_METRICS_OF: Mapping[str, tuple[str, ...]] = {
    "squared_error": ("rmse", "mae"),
    "log_loss": ("logloss", "auc", "error"),
    "softmax": ("mlogloss", "merror"),
}

GROW_POLICIES: Mapping[str, tuple[str, ...]] = {
    "lossguide": ("leafwise", "leaf-wise"),
    "depthwise": ("level", "levelwise"),
}

SAMPLING_METHODS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("bagging",),
    "goss": (),
    "gradient_based": (),
    "weighted": (),
}

LEAF_VALUES: Mapping[str, tuple[str, ...]] = {"sample": (), "all": ()}

BUNDLE_ORDERS: Mapping[str, tuple[str, ...]] = {"auto": (), "degree": (), "nonzero": ()}

UNSEEN: Mapping[str, tuple[str, ...]] = {"missing": (), "error": (), "rarest": ()}

ABSENT: Mapping[str, tuple[str, ...]] = {"zero": (), "missing": ()}

TREE_METHODS: Mapping[str, tuple[str, ...]] = {"hist": ("auto",), "approx": (), "exact": ()}

PROPOSALS: Mapping[str, tuple[str, ...]] = {"global": (), "local": ()}


def metrics_for(objective: str) -> tuple[str, ...]:
    """Names of the metrics that can judge an objective, its own metric first.

    Parameters
    ----------
    objective : str
        Canonical name of an objective.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> metrics_for("log_loss")
    ('logloss', 'auc', 'error')
    """
    return _METRICS_OF[objective]
