"""Kernels of judging: scores of rows of which some columns are shuffled."""
