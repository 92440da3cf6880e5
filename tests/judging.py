"""Rows to judge, and how to judge them."""

from types import SimpleNamespace

import numpy as np

from metric_oracle import LINKS, PARAMETERS
from spinney import metrics
from spinney.data import Labels
from spinney.jit.team import Team
from spinney.metrics import Outcome
from spinney.params.metrics import METRICS

# Every metric with what it may judge; those of times and of ranking have tests of their own.
PAIRS = [(row.name, kind) for row in METRICS.values() for kind in row.fits if kind in LINKS]
CONFIG = SimpleNamespace(objective="squared_error", num_class=0, num_target=1, label_gain=None, **PARAMETERS)


def judged(name, scores, target, weight=None, threads=1, kind=None, link=None):
    """A metric of raw scores, by its name and what the objective predicts."""
    link = link or LINKS[kind or METRICS[name].fits[0]]
    with Team(threads) as team:
        outcome = Outcome(np.atleast_2d(np.asarray(scores, float)), link, team)
        return metrics.get(name, CONFIG)(outcome, Labels(np.asarray(target, float), weight))


def problem(kind, rows, weighted, name="", seed=0):
    """Scores with ties, target and weights that fit what an objective predicts and a metric asks for."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3 if kind == "many" else 1, rows)).round(1)
    asked = METRICS[name].target if name else "any"
    if kind in ("two", "many") or asked == "0 or 1":
        target = rng.integers(0, 3 if kind == "many" else 2, rows) * 1.0
    else:
        target = rng.integers(1 if asked == "above 0" else 0, 6, rows) * 0.8
    return scores, target, rng.integers(0, 4, rows) * 0.7 if weighted else None
