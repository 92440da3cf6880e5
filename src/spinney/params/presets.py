"""What a preset says in place of the user, where the user says nothing."""

from collections.abc import Mapping
from types import MappingProxyType

DEFAULT, BEST = "default", "best"

# By preset: the parameters that it sets. docs/defaults.md tells what was measured.
PRESETS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        DEFAULT: MappingProxyType({}),
        BEST: MappingProxyType({"learning_rate": 0.05, "models": 3, "subsample": 0.85}),
    }
)


def listed(preset: str) -> str:
    """What a preset sets, in words.

    Examples
    --------
    >>> listed("best").startswith("learning_rate")
    True
    """
    return ", ".join(f"{name} {value:g}" for name, value in PRESETS[preset].items())


def unsaid(preset: object, given: Mapping[str, object]) -> dict[str, object]:
    """What a preset sets beside what is given, and what contradicts none of it.

    Examples
    --------
    >>> "learning_rate" in unsaid("best", {"learning_rate": 0.3})
    False
    """
    said = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    leave = {*given, "subsample"} if given.get("sampling_method") == "goss" else given.keys()
    return {name: value for name, value in said.items() if name not in leave}
