"""Which rows and columns a tree sees.

Enters: a seed, the rows that may be drawn, for some rules their gradients. Leaves: row or column numbers, ascending, and
gradients that are scaled so that the drawn rows stand for all; for a tree of a forest how often its bag has each row; for folds
a random order of the rows. Trees are not used here.
"""

from spinney.sampling.orders import draw_columns, random_order
from spinney.sampling.ranks import RankSampler
from spinney.sampling.rows import Bag, GradientSampler, UniformSampler

__all__ = ["Bag", "GradientSampler", "RankSampler", "UniformSampler", "draw_columns", "random_order"]
