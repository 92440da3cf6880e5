"""Names that an estimator does not have."""

import pickle
import re

import pytest
from sklearn.base import clone

import spinney as sp
from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import Config

KINDS = [sp.GBMClassifier, sp.GBMRegressor]
FOREIGN = [
    ("num_leaves", "num_leaves is called max_leaves here"),
    ("min_split_gain", "min_split_gain is called gamma here; XGBoost's and LightGBM's number is twice ours"),
    ("eta", "eta is called learning_rate here"),
    ("max_iter", "max_iter is called n_estimators here"),
    ("num_boost_round", "num_boost_round is called n_estimators here"),
    ("categorical_feature", "categorical_feature is called categorical here"),
    ("verbose", "nothing is printed unless it is requested, so leave it out; progress=True"),
    ("eval_set", "give it to `fit` as its argument `eval_set=`"),
    ("weight", "give it to `fit` as its argument `sample_weight=`"),
    ("num_class", "it follows from the target, so leave it out"),
    ("learning_rat", "did you mean learning_rate?"),
    ("num_leafs", "did you mean max_leaves?"),
    ("booster", "lists every parameter"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "right"), FOREIGN)
def test_a_foreign_name_is_refused_with_what_is_right(kind, name, right):
    message = rf"^{kind.__name__} has no parameter {name}=-1[:;] .*{re.escape(right)}"
    with pytest.raises(ParameterTypeError, match=message):
        kind(**{name: -1})
    with pytest.raises(ParameterError, match=message):
        kind().set_params(**{name: -1})


@pytest.mark.parametrize("kind", KINDS)
def test_every_spelling_of_a_parameter_leads_to_its_name(kind):
    for row in Config.table():
        for alias in row.aliases:
            if row.name in kind().get_params():
                with pytest.raises(ParameterTypeError, match=rf"{alias} is called {row.name} here(;|$)"):
                    kind(**{alias: 1})


def test_what_another_estimator_has_is_told_apart():
    for name in ("scale_pos_weight", "class_weight"):
        with pytest.raises(ParameterTypeError, match=f"{name}=2.*belongs to GBMClassifier, so leave it out"):
            sp.GBMRegressor(**{name: 2})


def test_a_value_without_a_name_is_refused():
    with pytest.raises(ParameterTypeError, match=r"takes parameters by name.*found 100 without a name"):
        sp.GBMRegressor(100)


def test_a_parameter_of_a_parameter_is_refused_by_its_outer_name():
    with pytest.raises(ParameterError, match="GBMRegressor has no parameter tree__depth=3"):
        sp.GBMRegressor().set_params(tree__depth=3)


@pytest.mark.parametrize("kind", KINDS)
def test_known_names_are_kept_set_cloned_and_pickled(kind):
    model = kind(max_leaves=7)
    assert model.set_params(learning_rate=0.3, gamma=1) is model
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert type(copy) is kind
        assert copy.get_params() == kind(max_leaves=7, learning_rate=0.3, gamma=1).get_params()


def test_a_subclass_speaks_in_its_own_name():
    class Mine(sp.GBMRegressor):
        pass

    with pytest.raises(
        ParameterTypeError, match=r"^Mine has no parameter num_leaves=3: num_leaves is called max_leaves"
    ):
        Mine(num_leaves=3)


def test_alpha_is_told_with_both_of_its_meanings():
    with pytest.raises(
        ParameterTypeError, match=r"alpha is called reg_alpha here; .* is quantile_alpha, .* huber_delta"
    ):
        sp.GBMRegressor(alpha=0.9)
    with pytest.raises(ParameterTypeError, match=r"alpha is called reg_alpha here$"):
        sp.GBMClassifier(alpha=0.9)
