"""docs/methods.md and its plot, from the cases about tree_method and grow_policy."""

from collections.abc import Sequence

from benchmarks.pages.plot import bars
from benchmarks.pages.results import Found, Results

CASES = (
    "methods",
    "exact",
    "approx",
    "hist-exact",
    "depthwise",
    "exact-sparse",
    "exact-parity",
    "small-tables",
)
WAYS = ("hist", "approx", "approx local", "exact")
TITLES = {
    "hist": "`hist`",
    "approx": "`approx`",
    "approx local": '`approx`, `proposal="local"`',
    "exact": "`exact`",
}

TEXT = """# Exact, approximate and histogram trees, measured

Written by `python -m benchmarks.page` from a run of
`python -m benchmarks {cases}`.

To split a node, a tree compares cuts of each column: places between two values. `tree_method` sets which cuts it may
use. This page shows how the methods differ in time, memory and accuracy, and compares them with XGBoost's.

```python
import numpy as np
import spinney as sp

rng = np.random.default_rng(0)
X = rng.normal(size=(2_000, 5))
y = X[:, 0] * X[:, 1] + X[:, 2]
for method in ("hist", "approx", "exact"):
    regressor = sp.GBMRegressor(n_estimators=50, tree_method=method, grow_policy="depthwise", max_depth=6)
    print(method, regressor.fit(X[:1_500], y[:1_500]).score(X[1_500:], y[1_500:]))
```

## Options

| parameter | default | meaning |
|---|---|---|
| `tree_method` | `"hist"` | `"hist"`, `"approx"` or `"exact"`; `"auto"` is `"hist"` |
| `max_bin` | 255 | most bins of a column; for `approx` about so many cuts are tried |
| `proposal` | `"global"` | for `approx`: cuts are chosen once per tree, or in every node (`"local"`) |
| `sketch_eps` | None | for `approx`: about 1 / `sketch_eps` cuts are tried, in place of `max_bin` |
| `gamma` | 0 | the least gain of a split |
| `grow_policy` | `"lossguide"` | `"depthwise"` grows level by level, as on this page |

- `hist` bins every column once, when the `Dataset` is made, and sums gradients by bin. It is the default.
- `approx` tries quantiles of the rows weighted by their hessian. With `proposal="global"` they are chosen again for
  every tree, with `proposal="local"` in every node.
- `exact` sorts every column once and tries every distinct value in every node. A cut lies halfway between two values.
  Trees are grown to their full depth, and `gamma` prunes them afterwards, from the leaves up.

`exact` and `approx` read the table when they train, so sorting and binning it are part of their training time.

Measured on {cpu}, {threads} threads, with level-wise trees (`grow_policy="depthwise"`).

## Time, memory and AUC

1 000 000 rows, 100 columns, depth 6, {rounds} rounds, each method in a separate process. The memory includes the table,
{raw:,.0f} MB.

{costs}

![Seconds a round by method](methods.svg)

The plot shows the training time divided by the number of rounds: the work that `exact` and `approx` do once is spread
over {rounds} rounds here.

## Comparison with XGBoost {xgboost}, and of the methods

Equal settings, a new data set for every repeat; only training is timed. The ratio is the other time over that of the
method named first.

{ratios}

{sparse}

The next table compares whole trees: spinney's `exact` grew each tree of XGBoost's `exact` again, from the same scores.
XGBoost's `gamma` was twice spinney's. Three kinds of nodes are counted separately:

- A *tie* is a node where two splits have the same gain within the precision of XGBoost's float32, or where two columns
  split the rows in the same way. Nodes below a tie of the first kind are not compared.
- A *mirrored* node splits the rows in the same way with left and right exchanged, which can happen where a column has a
  single value.
- The value of a *rounded* leaf differs by no more than the error of XGBoost's float32 gradients.

A tree is the same if every node is, mirrored or rounded or not; a tree with a tie is not counted as the same.

{parity}

## Small tables

This section tests whether trying every value is better on small tables. Default parameters except for the method,
{splits} splits. The first four tables are from scikit-learn, with three quarters of the rows for training; the others
have 1 000 training rows and up to 20 000 test rows.

{small}

{verdict}

The splits of a table are few, and they share rows, so some tables exceed that limit by chance.
"""


