"""The figures of docs/forests.md, from the cases about forests; the rest of that page is written by hand."""

from collections.abc import Sequence
from textwrap import wrap

from benchmarks.pages.methods import table
from benchmarks.pages.results import Found, Results

# What a line of the table of speed says, by case and measure.
SPEED = {
    ("forest", "fit"): "random forest, 100 000 × 28, two classes",
    ("forest-covtype", "fit"): "random forest, covtype, 100 000 × 54, 7 classes",
    ("forest-large", "fit"): "random forest, 1 000 000 × 28, 20 trees",
    ("forest-large", "fit: depth 20"): "the same, depth 20",
    ("forest-regression", "fit"): "random forest, 100 000 × 28, numbers",
    ("forest-exact", "fit"): '`tree_method="exact"`, 100 000 × 28, two classes',
    ("extra-trees", "fit"): "extra trees, 100 000 × 28, two classes",
    ("extra-trees-covtype", "fit"): "extra trees, covtype, 100 000 × 54, 7 classes",
    ("forest-predict", "predict"): "predict 100 000 rows",
}
PEERS = {
    "sklearn-forest": ("scikit-learn", "scikit-learn"),
    "intelex-forest": ("scikit-learn-intelex", "scikit-learn-intelex"),
    "xgboost-forest": ("XGBoost", "xgboost"),
    "lightgbm-forest": ("LightGBM", "lightgbm"),
}
JUDGES = {"auc": "AUC", "accuracy": "accuracy", "rmse": "RMSE"}
OTHERS = ("forest-memory", "forest-growth", "forest-accuracy", "forest-missing")
CASES = (*dict.fromkeys(case for case, _ in SPEED), *OTHERS)

TEXT = """Written by `python -m benchmarks.page` from a run of

```sh
{command}
```

with spinney {version} on {cpu}, {threads} threads each. Each case was measured once or twice,
alternating between the libraries; single runs differ by a tenth to a fifth.

### Speed

A hundred fully grown trees unless the first column has something else, binning included. The ratio is the other
library's time over spinney's, so larger is better for spinney. The last column is the score on held-out rows, of
spinney and of the first library in the line.

{speed}

### Size

A hundred fully grown trees of 100 000 × 28, two classes: the memory that a new process needs to read the forest
and predict, and the size of the forest's file; scikit-learn's is written by `joblib.dump`.

{size}

### Growth

The ratio of fit times when one size doubles, starting from 50 trees of 100 000 × 28.

{growth}

### Accuracy

The error on held-out rows, five seeds; each seed is a split of the table and a forest of a hundred trees. The
last column is the mean difference divided by its standard deviation over seeds: below 0 spinney is better.

{accuracy}

### Missing values

AUC on held-out rows, with {missing_rows} training rows and 28 columns. A share of the values is removed from
training rows and held-out rows: random values, or the largest ones of each column. Boosting and spinney's forest
get the missing values and learn a direction for them. scikit-learn's forest gets the mean of the column in their
place: a good guess where values are missing at random, but the information in a missing value is lost.

{missing}"""


def write(results: Results) -> dict[str, str]:
    """Return what stands between the markers of the page."""
    results.need(*CASES)
    about = results.environment("forest")
    return {
        "forests.md": TEXT.format(
            command=" \\\n    ".join(
                wrap(f"python -m benchmarks {' '.join(CASES)}", 100, break_on_hyphens=False)
            ),
            version=about["versions"]["spinney"],
            cpu=about["cpu"],
            threads=results.threads("forest"),
            speed=_speed(results),
            size=_size(results.rows("forest-memory")),
            growth=_growth(results.rows("forest-growth")),
            accuracy=_accuracy(results.rows("forest-accuracy")),
            missing_rows=f"{results.rows('forest-missing')[0]['facts']['rows']:,}".replace(",", " "),
            missing=_missing(results.rows("forest-missing")),
        )
    }


def _speed(results: Results) -> str:
    versions = results.environment("forest")["versions"]
    measured = [
        peer for peer in PEERS if any(row["peer"] == peer for case, _ in SPEED for row in results.rows(case))
    ]
    heads = [f"{PEERS[peer][0]} {_short(versions.get(PEERS[peer][1]))}".strip() for peer in measured]
    lines = []
    for (case, measure), title in SPEED.items():
        rows = {row["peer"]: row for row in results.rows(case) if row["measure"] == measure}
        if not rows:
            continue
        ratios = [f"{rows[peer]['ratio']:.1f}x" if peer in rows else "" for peer in measured]
        first = next(iter(rows.values()))
        lines.append([title, f"{first['ours']:.2f} s", *ratios, _quality(first)])
    return table(["", "spinney", *heads, "score"], lines)


def _short(version: str | None) -> str:
    return ".".join((version or "").split(".")[:2])


def _quality(row: Found) -> str:
    for name, title in JUDGES.items():
        if name in row["quality"]:
            pair = row["quality"][name]
            return f"{title} {pair['ours']:.4f}, {pair['theirs']:.4f}"
    return ""


def _size(rows: Sequence[Found]) -> str:
    twin = [row for row in rows if row["peer"] == "sklearn-forest"]
    lines = [
        [row["measure"], f"{row['ours']:.1f} MB", f"{row['theirs']:.1f} MB", f"{row['ours'] / row['theirs']:.2f}"]
        for row in twin
    ]  # fmt: skip
    return table(["", "spinney", "scikit-learn", "ours / theirs"], lines)


def _growth(rows: Sequence[Found]) -> str:
    return table(["", "times longer"], [[row["measure"], f"{row['ours']:.2f}"] for row in rows])


def _accuracy(rows: Sequence[Found]) -> str:
    lines = [
        [
            row["measure"].replace("_", " "),
            row["unit"],
            f"{row['ours']:.4f}",
            f"{row['theirs']:.4f}",
            f"{row['facts']['in deviations']:+.2f}",
        ]
        for row in rows
    ]
    return table(["", "", "spinney", "scikit-learn", "difference / deviation"], lines)


def _missing(rows: Sequence[Found]) -> str:
    lines = [
        [row["measure"]]
        + [f"{value:.4f}" for value in (row["facts"]["boosting"], row["ours"], row["theirs"])]
        for row in rows
    ]
    return table(["", "`GBMClassifier`", "`RandomForestClassifier`", "scikit-learn's forest on means"], lines)
