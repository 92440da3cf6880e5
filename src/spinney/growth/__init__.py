"""One tree from bins and gradients.

Enters: codes of a table, gradients and hessians, parameters. Leaves: a tree, and the scores of its rows with the tree added.
Does not depend on losses, rounds or models. The growers are `HistGrower` (bins in memory), `BlockGrower` (bins block by block),
`ApproxGrower` (bins anew for every tree) and `ExactGrower` (sorted columns); `grower.py` has the interface that a training needs
of each, which `training/growers.py` gives them. `kernels/` grows.
`forest/` grows the trees of a forest, from bins and targets; `isolation/` those of an isolation forest, from raw values.
"""
