"""Parameters that only estimators take, and those that mean more or have another default in an estimator than in training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spinney.params.adaboost import AdaBoostConfig
from spinney.params.boosting import RANKING_LAMBDA, TRAIN_ARGUMENTS, Config
from spinney.params.common import AUTO, FRACTION, SHARE
from spinney.params.forest import ForestConfig
from spinney.params.parameter import (
    INT32,
    AnyParameter,
    BoolParameter,
    ChoiceParameter,
    IntParameter,
    Parameter,
)

_CRITERION, _LOSS = ForestConfig.parameter("criterion"), AdaBoostConfig.parameter("loss")


def _unchecked(parameter: Parameter[Any], *, kind: str, annotation: str, **changes: Any) -> AnyParameter:
    """The same parameter, which takes more than training does and is checked by the estimator."""
    given = {
        "default": parameter.default,
        "name": parameter.name,
        "group": parameter.group,
        "aliases": parameter.aliases,
        "doc": parameter.doc,
    }
    return AnyParameter(kind=kind, annotation=annotation, **(given | changes))


def _some(parameter: Parameter[Any], *choices: str) -> dict[str, tuple[str, ...]]:
    """Some of the choices of a parameter."""
    return {choice: parameter.choices[choice] for choice in choices}


# Of boosting.
BOOSTING_ROUNDS: Parameter[int | str] = IntParameter(
    AUTO,
    name="n_estimators",
    group="running",
    low=1,
    high=INT32,
    choices={AUTO: ()},
    aliases=tuple(name for name in ("rounds", *TRAIN_ARGUMENTS["rounds"]) if name != "n_estimators"),
    doc="Rounds of boosting. A round is one tree, or one for each class where there are more than two, each target or each "
    "level. auto finds how many are right: it stops when the metric has not improved for 25 rounds, or for "
    "early_stopping_rounds, on the last pair of eval_set; without one it holds out a tenth of the rows, or "
    "validation_fraction of them, and fits small tables again on all rows. Below 300 rows, or with eval_metric none, it does 100 "
    "rounds (10 / learning_rate if that is more, 30 / learning_rate if that is less), but no more than max_rounds.",
)
# Of a function in place of a name.
_FUNCTION_LOSS = (
    "Or a function f(y_true, y_pred), or f(y_true, y_pred, weight), that gives gradients and hessians by raw score; what the "
    "first form gives is multiplied by the weights. The model then predicts raw scores. Its attribute `loss`, a function of the "
    "same arguments that gives one number, is the metric where eval_metric names none; n_estimators=auto needs one of the two."
)
REGRESSION_OBJECTIVE = _unchecked(
    Config.parameter("objective"),
    kind="str or callable",
    annotation="str | Callable[..., Any]",
    doc="Loss: squared_error, squared_log_error, absolute_error, huber, pseudo_huber, fair, quantile, expectile, mape, poisson, "
    f"gamma or tweedie, or for times that are not all known, cox or aft; docs/losses.md has a table. {_FUNCTION_LOSS}",
)
CLASSIFICATION_OBJECTIVE = _unchecked(
    Config.parameter("objective"),
    kind="str, callable or None",
    annotation="str | Callable[..., Any] | None",
    default=None,
    doc="Loss: log_loss or focal for two classes, softmax or one_vs_rest for more of them (for two they are log_loss). None "
    f"takes log_loss for two, softmax for more. {_FUNCTION_LOSS} y_true are places in classes_; y_pred "
    "has a column for each of more than two classes.",
)
RANKING_OBJECTIVE = _unchecked(
    Config.parameter("objective"),
    kind="str or callable",
    annotation="str | Callable[..., Any]",
    default="rank_ndcg",
    doc="Loss: rank_ndcg (LambdaMART), rank_map, rank_pairwise or rank_xendcg. Or a function f(y_true, y_pred), or "
    "f(y_true, y_pred, weight), that gives gradients and hessians by score; what the first form gives is multiplied by the "
    "weights. y_true has the number of each row's query as `queries`, None where no queries are known.",
)
QUERY_FRACTION = replace(
    FRACTION,
    doc="Share of the queries to hold out as validation data, with all of their rows; without queries, share of the rows. They "
    f"are not trained on, except that auto may fit all rows at its end. None holds out {SHARE:g} for auto, else nothing.",
)
CLASS_WEIGHT = AnyParameter(
    None,
    kind="dict, list of dicts, str or None",
    annotation="Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None",
    name="class_weight",
    group="objective",
    aliases=("class_weights",),
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named. 'balanced' gives all classes the "
    "same total weight, sample_weight counted: scikit-learn's compute_class_weight with its sample_weight. (Its "
    "HistGradientBoostingClassifier counts rows there, not their weights.) Where rows have several labels, the factors of all "
    "of them are multiplied: a dict of 0 and 1 for every label, a list of one for each, or 'balanced'. Validation data that are "
    "given are not weighted by it; rows that are held out are.",
)
CATEGORICAL = AnyParameter(
    "auto",
    kind="'auto' or list of str, int or bool",
    annotation="str | Sequence[str | int] | NDArray[np.bool_]",
    name="categorical",
    group="data",
    aliases=(
        "categorical_feature",
        "categorical_features",
        "cat_feature",
        "cat_features",
        "categorical_column",
    ),
    doc="Columns whose whole numbers, dates, times or intervals are categories: by name as text, by position as a whole number, "
    "or as a mask of one truth value a column. "
    "Columns of text and of a frame's categories always are categorical; text that all reads as numbers is so with a "
    "warning, unless it is named.",
)
PROGRESS: Parameter[bool] = BoolParameter(
    False,
    name="progress",
    group="running",
    doc="Show a progress bar while fitting.",
)
IMPORTANCE: Parameter[str] = ChoiceParameter(
    "total_gain",
    name="importance_type",
    group="running",
    choices={"gain": (), "total_gain": (), "split": ("weight",), "cover": (), "total_cover": ()},
    doc="What feature_importances_ shares out: split (or weight) counts the splits on a column, total_gain and total_cover add "
    "up their gain and cover, gain and cover are the means over those splits. LightGBM's gain is total_gain here.",
)
WARM_START: Parameter[bool] = BoolParameter(
    False,
    name="warm_start",
    group="running",
    doc="Whether a fitted estimator goes on from its trees when it is fitted again: n_estimators, which must be a number, then "
    "counts old and new rounds. Early stopping goes on too: the metric to beat is that of the trees so far.",
)
STOPPING = replace(
    Config.parameter("early_stopping_rounds"),
    doc="Stop after this many rounds in which the last metric, or the first with first_metric_only, did not get better on the "
    "last validation data. None never stops, but with n_estimators=auto after 25.",
)
EVAL_METRIC = _unchecked(
    Config.parameter("eval_metric"),
    kind="str, callable, or list of them",
    annotation="str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None",
    doc="Metrics to compute on the validation data; the page of parameters shows which names fit an objective. Empty or None "
    "takes the objective's own. A function f(y_true, y_pred) or f(y_true, y_pred, weight) gives a number that is better when "
    "lower, or (name, value, higher_is_better); a classifier's y_true are places in classes_, and its y_pred probabilities, or "
    "raw scores where objective is a function. Losses may be given as functions, scores as scikit-learn's scorers, "
    "which are better when higher.",
)
RANKING_EVAL_METRIC = replace(
    EVAL_METRIC,
    doc="Metrics to compute on the validation data: ndcg, map or mrr, which may end in a cutoff, such as ndcg@10. Empty or None "
    "takes the objective's own. A function f(y_true, y_pred) or f(y_true, y_pred, weight) gives a number that is better when "
    "lower, or (name, value, higher_is_better); y_pred are scores, and y_true has the number of each row's query as `queries`.",
)
SEED = replace(
    Config.parameter("random_state"),
    default=None,
    doc="Seed of everything drawn at random. None is the same as 0, so that every fit can be repeated. A RandomState or a "
    "Generator gives each fit a seed of its own, drawn by randint(2**31 - 1) or integers(2**31 - 1).",
)
RANKING_PENALTY = replace(
    Config.parameter("reg_lambda"), default=RANKING_LAMBDA, doc="L2 penalty on leaf values."
)
# With cat_charge, .9 % less loss on nine tables with a column of more than 100 categories. With means for columns of more than 8,
# 1.5 % more on a table of few, large categories, which sets separate as well.
TARGET_STATS = replace(Config.parameter("target_stats"), default=100)
PRESET = replace(
    Config.parameter("preset"),
    doc=f"{Config.parameter('preset').doc} A parameter that has its default value counts as not given.",
)
MODELS = replace(
    Config.parameter("models"),
    default=None,
    doc=f"{Config.parameter('models').doc} None is 1, or what the preset sets.",
)

# Of forests and trees.
TREES: Parameter[int] = IntParameter(
    100,
    name="n_estimators",
    group="running",
    low=1,
    high=INT32,
    aliases=("n_trees", "num_trees", "num_tree", "ntree", "num_parallel_tree"),
    doc="Number of trees.",
)
VERBOSE: Parameter[int] = IntParameter(
    0,
    name="verbose",
    group="running",
    low=0,
    high=INT32,
    doc="1 or more shows a progress bar while fitting.",
)
OOB_SCORE = AnyParameter(
    False,
    kind="bool or callable",
    annotation="bool | Callable[..., float]",
    name="oob_score",
    group="evaluation",
    doc="Whether to score the forest on the rows that each tree did not see: accuracy or R2, or a function f(y_true, y_pred) "
    "that gives the score. A classifier's function gets places in classes_. Needs bootstrap=True, or max_samples.",
)
CLASS_CRITERION = replace(
    _CRITERION,
    default="gini",
    choices=_some(_CRITERION, "gini", "entropy"),
    doc="What makes a split a good one: gini, entropy or log_loss, which is the same as entropy.",
)
NUMBER_CRITERION = replace(
    _CRITERION,
    choices=_some(_CRITERION, "squared_error", "absolute_error", "poisson"),
    doc="What makes a split a good one: squared_error, absolute_error (leaves then predict medians), or poisson, half of its "
    "deviance, for a target of 0 and more. friedman_mse is squared_error.",
)
FOREST_CLASS_WEIGHT = AnyParameter(
    None,
    kind="dict, list of dicts, str or None",
    annotation="Mapping[Any, float] | Sequence[Mapping[Any, float]] | str | None",
    name="class_weight",
    group="objective",
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named; for several outputs a list of "
    "such dicts, whose factors are multiplied. 'balanced' gives all classes the same total weight, "
    "'balanced_subsample' does so in the bag of every tree.",
)
TREE_CLASS_WEIGHT = replace(
    FOREST_CLASS_WEIGHT,
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named; for several outputs a list of "
    "such dicts, whose factors are multiplied. 'balanced' gives all classes the same total weight.",
)
FOREST_WARM_START = replace(
    WARM_START,
    doc="Whether a fitted forest keeps its trees when it is fitted again: n_estimators then counts old and new trees. Rows and "
    "parameters must be the same; the forest is then the one that a single fit makes.",
)

# Of AdaBoost.
ADABOOST_ROUNDS: Parameter[int] = IntParameter(
    50,
    name="n_estimators",
    group="running",
    low=1,
    high=INT32,
    aliases=("rounds", "n_trees", "num_boost_round", "num_iterations", "n_iter", "iterations", "num_trees"),
    doc="Most trees, one a round. Boosting ends before where a tree makes no mistake, or is no better than guessing.",
)
ESTIMATOR = AnyParameter(
    None,
    kind="estimator or None",
    annotation="Any",
    name="estimator",
    group="growing a tree",
    aliases=("base_estimator",),
    doc="An estimator of scikit-learn's kind to boost in place of our trees; it is cloned for every round. Without resample=True "
    "its fit must take sample_weight. max_depth, max_bin, categorical, absent, unseen and n_jobs have no effect on it. Such a "
    "model cannot be saved to a file. None boosts our own trees.",
)
ADABOOST_LOSS = replace(
    _LOSS,
    default="linear",
    choices=_some(_LOSS, "linear", "square", "exponential"),
    doc="What an error costs, of the errors' sizes over the largest one: linear, its square, or 1 - exp of minus it "
    "(exponential).",
)
_DEPTH = AdaBoostConfig.parameter("max_depth")
ADABOOST_DEPTH = replace(_DEPTH, doc=f"{_DEPTH.doc} Only of our own trees.")
