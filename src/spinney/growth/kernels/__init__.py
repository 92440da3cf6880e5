"""The kernels that grow a tree, and the records that they share.

They stand in layers; each imports only those below it:

- *drivers*: one tree from gradients to leaf values (`tree` where codes are in memory, `blockwise` where they come block by
  block, `exact` on sorted columns), leaf values from all rows (`leaf_values`), new bins for each tree (`proposal`);
- *table*: the nodes of a tree and the queue of its leaves (`nodes`), which thread splits which leaf (`turns`);
- *search*: sums by bin → the best split (`cuts`, `categories`, `draws`, `units`), or sorted values → the best split (`scan`);
- *sums*: rows → sums by bin (`histogram`);
- *rows*: gradients as integers (`quantize`), rows by node (`partition`, `pieces`), rows by leaf (`leaves`), rows that did not
  grow the tree (`walk`);
- `records`, which all of them share, and the limits of packed integers (`packing`).

Their words:

- *entry*: a row's number, quantized gradient and hessian in one 64-bit integer; in sorted columns, a value's rank and row;
- *packed sum*: a bin's sums while rows are added, in one 64-bit integer; *histogram*: a node's sums by bin, in three planes;
  *slot*: where a histogram is kept;
- *axis*: the codes of all groups one after another, then those of sparse columns; *unit*: columns side by side on it that are
  searched in one go;
- *range*: a thread's rows of one node, places in its list of entries;
- *task*: a split that is being made, with all that partition and histograms need; *schedule*: how threads share its work;
- *queue*: leaves that can be split, best first; a leaf's *turn* has come when it is the first of them;
- *block*: rows whose codes come together; *piece*: the entries of a block that one thread owns;
- *pass*: every block once; *batch*: the tasks that one pass works on.
"""
