"""The weights of rows, round by round. They are whole numbers in float64, so that their sums do not depend on threads."""

import numpy as np

from spinney.jit import Member, f64, i32, i64, inline, item, kernel, out, record, u8
from spinney.jit.math import exp

# Losses of numbers
LINEAR = 0
SQUARE = 1
EXPONENTIAL = 2


@item(own_line=True)
class WeightSums:
    """The sum of a thread, and the largest error among its rows."""

    sum: i64
    largest: f64


@record
class RowWeights:
    """The weight of every row, and the sums of each thread."""

    rows: i64
    threads: i64
    weight: out(f64["rows"])
    sums: out(WeightSums["threads"])


@inline
def whole(value):
    """The nearest whole number."""
    return np.int64(np.floor(value + 0.5))


@kernel
def mark_wrong(
    team: Member,
    leaves: i64,
    leaf: i32["state.rows"],
    predicted: i32["leaves"],
    target: i32["state.rows"],
    state: RowWeights,
    wrong: out(u8["state.rows"]),
):
    """Mark the rows for which the tree predicts a wrong class, and sum their weights."""
    total = np.int64(0)
    for i in range(state.rows * team.rank // team.size, state.rows * (team.rank + 1) // team.size):
        miss = predicted[leaf[i]] != target[i]
        wrong[i] = 1 if miss else 0
        total += np.int64(state.weight[i]) if miss else np.int64(0)
    state.sums[team.rank].sum = total


@kernel
def scale_weights(team: Member, right: f64, mistaken: f64, wrong: u8["state.rows"], state: RowWeights):
    """Multiply the weights of marked rows by one factor and those of all others by another. A weight becomes at least 1."""
    total = np.int64(0)
    for i in range(state.rows * team.rank // team.size, state.rows * (team.rank + 1) // team.size):
        moved = max(whole(state.weight[i] * (mistaken if wrong[i] != 0 else right)), np.int64(1))
        state.weight[i] = float(moved)
        total += moved
    state.sums[team.rank].sum = total


@kernel
def measure_errors(
    team: Member,
    leaves: i64,
    leaf: i32["state.rows"],
    predicted: f64["leaves"],
    target: f64["state.rows"],
    state: RowWeights,
    error: out(f64["state.rows"]),
):
    """The error of the tree for each row, and the largest of these errors."""
    largest = 0.0
    for i in range(state.rows * team.rank // team.size, state.rows * (team.rank + 1) // team.size):
        error[i] = abs(predicted[leaf[i]] - target[i])
        largest = max(largest, error[i])
    state.sums[team.rank].largest = largest


@kernel
def scale_errors(team: Member, form: i64, largest: f64, state: RowWeights, error: out(f64["state.rows"])):
    """Turn errors into losses from 0 to 1, and sum them by weight."""
    total = np.int64(0)
    for i in range(state.rows * team.rank // team.size, state.rows * (team.rank + 1) // team.size):
        loss = error[i] / largest
        if form == SQUARE:
            loss = loss * loss
        elif form == EXPONENTIAL:
            loss = 1.0 - exp(-loss)
        error[i] = loss
        total += whole(state.weight[i] * loss)
    state.sums[team.rank].sum = total


@kernel
def lower_weights(team: Member, log_beta: f64, most: f64, loss: f64["state.rows"], state: RowWeights):
    """Multiply each weight by beta to the power of (the largest possible loss - its loss).

    Sums are those of the weights as whole numbers.
    """
    total = np.int64(0)
    for i in range(state.rows * team.rank // team.size, state.rows * (team.rank + 1) // team.size):
        state.weight[i] *= exp((most - loss[i]) * log_beta)
        total += whole(state.weight[i])
    state.sums[team.rank].sum = total
