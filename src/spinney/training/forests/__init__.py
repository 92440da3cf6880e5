"""What can be learnt about a finished forest.

Enters: a `ForestModel`, a table that it has read, targets, and the bags of its trees, which are drawn anew from their seed.
Leaves: out-of-bag predictions and scores, Breiman's strength and correlation, uncertainty, quantiles, importances by shuffling,
proximities. Trees are taken a few at a time, so that memory stays small, and always in their order, so that no result depends on
threads. Must not know: how trees are grown, the user's labels, scikit-learn.
"""
