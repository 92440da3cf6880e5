"""The table of isolation forests."""

import pytest

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import IsolationConfig


def test_what_is_written_is_read_back():
    config = IsolationConfig(
        max_samples=0.5, contamination=0.25, max_features=3, bootstrap=True, random_state=9
    )
    assert IsolationConfig.parse(config.to_dict()) == config
    assert "n_jobs" not in config.to_dict(model_only=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"contamination": 0.0}, "contamination=0.0 is out of range: it must be > 0 and <= 0.5, auto"),
        ({"contamination": 0.6}, "contamination=0.6 is out of range"),
        ({"contamination": "none"}, "contamination='none' is unknown: it must be one of > 0 and <= 0.5, auto"),
        ({"max_samples": 0}, "max_samples=0 is out of range"),
        ({"max_features": 1.5}, "max_features=1.5 is out of range"),
        ({"max_sample": 3}, "did you mean 'max_samples'"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_what_is_right(given, message):
    with pytest.raises(ParameterError, match=message):
        IsolationConfig.parse(given)


def test_a_share_is_a_number_or_a_word():
    for value in (None, [0.1], True):
        with pytest.raises(ParameterTypeError, match="contamination"):
            IsolationConfig(contamination=value)
