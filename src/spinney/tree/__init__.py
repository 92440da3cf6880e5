"""What a tree is: flat node arrays, how to walk them, and how to show them.

Enters: the node arrays of grown trees, or arrays read from a model file.
Leaves: a `Forest` (all trees of a boosted model or of an isolation forest, one after another) or a `CompactForest` (those of a
random forest), whose arrays are checked (`check`, `check_compact`), and text or JSON of one tree for people.
Does not depend on how trees are grown, binned data, objectives or files.
"""

from spinney.tree.check import check
from spinney.tree.check_compact import check_compact
from spinney.tree.compact import CompactForest, GrownTree
from spinney.tree.forest import Forest, Sets, Tree, concatenate

__all__ = ["CompactForest", "Forest", "GrownTree", "Sets", "Tree", "check", "check_compact", "concatenate"]
