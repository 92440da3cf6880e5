"""`python -m benchmarks.pages.forest_plots`: draw the plots of docs/forests.md; needs the extra `docs`.

What is drawn is computed here from small made-up tables, and is the same on every machine.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.page import DOCS
from benchmarks.peers.base import library

Floats = npt.NDArray[np.float64]
GRID = 160
TREES = (25, 30, 40, 60, 80, 120, 160, 240, 320, 480)  # with fewer some rows would be in every bag
PALE, STRONG, OTHER = "#9db8d2", "#2f5f8f", "#c4622d"


def moons(rows: int = 400, seed: int = 1) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return two crescents that overlap."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, rows)
    angle = rng.uniform(0.0, np.pi, rows)
    x = np.where(label == 0, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(label == 0, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], axis=1) + 0.25 * rng.normal(size=(rows, 2)), label


def wave(rows: int = 400, seed: int = 2) -> tuple[Floats, Floats]:
    """Return a wave whose noise grows."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 6.0, rows)
    return x[:, None], np.sin(1.5 * x) + 0.1 * x * rng.normal(size=rows)


def diagonal(rows: int = 400, seed: int = 3) -> tuple[Floats, Floats]:
    """Return two columns that say nearly the same, and a target that follows both."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-3.0, 3.0, rows)
    X = place[:, None] + 0.3 * rng.normal(size=(rows, 2))
    return X, place + 0.2 * rng.normal(size=rows)


def surfaces() -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return, by learner, the edges of a grid across and up, and the probability of the second class in its cells."""
    spinney = library("spinney")
    X, y = moons()
    makers = {
        "one tree": spinney.DecisionTreeClassifier(random_state=0),
        "a forest of 200 trees": spinney.RandomForestClassifier(n_estimators=200, random_state=0, n_jobs=2),
        "boosting, 100 rounds": spinney.GBMClassifier(n_estimators=100, min_child_samples=5, n_jobs=2),
    }
    across, up = (np.linspace(X[:, k].min() - 0.2, X[:, k].max() + 0.2, GRID) for k in (0, 1))
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    return {
        name: (across, up, make.fit(X, y).predict_proba(points)[:, 1].reshape(GRID, GRID))
        for name, make in makers.items()
    }


def oob_errors() -> dict[str, list[float]]:
    """Return the share of wrong rows by number of trees: out of bag, and of rows that the forest has not seen."""
    spinney = library("spinney")
    X, y = library("sklearn.datasets").load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:1200], order[1200:]
    forest = spinney.RandomForestClassifier(warm_start=True, oob_score=True, random_state=0, n_jobs=2)
    found: dict[str, list[float]] = {"out of bag": [], "rows not seen": []}
    for trees in TREES:
        forest.set_params(n_estimators=trees).fit(X[train], y[train])
        found["out of bag"].append(1.0 - float(forest.oob_score_))
        found["rows not seen"].append(1.0 - float(forest.score(X[test], y[test])))
    return found


def quantiles() -> dict[str, Floats]:
    """Return, along a line, what a regression forest predicts and two quantiles of the target."""
    spinney = library("spinney")
    X, y = wave()
    forest = spinney.RandomForestRegressor(
        n_estimators=300, min_samples_leaf=10, random_state=0, n_jobs=2, keep_leaf_rows=True
    ).fit(X, y)
    line = np.linspace(0.0, 6.0, 301)[:, None]
    found = forest.predict_quantile(line, [0.05, 0.95])
    return {"x": line[:, 0], "prediction": forest.predict(line), "low": found[:, 0], "high": found[:, 1]}


def spread() -> tuple[Floats, Floats]:
    """Return the edges of a grid, and the deviation over the trees of a forest in its cells."""
    spinney = library("spinney")
    X, y = diagonal()
    forest = spinney.RandomForestRegressor(n_estimators=300, max_features=1, random_state=0, n_jobs=2).fit(
        X, y
    )
    edges = np.linspace(-4.0, 4.0, GRID)
    points = np.stack(np.meshgrid(edges, edges), axis=-1).reshape(-1, 2)
    return edges, forest.predict_uncertainty(points).reshape(GRID, GRID)


