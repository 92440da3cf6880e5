"""An ensemble of trees as a finished thing: predict, importance, save and load, dump.

Enters: a forest, its base score, the name of its objective, its parameters and the columns it was trained on;
or the bytes of a model file, of which nothing is trusted.
Leaves: a `Model`, `ForestModel`, `AdaBoostModel` or `IsolationModel`, predictions, importances, a file in the safetensors format.
Must not know: how trees are grown, gradients, bins, training loops.
"""

from spinney.model.adaboost_model import AdaBoostModel
from spinney.model.forest_model import ForestModel
from spinney.model.isolation_model import IsolationModel
from spinney.model.leaf_rows import LeafRows
from spinney.model.loading import load
from spinney.model.model import Model

__all__ = ["AdaBoostModel", "ForestModel", "IsolationModel", "LeafRows", "Model", "load"]
