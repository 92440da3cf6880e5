"""Filling the frames of a growing forest with what one form of trees computes."""

from spinney.growth.forest.kernels import access, finish, grow, search, work
from spinney.jit import framed
from spinney.jit.inline import filled


def tree_kernel(name, search_columns, totals_of, decrease_of, leaf_number, center_of=None, columns_at_once=None):
    """Make the kernel that grows trees of a form.

    `search_columns` finds the best split of some columns and `decrease_of` says what its score means. `totals_of` sums up a
    node, `leaf_number` a leaf. What a child would predict is the mean by its totals unless `center_of` says otherwise;
    `columns_at_once` says how many columns are searched in one go where that is not what `access` has.
    """
    at_once = columns_at_once or access.columns_at_once
    search_node = filled(search.search_node, search_columns=search_columns, columns_at_once=at_once)
    split_node = filled(work.split_node, search_node=search_node, decrease_of=decrease_of)
    total_children = filled(work.total_children, totals_of=totals_of)
    center_of = center_of or filled(work.mean_steps, totals_of=totals_of)
    bounds = filled(work.bounds_of_children, center_of=center_of)
    fill_leaf = filled(finish.fill_leaf, leaf_number=leaf_number)
    return framed(
        name,
        grow.grow_frame,
        grow_part=filled(work.grow_part, split_node=split_node, total_children=total_children, bounds_of_children=bounds),
        start_tree=filled(grow.start_tree, totals_of=totals_of),
        finish_tree=filled(finish.finish_tree, fill_leaf=fill_leaf),
    )
