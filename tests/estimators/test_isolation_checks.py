"""Every check that scikit-learn has for estimators, and its constructor."""

import inspect
import re

import pytest
from sklearn import ensemble
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError

ESTIMATORS = [sp.IsolationForest(10), sp.IsolationForest(10, contamination=0.2, bootstrap=True)]
# scikit-learn excuses its own isolation forest from these: drawing by weight is not the same as repeating rows.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
OURS = {"categorical", "absent", "unseen"}


def checks():
    """Estimators with their checks, and a name for each."""
    for estimator in ESTIMATORS:
        for place, (one, check) in enumerate(estimator_checks_generator(estimator)):
            if check.func.__name__ not in EXCUSED:
                yield pytest.param(one, check, id=f"{estimator!r}-{place}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_check_passes(estimator, check):
    check(estimator)


def test_column_names_are_kept_and_compared_as_scikit_learn_wants():
    check_dataframe_column_names_consistency("IsolationForest", sp.IsolationForest(10))


def test_every_parameter_of_scikit_learns_twin_is_there_with_its_default_and_in_its_place():
    mine = inspect.signature(sp.IsolationForest).parameters
    other = inspect.signature(ensemble.IsolationForest).parameters
    assert [name for name in mine if name in other] == list(other)
    for name, parameter in other.items():
        assert mine[name].default == parameter.default, name
        assert type(mine[name].default) is type(parameter.default), name
    assert mine.keys() - other.keys() == OURS


def test_every_parameter_is_documented_with_its_default_and_a_meaning():
    section = sp.IsolationForest.__doc__.split("Attributes\n----------")[0]
    documented = dict(re.findall(r"^(\w+) : .*default=(.*)\n    \S", section, re.MULTILINE))
    parameters = inspect.signature(sp.IsolationForest).parameters
    assert documented == {name: repr(one.default) for name, one in parameters.items()}


def test_every_fitted_attribute_is_documented():
    fitted = sp.IsolationForest(2).fit([[0.0], [1.0]])
    documented = set(re.findall(r"^(\w+_) : ", sp.IsolationForest.__doc__, re.MULTILINE))
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public | {"estimators_"} <= documented


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_sample": 3}, "did you mean max_samples"),
        ({"num_trees": 3}, "num_trees is called n_estimators here"),
        ({"seed": 3}, "seed is called random_state here"),
        ({"weight": [1]}, "give it to `fit` as its argument `sample_weight=`"),
        ({"silent": True}, "verbose=1 shows a progress bar"),
        ({"learning_rate": 0.1}, r"`help\(IsolationForest\)` lists every parameter"),
    ],
)
def test_a_name_that_it_does_not_have_is_told_what_is_right(given, message):
    with pytest.raises(ParameterTypeError, match=message):
        sp.IsolationForest(**given)
    with pytest.raises(ParameterError, match=message):
        sp.IsolationForest().set_params(**given)
