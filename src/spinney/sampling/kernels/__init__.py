"""Kernels that draw rows and columns, their random bits, and their records."""
