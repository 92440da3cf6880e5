"""Which rows and columns a tree sees."""

from dataclasses import dataclass

from spinney.params.choices import LEAF_VALUES, SAMPLING_METHODS
from spinney.params.rows import param, share


@dataclass(frozen=True, kw_only=True)
class SamplingFields:
    """Which rows and columns a tree sees."""

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
