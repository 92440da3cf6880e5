"""What AdaBoost is made of: how rows and trees are weighed.

Enters: a grown tree, the leaf of every row in it. Leaves: the tree's error and weight, and the weights of the rows for the next
round. Weights of rows are whole numbers that sum up to some 2**52, so that no sum depends on threads.
Must not know: how trees are grown, files, scikit-learn.
"""
