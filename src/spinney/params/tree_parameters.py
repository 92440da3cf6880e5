"""How trees of boosting grow, what holds them back, and which rows and columns they see."""

from __future__ import annotations

from dataclasses import dataclass

from spinney.params.parameter import INT32, INT64, Bool, Choice, Float, Int
from spinney.params.parameter_set import ParameterSet
from spinney.params.per_column import (
    ColumnDirections,
    ColumnGroups,
    ColumnWeights,
    Directions,
    Groups,
    Weights,
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GrowingParameters(ParameterSet):
    """How a tree grows."""

    tree_method: str = Choice(
        "hist",
        group="growing a tree",
        choices={"hist": ("auto",), "approx": (), "exact": ()},
        doc="How splits are searched: hist looks at histograms of columns that were binned once, approx chooses new bins by "
        "hessian for every tree, exact tries every distinct value. auto is hist. approx needs max_bin of 3 or more.",
    )
    proposal: str = Choice(
        "global",
        group="growing a tree",
        choices={"global": (), "local": ()},
        doc="For tree_method approx: whether the cuts to try are chosen once per tree (global) or in every node (local).",
    )
    sketch_eps: float | None = Float(
        None,
        group="growing a tree",
        low=0,
        low_open=True,
        high=0.3,
        doc="For tree_method approx: share of the hessian between two cuts that are tried, so about 1 / sketch_eps of them. "
        "None tries max_bin.",
    )
    grow_policy: str = Choice(
        "lossguide",
        group="growing a tree",
        choices={
            "lossguide": ("leafwise", "leaf-wise"),
            "depthwise": ("level", "levelwise"),
        },
        doc="Order of growth: lossguide splits the leaf of largest gain next, depthwise all of one level.",
    )
    max_depth: int = Int(
        0,
        group="growing a tree",
        low=0,
        high=INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf. 0 or None means no limit.",
    )
    max_leaves: int = Int(
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
    min_child_samples: int = Int(
        5,
        group="growing a tree",
        low=0,
        high=INT64,
        aliases=("min_data_in_leaf", "min_data", "min_data_per_leaf", "min_samples_leaf"),
        doc=(
            "Fewest rows in a leaf. 0 is the same as 1. Missing values of fewer rows than this do not choose their side of a "
            "split, and get no mean of their own in target encoding."
        ),
    )
    min_child_weight: float = Float(
        1e-3,
        group="growing a tree",
        low=0,
        aliases=("min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian"),
        doc="Smallest sum of hessians in a leaf.",
    )
    max_cat_to_onehot: int = Int(
        4,
        group="growing a tree",
        low=1,
        high=INT32,
        doc="Up to so many categories, a split takes one category apart from the others. With more of them it takes a "
        "set: the categories are ordered by gradient over hessian, and a split takes some from either end.",
    )
    max_cat_threshold: int = Int(
        8,
        group="growing a tree",
        low=1,
        high=INT32,
        doc="Most categories that a split takes from the end of their order.",
    )
    min_data_per_group: int = Int(
        100,
        group="growing a tree",
        low=1,
        high=INT64,
        doc="Fewest rows between two splits that are tried along the order of the categories.",
    )
    target_stats: int | None = Int(
        None,
        group="growing a tree",
        low=1,
        high=INT32,
        doc="Columns of more categories than this get columns of numbers beside them, made from the target: the mean of each "
        "category's rows, and how many they are. None makes none. They are made from the rows that a training learns from, and "
        "a row's mean comes from other rows. There is a mean for each class of more than two, and for each column of the "
        "target, but for more than 16 of them there are none, and for columns of most categories first if more than 128 "
        "columns would be made; rankings have the mean relevance, survival has none. For "
        "tree_method hist.",
    )
    target_stats_smooth: float = Float(
        10.0,
        group="growing a tree",
        low=0,
        doc="For target_stats: how many rows of the mean of all, by their weight, a category's own rows are mixed with.",
    )
    target_stats_pairs: int = Int(
        12,
        group="growing a tree",
        low=0,
        high=INT32,
        doc="For target_stats: most pairs of such columns that get a mean and a number of rows for each pair of categories. "
        "Pairs are made only where their mean predicts other rows better than that of either column; none with "
        "interaction_constraints.",
    )
    monotone_constraints: Directions | None = ColumnDirections(
        None,
        group="growing a tree",
        aliases=("monotone_constraint", "mc", "monotonic_cst"),
        doc="Direction in which the raw score may move with each column, all else equal: 1 up, -1 down, 0 either. One "
        "number a column, a mapping of column names or positions to numbers, or text like '(1,0,-1)'.",
    )
    interaction_constraints: Groups | None = ColumnGroups(
        None,
        group="growing a tree",
        aliases=("interaction_constraint", "interaction_cst"),
        doc="Groups of columns, by name or position, that may meet on the way from the root to a leaf. Groups may overlap; "
        "a column in no group meets no other.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RegularisationParameters(ParameterSet):
    """What holds trees back."""

    learning_rate: float = Float(
        0.1,
        group="regularisation",
        low=0,
        low_open=True,
        aliases=("eta", "shrinkage_rate"),
        doc="Factor on what each tree adds to the score.",
    )
    gamma: float = Float(
        0.0,
        group="regularisation",
        low=0,
        aliases=("min_split_loss", "min_gain_to_split", "min_split_gain"),
        doc="A split is made only if it lowers the loss by more than this: γ in gain = ½ [G_L² / (H_L + λ) + G_R² / (H_R + λ) - "
        "G² / (H + λ)] - γ, under every spelling. Gains of XGBoost and LightGBM lack the factor ½, so their number is twice "
        "ours: give half of it.",
    )
    reg_lambda: float = Float(
        5.0,
        group="regularisation",
        low=0,
        aliases=("lambda", "lambda_l2", "l2_regularization"),
        doc="L2 penalty on leaf values. Objectives of ranking take 1 by default, because their hessians are small.",
    )
    reg_alpha: float = Float(
        0.0,
        group="regularisation",
        low=0,
        aliases=("alpha", "lambda_l1", "l1_regularization"),
        doc="L1 penalty on leaf values.",
    )
    cat_smooth: float = Float(
        10.0,
        group="regularisation",
        low=0,
        doc="Added to the hessians where categories are ordered. Categories of fewer rows in a node, rows of small hessians "
        "counting for less, are not taken.",
    )
    cat_l2: float = Float(
        10.0,
        group="regularisation",
        low=0,
        doc="L2 penalty on top of reg_lambda where a set of categories is split, and on the leaves that it makes.",
    )
    cat_charge: float = Float(
        0.2,
        group="regularisation",
        low=0,
        doc="Charge on the gain of a split by a set of c out of m categories, because the best of very many sets is the "
        "luckiest one: so much times c * (1 + log(m / c)) times what a split of no use gains on average. 0 charges nothing.",
    )
    max_delta_step: float = Float(
        0.0,
        group="regularisation",
        low=0,
        aliases=("max_tree_output", "max_leaf_output"),
        doc="Largest absolute leaf value before the learning rate is applied. 0 means no limit, except that it is 1 with "
        "objective cox and 5 with aft.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SamplingParameters(ParameterSet):
    """Which rows and columns a tree sees."""

    subsample: float = Float(
        1.0,
        group="sampling",
        low=0,
        high=1,
        low_open=True,
        aliases=("bagging_fraction", "sub_row", "bagging"),
        doc="Share of the rows drawn for each round.",
    )
    sampling_method: str = Choice(
        "uniform",
        group="sampling",
        choices={
            "uniform": ("bagging",),
            "goss": (),
            "gradient_based": (),
            "weighted": (),
        },
        aliases=("data_sample_strategy",),
        doc="How rows are drawn for each round. uniform gives all the same chance. goss keeps those with the largest "
        "gradients and some of the others, which count for the rest. gradient_based draws with a chance in proportion to "
        "the gradient and evens out by weight. weighted draws in proportion to the gradient and leaves weights alone.",
    )
    top_rate: float = Float(
        0.2,
        group="sampling",
        low=0,
        high=1,
        doc="Share of the rows, those with the largest gradients, that goss keeps.",
    )
    other_rate: float = Float(
        0.1,
        group="sampling",
        low=0,
        high=1,
        low_open=True,
        doc="Share of the rows that goss draws among the others.",
    )
    goss_warm_up: bool = Bool(
        True,
        group="sampling",
        doc="Whether the first 1 / learning_rate rounds of goss, rounded down, use all rows.",
    )
    leaf_values: str = Choice(
        "sample",
        group="sampling",
        choices={"sample": (), "all": ()},
        doc="What leaf values are computed from: sample takes the rows that grew the tree, all takes every row.",
    )
    colsample_bytree: float = Float(
        1.0,
        group="sampling",
        low=0,
        high=1,
        low_open=True,
        aliases=("feature_fraction", "sub_feature"),
        doc="Share of the columns drawn for each tree.",
    )
    colsample_bylevel: float = Float(
        1.0,
        group="sampling",
        low=0,
        high=1,
        low_open=True,
        doc="Share of the tree's columns drawn for each level.",
    )
    colsample_bynode: float = Float(
        1.0,
        group="sampling",
        low=0,
        high=1,
        low_open=True,
        aliases=("feature_fraction_bynode", "sub_feature_bynode", "max_features"),
        doc="Share of the level's columns drawn for each node. max_features is scikit-learn's name for it.",
    )
    feature_weights: Weights | None = ColumnWeights(
        None,
        group="sampling",
        doc="Chances of the columns where some are drawn for a tree, level or node: one number a column, or a mapping of "
        "column names or positions to numbers, 1 for the others. A column of weight 0 is never drawn.",
    )
