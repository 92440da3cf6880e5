"""Counting the trees in which two rows share a leaf."""

from spinney.jit import Member, i32, i64, kernel, out


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
