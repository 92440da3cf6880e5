"""Trees whose nodes have a weight and one sum: of two classes, or of numbers."""

from spinney.growth.forest.kernels.finish import mean_number
from spinney.growth.forest.kernels.forms import tree_kernel
from spinney.growth.forest.kernels.pair_search import pair_columns_at_once, search_pairs
from spinney.growth.forest.kernels.pairs import totals_of_pairs
from spinney.growth.forest.kernels.scores import decrease_of_pairs

grow_pair_trees = tree_kernel(
    "grow_pair_trees", search_pairs, totals_of_pairs, decrease_of_pairs, mean_number, columns_at_once=pair_columns_at_once
)
