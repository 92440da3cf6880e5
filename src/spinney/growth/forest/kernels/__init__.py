"""The kernels that grow the trees of a forest, and the records that they share.

In layers, each of which knows only those below it:

- *drivers*: `grow`, many trees on many threads, a frame that `forms` fills; `pair_trees`, `channel_trees`, `median_trees`,
  its three forms; `leaves`, the leaf of every row in a grown tree;
- *trees*: `work`, a subtree depth first; `finish`, a tree's numbers and leaf values; `shape`, cutting it back;
- *search*: `search`, the columns of a node; `pair_search` with `pairs`, `channel_search` with `channels`, `medians`, the cuts
  of a column by the sums that a node has; `few`, those of a node of few rows; `light`, those of several classes in a light
  node; `drawn`, cuts drawn for many columns at once;
- *lists*: a column's codes in a node. `cells` sums its rows by code, `scores` says how good each cut is, `ranking` ranks the
  targets of rows, `ordering` sorts, `halves` says which rows order categories and which ones judge, `absent` where categories
  go that a node does not have;
- *rows*: `bags`, the rows of a tree; `partition`, parting them; `codes`, what they have in a column; `entries`, what they have
  in sparse ones; `access`, the numbers of a record; `records`.
"""
