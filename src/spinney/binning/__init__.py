"""Columns of numbers → small bin numbers.

Enters: a `Table` and labels. Leaves: `BinnedData`: cuts, a plan, codes, labels; sorted columns and fine bins on demand.
Does not depend on gradients, trees or how a model is trained.

`ingest` has the order of the steps. `cuts` (or `sketch`, for columns in batches) cuts columns into bins, `plan` decides how bins
are stored, `encode` makes codes, `matrix` holds them, `binned` has the data set that trainings read. `raw_table` and `views` are
for what needs the table's values again.

Words: a *bin* is the number of a value's interval in its column, or of its category. A *code* is what is stored of it in its
*group*: columns that share codes, one alone or a *bundle* of several that hardly ever have an entry in the same row. An *entry*
is a row that is not in its column's *default bin*, that of 0 or of missing values. Of a *sparse column* only entries are stored.
*Drafts* are codes with every column by itself, which become codes by the plan of all rows.
"""
