"""Quadratic forms, from which the jackknife is computed."""

from spinney.jit import Member, f64, i64, kernel, out


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
