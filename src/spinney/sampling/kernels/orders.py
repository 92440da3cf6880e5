"""Orders of rows in which columns are shuffled."""

from spinney.jit import Member, i64, kernel
from spinney.sampling.kernels.purposes import PURPOSE_SHUFFLE
from spinney.sampling.kernels.random import LOW_32, random_bits
from spinney.sampling.kernels.records import Orders


@kernel
def draw_orders(team: Member, seed: i64, turn: i64, drawn: Orders):
    """Draw an order of the rows for each column, every order equally likely (Fisher and Yates)."""
    of_turn = random_bits(seed, PURPOSE_SHUFFLE, turn)
    for k in range(team.rank, drawn.columns, team.size):
        of_column = random_bits(of_turn, PURPOSE_SHUFFLE, drawn.column[k])
        at = k * drawn.rows
        for i in range(drawn.rows):
            drawn.orders[at + i] = i
        for i in range(drawn.rows - 1, 0, -1):
            j = (((random_bits(of_column, PURPOSE_SHUFFLE, i) >> 32) & LOW_32) * (i + 1)) >> 32
            number = drawn.orders[at + i]
            drawn.orders[at + i] = drawn.orders[at + j]
            drawn.orders[at + j] = number