def write(results: Results) -> dict[str, str]:
    """Return the page and its plot."""
    results.need(*CASES)
    costs = {way: results.row("methods", f"train: {way}") for way in WAYS}
    rounds = costs["hist"]["facts"]["rounds"]
    small = results.rows("small-tables")
    about = results.environment("methods")
    page = TEXT.format(
        cases=" ".join(CASES),
        cpu=about["cpu"],
        threads=results.threads("methods"),
        xgboost=about["versions"]["xgboost"],
        rounds=rounds,
        raw=costs["hist"]["facts"]["raw table, MB"],
        costs=_costs(results, costs),
        ratios=_ratios(results),
        sparse=_sparse(results.row("exact-sparse", "train: sparse")),
        parity=_parity(results.rows("exact-parity")),
        splits=len(small[0]["samples"]["ours"]),
        small=_small(small),
        verdict=_verdict(small),
    )
    points = [(way, row["ours"] / rounds) for way, row in costs.items()]
    return {"methods.md": page, "methods.svg": bars(points, across="method", up="seconds a round", digits=2)}


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _costs(results: Results, trained: dict[str, Found]) -> str:
    lines = []
    for way, row in trained.items():
        whole = results.row("methods", f"dataset + train: {way}")["ours"]
        memory = results.row("methods", f"peak memory: {way}")["ours"]
        auc = row["quality"]["auc"]["ours"]
        lines.append([TITLES[way], f"{row['ours']:.2f}", f"{whole:.2f}", f"{memory:,.0f}", f"{auc:.4f}"])
    return table(["", "training, s", "data set and training, s", "peak memory, MB", "held-out AUC"], lines)


def _ratios(results: Results) -> str:
    wanted = {
        "`exact`, 100 000 × 28, depth 6, 100 rounds, against XGBoost's": ("exact", "train"),
        "`approx`, 500 000 × 28, depth 6, 20 rounds, against XGBoost's": ("approx", "train"),
        "`hist`, 500 000 × 28, depth 6, 100 rounds, against XGBoost's": ("depthwise", "train: depth 6"),
        "the same, depth 8": ("depthwise", "train: depth 8"),
        "`hist`, 500 000 × 28, depth 6, 20 rounds, against spinney's `exact`": ("hist-exact", "train"),
    }
    lines = []
    for title, (case, measure) in wanted.items():
        row = results.row(case, measure)
        auc = row["quality"]["auc"]
        lines.append(
            [title, *(f"{row[side]:.2f}" for side in ("ours", "theirs")), f"{row['ratio']:.2f}x"]
            + [f"{auc[side]:.4f}" for side in ("ours", "theirs")]
        )
    return table(["", "spinney, s", "other, s", "ratio", "AUC", "AUC of the other"], lines)


def _sparse(row: Found) -> str:
    same = "The two forests are the same." if row["holds"] else "The two forests are not the same."
    return (
        f"`exact` on a sparse matrix of 100 000 × 200, of which 1 % is stored, takes {row['ours']:.3f} s for 5 rounds; on\n"
        f"the same table made dense {row['theirs']:.3f} s, {row['ratio']:.1f} times as long. {same}"
    )


def _parity(rows: Sequence[Found]) -> str:
    names = {
        "trees": "trees",
        "the same": "the same",
        "of": "nodes of XGBoost's",
        "nodes": "compared",
        "mirrored": "mirrored",
        "rounded leaves": "rounded leaves",
        "ties": "ties",
        "other differences": "other differences",
    }
    lines = [[row["measure"], *(f"{row['facts'][name]:,}" for name in names)] for row in rows]
    return table(["", *names.values()], lines)


def _small(rows: Sequence[Found]) -> str:
    lines = []
    for row in rows:
        facts = row["facts"]
        both = (
            f"{row[side]:.4f} ± {facts[f'spread of {way}']:.4f}"
            for side, way in (("ours", "exact"), ("theirs", "hist"))
        )
        apart = f"{facts['mean difference']:+.4f} ± {facts['standard error']:.4f}"
        times = (f"{1000 * facts[f'fit {way}, s']:.0f}" for way in ("exact", "hist"))
        lines.append(
            [row["measure"], f"{facts['rows']:,}", row["unit"].replace("_", " "), *both, apart, *times]
        )
    head = ["", "rows", "loss", "`exact`", "`hist`", "difference", "fit `exact`, ms", "fit `hist`, ms"]
    return (
        table(head, lines) + "\n\nThe losses are means with their standard deviation over the splits, "
        "the difference is a mean with its standard error."
    )


def _verdict(rows: Sequence[Found]) -> str:
    """On how many tables either method is ahead, and how long the fits take."""
    beyond = [
        row for row in rows if abs(row["facts"]["mean difference"]) > 2.0 * row["facts"]["standard error"]
    ]
    ahead = sum(row["facts"]["mean difference"] < 0.0 for row in beyond)
    slower = sorted(row["facts"]["fit exact, s"] / row["facts"]["fit hist, s"] for row in rows)
    return (
        f"Of {len(rows)} tables, `exact` is ahead by more than twice the standard error on {ahead}, `hist` on "
        f"{len(beyond) - ahead};\non {len(rows) - len(beyond)} neither is. A fit of `exact` takes {slower[0]:.1f} to "
        f"{slower[-1]:.1f} times as long."
    )
