"""The kernels that pack the codes of a page."""
