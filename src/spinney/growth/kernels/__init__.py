"""The kernels that grow a tree, and the records that they share.

In layers, each of which knows only those below it:

- *drivers*: one tree from gradients to leaf values (`tree`, `blockwise`, `exact`, `refit`, `proposal`);
- *table*: nodes, queue and tasks; whose turn it is, who works on what (`nodes`, `queue`, `turns`, `batch`, `order`, `schedule`);
- *search*: sums by bin → the best split (`gain`, `constraints`, `draws`, `cuts`, `categories`, `units`, `scan`);
- *sums*: rows → sums by bin (`histogram`);
- *rows*: gradients as integers, rows by node, rows by leaf (`quantize`, `gather`, `partition`, `pieces`, `leaves`, `walk`).
"""
