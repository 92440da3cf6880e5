"""An ensemble of trees as a finished thing: predict, importance, save and load, dump.

Enters: a forest, its base score, the name of its objective, its parameters and the columns it was trained on;
or the bytes of a model file, of which nothing is trusted.
Leaves: a `Model`, `ForestModel`, `AdaBoostModel` or `IsolationModel`, predictions, importances, a file in the safetensors format.
Does not depend on: how trees are grown, gradients, bins, training loops.
"""
