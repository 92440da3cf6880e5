"""Kernels that inspect finished models: scores of shuffled rows; quantiles, proximities and the jackknife of forests."""
