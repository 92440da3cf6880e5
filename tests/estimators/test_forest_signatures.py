"""Constructors and documentation against scikit-learn's twins and the table of parameters."""

import inspect
import re

import pytest
from sklearn import ensemble, tree

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.parameters import FOREST_PARAMETERS

OURS = {"tree_method", "max_bin", "categorical", "absent", "unseen", "keep_leaf_rows"}
KINDS = [getattr(sp, name) for name in FOREST_PARAMETERS]
BY_NAME = pytest.mark.parametrize("kind", KINDS, ids=FOREST_PARAMETERS)


def twin(kind):
    return getattr(ensemble, kind.__name__, None) or getattr(tree, kind.__name__)


@BY_NAME
def test_every_parameter_of_scikit_learns_twin_is_there_with_its_default_and_in_its_place(kind):
    mine, other = inspect.signature(kind).parameters, inspect.signature(twin(kind)).parameters
    assert [name for name in mine if name in other] == list(other)
    for name, parameter in other.items():
        assert mine[name].default == parameter.default, name
        assert type(mine[name].default) is type(parameter.default), name
        assert mine[name].kind is parameter.kind, name
    assert mine.keys() - other.keys() == OURS | ({"n_jobs"} - other.keys())


@BY_NAME
def test_every_parameter_is_documented_with_its_default_and_a_meaning(kind):
    section = kind.__doc__.split("Attributes\n----------")[0]
    documented = dict(re.findall(r"^(\w+) : .*default=(.*)\n    \S", section, re.MULTILINE))
    assert documented == {name: repr(one.default) for name, one in inspect.signature(kind).parameters.items()}
    assert "{" not in re.sub(r"\{'.*?'\}", "", kind.__doc__)


@BY_NAME
def test_every_fitted_attribute_is_documented(kind):
    fitted = kind().fit([[0.0], [1.0]], [0, 1])
    documented = set(re.findall(r"^(\w+_) : ", kind.__doc__, re.MULTILINE))
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= documented
    assert {"model_", "feature_importances_", "max_features_", "n_outputs_"} <= documented


def test_the_number_of_trees_may_stand_without_its_name():
    assert sp.RandomForestRegressor(7).n_estimators == 7
    with pytest.raises(ParameterTypeError, match="takes parameters by name"):
        sp.RandomForestRegressor(7, "poisson")
    with pytest.raises(ParameterTypeError, match="takes parameters by name"):
        sp.DecisionTreeRegressor("poisson")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_feature": 3}, "did you mean max_features"),
        ({"ntree": 3}, "ntree is called n_estimators here"),
        ({"seed": 3}, "seed is called random_state here"),
        ({"splitter": "best"}, "it belongs to DecisionTreeClassifier"),
        ({"weight": [1]}, "give it to `fit` as its argument `sample_weight=`"),
        ({"silent": True}, "verbose=1 shows a progress bar"),
        ({"learning_rate": 0.1}, r"`help\(RandomForestClassifier\)` lists every parameter"),
    ],
)
def test_a_name_that_a_forest_does_not_have_is_told_what_is_right(given, message):
    with pytest.raises(ParameterTypeError, match=message):
        sp.RandomForestClassifier(**given)
    with pytest.raises(ParameterError, match=message):
        sp.RandomForestClassifier().set_params(**given)


def test_names_of_forests_keep_their_meaning_for_boosting():
    with pytest.raises(ParameterTypeError, match="min_samples_leaf is called min_child_samples here"):
        sp.GBMClassifier(min_samples_leaf=3)
