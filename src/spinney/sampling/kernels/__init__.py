"""The kernels that draw rows and columns, what they draw for, and the records that they share."""