def draw_surfaces(plots: Any) -> Any:
    """Draw the three surfaces beside each other."""
    X, y = moons()
    figure, axes = plots.subplots(1, 3, figsize=(9.6, 3.0), sharex=True, sharey=True, layout="constrained")
    for place, (name, (across, up, share)) in zip(axes, surfaces().items(), strict=True):
        mesh = place.pcolormesh(across, up, share, cmap="RdBu_r", vmin=0, vmax=1, rasterized=True)
        for label, (fill, edge) in enumerate((("white", "black"), ("black", "white"))):
            place.scatter(*X[y == label].T, s=6, c=fill, linewidths=0.3, edgecolors=edge)
        place.set(title=name, xticks=[], yticks=[])
    figure.colorbar(mesh, ax=axes, label="probability of the second class", shrink=0.9)
    return figure


def draw_oob(plots: Any) -> Any:
    """Draw both errors by number of trees."""
    figure, place = plots.subplots(figsize=(6.4, 2.8), layout="constrained")
    for (name, errors), colour in zip(oob_errors().items(), (STRONG, OTHER), strict=True):
        place.plot(TREES, errors, marker="o", markersize=3, color=colour, label=name)
    place.set(xscale="log", xlabel="trees", ylabel="share of wrong rows", ylim=(0, None))
    place.set_xticks(TREES, [str(trees) for trees in TREES], minor=False)
    place.minorticks_off()
    place.legend(frameon=False)
    return figure


def draw_spread(plots: Any) -> Any:
    """Draw quantiles along a line, and the deviation over trees on a grid that leaves the data."""
    figure, (left, right) = plots.subplots(1, 2, figsize=(9.6, 3.2), layout="constrained")
    found = quantiles()
    left.fill_between(
        found["x"], found["low"], found["high"], color=PALE, linewidth=0, label="quantiles .05 to .95"
    )
    X, y = wave()
    left.scatter(X[:, 0], y, s=4, color=OTHER, label="data")
    left.plot(found["x"], found["prediction"], color=STRONG, label="prediction")
    left.set(title="predict_quantile", xlabel="x", ylabel="y")
    left.legend(frameon=False, fontsize=8, loc="lower left")
    edges, deviation = spread()
    mesh = right.pcolormesh(edges, edges, deviation, cmap="Blues", vmin=0, rasterized=True)
    X, y = diagonal()
    right.scatter(*X.T, s=4, color=OTHER)
    right.set(title="predict_uncertainty", xlabel="first column", ylabel="second column", aspect="equal")
    figure.colorbar(mesh, ax=right, label="deviation over trees")
    return figure


DRAWN: dict[str, Callable[[Any], Any]] = {
    "forests-surfaces.png": draw_surfaces,
    "forests-oob.svg": draw_oob,
    "forests-spread.png": draw_spread,
}


def draw_all(
    drawn: Mapping[str, Callable[[Any], Any]], docs: Path = DOCS, say: Callable[[str], None] = print
) -> None:
    """Draw plots into the folder, each by its name."""
    matplotlib = library("matplotlib")
    matplotlib.use("agg")
    plots = library("matplotlib.pyplot")
    # The same bytes each time: no date, and no random names in an SVG.
    with matplotlib.rc_context({"svg.hashsalt": "spinney", "font.size": 9}):
        for name, draw in drawn.items():
            figure = draw(plots)
            quiet: dict[str, Any] = {"Date": None} if name.endswith(".svg") else {"Software": None}
            figure.savefig(docs / name, dpi=90, metadata=quiet)
            plots.close(figure)
            say(f"{name} is drawn")


if __name__ == "__main__":
    draw_all(DRAWN)
