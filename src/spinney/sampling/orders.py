"""Orders in which the values of a column are shuffled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.kernels.orders import draw_orders
from spinney.sampling.kernels.records import Orders


def shuffled_orders(seed: int, turn: int, columns: Sequence[int], rows: int, team: Team) -> NDArray[np.int32]:
    """Draw an order of rows for each of some columns, every order equally likely.

    Parameters
    ----------
    seed, turn : int
        An order depends on these two and on the number of its column: turns are trees, or repeats.
    columns : sequence of int
        Numbers of the columns.
    rows : int
        How many rows there are.
    team : Team
        Threads to work with; the orders do not depend on them.

    Returns
    -------
    int32[columns, rows]
        In each line the numbers of all rows.

    Examples
    --------
    >>> np.sort(shuffled_orders(0, 1, [5], 4, Team(1))).tolist()
    [[0, 1, 2, 3]]
    """
    drawn = allocate(Orders, rows=rows, columns=len(columns), column=np.array(columns, np.int64))
    team.run(draw_orders.bind(seed, turn, drawn))
    orders: NDArray[np.int32] = drawn.orders.reshape(len(columns), rows)
    return orders
