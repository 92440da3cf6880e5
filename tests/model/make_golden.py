"""Write a model file of this version, with rows and their predictions, for `test_golden.py` to read in later versions.

    python tests/model/make_golden.py

Files of earlier versions stay as they are: that they can still be read is what the test is for.
"""

from pathlib import Path

import numpy as np

import spinney as sp

FOLDER = Path(__file__).with_name("golden")


def problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with missing values, the last column of categories, their classes and weights."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((300, 4)) < 0.1, np.nan, rng.normal(size=(300, 4)).round(3))
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, rng.integers(-3, 90, 300) // 9)
    signal = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1])) + (np.nan_to_num(X[:, 3]) % 3 == 1)
    return X, np.digitize(signal, [-0.5, 0.5]).astype(float), rng.integers(1, 4, 300) * 0.5


def make(folder: Path = FOLDER) -> Path:
    """Train a model, and write it and what it predicts; returns the path of the model."""
    X, y, weight = problem()
    params = {"objective": "softmax", "num_class": 3, "max_leaves": 8, "min_child_samples": 5}
    params |= {"cat_smooth": 1.0, "min_data_per_group": 5}
    params |= {"tree_method": "approx", "sketch_eps": 0.05, "gamma": 0.01, "monotone_constraints": {"age": 1}}
    params |= {"subsample": 0.8, "leaf_values": "all"}
    params |= {
        "interaction_constraints": [["age", "x y"], ["größe", "木", "x y"]],
        "feature_weights": {"木": 0.5},
    }
    names = ["age", "größe", "木", "x y"]
    data = sp.Dataset(X[:250], y[:250], weight=weight[:250], names=names, categorical=[3])
    valid = {"rest": sp.Dataset(X[250:], y[250:], reference=data)}
    model = sp.train(
        params | {"early_stopping_rounds": 3, "learning_rate": 0.5}, data, rounds=40, valid=valid
    )
    path = folder / f"model-{sp.__version__}.safetensors"
    folder.mkdir(exist_ok=True)
    model.save(path)
    np.savez_compressed(
        path.with_suffix(".npz"),
        X=X,
        predictions=model.predict(X),
        raw=model.predict_raw(X),
        leaves=model.predict_leaf(X),
    )
    return path


if __name__ == "__main__":
    make()
