"""Kernels of what can be learnt about a forest."""
