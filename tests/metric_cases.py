"""Predictions and targets for metrics, and the value of a metric by its name."""

from types import SimpleNamespace

import numpy as np

from metric_oracle import LINKS, PARAMETERS
from spinney import metrics
from spinney.data import Labels
from spinney.jit.team import Team
from spinney.metrics import Predictions
from spinney.params.metrics import METRICS

# Every metric with the kinds of objectives that it fits; metrics of times and of ranking have their own tests.
PAIRS = [(row.name, kind) for row in METRICS.values() for kind in row.fits if kind in LINKS]
CONFIG = SimpleNamespace(objective="squared_error", num_class=0, num_target=1, label_gain=None, **PARAMETERS)


def value_of(name, scores, target, weight=None, threads=1, kind=None, link=None):
    """A metric of raw scores, by its name and what the objective predicts."""
    link = link or LINKS[kind or METRICS[name].fits[0]]
    with Team(threads) as team:
        predictions = Predictions(np.atleast_2d(np.asarray(scores, float)), link, team)
        return metrics.get(name, CONFIG).compute(predictions, Labels(np.asarray(target, float), weight)).value


def problem(kind, rows, weighted, name="", seed=0):
    """Scores with ties, target and weights that fit what an objective predicts and a metric needs."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3 if kind == "many" else 1, rows)).round(1)
    wanted = METRICS[name].target if name else "any"
    if kind in ("two", "many") or wanted == "0 or 1":
        target = rng.integers(0, 3 if kind == "many" else 2, rows) * 1.0
    else:
        target = rng.integers(1 if wanted == "above 0" else 0, 6, rows) * 0.8
    return scores, target, rng.integers(0, 4, rows) * 0.7 if weighted else None
