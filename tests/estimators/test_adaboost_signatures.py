"""Constructors and documentation against scikit-learn's twins and the table of parameters."""

import inspect
import re

import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError

KINDS = [sp.AdaBoostClassifier, sp.AdaBoostRegressor]
OURS = {"max_depth", "resample", "max_bin", "categorical", "absent", "unseen", "n_jobs", "verbose"}
BY_NAME = pytest.mark.parametrize("kind", KINDS)


@BY_NAME
def test_every_parameter_of_scikit_learns_twin_is_there_with_its_default_and_in_its_place(kind):
    mine = inspect.signature(kind).parameters
    other = inspect.signature(getattr(ensemble, kind.__name__)).parameters
    assert [name for name in mine if name in other] == list(other)
    for name, parameter in other.items():
        assert mine[name].default == parameter.default, name
        assert type(mine[name].default) is type(parameter.default), name
        assert mine[name].kind is parameter.kind, name
    assert mine.keys() - other.keys() == OURS


def test_our_own_trees_are_as_deep_as_those_that_scikit_learn_takes():
    assert sp.AdaBoostClassifier().max_depth == 1
    assert sp.AdaBoostRegressor().max_depth == 3
    assert not sp.AdaBoostClassifier().resample
    assert sp.AdaBoostRegressor().resample


@BY_NAME
def test_every_parameter_is_documented_with_its_default_and_a_meaning(kind):
    section = kind.__doc__.split("Attributes\n----------")[0]
    documented = dict(re.findall(r"^(\w+) : .*default=(.*)\n    \S", section, re.MULTILINE))
    assert documented == {name: repr(one.default) for name, one in inspect.signature(kind).parameters.items()}
    assert "{" not in re.sub(r"\{'.*?'\}", "", kind.__doc__)


@BY_NAME
def test_every_fitted_attribute_is_documented(kind):
    documented = set(re.findall(r"^(\w+_) : ", kind.__doc__, re.MULTILINE))
    fitted = kind().fit([[0.0], [1.0], [1.5]], [0, 1, 1])
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= documented
    for name in documented - {"committee_", "feature_names_in_"}:
        assert hasattr(fitted, name), name


def test_the_estimator_may_stand_without_its_name():
    given = DecisionTreeClassifier(max_depth=2)
    assert sp.AdaBoostClassifier(given).estimator is given
    with pytest.raises(ParameterTypeError, match="takes parameters by name"):
        sp.AdaBoostClassifier(given, 10)


def test_parameters_of_the_estimator_can_be_reached_and_cloned():
    boosted = sp.AdaBoostClassifier(DecisionTreeClassifier(max_depth=2))
    assert boosted.set_params(estimator__max_depth=3).get_params()["estimator__max_depth"] == 3
    assert clone(boosted).estimator.max_depth == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_estimator": 3}, "did you mean n_estimators"),
        ({"n_trees": 3}, "n_trees is called n_estimators here"),
        ({"base_estimator": None}, "base_estimator is called estimator here"),
        ({"seed": 3}, "seed is called random_state here"),
        ({"eta": 3}, "eta is called learning_rate here"),
        ({"loss": "square"}, "it belongs to AdaBoostRegressor"),
        ({"weight": [1]}, "give it to `fit` as its argument `sample_weight=`"),
        ({"silent": True}, "verbose=1 shows a progress bar"),
        ({"algorithm": "SAMME"}, r"`help\(AdaBoostClassifier\)` lists every parameter"),
    ],
)
def test_a_name_that_it_does_not_have_is_told_what_is_right(given, message):
    with pytest.raises(ParameterTypeError, match=message):
        sp.AdaBoostClassifier(**given)
    with pytest.raises(ParameterError, match=message):
        sp.AdaBoostClassifier().set_params(**given)
