"""`python -m benchmarks.pages.adaboost_plots`: draw the plots of docs/adaboost.md; needs the extra `docs`.

What is drawn is computed here from a small made-up table, and is the same on every machine.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.pages.forest_plots import GRID, OTHER, PALE, STRONG, draw_all, moons
from benchmarks.peers.base import library

Floats = npt.NDArray[np.float64]
SHOWN = (0, 1, 5, 30)  # rounds after which weights are shown
ROUNDS = 200


def weights_by_round(boosted: Any, X: Floats, y: npt.NDArray[np.int64]) -> list[Floats]:
    """Return the weights of the rows before the first round and after each, made to sum up to 1."""
    step = library("spinney").adaboost_step
    weight = np.full(len(y), 1.0 / len(y))
    found = [weight]
    for tree, error in zip(boosted, boosted.estimator_errors_, strict=True):
        factor = step(float(error))
        weight = weight * np.where(tree.predict(X) == y, factor.right, factor.wrong)
        weight = weight / weight.sum()
        found.append(weight)
    return found


def boosted_moons() -> tuple[Any, Floats, npt.NDArray[np.int64]]:
    """Return boosted stumps, and the rows that they were boosted on."""
    X, y = moons(300)
    boosted = library("spinney").AdaBoostClassifier(n_estimators=max(SHOWN), n_jobs=2).fit(X, y)
    return boosted, X, y


def surfaces() -> tuple[Floats, Floats, list[Floats]]:
    """Return the edges of a grid across and up, and the votes in its cells after some rounds."""
    boosted, X, _ = boosted_moons()
    across, up = (np.linspace(X[:, k].min() - 0.2, X[:, k].max() + 0.2, GRID) for k in (0, 1))
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    votes = list(boosted.staged_decision_function(points))
    return across, up, [votes[max(done, 1) - 1].reshape(GRID, GRID) for done in SHOWN]


def errors() -> dict[str, list[float]]:
    """Return, by round, the error of the round's tree by its weights, and the share of rows that all trees get wrong."""
    X, y = moons(300)
    test = moons(4_000, seed=7)
    boosted = library("spinney").AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=2).fit(X, y)
    return {
        "the tree, by the weights of its round": boosted.estimator_errors_.tolist(),
        "all trees, training rows": [1.0 - score for score in boosted.staged_score(X, y)],
        "all trees, rows not seen": [1.0 - score for score in boosted.staged_score(*test)],
    }


def draw_weights(plots: Any) -> Any:
    """Draw rows as large as they weigh, over the votes of the trees so far."""
    boosted, X, y = boosted_moons()
    weights = weights_by_round(boosted, X, y)
    across, up, votes = surfaces()
    figure, axes = plots.subplots(
        1, len(SHOWN), figsize=(11.0, 2.9), sharex=True, sharey=True, layout="constrained"
    )
    for place, done, vote in zip(axes, SHOWN, votes, strict=True):
        if done:
            place.pcolormesh(across, up, vote, cmap="RdBu_r", vmin=-2, vmax=2, rasterized=True)
        size = 12.0 * weights[done] * len(y)
        for label, (fill, edge) in enumerate((("white", "black"), ("black", "white"))):
            here = y == label
            place.scatter(*X[here].T, s=size[here], c=fill, linewidths=0.4, edgecolors=edge)
        title = "before the first round" if done == 0 else f"after {done} round{'s' if done > 1 else ''}"
        place.set(title=title, xticks=[], yticks=[])
    return figure


def draw_errors(plots: Any) -> Any:
    """Draw the errors by round."""
    figure, place = plots.subplots(figsize=(6.8, 2.9), layout="constrained")
    for (name, found), colour in zip(errors().items(), (PALE, STRONG, OTHER), strict=True):
        place.plot(np.arange(1, ROUNDS + 1), found, color=colour, label=name)
    place.set(xlabel="round", ylabel="error", ylim=(0, 0.5), xscale="log")
    place.legend(frameon=False, fontsize=8, loc="center right")
    return figure


DRAWN: dict[str, Callable[[Any], Any]] = {
    "adaboost-weights.png": draw_weights,
    "adaboost-errors.svg": draw_errors,
}


if __name__ == "__main__":
    draw_all(DRAWN)
