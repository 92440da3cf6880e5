"""What random numbers are for.

Random bits are a function of (seed, purpose, position). Every purpose has a number of its own, so that no two draws share
their bits. Models depend on these numbers: one that is in use never changes. The position is said with each.
"""

PURPOSE_ROUNDING = 1  # whether quantized gradients are rounded up or down; by row
PURPOSE_ROWS = 2  # a uniform sample of rows; by row
PURPOSE_COLUMNS = 3  # the columns of a tree; by column
PURPOSE_OTHERS = 4  # rows that GOSS draws beside those it keeps; by row
PURPOSE_WEIGHTED = 5  # rows drawn in proportion to their gradients; by row
PURPOSE_CHANCE = 6  # rows drawn each with a chance of its own; by row
PURPOSE_TREE = 7  # the seed of a tree of a forest; by its number
PURPOSE_BAG = 8  # a row of a tree's bag, drawn with replacement; by draw
PURPOSE_SUBSET = 9  # rows of a tree's bag, each at most once; by row
PURPOSE_SPLIT = 10  # the columns that a node of a forest tries, whose seed knows its path; by draw
PURPOSE_CUT = 11  # where an extra tree cuts a column, whose seed knows the node's path; by draw
PURPOSE_SHUFFLE = 12  # the order of a column that is shuffled, whose seed knows turn (tree or repeat) and column; by row
PURPOSE_FEW = 13  # the few rows of an isolation tree; by draw
PURPOSE_SIDE = 14  # where missing values go at a split of an isolation tree, whose seed knows the node's path; 0
PURPOSE_SET = 15  # which categories go left there; by try and category
PURPOSE_HEAVY = 16  # a row of a bag, drawn with replacement by weight; by draw
PURPOSE_PLACE = 17  # where in its gap the threshold of a drawn cut lies, whose seed knows the node's path; only position 0
PURPOSE_TARGETS = 18  # what rows of a query should score beside each other, in one round; by row
PURPOSE_FOLDS = 20  # the order in which rows or groups of rows are dealt out to folds or parts; by place
PURPOSE_TOLD = 21  # the fold whose rows are not told of each other's targets; by row, query or mark
PURPOSE_MARK = 22  # what bins add to the marks of rows, by place among those of all columns; marks of targets, by their bits
PURPOSE_HALF = 23  # the rows of a node that order categories; the others judge them; its seed knows the node's path; by row
PURPOSE_ABSENT = 24  # sides of categories that a node does not have, whose seed knows the node's path; by word and digit
PURPOSE_ORDER = 25  # whether an order of categories runs up or down, whose seed knows the node's path; only position 0
PURPOSE_LEVEL = 1000  # and the depth added: the columns of a level; by place among the tree's columns
PURPOSE_NODE = 1000000  # the columns of a node, whose seed knows its path; by place among the level's columns
