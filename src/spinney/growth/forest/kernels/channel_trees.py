"""Trees whose nodes have a weight and several sums: of more than two classes, or of several outputs."""

from spinney.growth.forest.kernels.channel_search import search_channels
from spinney.growth.forest.kernels.channels import decrease_of_channels, totals_of_channels
from spinney.growth.forest.kernels.finish import mean_number
from spinney.growth.forest.kernels.forms import tree_kernel
from spinney.growth.forest.kernels.light import class_columns_at_once

grow_channel_trees = tree_kernel(
    "grow_channel_trees", search_channels, totals_of_channels, decrease_of_channels, mean_number,
    columns_at_once=class_columns_at_once,
)  # fmt: skip
