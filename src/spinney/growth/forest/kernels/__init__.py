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
"""
