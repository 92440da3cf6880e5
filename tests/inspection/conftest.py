"""Small models and tables to inspect."""

import numpy as np
import pandas as pd
import pytest

import sklearn_forests
import spinney as sp


def table(rows=300, seed=0):
    """Numbers with gaps, words, and a column of zeros."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "width": rng.normal(size=rows).round(2),
            "kind": pd.Categorical(rng.choice(["ash", "elm", "oak"], rows)),
            "depth": rng.normal(size=rows).astype(np.float32),
            "still": np.zeros(rows),
        }
    )
    frame.loc[rng.random(rows) < 0.1, "width"] = np.nan
    score = frame["width"].fillna(1.0) + (frame["kind"] == "oak") + 0.5 * frame["depth"]
    return frame, score.to_numpy() + 0.3 * rng.normal(size=rows)


@pytest.fixture(scope="session")
def words():
    """Rows whose target has two labels, three labels, or is a number."""
    frame, score = table()
    two = np.where(score > 0.5, "yes", "no")
    three = np.array(["low", "middle", "top"])[np.digitize(score, [0.0, 1.0])]
    return frame, {"two": two, "three": three, "numbers": score}


@pytest.fixture(scope="session")
def fitted(words):
    """Estimators by family and target, fitted once."""
    frame, targets = words
    made = {}
    for name, y in targets.items():
        number = name == "numbers"
        boosted = sp.GBMRegressor if number else sp.GBMClassifier
        forest = sp.RandomForestRegressor if number else sp.RandomForestClassifier
        made["boosting", name] = boosted(n_estimators=8, max_leaves=6).fit(frame[:200], y[:200])
        made["forest", name] = forest(n_estimators=6, max_depth=5, random_state=0).fit(frame[:200], y[:200])
    return made


@pytest.fixture
def forest(monkeypatch):
    """A converted forest of a kind, whose bags are those of scikit-learn."""

    def use(case):
        case = sklearn_forests.case(case) if isinstance(case, str) else case
        monkeypatch.setattr(
            "spinney.inspection.out_of_bag.bag_counts",
            lambda seed, tree, rows, drawn, replace: case.bags[tree],
        )
        return case

    return use
