"""Kernels of labels: rows by query in the order of their scores, and sums over risk sets; and records for other packages too."""
