"""Held-out loss on real tables, split by split, at equal settings."""

from dataclasses import replace

import numpy as np

from benchmarks.bench import Bench
from benchmarks.data import SOURCES, DataMissingError, RealTable, real
from benchmarks.peers import Peer
from benchmarks.quality import scores
from benchmarks.rows import Row
from benchmarks.settings import Settings
from benchmarks.verdict import Claim, paired

SPLITS = 5
# LightGBM's defaults, which has no L2 penalty.
DEFAULTS = Settings(leaves=31, learning_rate=0.1, rounds=100, reg_lambda=0.0)
TARGET = Claim("mean difference ≤ 2 standard errors")


def run(bench: Bench, case: str) -> list[Row]:
    """Compare losses on every table that can be had."""
    rows: list[Row] = []
    for name in SOURCES:
        bench.say(f"reading {name}")
        try:
            table = real(name)
        except DataMissingError as missing:
            bench.say(str(missing))
            continue
        losses = {peer.name: _losses(bench, peer, table) for peer in bench.libraries()}
        ours = losses.get("spinney", [])
        for peer in bench.peers:
            rows.append(compared(case, name, (peer.name, peer.note), ours, losses[peer.name]))
    return rows


Scores = list[dict[str, float]]


def _losses(bench: Bench, peer: Peer, table: RealTable) -> Scores:
    """Return the quality numbers of one library on each split: three quarters train, the rest is held out."""
    settings = replace(
        DEFAULTS,
        objective=table.objective,
        classes=table.classes,
        threads=bench.options.threads,
        rounds=bench.options.size(DEFAULTS.rounds, 5),
    )
    found = []
    for seed in range(bench.options.size(SPLITS, 2)):
        bench.say(f"{table.name}, split {seed + 1}: {peer.name}")
        rows = bench.options.size(len(table.y), 4_000)
        order = np.random.default_rng(seed).permutation(len(table.y))[:rows]
        train, test = np.split(order, [rows * 3 // 4])
        dataset = peer.dataset(table.X[train], table.y[train], settings, peer.modes[0])
        model = peer.train(dataset, settings, peer.modes[0])
        prediction = peer.predict(model, table.X[test], settings)
        found.append(scores(settings.objective, table.y[test], prediction))
    return found


def compared(case: str, measure: str, peer: tuple[str, str], ours: Scores, theirs: Scores) -> Row:
    """Return the row of two lists of quality numbers, split by split; a peer has a name and perhaps a note."""
    names = list(theirs[0])
    loss = names[0]
    mean = {name: float(np.mean([split[name] for split in theirs])) for name in names}
    if not ours:
        alone = {name: (None, mean[name]) for name in names}
        return Row(case=case, measure=measure, peer=peer[0], theirs=mean[loss], unit=loss, quality=alone)
    own = {name: float(np.mean([split[name] for split in ours])) for name in names}
    difference = paired([split[loss] for split in ours], [split[loss] for split in theirs])
    return Row(
        case=case,
        measure=measure,
        peer=peer[0],
        ours=own[loss],
        theirs=mean[loss],
        unit=loss,
        target=TARGET,
        holds=difference.accepted,
        quality={name: (own[name], mean[name]) for name in names},
        facts={
            "ours / theirs": float(np.mean([a[loss] / b[loss] for a, b in zip(ours, theirs, strict=True)])),
            "mean difference": difference.mean,
            "deviation": difference.deviation,
            "standard error": difference.error,
            "verdict": difference.verdict,
        },
        samples={"ours": [split[loss] for split in ours], "theirs": [split[loss] for split in theirs]},
        note=peer[1],
    )
