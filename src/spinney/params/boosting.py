"""The parameters of boosting: `Config`, made of the groups of other files, and the checks of its values against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.common import DataParams, PresetParameters, RunningParameters, preset_values
from spinney.params.loss_parameters import (
    EvaluationParameters,
    ObjectiveParameters,
    RankingParameters,
    SurvivalParameters,
)
from spinney.params.metrics import NONE, kind_of, metric_info, resolve_metrics
from spinney.params.objectives import OWN, SPECIFIC, check_outputs, objective_info, objectives_taking
from spinney.params.tree_parameters import GrowingParameters, RegularisationParameters, SamplingParameters

# What is an argument of `train` here and may be a parameter elsewhere.
TRAIN_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "rounds": (
        "num_boost_round",
        "n_estimators",
        "num_iterations",
        "num_iteration",
        "n_iter",
        "max_iter",
        "num_tree",
        "num_trees",
        "num_round",
        "num_rounds",
        "nrounds",
    ),
    "valid": ("evals", "valid_sets", "eval_set"),
    "callbacks": (),
}
# reg_lambda of ranking, where none is given. The hessians of pairs are small: with 5, as elsewhere, NDCG of 150 queries was lower
# by .003 to .008 in 3 of 4 problems.
RANKING_LAMBDA = 1.0

# What LightGBM calls alpha with some objectives, which is the L1 penalty to XGBoost and here.
_LEVELS: Mapping[str, str] = {
    "quantile": "quantile_alpha for the level",
    "huber": "huber_delta for the width",
}


@dataclass(frozen=True, kw_only=True)
class Config(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningParameters,
    PresetParameters,
    EvaluationParameters,
    DataParams,
    SamplingParameters,
    RegularisationParameters,
    GrowingParameters,
    RankingParameters,
    SurvivalParameters,
    ObjectiveParameters,
):
    """Every hyper-parameter of boosting under its canonical name, checked.

    A `Config` that exists is valid: making one, also by `dataclasses.replace`, converts and checks every
    value and how the values fit together.

    Raises
    ------
    ParameterError
        If a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> from dataclasses import replace
    >>> config = Config(objective="binary:logistic", max_depth=-1)
    >>> config.objective, config.max_depth
    ('log_loss', 0)
    >>> replace(config, learning_rate=0.05).learning_rate
    0.05
    >>> Config.parse({"objective": "binary", "eta": 0.3}).learning_rate
    0.3
    >>> Config.parse({"objective": "rank:ndcg"}).reg_lambda
    1.0
    >>> Config.parse({"learning_rat": 0.3})
    Traceback (most recent call last):
    ...
    spinney.errors.ParameterError: unknown parameter 'learning_rat'; did you mean 'learning_rate'? \
