"""How the trees of a forest grow, and on which rows."""

from dataclasses import dataclass

from spinney.params.choices import CLASS_WEIGHTS, CRITERIA, FOREST_METHODS, SPLITTERS
from spinney.params.rows import INT32, INT64, Bounds, param


@dataclass(frozen=True, kw_only=True)
class CriterionFields:
    """What a split is judged by."""

    criterion: str = param(
        "squared_error",
        group="objective",
        choices=CRITERIA,
        doc="What makes a split a good one: gini or entropy for classes; squared_error, absolute_error or poisson, half of "
        "its deviance, for numbers. log_loss is entropy, friedman_mse is squared_error.",
    )
    class_weight: str = param(
        "none",
        group="objective",
        choices=CLASS_WEIGHTS,
        doc="Where the factors of the classes came from: they were given, made the classes of the table equally heavy "
        "(balanced), or did so in every tree's bag (balanced_subsample).",
    )


@dataclass(frozen=True, kw_only=True)
class ForestTreeFields:
    """How one tree of a forest grows."""

    tree_method: str = param(
        "hist",
        group="growing a tree",
        choices=FOREST_METHODS,
        doc="How splits are searched: hist looks at histograms of columns that were binned once, exact tries every "
        "distinct value. auto is hist.",
    )
    splitter: str = param(
        "best",
        group="growing a tree",
        choices=SPLITTERS,
        doc="Which cuts of a column are tried: best tries all, random one that is drawn uniformly between the least and the "
        "largest value of the node.",
    )
    max_depth: int = param(
        0,
        group="growing a tree",
        low=0,
        high=INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf. 0 or None means no limit.",
    )
    min_samples_split: int | float = param(
        2,
        group="growing a tree",
        low=2,
        high=INT64,
        share=Bounds(low=0, high=1, low_open=True),
        doc="Fewest rows of a node that is split, or their share of all rows, rounded up. A row that was drawn several times "
        "counts once.",
    )
    min_samples_leaf: int | float = param(
        1,
        group="growing a tree",
        low=1,
        high=INT64,
        share=Bounds(low=0, high=1, low_open=True, high_open=True),
        doc="Fewest rows in a leaf, or their share of all rows, rounded up. A row that was drawn several times counts once.",
    )
    min_weight_fraction_leaf: float = param(
        0.0,
        group="growing a tree",
        low=0,
        high=0.5,
        doc="Least weight of a leaf, as a share of the weight of all rows.",
    )
    max_leaf_nodes: int = param(
        0,
        group="growing a tree",
        low=0,
        # A tree of 2**30 leaves has fewer than 2**31 nodes, so that a node's number fits in 32 bits.
        high=2**30,
        also={None: 0},
        excluded={1: "a tree with one leaf has no split; give None for no limit, or 2 or more"},
        aliases=("max_leaves",),
        doc="Most leaves of a tree; the splits that lower impurity most are made first. 0 or None means no limit.",
    )
    min_impurity_decrease: float = param(
        0.0,
        group="growing a tree",
        low=0,
        doc="A split is made only if it lowers impurity by this or more: n / N (impurity - n_R / n impurity_R - n_L / n "
        "impurity_L), where n is the weight of the node's rows, N of all, and n_L, n_R of the two sides.",
    )
    ccp_alpha: float = param(
        0.0,
        group="growing a tree",
        low=0,
        doc="Price of a leaf in minimal cost-complexity pruning; 0 prunes nothing.",
    )
    monotonic_cst: tuple[int, ...] | tuple[tuple[str | int, int], ...] | None = param(
        None,
        group="growing a tree",
        low=-1,
        high=1,
        aliases=("monotone_constraints",),
        doc="Direction in which the prediction, or the probability of the second class, may move with each column, all "
        "else equal: 1 up, -1 down, 0 either. One number a column, or a mapping of column names or positions to numbers. "
        "Not for more than two classes, nor for several outputs.",
    )


@dataclass(frozen=True, kw_only=True)
class BagFields:
    """Which rows a tree sees, and which columns a split."""

    max_features: int | float | str | None = param(
        None,
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, high=1, low_open=True),
        choices={"sqrt": (), "log2": ()},
        doc="Columns that are drawn for every split: so many, a share of them (rounded down, at least 1), the square root or "
        "the logarithm to base 2 of their number; None or 1.0 takes all. Where none of them can split the node, "
        "others are drawn.",
    )
    bootstrap: bool = param(
        True,
        group="sampling",
        doc="Whether each tree sees rows that were drawn with replacement. False shows it all rows, or max_samples of them, "
        "drawn without replacement.",
    )
    max_samples: int | float | None = param(
        None,
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, low_open=True),
        doc="Rows that are drawn for each tree: so many, or a share of the rows (rounded down, at least 1). None draws as many "
        "as there are. Without replacement there cannot be more than there are.",
    )
    keep_leaf_rows: bool = param(
        False,
        group="sampling",
        doc="Whether the model keeps which training rows lie in which leaf, which quantiles need.",
    )
