"""One tree from bins and gradients.

Enters: codes of a table, gradients and hessians, parameters. Leaves: a tree, and the scores of its rows with the tree added.
Does not depend on losses, rounds or models. The growers are `HistGrower` (bins in memory), `BlockGrower` (bins block by block),
`ApproxGrower` (bins anew for every tree) and `ExactGrower` (sorted columns); `grower.py` has the interface that a training needs
of each, which `training/growers.py` gives them. `kernels/` grows.
`forest/` grows the trees of a forest, from bins and targets; `isolation/` those of an isolation forest, from raw values.

Growing gives a tree and the rows that grew it, listed by leaf. Adding the tree to the scores is a step of its own: by this list
or, where a tree grew on a sample, by a walk of all rows down the tree (`kernels/walk.py`). Validation rows walk down it, too.

A tree depends neither on the number of threads, nor on how rows are cut into blocks or shared among ranks: all that decides it
are sums of whole numbers (`kernels/packing.py`), and random numbers that depend on the row or on the node's path. What depends
on the row depends on its number in the data set, so some rows of a table give the bytes of a data set of these rows alone.

Words: the *bag* has the rows that a tree sees, *rows by leaf* (`LeafRows`) are the same rows listed by the leaf that they ended
in. *Rules* are the parameters of a tree: limits, penalties, categories, columns. An *output* is a score of a row, with trees of
its own; bins and drawn rows are the same for all outputs.
"""
