"""The parameters of random forests, extra trees and single trees: `ForestConfig`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from spinney.errors import ParameterError
from spinney.params.common import BinParameters, RunningParameters, TableParameters
from spinney.params.parameter import INT32, INT64, Bool, Bounds, Choice, CountOrShare, Float, Int
from spinney.params.parameter_set import ParameterSet
from spinney.params.per_column import ColumnDirections, Directions, resolve_directions

CLASS_CRITERIA = ("gini", "entropy")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CriterionParameters(ParameterSet):
    """What makes a split a good one, and the weights of classes."""

    criterion: str = Choice(
        "squared_error",
        group="objective",
        # What scikit-learn calls its criteria. Its "friedman_mse" is "squared_error" from version 1.9 on.
        choices={
            "gini": (),
            "entropy": ("log_loss",),
            "squared_error": ("friedman_mse",),
            "absolute_error": (),
            "poisson": (),
        },
        doc="What makes a split a good one: gini or entropy for classes; squared_error, absolute_error or poisson, half of "
        "its deviance, for numbers. log_loss is entropy, friedman_mse is squared_error.",
    )
    class_weight: str = Choice(
        "none",
        group="objective",
        choices={
            "none": (),
            "given": (),
            "balanced": (),
            "balanced_subsample": (),
        },
        doc="Where the factors of the classes came from: they were given, made the classes of the table equally heavy "
        "(balanced), or did so in every tree's bag (balanced_subsample).",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForestTreeParameters(ParameterSet):
    """How one tree of a forest grows."""

    tree_method: str = Choice(
        "hist",
        group="growing a tree",
        choices={"hist": ("auto",), "exact": ()},
        doc="How splits are searched: hist looks at histograms of columns that were binned once, exact tries every "
        "distinct value. auto is hist.",
    )
    splitter: str = Choice(
        "best",
        group="growing a tree",
        choices={"best": (), "random": ()},
        doc="Which cuts of a column are tried: best tries all, random one that is drawn uniformly between the least and the "
        "largest value of the node.",
    )
    max_depth: int = Int(
        0,
        group="growing a tree",
        low=0,
        high=INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf. 0 or None means no limit.",
    )
    min_samples_split: int | float = CountOrShare(
        2,
        group="growing a tree",
        low=2,
        high=INT64,
        share=Bounds(low=0, high=1, low_open=True),
        doc="Fewest rows of a node that is split, or their share of all rows, rounded up. A row that was drawn several times "
        "counts once.",
    )
    min_samples_leaf: int | float = CountOrShare(
        1,
        group="growing a tree",
        low=1,
        high=INT64,
        share=Bounds(low=0, high=1, low_open=True, high_open=True),
        doc="Fewest rows in a leaf, or their share of all rows, rounded up. A row that was drawn several times counts once.",
    )
    min_weight_fraction_leaf: float = Float(
        0.0,
        group="growing a tree",
        low=0,
        high=0.5,
        doc="Least weight of a leaf, as a share of the weight of all rows.",
    )
    max_leaf_nodes: int = Int(
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
    min_impurity_decrease: float = Float(
        0.0,
        group="growing a tree",
        low=0,
        doc="A split is made only if it lowers impurity by this or more: n / N (impurity - n_R / n impurity_R - n_L / n "
        "impurity_L), where n is the weight of the node's rows, N of all, and n_L, n_R of the two sides.",
    )
    ccp_alpha: float = Float(
        0.0,
        group="growing a tree",
        low=0,
        doc="Price of a leaf in minimal cost-complexity pruning; 0 prunes nothing.",
    )
    monotonic_cst: Directions | None = ColumnDirections(
        None,
        group="growing a tree",
        aliases=("monotone_constraints",),
        doc="Direction in which the prediction, or the probability of the second class, may move with each column, all "
        "else equal: 1 up, -1 down, 0 either. One number a column, or a mapping of column names or positions to numbers. "
        "Not for more than two classes, nor for several outputs.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BagParameters(ParameterSet):
    """Which rows a tree sees, and which columns a split."""

    max_features: int | float | str | None = CountOrShare(
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
    bootstrap: bool = Bool(
        True,
        group="sampling",
        doc="Whether each tree sees rows that were drawn with replacement. False shows it all rows, or max_samples of them, "
        "drawn without replacement.",
    )
    max_samples: int | float | None = CountOrShare(
        None,
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, low_open=True),
        doc="Rows that are drawn for each tree: so many, or a share of the rows (rounded down, at least 1). None draws as many "
        "as there are. Without replacement there cannot be more than there are.",
    )
    keep_leaf_rows: bool = Bool(
        False,
        group="sampling",
        doc="Whether the model keeps which training rows lie in which leaf, which quantiles need.",
    )


@dataclass(frozen=True, kw_only=True)
class ForestConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningParameters,
    TableParameters,
    BinParameters,
    BagParameters,
    ForestTreeParameters,
    CriterionParameters,
):
    """Every hyper-parameter of a forest under its canonical name, checked. A `ForestConfig` that exists is valid.

    Raises
    ------
    ParameterError
        If a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> config = ForestConfig(criterion="log_loss", max_features="sqrt")
    >>> config.criterion, config.columns_per_split(20)
    ('entropy', 4)
    """

    def check_together(self) -> None:
        """Check the weights of classes against the criterion, and the number of rows against how they are drawn."""
        if self.class_weight != "none" and not self.of_classes:
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs classes, but criterion={self.criterion!r} is for numbers"
            )
        if not self.bootstrap and isinstance(self.max_samples, float) and self.max_samples > 1:
            raise ParameterError(
                f"max_samples={self.max_samples} is more rows than there are, which bootstrap=False cannot draw: give a "
                "share of 1 at most, or bootstrap=True"
            )

    @property
    def of_classes(self) -> bool:
        """Whether the criterion is one for classes."""
        return self.criterion in CLASS_CRITERIA

    @property
    def draws_rows(self) -> bool:
        """Whether a tree sees a bag of drawn rows; else it sees each row once."""
        return self.bootstrap or self.max_samples is not None

    def columns_per_split(self, columns: int) -> int:
        """Number of columns that are drawn for a split, of so many.

        Raises
        ------
        ParameterError
            If `max_features` is above the number of columns.

        Examples
        --------
        >>> [ForestConfig(max_features=given).columns_per_split(10) for given in ("sqrt", "log2", 0.25, 7, None)]
        [3, 3, 2, 7, 10]
        """
        wanted = self.max_features
        if wanted is None:
            return columns
        if wanted == "sqrt":
            return max(1, math.isqrt(columns))
        if wanted == "log2":
            return max(1, columns.bit_length() - 1)
        if isinstance(wanted, float):
            return max(1, int(wanted * columns))
        assert isinstance(wanted, int)
        if wanted > columns:
            raise ParameterError(
                f"max_features={wanted} is more than the {columns} columns of X: give 1 to {columns}, a share above 0, 'sqrt', "
                "'log2' or None for all"
            )
        return wanted

    def rows_per_tree(self, rows: int) -> int:
        """Number of rows that are drawn for a tree, of so many.

        Raises
        ------
        ParameterError
            If `max_samples` is above the number of rows, and rows are drawn without replacement; or far above it.

        Examples
        --------
        >>> [ForestConfig(max_samples=given).rows_per_tree(10) for given in (None, 0.25, 1.0, 3, 1.5)]
        [10, 2, 10, 3, 15]
        """
        wanted = self.max_samples
        if wanted is None:
            return rows
        needed = wanted if isinstance(wanted, int) else max(1.0, wanted * rows)
        if self.bootstrap and needed > INT32:
            raise ParameterError(
                f"max_samples={wanted} draws {needed:.4g} of {rows} rows; give 2**31 - 1 at most"
            )
        drawn = int(needed)
        if drawn > rows and not self.bootstrap:
            raise ParameterError(
                f"max_samples={wanted} is more than the {rows} rows of X, which bootstrap=False cannot draw: give {rows} at "
                "most, or bootstrap=True"
            )
        return drawn

    def least_leaf(self, rows: int) -> int:
        """Fewest rows of a leaf, in a table of so many.

        Examples
        --------
        >>> ForestConfig(min_samples_leaf=0.01).least_leaf(150)
        2
        """
        wanted = self.min_samples_leaf
        return math.ceil(wanted * rows) if isinstance(wanted, float) else wanted

    def least_split(self, rows: int) -> int:
        """Fewest rows of a node that is split, in a table of so many: two leaves must fit as well.

        Examples
        --------
        >>> ForestConfig(min_samples_leaf=5).least_split(150)
        10
        """
        wanted = self.min_samples_split
        fewest = max(2, math.ceil(wanted * rows)) if isinstance(wanted, float) else wanted
        return max(fewest, 2 * self.least_leaf(rows))

    def resolve_columns(
        self, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
    ) -> ForestConfig:
        """The same with one direction a column in `monotonic_cst`, for a table that has these columns.

        Raises
        ------
        ParameterError
            If a column is unknown or named twice, there are too few or too many values, or a categorical column has a
            direction.
        """
        if self.monotonic_cst is None:
            return self
        found = resolve_directions("monotonic_cst", self.monotonic_cst, names, columns, categorical)
        return replace(self, monotonic_cst=found)
