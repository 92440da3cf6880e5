"""The kernels of prediction: `walk` takes rows of values, `sparse` the stored entries of a sparse table."""