`python -m spinney.params` and docs/parameters.md list every parameter
    """

    arguments: ClassVar[Mapping[str, tuple[str, ...]]] = TRAIN_ARGUMENTS

    @classmethod
    def _completed(cls, given: Mapping[str, object], values: dict[str, Any]) -> dict[str, Any]:
        """Add what the preset sets, and the smaller penalty of rankings."""
        level = _LEVELS.get(values.get("objective", ""))
        if "alpha" in given and level is not None:
            raise ParameterError(
                f"alpha={shown(given['alpha'])} has two meanings with objective={values['objective']!r}: write reg_alpha for the "
                f"L1 penalty, which is XGBoost's alpha, or {level}, which is LightGBM's"
            )
        if "objective" in values and kind_of(values["objective"]) == "ranks":
            values.setdefault("reg_lambda", RANKING_LAMBDA)
        return values | preset_values(values.get("preset"), values)

    @property
    def has_column_rules(self) -> bool:
        """Whether a parameter is about single columns, which `resolve_columns` gives by position."""
        rules = (self.monotone_constraints, self.feature_weights, self.interaction_constraints)
        return any(rule is not None for rule in rules)

    def check_together(self) -> None:
        """Check values that are right alone against each other; give num_class and eval_metric their canonical form."""
        check_outputs(self)
        metrics = resolve_metrics(self)
        _check_specific(self, metrics)
        _check_leaves(self)
        if self.eval_at is not None and kind_of(self.objective) != "ranks":
            raise ParameterError(
                f"eval_at={self.eval_at!r} needs an objective that ranks, but objective={self.objective!r}; leave it out"
            )
        _check_sampling(self)
        _check_proposal(self)
        object.__setattr__(self, "num_class", _num_class(self))
        object.__setattr__(self, "eval_metric", metrics)


def _check_specific(config: Config, metrics: tuple[str, ...]) -> None:
    """Refuse parameters that neither the objective nor a metric takes."""
    objective = config.objective
    taken = {*objective_info(objective).parameters}
    for metric in metrics:
        if metric not in NONE:
            taken |= {*metric_info(metric, objective, config.num_class).parameters}
    if objective == OWN:
        taken.add("label_gain")  # the score of a ranker uses it
    for name in SPECIFIC:
        value, default = getattr(config, name), Config.parameter(name).default
        if value != default and name not in taken:
            raise ParameterError(
                f"{name}={value!r} needs objective={objectives_taking(name)}, but objective={objective!r}; leave it at {default}"
            )


def _check_leaves(config: Config) -> None:
    if config.leaf_estimation == "newton":
        return
    objective = config.objective
    form = objective_info(objective).form
    if form == "own":
        raise ParameterError(
            "leaf_estimation='line_search' needs a loss that is known; with a function as objective leave it at 'newton'"
        )
    if form in ("pairs", "listwise"):
        raise ParameterError(
            f"leaf_estimation='line_search' needs a loss of each row alone; objective={objective!r} looks at all rows of a "
            "query, so leave it at 'newton'"
        )
    if form in ("cox", "aft"):
        raise ParameterError(
            f"leaf_estimation='line_search' needs a loss of one score and one target, but objective={objective!r}; leave it at "
            "'newton'"
        )


def _check_sampling(config: Config) -> None:
    method, subsample = config.sampling_method, config.subsample
    if method == "goss":
        top, other = config.top_rate, config.other_rate
        if top + other > 1.0:
            raise ParameterError(
                f"top_rate={top!r} and other_rate={other!r} add up to more than 1; they must add up to at most 1"
            )
        if subsample < 1.0:
            raise ParameterError(
                f"subsample={subsample!r} contradicts sampling_method='goss', which draws by top_rate and other_rate; "
                "leave it at 1"
            )
    elif method != "uniform" and subsample == 1.0:
        raise ParameterError(
            f"sampling_method={method!r} needs subsample below 1: it is the share of the rows that are drawn"
        )


def _check_proposal(config: Config) -> None:
    method = config.tree_method
    if method != "approx" and (config.proposal != "global" or config.sketch_eps is not None):
        name = "sketch_eps" if config.sketch_eps is not None else "proposal"
        raise ParameterError(
            f"{name}={getattr(config, name)!r} needs tree_method='approx', but tree_method={method!r}; leave it out"
        )


def _num_class(config: Config) -> int:
    """The number of classes, 0 where there is none."""
    num_class, objective = config.num_class, config.objective
    if objective == OWN:
        return 0 if num_class == 1 else num_class
    if "num_class" in objective_info(objective).parameters:
        if num_class < 2:
            raise ParameterError(
                f"num_class={num_class} contradicts objective={objective!r}, which needs 2 or more classes"
            )
        return num_class
    if num_class > 1:
        raise ParameterError(
            f"num_class={num_class} contradicts objective={objective!r}: leave it at 0, or use "
            "objective='softmax' or 'one_vs_rest'"
        )
    return 0


def with_function(
    params: Mapping[str, object] | Config, objective: Any
) -> tuple[Mapping[str, object] | Config, Callable[..., Any] | None]:
    """Parameters without a function, and the function, if there is one: a parameter, or given besides them.

    Raises
    ------
    ParameterTypeError
        What is given besides the parameters is no function.
    ParameterError
        The objective is given twice.

    Examples
    --------
    >>> params, function = with_function({"loss": max, "eta": 0.3}, None)
    >>> params, function.__name__
    ({'eta': 0.3, 'objective': 'own'}, 'max')
    """
    if objective is not None and not callable(objective):
        raise ParameterTypeError(
            f"objective={shown(objective)} must be a function, f(scores, labels) -> g, h; give a name in params"
        )
    if isinstance(params, Config) or not isinstance(params, Mapping):
        if isinstance(params, Config) and objective is not None and params.objective != OWN:
            raise ParameterError(
                f"params have objective={params.objective!r} and there is a function, objective={shown(objective)}; give only one"
            )
        return params, objective
    named = [name for name in params if _is_objective(name)]
    if objective is not None and named:
        raise ParameterError(
            f"params have {named[0]}={shown(params[named[0]])} and there is a function, objective={shown(objective)}; give only "
            "one"
        )
    function: Any = objective
    if len(named) == 1 and callable(params[named[0]]):
        function = params[named[0]]
    if function is None:
        return params, None
    others = {name: value for name, value in params.items() if name not in named}
    return {**others, "objective": OWN}, function


def _is_objective(name: object) -> bool:
    parameter = Config.by_spelling().get(name) if isinstance(name, str) else None
    return parameter is not None and parameter.name == "objective"
