"""Weighted quantiles of the training targets that share leaves with a row."""

from spinney.jit import Member, f64, i64, inline, kernel, out
from spinney.training.forests.kernels.records import LeafEntries, Masses, Ranked

# Sums of shares miss whole parts by some 1e-16 each: a quantile that falls on the edge of two targets takes the lower one.
SLACK = 1e-12


@inline
def sink(numbers, at, count, parent):
    """Let a number of a heap, the largest on top, sink to its place."""
    number = numbers[at + parent]
    child = 2 * parent + 1
    while child < count:
        if child + 1 < count and numbers[at + child + 1] > numbers[at + child]:
            child += 1
        if numbers[at + child] <= number:
            break
        numbers[at + parent] = numbers[at + child]
        parent = child
        child = 2 * parent + 1
    numbers[at + parent] = number


@inline
def sort_numbers(numbers, at, count):
    """Sort some numbers in place, ascending."""
    for i in range(count // 2):
        sink(numbers, at, count, count // 2 - 1 - i)
    for i in range(count - 1):
        last = count - 1 - i
        largest = numbers[at]
        numbers[at] = numbers[at + last]
        numbers[at + last] = largest
        sink(numbers, at, last, 0)


@inline
def add_leaf(leaf, entries, ranked, masses, at, touched):
    """Deal a mass of 1 to the targets of a leaf's rows, by count and weight; returns how many targets have a mass now."""
    whole = 0.0
    for i in range(entries.start[leaf], entries.start[leaf + 1]):
        weight = entries.weight[entries.rows[i]] if entries.weights > 0 else 1.0
        whole += float(entries.counts[i]) * weight
    if whole > 0.0:
        for i in range(entries.start[leaf], entries.start[leaf + 1]):
            row = entries.rows[i]
            part = float(entries.counts[i]) * (entries.weight[row] if entries.weights > 0 else 1.0) / whole
            place = ranked.rank[row]
            if part > 0.0:
                if masses.mass[at + place] == 0.0:
                    masses.touched[at + touched] = place
                    touched += 1
                masses.mass[at + place] += part
    return touched


@inline
def list_all(masses, at):
    """List the targets that have a mass, ascending, by looking at all."""
    touched = 0
    for place in range(masses.rows):
        masses.touched[at + touched] = place
        touched += 1 if masses.mass[at + place] > 0.0 else 0
    return touched


@inline
def read_off(ranked, masses, at, touched, wanted, quantiles, found, to):
    """Write the quantiles of the masses: the first target up to which there is that share of the mass; then clear them."""
    total = 0.0
    for i in range(touched):
        total += masses.mass[at + masses.touched[at + i]]
    summed = 0.0
    k = 0
    for i in range(touched):
        place = masses.touched[at + i]
        summed += masses.mass[at + place]
        masses.mass[at + place] = 0.0
        while k < wanted and summed >= quantiles[k] * total * (1.0 - SLACK):
            found[to + k] = ranked.targets[place]
            k += 1
    while k < wanted:
        found[to + k] = float("nan")
        k += 1


@kernel
def find_quantiles(
    team: Member, rows: i64, trees: i64, wanted: i64, leaves: i64["rows * trees"], quantiles: f64["wanted"],
    entries: LeafEntries, ranked: Ranked, masses: Masses, found: out(f64["rows * wanted"]),
):
    """Quantiles, ascending, of the targets that share leaves with each row; NaN where these have no weight.

    Masses are added in the order of trees and summed in that of targets, however these are listed.
    """
    at = team.rank * masses.rows
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        touched = 0
        for tree in range(trees):
            touched = add_leaf(leaves[row * trees + tree], entries, ranked, masses, at, touched)
        # A sort takes about ten steps a number.
        if touched * 10 < masses.rows:
            sort_numbers(masses.touched, at, touched)
        else:
            touched = list_all(masses, at)
        read_off(ranked, masses, at, touched, wanted, quantiles, found, row * wanted)
