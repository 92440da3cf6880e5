"""The kernels that grow the trees of a forest, and the records that they share.

They stand in layers; each imports only those below it:

- *drivers*: `forms`, the three kernels that grow trees, made from the frames below: for nodes with one sum, with several
  sums, and with medians; `leaves`, the leaf of every row in a grown tree;
- *trees*: `grow`, many trees on many threads, each depth first; `finish`, cutting a tree back, its numbers and leaf values;
- *search*: `search`, the columns of a node; `pairs`, cuts of a column in a node that has a weight and one sum; `channels`, in
  a node with several sums; `medians`, in a node whose impurity is the absolute error; `small_nodes`, faster ways for nodes of
  few rows or little weight; `drawn`, cuts drawn for many columns at once;
- *cuts of a column*: `cells`, sums of a node's rows by code; `scores`, the score of each cut; `categories`, which rows order the
  categories of a node, and the side of categories that it does not have;
- *rows*: `rows`, the rows of a tree, their codes in a column, and their partition; `entries`, their entries in sparse columns;
- `records`, which all of them share.

Their words:

- *record* of a row: its codes, number, weight in the bag and target, side by side, which splits move;
- *code*: the bin of a value or, in an exact forest, its rank among the distinct values of its column;
- *cell*: the sum of a node's rows of one code; *list*: the codes of a column that occur in a node, with their cells;
- *channel*: a sum that a node has beside its weight, that of a class or of an output; a node with one such sum has a *pair*;
- *form*: trees that the frames were filled for: pairs, channels, medians;
- *step*: the unit in which weights and targets are whole numbers;
- *slot*: memory of one tree that grows; *pool*: subtrees that wait for a thread;
- *key*: the seed of a node's random numbers, made from its path;
- *small node*: one of at most `SMALL_NODE_ROWS` rows, which are sorted by code.
"""
