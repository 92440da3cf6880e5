"""What the parameters say about a tree, as records."""

from spinney.jit import f64, i64, record


@record
class Limits:
    """Where a tree ends."""

    max_depth: i64  # 0: no limit
    max_leaves: i64
    min_count: i64  # rows of a leaf
    min_hessian: f64
    depthwise: i64  # 1: level by level
    gamma: f64
    least_gain: f64  # splits at the bottom of the finished tree that gain less are taken back


@record
class Penalties:
    """What makes the weight of a leaf."""

    reg_lambda: f64
    reg_alpha: f64
    max_step: f64  # 0: no limit
    bounded: i64  # 1: weights keep to bounds, and the search compares gains instead of scores


@record
class CategoryRules:
    """How categories are split."""

    one_hot: i64  # most categories of which one is taken
    most_taken: i64  # categories of a set
    min_group: i64  # rows between two sets that are tried
    min_category: i64  # rows of a category that is ordered
    smooth: f64
    l2: f64
    charge: f64  # of a set, for every category in it, over the rows of the data set


@record
class ColumnRules:
    """Directions of columns, which may meet on a path, and how many are drawn with what chances."""

    columns: i64
    group_count: i64  # 0: all may meet
    grouped: i64
    weighted: i64
    per_level: i64  # columns drawn, 0 for all
    per_node: i64
    signs: i64["columns"]
    group_starts: i64["group_count + 1"]
    group_members: i64["grouped"]
    weights: f64["columns * weighted"]


@record
class Rules:
    """Everything that the parameters say about a tree."""

    limits: Limits
    penalties: Penalties
    categories: CategoryRules
    columns: ColumnRules
