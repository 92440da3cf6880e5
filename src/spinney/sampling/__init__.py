"""Which rows and columns a tree sees.

Enters: a seed, the rows that may be drawn. Leaves: row or column numbers, ascending. Must not know: trees.
"""

from spinney.sampling.columns import draw_columns
from spinney.sampling.uniform import draw_rows

__all__ = ["draw_columns", "draw_rows"]
