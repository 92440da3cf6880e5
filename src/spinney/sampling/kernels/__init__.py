"""Kernels that draw rows and columns, their random bits, and their records.

`random` has the bits, `rows` draws by keys, `gradient` makes keys and chances of gradients, `ranks` draws where several ranks
hold the rows, `bags` counts how often ensembles draw each row, `orders` draws orders and columns.
"""
