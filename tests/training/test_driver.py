"""`prepare` checks all arguments and trains nothing; `run` trains what was prepared, as often as it is called."""

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError
from spinney.training.driver import prepare, run

ROWS = 400
RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(ROWS, 3)), RNG.integers(0, 9, ROWS)])
Y = X[:, 0] * X[:, 1] + RNG.normal(size=ROWS)
DATA = sp.Dataset(X, Y)
KINDS = sp.Dataset(X, Y, categorical=[3])
MARGINS = sp.Dataset(X, Y, base_margin=np.zeros((ROWS, 2)))
OTHER = sp.Dataset(X, Y, base_margin=np.zeros((ROWS, 2)), reference=DATA)
SHORT = [sp.LearningRateSchedule([0.1, 0.2])]


@pytest.mark.parametrize(
    ("params", "data", "given", "error", "message"),
    [
        ({"base_score": 1e39}, DATA, {}, ParameterError, "base_score = 1e.39 is too large"),
        ({"tree_method": "exact"}, KINDS, {}, ParameterError, "'exact' cannot split categorical columns"),
        (
            {"tree_method": "approx", "proposal": "local"}, KINDS, {}, ParameterError,
            "proposal='local' cannot split categorical columns",
        ),
        ({"tree_method": "approx"}, sp.Dataset(X, Y, max_bin=2), {}, ParameterError, "max_bin of 3 or more"),
        ({}, MARGINS, {}, DataError, "base_margin of dataset has 2 columns"),
        ({}, DATA, {"valid": {"v": OTHER}}, DataError, r"base_margin of valid\['v'\] has 2 columns"),
        ({}, DATA, {"callbacks": SHORT}, ParameterError, "lists too few rates, 2: the model will have 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused_before_a_training_begins(params, data, given, error, message):
    with pytest.raises(error, match=message):
        prepare(params, data.binned, 3, **given)


def test_more_classes_than_rows_are_refused_before_a_training_begins():
    with pytest.raises(DataError, match=r"num_class = 9 is more than there are rows|has no row"):
        prepare({"objective": "softmax", "num_class": 9}, sp.Dataset(X[:5], np.arange(5.0)).binned, 3)


@pytest.mark.parametrize(
    ("params", "rounds", "given"),
    [
        ({"early_stopping_rounds": 2, "learning_rate": 0.9}, 30, {"valid": {"all": DATA}}),
        ({"learning_rate": 0.5}, "auto", {"max_rounds": 5}),
        ({"learning_rate": 0.5, "models": 2, "target_stats": 3}, "auto", {"max_rounds": 5}),
    ],
    ids=["early stopping", "auto", "members"],
)
def test_a_job_that_is_run_again_gives_the_same_models(params, rounds, given):
    job = prepare(params, KINDS.binned if "target_stats" in params else DATA.binned, rounds, **given)
    first = [model.to_bytes() for model in run(job)]
    searches = len(job.hooks.searches)
    assert [model.to_bytes() for model in run(job)] == first
    assert len(job.hooks.searches) == searches
