"""Trees whose impurity is the absolute error around the median."""

from spinney.growth.forest.kernels.forms import tree_kernel
from spinney.growth.forest.kernels.medians import decrease_of_medians, search_medians, totals_of_medians
from spinney.growth.forest.kernels.ranking import median_number, median_steps

grow_median_trees = tree_kernel(
    "grow_median_trees", search_medians, totals_of_medians, decrease_of_medians, median_number, median_steps
)  # fmt: skip
