"""The trainings whose mean is a model."""

from __future__ import annotations

from dataclasses import replace

from spinney.errors import ParameterError
from spinney.params import Config

_STEP = 0x9E3779B97F4A7C15  # between seeds: trainings whose random_state is near share none
_SEEDS = 2**62  # room for what is added to a seed


def members_of(config: Config) -> list[Config]:
    """The parameters of each training: the seed is another, the first has that of the user.

    Examples
    --------
    >>> [member.random_state for member in members_of(Config(random_state=7, models=2))]
    [7, 2177342782468422684]
    """
    others = (
        replace(config, random_state=(config.random_state + place * _STEP) % _SEEDS)
        for place in range(1, config.models)
    )
    return [config, *others]


def check_members(config: Config, contradicts: str, why: str) -> None:
    """Refuse a mean of several models where there can be one training only."""
    if config.models > 1:
        said = "" if config.preset == "default" else f" of preset={config.preset!r}"
        raise ParameterError(
            f"models={config.models}{said} contradicts {contradicts}, {why}; set models=1, or leave that out"
        )
