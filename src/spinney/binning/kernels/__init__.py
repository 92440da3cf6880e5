"""The kernels that cut and bin columns, and the records of what comes out."""
