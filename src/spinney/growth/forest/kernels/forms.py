"""Filling the frames of a growing forest with what one form of trees computes."""

from spinney.growth.forest.kernels import finish, grow, search, work
from spinney.jit import framed
from spinney.jit.inline import filled


def tree_kernel(name, search_columns, totals_of, decrease_of, leaf_number, bounds_of_children=None):
    """Make the kernel that grows trees of a form.

    `search_columns` finds the best split of some columns and `decrease_of` says what its score means. `totals_of` sums up a
    node, `leaf_number` a leaf. Bounds of children follow from the totals unless `bounds_of_children` says otherwise.
    """
    search_node = filled(search.search_node, search_columns=search_columns)
    split_node = filled(work.split_node, search_node=search_node, decrease_of=decrease_of)
    put_child = filled(work.put_child, totals_of=totals_of)
    bounds = bounds_of_children or filled(work.bounds_of_children, totals_of=totals_of)
    fill_leaf = filled(finish.fill_leaf, leaf_number=leaf_number)
    return framed(
        name,
        grow.grow_frame,
        grow_part=filled(work.grow_part, split_node=split_node, put_child=put_child, bounds_of_children=bounds),
        start_tree=filled(grow.start_tree, totals_of=totals_of),
        finish_tree=filled(finish.finish_tree, fill_leaf=fill_leaf),
    )
