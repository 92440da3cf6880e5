"""Kernels that score rows of which some columns are shuffled."""
