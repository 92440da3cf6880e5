import pytest

import sklearn_forests


@pytest.fixture
def forest(monkeypatch):
    """A converted forest of a kind, whose bags are those of scikit-learn."""

    def use(case):
        case = sklearn_forests.case(case) if isinstance(case, str) else case
        monkeypatch.setattr(
            "spinney.training.forests.bags.bag_counts",
            lambda seed, tree, rows, drawn, replace: case.bags[tree],
        )
        return case

    return use
