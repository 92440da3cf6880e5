"""How a tree grows."""

from dataclasses import dataclass

from spinney.params.choices import GROW_POLICIES, PROPOSALS, TREE_METHODS
from spinney.params.rows import INT32, INT64, param


@dataclass(frozen=True, kw_only=True)
class GrowingFields:
    """How a tree grows."""

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
        high=INT32,
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
        5,
        group="growing a tree",
        low=0,
        high=INT64,
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
        high=INT32,
        doc="Up to so many categories, a split takes one category apart from the others. With more of them it takes a "
        "set: the categories are ordered by gradient over hessian, and a split takes some from either end.",
    )
    max_cat_threshold: int = param(
        8,
        group="growing a tree",
        low=1,
        high=INT32,
        doc="Most categories that a split takes from the end of their order.",
    )
    min_data_per_group: int = param(
        100,
        group="growing a tree",
        low=1,
        high=INT64,
        doc="Fewest rows between two splits that are tried along the order of the categories.",
    )
    target_stats: int | None = param(
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
    target_stats_smooth: float = param(
        10.0,
        group="growing a tree",
        low=0,
        doc="For target_stats: how many rows of the mean of all, by their weight, a category's own rows are mixed with.",
    )
    target_stats_pairs: int = param(
        12,
        group="growing a tree",
        low=0,
        high=INT32,
        doc="For target_stats: most pairs of such columns that get a mean and a number of rows for each pair of categories. "
        "Pairs are made only where their mean says more of other rows than that of either column; none with "
        "interaction_constraints.",
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
