"""The kernels of binning, and the records of a binned table.

`cut` finds the cuts of columns, `sketch` those of columns that come in batches; `bin` turns values into bins, and columns of
codes into rows; `entry` does both for sparse tables; `bundle` joins columns that are rarely away from their default bins;
`mixing` is a checksum of values. `records` has what they and other kernels share.
"""
