"""Which rows and columns a tree sees.

Enters: a seed, the rows that may be drawn, for some rules their gradients. Leaves: row or column numbers, ascending, and
gradients that are scaled so that the drawn rows stand for all; for a tree of a forest how often its bag has each row; for folds
a random order of the rows.
Must not know: trees.
"""

from spinney.sampling.bag import Bag
from spinney.sampling.columns import draw_columns
from spinney.sampling.gradient import GradientSampler
from spinney.sampling.joined import JoinedSampler
from spinney.sampling.order import random_order
from spinney.sampling.uniform import UniformSampler

__all__ = ["Bag", "GradientSampler", "JoinedSampler", "UniformSampler", "draw_columns", "random_order"]
