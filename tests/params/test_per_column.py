"""Parameters about columns: values alone, and against the columns of a table."""

import numpy as np
import pytest

from spinney.errors import ParameterError
from spinney.params import Config, check_columns, resolve_columns
from spinney.params.per_column import resolve_column, resolve_directions

NAMES = ("age", "height", "kind")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([1, 0, -1], (1, 0, -1)),
        (np.array([1, 0, -1]), (1, 0, -1)),
        ("[1, 0, -1]", (1, 0, -1)),
        ({"age": 1.0, 2: -1}, (("age", 1), (2, -1))),
        ("", None),
        ({}, None),
    ],
)
def test_directions_have_one_form(given, found):
    assert Config(monotone_constraints=given).monotone_constraints == found


def test_a_set_of_columns_has_an_order():
    assert Config(interaction_constraints=[{"b", 3, "a", 0}]).interaction_constraints == ((0, 3, "a", "b"),)


def test_every_column_gets_a_value_and_every_group_positions():
    config = Config(
        monotone_constraints={"height": -1},
        feature_weights={0: 2},
        interaction_constraints=[["kind", "age", 0]],
    )
    found = resolve_columns(config, NAMES, 3)
    assert found.monotone_constraints == (0, -1, 0)
    assert found.feature_weights == (2.0, 1.0, 1.0)
    assert found.interaction_constraints == ((0, 2),)
    assert resolve_columns(found, None, 3) == found


def test_columns_are_checked_without_a_value_for_each():
    config = Config(monotone_constraints={"height": -1}, feature_weights={0: 2})
    assert check_columns(config, NAMES, 3) == {"monotone_constraints": {1: -1}, "feature_weights": {0: 2.0}}
    assert check_columns(Config(), NAMES, 3) == {}


def test_what_does_not_fit_the_columns_is_refused():
    with pytest.raises(ParameterError, match="names the unknown column 'size'; the columns are"):
        check_columns(Config(monotone_constraints={"size": 1}), NAMES, 3)
    with pytest.raises(ParameterError, match="the direction 1 to column 'kind', which is categorical"):
        check_columns(Config(monotone_constraints={"kind": 1}), NAMES, 3, [2])
    with pytest.raises(ParameterError, match="names column 'age' twice; give it one value"):
        resolve_directions("monotonic_cst", (("age", 1), (0, -1)), NAMES, 3)
    with pytest.raises(ParameterError, match="columns names column 3, but there are 3 columns"):
        resolve_column("columns", 3, NAMES, 3)
