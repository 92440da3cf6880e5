"""The table: every hyper-parameter is one field of `Config`."""

import math
from dataclasses import dataclass, fields
from functools import cache

from spinney.params.choices import (
    ABSENT,
    BUNDLE_ORDERS,
    GROW_POLICIES,
    LEAF_VALUES,
    PROPOSALS,
    SAMPLING_METHODS,
    TREE_METHODS,
    UNSEEN,
    Spellings,
)
from spinney.params.metrics import METRICS, NONE
from spinney.params.objectives import OBJECTIVES
from spinney.params.rows import Row, param, row_of, share
from spinney.params.validate import checked, reconciled

_INT32 = 2**31 - 1
_INT64 = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Config:
    """Every hyper-parameter under its canonical name, checked.

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
    """

    objective: str = param(
        "squared_error",
        group="objective",
        choices=Spellings(OBJECTIVES),
        aliases=("objective_type", "app", "application", "loss"),
        doc="Loss: squared_error for numbers, log_loss for two classes, softmax for more of them.",
    )
    num_class: int = param(
        0,
        group="objective",
        low=0,
        high=_INT32,
        aliases=("num_classes", "n_classes"),
        doc="Number of classes. softmax needs 2 or more; other objectives leave it at 0 (1 is read as 0).",
    )
    scale_pos_weight: float = param(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        doc="Weight of the rows of the positive class, for log_loss only.",
    )
    base_score: float | None = param(
        None,
        group="objective",
        doc="Raw score that every row starts from: for log_loss the log-odds, not a probability as in "
        "XGBoost. None takes the constant with the least loss.",
    )
    tree_method: str = param(
        "hist",
        group="growing a tree",
        choices=TREE_METHODS,
        doc="How splits are searched: hist looks at histograms of columns that were binned once, approx chooses new bins by "
        "hessian for every tree, exact tries every distinct value. auto is hist. approx needs max_bin of 3 or more.",
    )
    proposal: str = param(
        "global",
        group="growing a tree",
        choices=PROPOSALS,
        doc="For tree_method approx: whether the cuts to try are chosen once per tree (global) or in every node (local).",
    )
    sketch_eps: float | None = param(
        None,
        group="growing a tree",
        low=0,
        low_open=True,
        high=0.3,
        doc="For tree_method approx: share of the hessian between two cuts that are tried, so about 1 / sketch_eps of them. "
        "None tries max_bin.",
    )
    grow_policy: str = param(
        "lossguide",
        group="growing a tree",
        choices=GROW_POLICIES,
        doc="Order of growth: lossguide splits the leaf of largest gain next, depthwise all of one level.",
    )
    max_depth: int = param(
        0,
        group="growing a tree",
        low=0,
        high=_INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf. 0 or None means no limit.",
    )
    max_leaves: int = param(
        31,
        group="growing a tree",
        low=0,
        # A tree of 2**30 leaves has fewer than 2**31 nodes, so that a node's number fits in 32 bits.
        high=2**30,
        also={None: 0},
        excluded={1: "a tree with one leaf has no split; give 0 for no limit, or 2 or more"},
        aliases=("num_leaves", "num_leaf", "max_leaf", "max_leaf_nodes"),
        doc="Most leaves of one tree. 0 or None means no limit.",
    )
    min_child_samples: int = param(
        20,
        group="growing a tree",
        low=0,
        high=_INT64,
        aliases=("min_data_in_leaf", "min_data", "min_data_per_leaf", "min_samples_leaf"),
        doc="Fewest rows in a leaf. 0 is the same as 1.",
    )
    min_child_weight: float = param(
        1e-3,
        group="growing a tree",
        low=0,
        aliases=("min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian"),
        doc="Smallest sum of hessians in a leaf.",
    )
    max_cat_to_onehot: int = param(
        4,
        group="growing a tree",
        low=1,
        high=_INT32,
        doc="Up to so many categories, a split takes one category apart from the others. With more of them it takes a "
        "set: the categories are ordered by gradient over hessian, and a split takes some from either end.",
    )
    max_cat_threshold: int = param(
        32,
        group="growing a tree",
        low=1,
        high=_INT32,
        doc="Most categories that a split takes from the end of their order.",
    )
    min_data_per_group: int = param(
        100,
        group="growing a tree",
        low=1,
        high=_INT64,
        doc="Fewest rows between two splits that are tried along the order of the categories.",
    )
    monotone_constraints: tuple[int, ...] | tuple[tuple[str | int, int], ...] | None = param(
        None,
        group="growing a tree",
        low=-1,
        high=1,
        aliases=("monotone_constraint", "mc", "monotonic_cst"),
        doc="Direction in which the raw score may move with each column, all else equal: 1 up, -1 down, 0 either. One "
        "number a column, a mapping of column names or positions to numbers, or text like '(1,0,-1)'.",
    )
    interaction_constraints: tuple[tuple[str | int, ...], ...] | None = param(
        None,
        group="growing a tree",
        aliases=("interaction_constraint", "interaction_cst"),
        doc="Groups of columns, by name or position, that may meet on the way from the root to a leaf. Groups may overlap; "
        "a column in no group meets no other.",
    )
    learning_rate: float = param(
        0.1,
        group="regularisation",
        low=0,
        low_open=True,
        aliases=("eta", "shrinkage_rate"),
        doc="Factor on what each tree adds to the score.",
    )
    gamma: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("min_split_loss", "min_gain_to_split", "min_split_gain"),
        doc="A split is made only if it lowers the loss by more than this: γ in gain = ½ [G_L² / (H_L + λ) + G_R² / (H_R + λ) - "
        "G² / (H + λ)] - γ, under every spelling. Gains of XGBoost and LightGBM lack the factor ½, so their number is twice "
        "ours: give half of it.",
    )
    reg_lambda: float = param(
        1.0,
        group="regularisation",
        low=0,
        aliases=("lambda", "lambda_l2", "l2_regularization"),
        doc="L2 penalty on leaf values.",
    )
    reg_alpha: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("alpha", "lambda_l1", "l1_regularization"),
        doc="L1 penalty on leaf values.",
    )
    cat_smooth: float = param(
        10.0,
        group="regularisation",
        low=0,
        doc="Added to the hessians where categories are ordered. Categories of fewer rows in a node, rows of small hessians "
        "counting for less, are not taken.",
    )
    cat_l2: float = param(
        10.0,
        group="regularisation",
        low=0,
        doc="L2 penalty on top of reg_lambda where a set of categories is split, and on the leaves that it makes.",
    )
    max_delta_step: float = param(
        0.0,
        group="regularisation",
        low=0,
        aliases=("max_tree_output", "max_leaf_output"),
        doc="Largest absolute leaf value before the learning rate is applied. 0 means no limit.",
    )
    subsample: float = share(
        1.0,
        group="sampling",
        aliases=("bagging_fraction", "sub_row", "bagging"),
        doc="Share of the rows drawn for each round.",
    )
    sampling_method: str = param(
        "uniform",
        group="sampling",
        choices=SAMPLING_METHODS,
        aliases=("data_sample_strategy",),
        doc="How rows are drawn for each round. uniform gives all the same chance. goss keeps those with the largest "
        "gradients and some of the others, which count for the rest. gradient_based draws with a chance in proportion to "
        "the gradient and evens out by weight. weighted draws in proportion to the gradient and leaves weights alone.",
    )
    top_rate: float = param(
        0.2,
        group="sampling",
        low=0,
        high=1,
        doc="Share of the rows, those with the largest gradients, that goss keeps.",
    )
    other_rate: float = share(
        0.1,
        group="sampling",
        doc="Share of the rows that goss draws among the others.",
    )
    goss_warm_up: bool = param(
        True,
        group="sampling",
        doc="Whether the first 1 / learning_rate rounds of goss, rounded down, use all rows.",
    )
    leaf_values: str = param(
        "sample",
        group="sampling",
        choices=LEAF_VALUES,
        doc="What leaf values are computed from: sample takes the rows that grew the tree, all takes every row.",
    )
    colsample_bytree: float = share(
        1.0,
        group="sampling",
        aliases=("feature_fraction", "sub_feature"),
        doc="Share of the columns drawn for each tree.",
    )
    colsample_bylevel: float = share(
        1.0,
        group="sampling",
        doc="Share of the tree's columns drawn for each level.",
    )
    colsample_bynode: float = share(
        1.0,
        group="sampling",
        aliases=("feature_fraction_bynode", "sub_feature_bynode", "max_features"),
        doc="Share of the level's columns drawn for each node. max_features is scikit-learn's name for it.",
    )
    feature_weights: tuple[float, ...] | tuple[tuple[str | int, float], ...] | None = param(
        None,
        group="sampling",
        low=0,
        doc="Chances of the columns where some are drawn for a tree, level or node: one number a column, or a mapping of "
        "column names or positions to numbers, 1 for the others. A column of weight 0 is never drawn.",
    )
    max_bin: int = param(
        255,
        group="data",
        low=2,
        high=65536,
        aliases=("max_bins",),
        doc="Most bins of a column of numbers. A column of up to max_bin categories has a bin for each. Of more, the most "
        "frequent that together make up 99 % of the rows with a value have one, at least max_bin and at "
        "most 65 000 of them; the others share a bin.",
    )
    bundle: bool = param(
        True,
        group="data",
        aliases=("enable_bundle", "is_enable_bundle"),
        in_model=False,
        doc="Whether columns that are hardly ever away from zero together share a group. Without conflicts the model is "
        "the same, it is found faster.",
    )
    bundle_order: str = param(
        "auto",
        group="data",
        choices=BUNDLE_ORDERS,
        in_model=False,
        doc="Which columns look for a bundle first: those with the most conflicting columns (degree) or with the most "
        "entries (nonzero). auto takes degree up to 4096 columns.",
    )
    max_conflict_rate: float = param(
        0.0,
        group="data",
        low=0,
        high=1,
        doc="Conflicts that a bundle may have, as a share of the rows: entries of one column in rows where another one is "
        "away from zero too. They are lost, which changes the model.",
    )
    unseen: str = param(
        "missing",
        group="data",
        choices=UNSEEN,
        doc="What a category means that training did not see: a missing value, an error, or the rarest category.",
    )
    absent: str = param(
        "zero",
        group="data",
        choices=ABSENT,
        doc="What an entry that a sparse matrix does not store means: 0, or a missing value.",
    )
    eval_metric: tuple[str, ...] = param(
        (),
        group="evaluation",
        choices=Spellings(METRICS, NONE),
        aliases=("metric", "metrics", "metric_types"),
        doc="Metrics to compute on the validation data; the page of parameters tells which fit an objective. Empty or None "
        "takes the objective's own, none computes none of them.",
    )
    early_stopping_rounds: int | None = param(
        None,
        group="evaluation",
        low=1,
        high=_INT32,
        also={0: None},
        aliases=("early_stopping_round", "early_stopping", "n_iter_no_change"),
        doc="Stop after this many rounds without a better metric on the validation data. None never stops.",
    )
    min_delta: float = param(
        0.0,
        group="evaluation",
        low=0,
        aliases=("early_stopping_min_delta",),
        doc="A metric counts as better only if it improves by more than this.",
    )
    first_metric_only: bool = param(
        False,
        group="evaluation",
        doc="Whether early stopping goes by the first metric instead of the last.",
    )
    random_state: int = param(
        0,
        group="running",
        low=0,
        high=_INT64,
        aliases=("seed", "random_seed"),
        doc="Seed of everything drawn at random.",
    )
    n_jobs: int | None = param(
        None,
        group="running",
        low=-65536,
        high=65536,
        also={-1: None},
        excluded={0: "give 1 or more threads, or None for all cores"},
        aliases=("nthread", "nthreads", "num_thread", "num_threads", "n_threads", "thread_count"),
        in_model=False,
        doc="Number of threads. None takes all cores the process may use, -2 all but one, and so on, "
        "but at least one. Where there is less to do, fewer are started. The model does not depend on it.",
    )

    def __post_init__(self) -> None:
        values = {row.name: checked(row, getattr(self, row.name)) for row in table()}
        for name, value in reconciled(values).items():
            object.__setattr__(self, name, value)

    @property
    def absent_value(self) -> float:
        """The value that `absent` stands for: 0, or NaN, which is missing."""
        return math.nan if self.absent == "missing" else 0.0

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types that JSON knows.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.

        Returns
        -------
        dict
            `parse` turns it back into an equal `Config`.

        Examples
        --------
        >>> Config(eval_metric="mae").to_dict()["eval_metric"]
        ['mae']
        >>> "n_jobs" in Config(n_jobs=2).to_dict(model_only=True)
        False
        """
        values = {row.name: getattr(self, row.name) for row in table() if row.in_model or not model_only}
        return {name: _as_lists(value) for name, value in values.items()}


def _as_lists(value: object) -> object:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


@cache
def table() -> tuple[Row, ...]:
    """Every row of the table, in the order of the documentation.

    Returns
    -------
    tuple of Row

    Examples
    --------
    >>> [row.aliases for row in table() if row.name == "learning_rate"]
    [('eta', 'shrinkage_rate')]
    """
    return tuple(row_of(parameter) for parameter in fields(Config))
