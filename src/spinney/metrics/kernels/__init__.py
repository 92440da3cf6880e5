"""Kernels of metrics: predictions from scores, losses and the frames that sum them, areas under curves, lists of queries, pairs
of times.

One thread sums a block of rows in order, so the sums do not depend on the number of threads.
"""
