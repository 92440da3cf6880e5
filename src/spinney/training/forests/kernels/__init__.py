"""Kernels that inspect a finished forest: quantiles, proximities, the jackknife, shuffled columns."""
