"""The kernels that grow a tree, and the records that they share.

They stand in layers; each imports only those below it:

- *drivers*: one tree from gradients to leaf values (`tree` where codes are in memory, `blockwise` where they come block by
  block, `exact` on sorted columns), leaf values from all rows (`leaf_values`), new bins for each tree (`proposal`);
- *table*: the nodes of a tree and the queue of its leaves (`nodes`), which thread splits which leaf (`turns`);
- *search*: sums by bin → the best split (`cuts`, `categories`, `draws`, `units`), or sorted values → the best split (`scan`);
- *sums*: rows → sums by bin (`histogram`);
- *rows*: gradients as integers (`quantize`), rows by node (`partition`, `pieces`), rows by leaf (`leaves`), rows that did not
  grow the tree (`walk`);
- `records`, which all of them share, and how integers are packed, with their limits.
"""
