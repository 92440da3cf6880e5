"""Which rows and columns a tree sees.

Enters: a seed, the rows that may be drawn, for some rules their gradients. Leaves: row or column numbers, ascending, and
gradients that are scaled so that the drawn rows stand for all; for a tree of a forest how often its bag has each row; for folds
a random order of the rows. Trees are not used here.

Random bits depend on the seed and on a row's number alone, and what is summed are whole numbers and counts by threshold. So a
draw depends neither on threads, nor on how rows are cut into blocks or shared among ranks. Of equal keys the first rows win.

A *bag* has the rows that a tree sees; a row's *key* decides whether it is drawn: the rows of the largest keys are. A new rule is
a class or a method beside those of `rows` that fills a bag, and is called where `training/booster.py` draws.
"""

from spinney.sampling.orders import draw_columns, random_order
from spinney.sampling.ranks import RankSampler
from spinney.sampling.rows import Bag, GradientSampler, UniformSampler

__all__ = ["Bag", "GradientSampler", "RankSampler", "UniformSampler", "draw_columns", "random_order"]
