"""What a tree is: flat node arrays, how to walk them, and how to show them.

Enters: the node arrays of grown trees, or arrays read from a model file.
Leaves: a `Forest` (all trees of a model, one after another), proof that its arrays are sound (`check`), and
text or JSON of one tree for people.
Must not know: how trees are grown, binned data, objectives, files.
"""

from spinney.tree.check import check
from spinney.tree.forest import Forest, Sets, Tree, concatenate

__all__ = ["Forest", "Sets", "Tree", "check", "concatenate"]
