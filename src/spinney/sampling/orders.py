"""Random orders of rows, orders of shuffled columns, the columns of a tree, and random bits for many positions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.kernels.orders import choose_columns, choose_weighted_columns, draw_order, draw_orders
from spinney.sampling.kernels.random import GOLDEN, MIX_1, MIX_2
from spinney.sampling.kernels.records import Orders

_WRAP = 2**64


def random_order(rows: int, seed: int) -> NDArray[np.int64]:
    """The numbers from 0 to `rows` - 1 in a random order; the same seed gives the same.

    Examples
    --------
    >>> sorted(random_order(4, seed=7).tolist())
    [0, 1, 2, 3]
    """
    order = np.empty(rows, np.int64)
    draw_order(rows, seed, order)
    return order


def shuffled_orders(seed: int, turn: int, columns: Sequence[int], rows: int, team: Team) -> NDArray[np.int32]:
    """Draw an order of rows for each of some columns, every order equally likely.

    Parameters
    ----------
    seed, turn : int
        An order depends on these two and on the number of its column: turns are trees, or repeats.
    columns : sequence of int
        Numbers of the columns.
    rows : int
        Number of rows.
    team : Team
        Threads to work with; the orders do not depend on them.

    Returns
    -------
    int32[columns, rows]
        For each column the numbers of all rows in its order.

    Examples
    --------
    >>> np.sort(shuffled_orders(0, 1, [5], 4, Team(1))).tolist()
    [[0, 1, 2, 3]]
    """
    drawn = allocate(Orders, rows=rows, columns=len(columns), column=np.array(columns, np.int64))
    team.run(draw_orders.bind(seed, turn, drawn))
    orders: NDArray[np.int32] = drawn.orders.reshape(len(columns), rows)
    return orders


def draw_columns(
    columns: int, wanted: int, seed: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """Draw exactly `wanted` of the columns, ascending; with weights at most as many as have a weight above 0.

    Examples
    --------
    >>> len(draw_columns(10, 4, seed=1))
    4
    >>> draw_columns(3, 2, seed=1, weights=np.array([1.0, 0.0, 2.0])).tolist()
    [0, 2]
    """
    numbers = np.arange(columns, dtype=np.int64)
    if weights is not None:
        choose_weighted_columns(columns, wanted, seed, weights, np.empty(columns), numbers)
        return numbers[: min(wanted, np.count_nonzero(weights))]
    choose_columns(columns, wanted, seed, numbers)
    return numbers[:wanted]


def random_words(seed: int, purpose: int, positions: NDArray[Any]) -> NDArray[np.uint64]:
    """The `random_bits` of the kernels for each position of a purpose.

    Examples
    --------
    >>> int(random_words(0, 0, np.array([0]))[0]) == int(random_words(0, 0, np.arange(3))[0])
    True
    """
    start = _mixed(np.array([(seed + purpose * GOLDEN) % _WRAP], np.uint64))
    return _mixed(start + (positions.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN % _WRAP))


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits; products of arrays wrap around."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(MIX_1 % _WRAP)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(MIX_2 % _WRAP)
    return z ^ (z >> np.uint64(31))
