"""Parameters that several families share, and arguments of training that are checked like parameters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import (
    INT32,
    INT64,
    Bool,
    Choice,
    ChoiceParameter,
    Float,
    FloatParameter,
    Int,
    IntParameter,
    Parameter,
    Seed,
)
from spinney.params.parameter_set import ParameterSet

UNSEEN: Mapping[str, tuple[str, ...]] = {"missing": (), "error": (), "rarest": ()}

DEFAULT, BEST = "default", "best"

# The parameters that each preset sets. docs/defaults.md has what was measured.
PRESETS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        DEFAULT: MappingProxyType({}),
        BEST: MappingProxyType({"learning_rate": 0.05, "models": 3, "subsample": 0.85}),
    }
)

AUTO = "auto"
LAST = "last"
SHARE = 0.1  # of the rows that is held out
# Most rounds times the learning rate, far above what patience and FLAT let real tables reach: 1 200 rounds of 5 000.
RATE_BUDGET = 500.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BinParameters(ParameterSet):
    """How many bins a column has."""

    max_bin: int = Int(
        255,
        group="data",
        low=2,
        high=65536,
        aliases=("max_bins",),
        doc="Most bins of a column of numbers. A column of up to max_bin categories has a bin for each. Of more, the most "
        "frequent that together make up 99 % of the rows with a value have one, at least max_bin and at "
        "most 65 000 of them; the others share a bin.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BundleParameters(ParameterSet):
    """Which columns share codes."""

    bundle: bool = Bool(
        True,
        group="data",
        aliases=("enable_bundle", "is_enable_bundle"),
        in_model=False,
        doc="Whether columns that are hardly ever away from zero together share a group. Without conflicts the model is "
        "the same, it is found faster.",
    )
    bundle_order: str = Choice(
        "auto",
        group="data",
        choices={"auto": (), "degree": (), "nonzero": ()},
        in_model=False,
        doc="Which columns look for a bundle first: those with the most conflicting columns (degree) or with the most "
        "entries (nonzero). auto takes degree up to 4096 columns.",
    )
    max_conflict_rate: float = Float(
        0.0,
        group="data",
        low=0,
        high=1,
        doc="Conflicts that a bundle may have, as a share of the rows: entries of one column in rows where another one is "
        "away from zero too. They are lost, which changes the model.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableParameters(ParameterSet):
    """What the values of a table mean that training did not see, or that are not stored."""

    unseen: str = Choice(
        "missing",
        group="data",
        choices=UNSEEN,
        doc="What a category means that training did not see: a missing value, an error, or the rarest category.",
    )
    absent: str = Choice(
        "zero",
        group="data",
        choices={"zero": (), "missing": ()},
        doc="What an entry that a sparse matrix does not store means: 0, or a missing value.",
    )

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0


@dataclass(frozen=True, kw_only=True)
class DataParams(TableParameters, BundleParameters, BinParameters):
    """How a table is binned: the parameters of a data set. Fields of the last base stand first.

    Examples
    --------
    >>> DataParams(max_bin=63, absent="missing").absent_value
    nan
    """


# The same by name, in the order of arguments of `Dataset` and of headers of folders.
DATA_PARAMS = ("max_bin", "bundle", "bundle_order", "max_conflict_rate", "absent", "unseen")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunningParameters(ParameterSet):
    """The seed, and the threads."""

    random_state: int = Seed(
        0,
        group="running",
        low=0,
        high=INT64,
        also={None: 0},
        aliases=("seed", "random_seed"),
        doc="Seed of everything drawn at random. From a RandomState or a Generator one seed is drawn, by randint(2**31 - 1) "
        "or integers(2**31 - 1), so that the next training has another.",
    )
    n_jobs: int | None = Int(
        None,
        group="running",
        low=-65536,
        high=65536,
        also={-1: None},
        excluded={0: "give 1 or more threads, or None for all cores"},
        aliases=("nthread", "nthreads", "num_thread", "num_threads", "n_threads", "thread_count"),
        in_model=False,
        doc="Number of threads. None takes all cores the process may use, -2 all but one, and so on, "
        "but at least one. There are never more threads than cores, and fewer where there is less to do. The model does not "
        "depend on it.",
    )


def _listed(preset: str) -> str:
    """What a preset sets, in words."""
    return ", ".join(f"{name} {value:g}" for name, value in PRESETS[preset].items())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PresetParameters(ParameterSet):
    """The preset, and how many models are averaged."""

    preset: str = Choice(
        DEFAULT,
        group="running",
        choices={DEFAULT: (), BEST: ()},
        in_model=False,
        doc="What stands for parameters that are not given. default takes the defaults of this page. best takes longer for less "
        f"loss: it sets {_listed(BEST)}; rounds (n_estimators of estimators) are found by auto, which then waits for 2.5 / "
        "learning_rate rounds without improvement.",
    )
    models: int = Int(
        1,
        group="running",
        low=1,
        high=1000,
        in_model=False,
        doc="Models that are trained one after the other, each with another seed and, where auto holds out rows, with others "
        "held out. The result is their mean: one model with the trees of all, each divided by their number.",
    )


def preset_values(preset: object, given: Mapping[str, object]) -> dict[str, object]:
    """What a preset sets of the parameters that are not given, and what contradicts none of these.

    Examples
    --------
    >>> "learning_rate" in preset_values("best", {"learning_rate": 0.3})
    False
    """
    values = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    kept = {*given, "subsample"} if given.get("sampling_method") == "goss" else given.keys()
    return {name: value for name, value in values.items() if name not in kept}


# Arguments of training, and parameters of estimators, that belong to no family of models.
ROUNDS: Parameter[int] = IntParameter(100, name="rounds", group="running", doc="", low=0, high=INT32)
MAX_ROUNDS: Parameter[int | None] = IntParameter(
    None,
    name="max_rounds",
    group="running",
    low=1,
    high=INT32,
    doc=f"Most rounds that auto may try; a warning is given where they were not enough. None is {RATE_BUDGET:g} / learning_rate.",
)
FRACTION: Parameter[float | None] = FloatParameter(
    None,
    name="validation_fraction",
    group="evaluation",
    low=0,
    high=1,
    low_open=True,
    doc="Share of the training rows to hold out as validation data, of every class alike, or of whole queries or groups; "
    "validation chooses which. They are not trained on, except that auto may fit all rows at its end. None holds out "
    f"{SHARE:g} for auto, else nothing.",
)
VALIDATION: Parameter[str] = ChoiceParameter(
    "random",
    name="validation",
    group="evaluation",
    choices={"random": (), LAST: ()},
    doc="Which rows are held out by validation_fraction or auto: random draws them, of every class alike; last takes those at "
    "the end of the table, for rows in the order of time. Both hold out whole queries or groups, last in the order of their "
    "first rows. The argument validation of fit names the rows themselves.",
)


def checked_rounds(value: object) -> int:
    """Return a number of rounds, which is an argument and no parameter, as an int of 0 or more.

    Raises
    ------
    ParameterTypeError
        If it is not a whole number.
    ParameterError
        If it is negative, not finite or far too large.

    Examples
    --------
    >>> checked_rounds(3.0)
    3
    """
    return ROUNDS.check(value)


def checked_jobs(value: object) -> int | None:
    """Return the number of threads of an argument, which is checked as the parameter n_jobs.

    Examples
    --------
    >>> checked_jobs(2), checked_jobs(-1)
    (2, None)
    """
    jobs: int | None = RunningParameters.parameter("n_jobs").check(value)
    return jobs


def checked_seed(value: object, name: str = "seed") -> int:
    """Return the seed of an argument, which is checked and drawn as the parameter random_state.

    Raises
    ------
    ParameterTypeError
        If it is neither a whole number nor a RandomState, a Generator or None.
    ParameterError
        If it is out of range.

    Examples
    --------
    >>> checked_seed(7), checked_seed(None)
    (7, 0)
    """
    seed: int = replace(RunningParameters.parameter("random_state"), name=name).check(value)
    return seed


def checked_count(name: str, value: object, least: int = 1) -> int:
    """Return an argument that must be a whole number of repetitions.

    Examples
    --------
    >>> checked_count("repeats", 5)
    5
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ParameterTypeError(f"{name}={shown(value)} must be a whole number")
    number = int(value)
    if not least <= number < 2**31:
        raise ParameterError(
            f"{name}={shown(number)} is out of range: it must be {least} or more, below 2**31"
        )
    return number


def check_truth(name: str, value: object) -> bool:
    """Return an argument that must be True or False.

    Examples
    --------
    >>> check_truth("progress", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterTypeError(f"{name}={shown(value)} must be True or False")
    return bool(value)
