"""Target encoding: columns of numbers made from the target, for columns of many categories; and the search for duplicate rows.

Enters: `BinnedData`, parameters. Leaves: binned data with encoded columns, the `TargetEncoding` that a model
keeps, and a number for each row that its duplicates share. Trees, rounds and models are not used here.

No row is encoded with its own target, which would be target leakage: rows are in folds, and the value of a row is a mean of the
rows of the other folds. Rows of a group, of a query, or duplicates of each other are in one fold. `fit` is where a training
begins: it decides which columns are encoded, and fits the encoding on the training's rows. `sums` has the sums by fold and
category, `pairs` chooses pairs of columns, `columns` makes bins of the encoded columns, and `duplicates` finds duplicate rows.

Words: an *encoded column* is a column of numbers after those of the table, made from an `EncodedFeature` (a column of categories,
or a pair of them) and the target. *Row groups* are rows that are held out together, and not encoded with each other's target. A
*row hash* is a number that rows of the same bins share.
"""
