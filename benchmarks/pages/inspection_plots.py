"""`python -m benchmarks.pages.inspection_plots`: draw the plots of docs/inspection.md; needs the extra `docs`.

What is drawn is computed here from a made-up table, whose truth is known, and is the same on every machine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.pages.forest_plots import OTHER, PALE, STRONG, draw_all
from benchmarks.peers.base import library

Floats = npt.NDArray[np.float64]
ROWS, REFITS = 500, 30
DEPTHS = (1, 2, 3, 4, 6, 8, 10)
TREES = (1, 2, 5, 10, 30, 100, 300)
PARTS = {"noise": PALE, "bias2": STRONG, "variance": OTHER}
NAMES = {"noise": "noise", "bias2": "bias²", "variance": "variance"}


def friedman(rows: int = ROWS, seed: int = 0, noise: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """Return Friedman's first table, its target with noise, and without."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(rows, 6))
    truth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, truth + noise * rng.normal(size=rows), truth


def by_depth() -> dict[str, list[Any]]:
    """Return bias and variance of three learners for every depth."""
    spinney = library("spinney")
    makers: dict[str, Callable[[int], Any]] = {
        "a tree": lambda depth: spinney.DecisionTreeRegressor(max_depth=depth),
        "a forest of 100 trees": lambda depth: spinney.RandomForestRegressor(100, max_depth=depth, n_jobs=2),
        "boosting, 100 rounds": lambda depth: spinney.GBMRegressor(
            n_estimators=100, max_depth=depth, max_leaves=0, n_jobs=2
        ),
    }
    return {name: _found(make, DEPTHS) for name, make in makers.items()}


def by_trees() -> dict[str, list[Any]]:
    """Return bias and variance of forests and boosting for every number of trees."""
    spinney = library("spinney")
    makers: dict[str, Callable[[int], Any]] = {
        "forests": lambda trees: spinney.RandomForestRegressor(trees, n_jobs=2),
        "boosting, depth 3": lambda trees: spinney.GBMRegressor(n_estimators=trees, max_depth=3, n_jobs=2),
    }
    return {name: _found(make, TREES) for name, make in makers.items()}


def _found(make: Callable[[int], Any], sizes: Sequence[int]) -> list[Any]:
    X, y, truth = friedman()
    return [library("spinney").bias_variance(make(size), X, y, truth, repeats=REFITS) for size in sizes]


def draw_bias_variance(plots: Any) -> Any:
    """Draw the three parts of the loss, one upon another, over depth and over the number of trees."""
    figure, axes = plots.subplots(2, 3, figsize=(9.6, 5.2), sharey=True, layout="constrained")
    panels = [(axes[0, k], one, DEPTHS) for k, one in enumerate(by_depth().items())]
    panels += [(axes[1, 1 + k], one, TREES) for k, one in enumerate(by_trees().items())]
    for place, (name, found), sizes in panels:
        parts = [[getattr(one, part) for one in found] for part in PARTS]
        across = np.arange(len(sizes))
        place.stackplot(across, *parts, colors=list(PARTS.values()), labels=list(NAMES.values()))
        place.plot(across, [one.loss for one in found], color="black", linewidth=1, label="loss")
        place.set_xticks(across, [str(size) for size in sizes])
        place.set(title=name, xlabel="depth" if sizes is DEPTHS else "trees")
    for place in (axes[0, 0], axes[1, 1]):
        place.set(ylabel="squared loss", ylim=(0, 22))
        place.tick_params(labelleft=True)
    legend, place = axes[0, 0].get_legend_handles_labels(), axes[1, 0]
    place.axis("off")
    place.legend(*(side[::-1] for side in legend), frameon=False, loc="center")
    return figure


DRAWN: dict[str, Callable[[Any], Any]] = {"inspection-bias.svg": draw_bias_variance}


if __name__ == "__main__":
    draw_all(DRAWN)
