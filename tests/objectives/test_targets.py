"""Targets that do not fit an objective are refused."""

import numpy as np
import pytest

from losses import objective_of
from spinney.data import Labels
from spinney.errors import DataError, ParameterError
from spinney.params import objective_info


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("log_loss", [0, 1, 2], r"objective log_loss needs labels 0 and 1 .* got y\[2\] = 2"),
        ("log_loss", [0, -0.1, 1], r"got y\[1\] = -0.1"),
        (
            "log_loss",
            [0, 1.3, 1],
            r"objective log_loss needs labels 0 and 1 \(or probabilities\), got y\[1\] = 1.3",
        ),
        ("focal", [0, 1.3, 1], r"objective focal needs .* got y\[1\] = 1.3"),
        ("poisson", [0, 3, -1], r"objective poisson needs y of 0 or more, got y\[2\] = -1"),
        ("tweedie", [0, 3, -0.5], r"objective tweedie needs y of 0 or more, got y\[2\] = -0.5"),
        ("gamma", [1, 0, 2], r"objective gamma needs y of more than 0, got y\[1\] = 0"),
        (
            "squared_log_error",
            [1, -1, 2],
            r"objective squared_log_error needs y of more than -1, got y\[1\] = -1",
        ),
        ("poisson", [0, 1e31, 2], r"y\[1\] = 1e\+31 is too large"),
        (
            "one_vs_rest",
            [0, 1, 4],
            r"objective one_vs_rest with num_class = 4 needs labels 0 to 3, got y\[2\] = 4",
        ),
        ("softmax", [0, 1, 4], r"num_class = 4 needs labels 0 to 3, got y\[2\] = 4"),
        ("softmax", [0, -1, 2], r"got y\[1\] = -1"),
        ("softmax", [0, 0.5, 2], r"got y\[1\] = 0.5"),
        ("squared_error", [0, -1e31, 2], r"y\[1\] = -1e\+31 is too large"),
    ],
)
def test_a_target_that_does_not_fit_is_refused(name, target, message):
    with pytest.raises(DataError, match=message):
        objective_of(name).check_target(Labels(np.array(target, float)))


def test_an_unknown_objective_is_refused():
    with pytest.raises(
        ParameterError, match="objective = 'median' is unknown; there are squared_error, squared_log_error"
    ):
        objective_info("median")
