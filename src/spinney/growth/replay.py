"""A finished tree walked over bins again, after the fact: real thresholds become bins by the cuts that they came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.matrix import BinnedMatrix
from spinney.growth.kernels.walk import BinTree, Goal, WalkScratch, add_tree
from spinney.growth.subset import subset_of
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Grown
from spinney.tree import Tree


def replay(
    tree: Tree, output: int, matrix: BinnedMatrix, cuts: Cuts, scores: NDArray[np.float64], team: Team
) -> None:
    """Add a tree that was grown on these cuts to the scores of binned rows.

    Parameters
    ----------
    tree : Tree
        From a training with `tree_method="hist"`.
    output : int
        Which output the tree is for.
    matrix, cuts
        The rows, in the bins that the tree was grown on.
    scores : float64[outputs, rows]
        Moved by the values of the rows' leaves.
    team : Team
        The threads to work with.
    """
    by_bin = _by_bin(tree, output, cuts)
    goal = Goal(matrix.rows, len(scores), 0, subset_of(None, matrix.rows), np.empty(0, np.int32), scores)
    scratch = allocate(WalkScratch, threads=team.size, tree=by_bin)
    team.run(add_tree.bind(matrix.binned(cuts.categorical), by_bin, scratch, goal))


def _by_bin(tree: Tree, output: int, cuts: Cuts) -> BinTree:
    """A tree whose splits are "bin <= b", and sets of bins."""
    numeric = (tree.feature >= 0) & (cuts.categorical[tree.feature] == 0)
    cut_bin = np.zeros(tree.nodes, np.int32)
    cut_bin[numeric] = cuts.bins_below(tree.feature[numeric], tree.threshold[numeric])
    lengths = np.diff(tree.sets.start)
    words = int(lengths.max(initial=0))
    sets = np.zeros((tree.nodes, words), np.int64)
    for node, start, length in zip(tree.sets.node, tree.sets.start, lengths, strict=False):
        sets[node, :length] = tree.sets.bits[start : start + length]
    return BinTree(
        max_nodes=tree.nodes,
        words=words,
        grown=np.array([(output, tree.nodes)], Grown.dtype),
        feature=tree.feature,
        cut_bin=cut_bin,
        left=tree.left,
        default_left=tree.default_left,
        value=tree.value,
        count=tree.count,
        sets=sets,
        order=np.arange(tree.nodes),
    )
