"""Losses of metrics, a file each, and the frames that sum them.

A block of rows is summed by one thread in order, so that the sums do not depend on the threads.
"""
