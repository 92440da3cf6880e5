"""Kernels of AdaBoost's weights."""
