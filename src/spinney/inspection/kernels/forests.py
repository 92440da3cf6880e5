"""Kernels that inspect a finished forest: quantiles of targets in shared leaves, proximities, the jackknife."""

from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record, u8

# Sums of shares miss whole parts by some 1e-16 each: a quantile that falls on the edge of two targets takes the lower one.
SLACK = 1e-12


@record
class LeafEntries:
    """Training rows of all leaves, how often each counts, and their weights, if they have any."""

    leaves: i64
    entries: i64
    weights: i64
    start: i64["leaves + 1"]
    rows: i32["entries"]
    counts: u8["entries"]
    weight: f64["weights"]


@record
class Ranked:
    """Targets of the training rows, ascending, and the rank of every row among them."""

    rows: i64
    targets: f64["rows"]
    rank: i32["rows"]


@record(per_thread=True)
class Masses:
    """A thread's memory: the mass that a prediction gives to every target, and the ranks whose mass is above 0."""

    rows: i64
    mass: out(f64["rows"])
    touched: out(i32["rows"])


@inline
def sink(numbers, count, parent):
    """Move a number of a heap, the largest on top, down to its place."""
    number = numbers[parent]
    child = 2 * parent + 1
    while child < count:
        if child + 1 < count and numbers[child + 1] > numbers[child]:
            child += 1
        if numbers[child] <= number:
            break
        numbers[parent] = numbers[child]
        parent = child
        child = 2 * parent + 1
    numbers[parent] = number


@inline
def sort_numbers(numbers, count):
    """Sort the first so many numbers in place, ascending."""
    for i in range(count // 2):
        sink(numbers, count, count // 2 - 1 - i)
    for i in range(count - 1):
        last = count - 1 - i
        largest = numbers[0]
        numbers[0] = numbers[last]
        numbers[last] = largest
        sink(numbers, last, 0)


@inline
def add_leaf(leaf, entries, ranked, mine, touched):
    """Distribute a mass of 1 over the targets of a leaf's rows, by count and weight; returns how many targets have a mass now."""
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
                if mine.mass[place] == 0.0:
                    mine.touched[touched] = place
                    touched += 1
                mine.mass[place] += part
    return touched


@inline
def list_all(mine):
    """List the targets that have a mass, ascending, by reading all."""
    touched = 0
    for place in range(mine.rows):
        mine.touched[touched] = place
        touched += 1 if mine.mass[place] > 0.0 else 0
    return touched


@inline
def read_off(ranked, mine, touched, wanted, quantiles, found, to):
    """Write the quantiles of the masses: the first target up to which there is that share of the mass; then clear them."""
    total = 0.0
    for i in range(touched):
        total += mine.mass[mine.touched[i]]
    summed = 0.0
    k = 0
    for i in range(touched):
        place = mine.touched[i]
        summed += mine.mass[place]
        mine.mass[place] = 0.0
        while k < wanted and summed >= quantiles[k] * total * (1.0 - SLACK):
            found[to + k] = ranked.targets[place]
            k += 1
    while k < wanted:
        found[to + k] = float("nan")
        k += 1


@kernel
def find_quantiles(
    team: Member,
    rows: i64,
    trees: i64,
    wanted: i64,
    leaves: i64["rows * trees"],
    quantiles: f64["wanted"],
    entries: LeafEntries,
    ranked: Ranked,
    masses: Masses,
    found: out(f64["rows * wanted"]),
):
    """Quantiles, ascending, of the targets that share leaves with each row; NaN where these have no weight.

    Masses are added in the order of trees and summed in that of targets, however these are listed.
    """
    mine = own(masses, team.rank)
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        touched = 0
        for tree in range(trees):
            touched = add_leaf(leaves[row * trees + tree], entries, ranked, mine, touched)
        # A sort takes about ten steps a number.
        if touched * 10 < mine.rows:
            sort_numbers(mine.touched, touched)
        else:
            touched = list_all(mine)
        read_off(ranked, mine, touched, wanted, quantiles, found, row * wanted)


@kernel
def count_shared(
    team: Member,
    rows: i64,
    others: i64,
    trees: i64,
    leaves: i32["rows * trees"],
    other_leaves: i32["others * trees"],
    shared: out(i32["rows * others"]),
):
    """Add to every pair of rows of two tables the number of trees in which they reach the same leaf."""
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        at = row * trees
        for other in range(others):
            to = other * trees
            same = 0
            for tree in range(trees):
                same += 1 if leaves[at + tree] == other_leaves[to + tree] else 0
            shared[row * others + other] += same


@kernel
def quadratic_forms(
    team: Member,
    rows: i64,
    trees: i64,
    matrix: f64["trees * trees"],
    apart: f64["rows * trees"],
    forms: out(f64["rows"]),
    squares: out(f64["rows"]),
):
    """Of every row x of `apart`: x' matrix x, and x' x. The matrix is symmetric; each row is summed in one order."""
    for row in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        at = row * trees
        form = 0.0
        square = 0.0
        for one in range(trees):
            inner = 0.0
            for other in range(one):
                inner += matrix[one * trees + other] * apart[at + other]
            x = apart[at + one]
            form += x * (2.0 * inner + matrix[one * trees + one] * x)
            square += x * x
        forms[row] = form
        squares[row] = square
