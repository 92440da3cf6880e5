"""Models whose trees have any shape."""

import numpy as np

from spinney.data import Schema
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.tree import Tree, concatenate


def random_model(seed, table, outputs=1, trees=6, splits=20, absent="zero"):
    """Trees of any shape, with thresholds that are values of the table and others that are not."""
    rng = np.random.default_rng(seed)
    columns = table.shape[1]
    grown = []
    for _ in range(trees * outputs):
        left, feature, threshold, default_left = [0], [-1], [0.0], [0]
        for _ in range(rng.integers(0, splits)):
            node = rng.choice([i for i, f in enumerate(feature) if f < 0])
            left[node], feature[node] = len(left), int(rng.integers(columns))
            value = table[rng.integers(len(table)), feature[node]]
            threshold[node] = float(rng.normal()) if np.isnan(value) or rng.random() < 0.5 else value
            default_left[node] = int(rng.integers(2))
            for part, leaf in ((left, 0), (feature, -1), (threshold, 0.0), (default_left, 0)):
                part += [leaf, leaf]
        nodes = len(left)
        grown.append(
            Tree(
                feature=np.array(feature, np.int32), threshold=np.array(threshold), left=np.array(left, np.int32),
                default_left=np.array(default_left, np.uint8), value=rng.normal(size=nodes), gain=np.zeros(nodes),
                cover=np.zeros(nodes), count=np.zeros(nodes, np.int64),
            )
        )  # fmt: skip
    objective = "softmax" if outputs > 1 else "squared_error"
    config = Config(objective=objective, num_class=outputs if outputs > 1 else 0, absent=absent)
    return Model(concatenate(grown), rng.normal(size=outputs), objective, config, Schema(None, columns))
