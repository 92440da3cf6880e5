"""Whatever an argument is given, a call does its work or raises an error of the library's own."""

from functools import partial

import pytest

from odd_values import ESTIMATORS, FUNCTIONS, ODD, X, failures, functions, methods_of, parameters_of

pytestmark = pytest.mark.filterwarnings("ignore")

# One estimator of each family; the others are left to the slow lane.
FEW = ("GBMRegressor", "RandomForestClassifier", "AdaBoostRegressor", "IsolationForest")
FEW_FUNCTIONS = ("Dataset", "train", "load", "GBMRegressor.predict")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Text may be taken for a path."""
    monkeypatch.chdir(tmp_path)


def lanes(names, few):
    return [name if name in few else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", lanes(ESTIMATORS, FEW))
def test_every_parameter_of_an_estimator_fits_or_is_refused(name):
    kind, params, labels = ESTIMATORS[name]

    def fitted(**odd):
        return kind(**{**params, **odd}).fit(X, **labels)

    assert failures(fitted, {}, parameters_of(kind)) == []


@pytest.mark.parametrize("name", lanes(ESTIMATORS, FEW))
def test_every_argument_of_fit_fits_or_is_refused(name):
    kind, params, labels = ESTIMATORS[name]
    fit = kind(**params).fit
    assert failures(fit, {"X": X, **labels}, parameters_of(fit)) == []


@pytest.mark.parametrize("name", lanes(ESTIMATORS, FEW))
def test_every_argument_of_a_method_fits_or_is_refused(name):
    kind, params, labels = ESTIMATORS[name]
    methods = methods_of(kind(**params).fit(X, **labels), labels)
    assert "predict" in methods
    for call, fitting in methods.values():
        named = call.args[0] if isinstance(call, partial) else call
        assert failures(call, fitting, parameters_of(named)) == []


@pytest.mark.parametrize("name", lanes(FUNCTIONS, FEW_FUNCTIONS))
def test_every_argument_of_a_function_fits_or_is_refused(name):
    call, fitting = functions()[name]
    # What a function that reads batches raises is the user's own.
    assert failures(call, fitting, [one for one in parameters_of(call) if one != "source"]) == []


def test_a_foreign_error_would_be_seen():
    def divided(by):
        return 1 / by

    assert any(line.startswith("by = text: TypeError") for line in failures(divided, {}, ["by"]))
    assert len(failures(divided, {}, ["by"])) > len(ODD) / 2
