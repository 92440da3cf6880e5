"""The three kernels that grow trees of a forest: frames of `grow`, `search` and `finish`, filled for each form of trees."""

from spinney.growth.forest.kernels import finish, grow, records, search
from spinney.growth.forest.kernels.channels import search_channels, totals_of_channels
from spinney.growth.forest.kernels.finish import mean_number
from spinney.growth.forest.kernels.medians import (
    decrease_of_medians,
    median_number,
    median_steps,
    search_medians,
    totals_of_medians,
)
from spinney.growth.forest.kernels.pairs import pair_columns_at_once, search_pairs, totals_of_pairs
from spinney.growth.forest.kernels.scores import decrease_of_channels, decrease_of_pairs
from spinney.growth.forest.kernels.small_nodes import class_columns_at_once
from spinney.jit import framed
from spinney.jit.types import filled


def tree_kernel(
    name, search_columns, totals_of, decrease_of, leaf_number, center_of=None, columns_at_once=None
):
    """Make the kernel that grows trees of a form.

    `search_columns` finds the best split of some columns, and `decrease_of` turns its score into a decrease of impurity.
    `totals_of` sums the rows of a node, `leaf_number` computes a number of a leaf. `center_of` is the prediction of a child, by
    default the mean of its totals; `columns_at_once` is how many columns are searched together, by default that of `records`.
    """
    at_once = columns_at_once or records.columns_at_once
    search_node = filled(search.search_node, search_columns=search_columns, columns_at_once=at_once)
    split_node = filled(grow.split_node, search_node=search_node, decrease_of=decrease_of)
    total_children = filled(grow.total_children, totals_of=totals_of)
    center_of = center_of or filled(grow.mean_steps, totals_of=totals_of)
    bounds = filled(grow.bounds_of_children, center_of=center_of)
    fill_leaf = filled(finish.fill_leaf, leaf_number=leaf_number)
    return framed(
        name,
        grow.grow_frame,
        grow_part=filled(
            grow.grow_part, split_node=split_node, total_children=total_children, bounds_of_children=bounds
        ),
        start_tree=filled(grow.start_tree, totals_of=totals_of),
        finish_tree=filled(finish.finish_tree, fill_leaf=fill_leaf),
    )


# --- Trees whose nodes have a weight and one sum: of two classes, or of numbers


grow_pair_trees = tree_kernel(
    "grow_pair_trees",
    search_pairs,
    totals_of_pairs,
    decrease_of_pairs,
    mean_number,
    columns_at_once=pair_columns_at_once,
)


# --- Trees whose nodes have a weight and several sums: of more than two classes, or of several outputs


grow_channel_trees = tree_kernel(
    "grow_channel_trees", search_channels, totals_of_channels, decrease_of_channels, mean_number,
    columns_at_once=class_columns_at_once,
)  # fmt: skip


# --- Trees whose impurity is the absolute error around the median


grow_median_trees = tree_kernel(
    "grow_median_trees", search_medians, totals_of_medians, decrease_of_medians, median_number, median_steps
)  # fmt: skip
