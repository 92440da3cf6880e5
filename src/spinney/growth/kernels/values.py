"""Leaf values that the loss itself has found become values of a tree: within limits and bounds, times the learning rate."""

from spinney.growth.kernels.records import Control, TreeArrays
from spinney.growth.kernels.rules import Rules
from spinney.jit import f64, inline, kernel, out, record
from spinney.objectives.kernels.records import LeafRows


@record
class Renewed:
    """What was found for each leaf, and bounds of each node's value."""

    steps: out(f64["tree.max_nodes"])
    lower: out(f64["tree.max_nodes"])
    upper: out(f64["tree.max_nodes"])


@inline
def within(value, lower, upper):
    """The value, or the nearest bound."""
    return min(max(value, lower), upper)


@inline
def put_values(nodes, steps, max_step, tree):
    """Values of all nodes without the learning rate; an inner node has the mean of its children, by cover."""
    for back in range(nodes):
        number = nodes - 1 - back
        left = tree.left[number]
        if left == 0:
            tree.value[number] = within(steps[number], -max_step, max_step) if max_step > 0.0 else steps[number]
        else:
            a = tree.cover[left]
            b = tree.cover[left + 1]
            share = a / (a + b) if a + b > 0.0 else 0.5
            tree.value[number] = share * tree.value[left] + (1.0 - share) * tree.value[left + 1]


@inline
def bound_values(nodes, renewed, signs, tree):
    """Keep to the directions of columns: where one splits a node, its sides stay on theirs of the middle between both."""
    lower = renewed.lower
    upper = renewed.upper
    lower[0] = float("-inf")
    upper[0] = float("inf")
    for number in range(nodes):
        low = lower[number]
        high = upper[number]
        tree.value[number] = within(tree.value[number], low, high)
        left = tree.left[number]
        if left == 0:
            continue
        sign = signs[tree.feature[number]]
        middle = 0.5 * within(tree.value[left], low, high) + 0.5 * within(tree.value[left + 1], low, high)
        lower[left] = middle if sign < 0 else low
        upper[left] = middle if sign > 0 else high
        lower[left + 1] = middle if sign > 0 else low
        upper[left + 1] = middle if sign < 0 else high


@kernel
def write_values(
    by_leaf: LeafRows, renewed: Renewed, rules: Rules, control: Control["1"], tree: TreeArrays
):
    """Write the values of the latest tree."""
    nodes = by_leaf.grown[0].nodes
    put_values(nodes, renewed.steps, rules.penalties.max_step, tree)
    if rules.penalties.bounded != 0:
        bound_values(nodes, renewed, rules.columns.signs, tree)
    for number in range(nodes):
        tree.value[number] *= control[0].rate
