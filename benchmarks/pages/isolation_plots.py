"""`python -m benchmarks.pages.isolation_plots`: draw the plots of docs/isolation.md; needs the extra `docs`.

What is drawn is computed here from small made-up tables, and is the same on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.pages.forest_plots import GRID, OTHER, PALE, STRONG, draw_all
from benchmarks.peers.base import library

Floats = npt.NDArray[np.float64]
INSIDE, OUTSIDE = np.array([0.1, 0.0]), np.array([3.2, 2.6])
COLUMNS = ("speed", "load", "heat", "noise")


def cloud(rows: int = 255, seed: int = 4) -> Floats:
    """Return a cloud of points, and one that lies apart as the last of them."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(rows, 2)), OUTSIDE])


@dataclass(frozen=True)
class Cut:
    """One split on the way of a point: its column, its place, the box that it cuts, and the rows left beside the point."""

    column: int
    place: float
    low: Floats
    high: Floats
    rows: int


def path(tree: Any, point: Floats, low: Floats, high: Floats) -> list[Cut]:
    """Return the splits that isolate a point."""
    node, found = 0, []
    low, high = low.copy(), high.copy()
    while tree.feature[node] >= 0:
        column, place = int(tree.feature[node]), float(tree.threshold[node])
        box = low.copy(), high.copy()
        left = point[column] <= place
        node = int(tree.left[node]) + (0 if left else 1)
        (high if left else low)[column] = place
        found.append(Cut(column, place, *box, int(tree.count[node])))
    return found


def paths() -> tuple[Floats, dict[str, list[Cut]], tuple[Floats, Floats]]:
    """Return points, the splits that one tree needs for a point inside and the one outside, and the frame."""
    X = cloud()
    forest = library("spinney").IsolationForest(n_estimators=40, random_state=0, n_jobs=1).fit(X)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    lengths = [len(path(tree, OUTSIDE, low, high)) for tree in forest.estimators_]
    # A tree whose path to the point outside is as long as it is on average.
    tree = forest.estimators_[int(np.argmin(np.abs(np.array(lengths) - np.mean(lengths))))]
    return X, {name: path(tree, p, low, high) for name, p in points().items()}, (low, high)


def points() -> dict[str, Floats]:
    """Return the two points by name."""
    return {"in the middle": INSIDE, "apart": OUTSIDE}


def path_means() -> dict[str, Floats]:
    """Return the mean length of a point's paths by number of trees."""
    X = cloud()
    model = library("spinney").IsolationForest(n_estimators=200, random_state=0, n_jobs=1).fit(X).model_
    average = library("spinney").average_path_length
    low, high = X.min(axis=0), X.max(axis=0)
    found = {}
    for name, point in points().items():
        steps = [path(model.tree(t), point, low, high) for t in range(model.trees)]
        lengths = np.array([len(one) + average(one[-1].rows) for one in steps])
        found[name] = np.cumsum(lengths) / np.arange(1, model.trees + 1)
    return found


def surface() -> tuple[Floats, Floats, Floats, float]:
    """Return points, the edges of a grid, the scores in its cells, and the offset."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal([-2, -1], 0.4, (200, 2)), rng.normal([1.5, 1], 0.8, (200, 2))])
    forest = library("spinney").IsolationForest(
        n_estimators=300, contamination=0.05, random_state=0, n_jobs=1
    )
    forest.fit(X)
    edges = np.linspace(-4.5, 4.5, GRID)
    cells = np.stack(np.meshgrid(edges, edges), axis=-1).reshape(-1, 2)
    return X, edges, forest.score_samples(cells).reshape(GRID, GRID), forest.offset_


def machines(rows: int = 1000) -> Floats:
    """Return a table of machines: one runs too hot, one too loud and under too little load."""
    rng = np.random.default_rng(2)
    X = rng.normal([50, 30, 70, 12], [5, 4, 3, 1], (rows, 4))
    X[0], X[1] = (50, 30, 95, 12), (50, 8, 70, 17)
    return X


def shares() -> Floats:
    """Return the steps that each column saves for the hot machine, the loud one and an ordinary one."""
    X = machines()
    forest = library("spinney").IsolationForest(n_estimators=300, random_state=0, n_jobs=1).fit(X)
    found: Floats = forest.explain_path(X[:3])
    return found


def draw_paths(plots: Any) -> Any:
    """Draw the cuts that isolate two points, and the mean lengths of their paths."""
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.1), layout="constrained")
    X, found, (low, high) = paths()
    for place, (name, cuts) in zip(axes, found.items(), strict=False):
        place.scatter(*X.T, s=4, color=PALE)
        for cut in cuts:
            other = 1 - cut.column
            ends = (cut.low[other], cut.high[other])
            line = ((cut.place, cut.place), ends) if cut.column == 0 else (ends, (cut.place, cut.place))
            place.plot(*line, color=STRONG, linewidth=0.8)
        place.scatter(*points()[name], s=24, color=OTHER, zorder=3)
        left = cuts[-1].rows
        beside = "alone" if left == 1 else f"{left} rows left"
        place.set(title=f"{name}: {len(cuts)} splits, {beside}", xticks=[], yticks=[])
        place.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for (name, means), colour in zip(path_means().items(), (STRONG, OTHER), strict=True):
        axes[2].plot(np.arange(1, len(means) + 1), means, color=colour, label=name)
    axes[2].axhline(library("spinney").average_path_length(256), color="grey", linewidth=0.8, linestyle=":")
    axes[2].set(title="mean path length", xlabel="trees", ylim=(0, None))
    axes[2].legend(frameon=False)
    return figure


def draw_scores(plots: Any) -> Any:
    """Draw the score of every place, and where rows begin to be called abnormal."""
    X, edges, scores, offset = surface()
    figure, place = plots.subplots(figsize=(4.6, 3.6), layout="constrained")
    mesh = place.pcolormesh(edges, edges, scores, cmap="Blues", rasterized=True)
    place.contour(edges, edges, scores, levels=[offset], colors=OTHER, linewidths=1.2)
    place.scatter(*X.T, s=3, color="black")
    place.set(xticks=[], yticks=[])
    figure.colorbar(mesh, ax=place, label="score_samples")
    return figure


def draw_shares(plots: Any) -> Any:
    """Draw what each column saves."""
    figure, axes = plots.subplots(1, 3, figsize=(8.4, 2.2), sharex=True, sharey=True, layout="constrained")
    names = ("a machine that runs hot", "loud, and under little load", "an ordinary one")
    for place, name, row in zip(axes, names, shares(), strict=True):
        place.barh(COLUMNS, row, color=[OTHER if one > 1 else PALE for one in row])
        place.axvline(0.0, color="black", linewidth=0.6)
        place.set(title=name, xlabel="steps saved")
    axes[0].invert_yaxis()
    return figure


DRAWN: dict[str, Callable[[Any], Any]] = {
    "isolation-paths.svg": draw_paths,
    "isolation-scores.png": draw_scores,
    "isolation-shares.svg": draw_shares,
}


if __name__ == "__main__":
    draw_all(DRAWN)
