"""The loss, what only some losses and metrics take, and how a model is evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import nearest_choice, shown, with_article
from spinney.params.metrics import LAST_CUTOFF, METRICS, NONE, name_and_cutoff
from spinney.params.objectives import OBJECTIVES
from spinney.params.parameter import (
    INT32,
    Bool,
    Choice,
    Float,
    FloatOrList,
    Int,
    Parameter,
    ShownValue,
    Spellings,
    as_float,
    declares,
)
from spinney.params.parameter_set import ParameterSet

# Relevances that have a gain where none is given: gains of more of them would be beyond 31 bits. LightGBM's number.
RELEVANCES = 31
SMALLEST_GAIN, LARGEST_GAIN = 1e-30, 1e30
# Formulas get the position of a distribution in it.
AFT_DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {"normal": (), "logistic": (), "extreme": ()}


class MetricNamesParameter(Parameter[tuple[str, ...]]):
    """Names of metrics, which may end in a cutoff; `check_together` chooses what a name with two meanings stands for."""

    kind, annotation = "str or sequence of str", "str | Sequence[str] | None"

    def convert(self, value: object, shown_value: ShownValue) -> tuple[str, ...]:
        """Read names from a list, or from one text with commas between them."""
        if value is None:
            return ()
        names: Any = [value] if callable(value) else value
        if isinstance(value, str):
            names = [name.strip() for name in value.split(",")]  # as LightGBM has it: "auc,logloss"
        if not isinstance(names, Sequence) or isinstance(names, bytes | bytearray):
            raise ParameterTypeError(
                f"{shown_value} must be a str or a sequence of str, not {with_article(type(value).__name__)}"
            )
        for name in names:
            self._check_name(name, shown_value)
        return tuple(str.__str__(name) for name in names)

    def _check_name(self, name: object, shown_value: ShownValue) -> None:
        if callable(name):
            raise ParameterTypeError(
                f"{shown_value} must hold only str, but holds a function; give functions to `train` as its argument `metrics=`"
            )
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"{shown_value} must hold only str, one or more of {self.range}; found {shown(name)}"
            )
        metric, _ = name_and_cutoff(name)
        if not any(metric == choice or metric in spellings for choice, spellings in self.choices.items()):
            raise ParameterError(
                f"{shown_value} holds the unknown name {shown(name)}: it must be one or more of {self.range}"
                f"{nearest_choice(name, self.choices)}"
            )

    @property
    def range(self) -> str:
        """The names."""
        return ", ".join(self.choices)


class GainsParameter(Parameter[tuple[float, ...] | None]):
    """Gains of relevance 0, 1, 2, ...

    Examples
    --------
    >>> GainsParameter(None, group="objective", doc="").check([0, 1, 3])
    (0.0, 1.0, 3.0)
    """

    kind, annotation, range = "sequence of float or None", "ArrayLike | None", "0 or more, not falling"

    def convert(self, value: object, shown_value: ShownValue) -> tuple[float, ...]:
        """Refuse gains that fall, and those of which none is above 0."""
        found: list[float] = []
        for place, gain in enumerate(_items(value, shown_value, "the gains of relevance 0, 1, 2, ...")):
            if not isinstance(gain, Real) or isinstance(gain, bool):
                raise ParameterTypeError(
                    f"{shown_value} must hold only numbers; found {shown(gain)} at place {place}"
                )
            number = as_float(gain)
            if number != 0.0 and not SMALLEST_GAIN <= number <= LARGEST_GAIN:
                raise ParameterError(
                    f"{shown_value} holds {shown(gain)} at place {place}; a gain must be 0, or from {SMALLEST_GAIN:g} to "
                    f"{LARGEST_GAIN:g}"
                )
            if found and number < found[-1]:
                raise ParameterError(
                    f"{shown_value} falls from {found[-1]:g} to {number:g} at place {place}; more relevant rows must not gain "
                    "less"
                )
            found.append(number + 0.0)
        if not found or found[-1] == 0.0:
            raise ParameterError(f"{shown_value} leaves nothing to gain: the last gain must be above 0")
        return tuple(found)


class CutoffsParameter(Parameter[tuple[int, ...] | None]):
    """Cutoffs of metrics of ranking, from 1; a number alone is a list of one.

    Examples
    --------
    >>> cutoffs = CutoffsParameter(None, group="evaluation", doc="")
    >>> cutoffs.check(10), cutoffs.check([1, 5])
    ((10,), (1, 5))
    """

    kind, annotation, range = "sequence of int, int or None", "int | Sequence[int] | None", "1 or more"

    def convert(self, value: object, shown_value: ShownValue) -> tuple[int, ...]:
        """Refuse what is no whole number, and cutoffs that are given twice."""
        found: list[int] = []
        for cutoff in _items(
            [value] if isinstance(value, Real) else value, shown_value, "cutoffs such as [5, 10]"
        ):
            number = (
                as_float(cutoff) if isinstance(cutoff, Real) and not isinstance(cutoff, bool) else math.nan
            )
            if not number.is_integer():
                raise ParameterTypeError(f"{shown_value} must hold whole numbers; found {shown(cutoff)}")
            if not 1 <= number <= LAST_CUTOFF:
                raise ParameterError(f"{shown_value} holds {shown(cutoff)}; a cutoff must be 1 or more")
            if int(number) in found:
                raise ParameterError(f"{shown_value} holds {shown(cutoff)} twice; give it once")
            found.append(int(number))
        if not found:
            raise ParameterError(
                f"{shown_value} is empty; give cutoffs such as [5, 10], or None to score whole lists"
            )
        return tuple(found)


def _items(value: object, shown_value: ShownValue, meaning: str) -> Sequence[object]:
    listed = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes | bytearray):
        raise ParameterTypeError(
            f"{shown_value} must be a list, {meaning}; found an object of type {type(value).__name__}"
        )
    return listed


MetricNames = declares(MetricNamesParameter)
Gains = declares(GainsParameter)
Cutoffs = declares(CutoffsParameter)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ObjectiveParameters(ParameterSet):
    """The loss, and what only some losses take."""

    objective: str = Choice(
        "squared_error",
        group="objective",
        choices=Spellings(OBJECTIVES),
        aliases=("objective_type", "app", "application", "loss"),
        doc="Loss; docs/losses.md has a table of them. squared_error for numbers, log_loss for two classes, softmax for more "
        "of them. `train` also takes a function here; `own` is the objective of its models.",
    )
    num_class: int = Int(
        0,
        group="objective",
        low=0,
        high=INT32,
        aliases=("num_classes", "n_classes"),
        doc="Number of classes: 2 or more for softmax and one_vs_rest. For an objective of your own, the number of scores of a "
        "row. Other objectives leave it at 0 (1 is read as 0).",
    )
    num_target: int = Int(
        1,
        group="objective",
        low=1,
        high=INT32,
        aliases=("num_targets", "n_targets"),
        doc="Columns of the target, each with a tree a round: for losses of numbers, for log_loss and focal (several labels a "
        "row), and for objectives of your own. `train` takes it from the data set where it is not given.",
    )
    scale_pos_weight: float = Float(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        doc="Weight of the rows of the positive class, for log_loss and focal only.",
    )
    base_score: float | None = Float(
        None,
        group="objective",
        doc="Raw score that every row starts from: for log_loss the log-odds, not a probability as in "
        "XGBoost, for poisson, gamma, tweedie, cox and aft the logarithm. None takes the constant with the least loss, "
        "0 for cox and an objective of your own.",
    )
    quantile_alpha: float | tuple[float, ...] = FloatOrList(
        0.5,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        aliases=("quantile",),
        doc="Level of objective quantile: the share of rows that should lie below the prediction. Or several ascending "
        "levels, each with a tree a round; predictions then have a column for each level, and do not cross.",
    )
    expectile_alpha: float = Float(
        0.5,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        doc="Level of objective expectile: weight of squared errors where the target is above the prediction; below it they "
        "weigh 1 - expectile_alpha. 0.5 gives the mean.",
    )
    huber_delta: float = Float(
        1.0,
        group="objective",
        low=1e-30,
        high=1e30,
        aliases=("huber_slope",),
        doc="Error up to which huber is quadratic, and about which pseudo_huber turns from quadratic to linear. The default is "
        "XGBoost's; LightGBM's, under the name alpha, is 0.9.",
    )
    fair_c: float = Float(
        1.0,
        group="objective",
        low=1e-30,
        high=1e30,
        doc="Error about which objective fair turns from quadratic to nearly linear.",
    )
    poisson_max_delta_step: float = Float(
        0.7,
        group="objective",
        low=0,
        high=10,
        doc="Objective poisson multiplies its hessians by e to the power of this, which keeps steps short while the mean is "
        "still far away. LightGBM's parameter; XGBoost's max_delta_step does the same and limits leaves too.",
    )
    tweedie_variance_power: float = Float(
        1.5,
        group="objective",
        low=1,
        high=2,
        low_open=True,
        high_open=True,
        doc="Objective tweedie: the variance is proportional to the mean to this power. Near 1 it is Poisson-like, near 2 "
        "gamma-like.",
    )
    focal_gamma: float = Float(
        2.0,
        group="objective",
        low=0,
        high=100,
        doc="Objective focal multiplies the log loss of a row by (1 - p) to this power, p being the probability of its class. 0 "
        "gives log_loss.",
    )
    focal_alpha: float | None = Float(
        None,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        doc="Factor on the focal loss of the positive class; the other class gets 1 - focal_alpha. None weighs both alike.",
    )
    leaf_estimation: str = Choice(
        "newton",
        group="objective",
        choices={"newton": (), "line_search": ()},
        doc="How leaf values are found. newton: minus the sum of gradients over that of hessians; absolute_error, quantile and "
        "mape take quantiles of what is left of the target, huber searches. line_search: trees are fitted to gradients alone, "
        "and each leaf gets the value with the least loss.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SurvivalParameters(ParameterSet):
    """What only the loss of times in intervals takes."""

    aft_loss_distribution: str = Choice(
        "normal",
        group="objective",
        choices=AFT_DISTRIBUTIONS,
        doc="Objective aft: distribution of the logarithm of a time about its score. extreme is that of the logarithm of an "
        "exponential variable.",
    )
    aft_loss_distribution_scale: float = Float(
        1.0,
        group="objective",
        low=1e-6,
        high=1e6,
        doc="Objective aft: factor on that distribution. The smaller, the surer a prediction is taken to be.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankingParameters(ParameterSet):
    """What only losses and metrics of ranking take."""

    lambdarank_truncation_level: int = Int(
        30,
        group="objective",
        low=1,
        high=INT32,
        aliases=("lambdarank_num_pair_per_sample",),
        doc="rank_ndcg, rank_map and rank_pairwise learn from pairs of rows of a query of which at least one stands among this "
        "many first places, by score. XGBoost's name means the same with its pair method topk.",
    )
    lambdarank_norm: bool = Bool(
        True,
        group="objective",
        aliases=("lambdarank_normalization",),
        doc="Whether rank_ndcg, rank_map and rank_pairwise divide what a pair weighs by 0.01 + the difference of its scores, and "
        "level queries of many pairs with those of few: their sum s of gradients becomes log2(1 + s).",
    )
    lambdarank_sigmoid: float = Float(
        1.0,
        group="objective",
        low=1e-6,
        high=1e6,
        aliases=("sigmoid",),
        doc="Factor on the difference of two scores in the logistic function that gives the probability of their right order.",
    )
    label_gain: tuple[float, ...] | None = Gains(
        None,
        group="objective",
        doc="What a row of relevance 0, 1, 2, ... is worth, for rank_ndcg, rank_xendcg and metric ndcg. None takes 2**relevance "
        "- 1 up to relevance 30; [0, 1, 2, 3, 4] is what XGBoost computes with ndcg_exp_gain=False. The relevance of a row must "
        "have a place in it.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluationParameters(ParameterSet):
    """Metrics, and when to stop."""

    eval_metric: tuple[str, ...] = MetricNames(
        (),
        group="evaluation",
        choices=Spellings(METRICS, NONE),
        aliases=("metric", "metrics", "metric_types"),
        doc="Metrics to compute on the validation data; the page of parameters lists those that fit an objective. Empty or None "
        "takes the objective's own, none computes none of them. Metrics of ranking may end in a cutoff, the number of places "
        "that count: ndcg@10.",
    )
    eval_at: tuple[int, ...] | None = Cutoffs(
        None,
        group="evaluation",
        aliases=("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
        doc="Cutoffs of metrics of ranking whose name has none: with [5, 10] ndcg means ndcg@5 and ndcg@10. None: all places "
        "count.",
    )
    early_stopping_rounds: int | None = Int(
        None,
        group="evaluation",
        low=1,
        high=INT32,
        also={0: None},
        aliases=("early_stopping_round", "early_stopping", "n_iter_no_change"),
        doc="Stop after this many rounds without a better metric on the validation data. None never stops, but with "
        "rounds=auto after 25.",
    )
    min_delta: float = Float(
        0.0,
        group="evaluation",
        low=0,
        aliases=("early_stopping_min_delta",),
        doc="A metric counts as better only if it improves by more than this.",
    )
    first_metric_only: bool = Bool(
        False,
        group="evaluation",
        doc="Whether early stopping uses the first metric instead of the last.",
    )


def gains_of(label_gain: tuple[float, ...] | None) -> tuple[float, ...]:
    """The gain of each relevance: those given, else 2**relevance - 1.

    Examples
    --------
    >>> gains_of(None)[:4], gains_of((0.0, 1.0, 2.0))
    ((0.0, 1.0, 3.0, 7.0), (0.0, 1.0, 2.0))
    """
    return tuple(2.0**i - 1.0 for i in range(RELEVANCES)) if label_gain is None else label_gain


def aft_values(parameters: SurvivalParameters) -> tuple[float, float]:
    """What formulas of times in intervals get: the position of the distribution among all, and its scale.

    Examples
    --------
    >>> aft_values(SurvivalParameters(aft_loss_distribution="logistic"))
    (1.0, 1.0)
    """
    position = [*AFT_DISTRIBUTIONS].index(parameters.aft_loss_distribution)
    return float(position), parameters.aft_loss_distribution_scale
