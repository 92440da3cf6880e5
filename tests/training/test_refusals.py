import copy

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] * 3
DATA = sp.Dataset(X, Y)


def test_more_classes_than_rows_are_refused_before_memory_is_taken():
    with pytest.raises(DataError, match=r"num_class = 2147483647 is more than there are rows \(60\)"):
        sp.train({"objective": "softmax", "num_class": 2**31 - 1}, sp.Dataset(X, Y > 0), rounds=1)


@pytest.mark.parametrize("rate", [1e3, 1e30, 1e154, 1e200, 1e308])
def test_a_training_that_diverges_says_so(rate):
    with pytest.raises(ParameterError, match="training diverged in round"):
        sp.train({"learning_rate": rate}, DATA, rounds=60)


@pytest.mark.parametrize("callbacks", [5, print, [5]])
def test_callbacks_must_be_callables(callbacks):
    with pytest.raises(ParameterTypeError, match="callbacks must be a list of callables"):
        sp.train({}, DATA, rounds=1, callbacks=callbacks)


def test_an_error_names_the_spelling_that_was_used():
    with pytest.raises(ParameterError, match="eta"):
        sp.train({"eta": -1}, DATA, rounds=1)


@pytest.mark.parametrize(("max_bin", "error"), [("255", ParameterTypeError), (1, ParameterError)])
def test_max_bin_is_checked_before_it_is_compared(max_bin, error):
    with pytest.raises(error, match="max_bin") as caught:
        sp.train({"max_bin": max_bin}, DATA, rounds=1)
    assert "differs" not in str(caught.value)


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ParameterError), (1.5, ParameterTypeError), ("a", ParameterTypeError)]
)
@pytest.mark.parametrize("rows", [1, 60])
def test_prediction_checks_the_number_of_threads(rows, n_jobs, error):
    model = sp.train({}, DATA, rounds=2)
    with pytest.raises(error, match="n_jobs"):
        model.predict(X[:rows], n_jobs=n_jobs)


def test_validation_data_with_the_same_cuts_are_as_good_as_with_the_reference():
    twin = sp.Dataset(X[:20], Y[:20], reference=copy.deepcopy(DATA))
    history = sp.History()
    sp.train({}, DATA, rounds=3, valid={"twin": twin}, callbacks=[history])
    assert len(history.evals["twin"]["rmse"]) == 3
