"""One tree from bins and gradients.

Enters: a binned matrix, gradients and hessians, parameters. Leaves: a tree, and the scores of its rows moved by it.
Must not know: losses, rounds, models. The parts are histogram, search, partition, queue; `kernels/tree.py` drives them.
`forest/` grows the trees of a forest, from bins and targets.
"""
