"""Tables whose rows occur several times, and tables of few values whose rows only look so."""

import numpy as np
import pandas as pd


def repeated(how, rows, seed=0):
    """Numbers of the rows of a table in which each occurs as often as `how` says, shuffled."""
    rng = np.random.default_rng(seed)
    found = {
        "once": lambda: np.arange(rows),
        "1 to 4 times": lambda: np.repeat(np.arange(rows), rng.integers(1, 5, rows)),
        "1 to 20 times": lambda: np.repeat(np.arange(rows), rng.integers(1, 21, rows)),
        "twice": lambda: np.tile(np.arange(rows), 2),
        "twice as many draws": lambda: rng.integers(0, rows, 2 * rows),
        "half of them twice": lambda: np.concatenate([np.arange(rows), rng.choice(rows, rows // 2, False)]),
    }[how]()
    return rng.permutation(found)


REPEATED = ["1 to 4 times", "1 to 20 times", "twice", "twice as many draws", "half of them twice"]


def table(rows, categories, seed=0, coarse=False, strength=1.0, columns=3):
    """A column of categories that says nothing, others that say something of two classes, fine or of three values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    if coarse:
        x = np.clip(np.round(x), -1, 1)
    chance = 1.0 / (1.0 + np.exp(-strength * (x[:, 0] - 0.5 * x[:, 1])))
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(columns)])
    frame.insert(0, "name", pd.Categorical(rng.integers(0, categories, rows), categories=range(categories)))
    return frame, (rng.random(rows) < chance).astype(float)
