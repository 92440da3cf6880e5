"""The user's table, target and weights, read into arrays that the other rooms understand.

Enters: a NumPy array, a list of rows, a pandas, Polars or PyArrow frame, or a SciPy sparse matrix; targets, weights and
margins of the same kinds, though not sparse.

Leaves: a `Table` (panels of numeric columns, NaN for missing, or stored entries), its `Schema` with the categories of its
categorical columns, and checked vectors, which travel together as `Labels`; a forest's target as `ForestTarget`. Arrays of
float32 and float64 are never copied; other numbers are converted block by block when they are walked over.

Must not know: bins, trees, objectives, estimators. Infinite feature values are not looked for here, because
that would be one more pass over the table: binning finds them, and names the column with `describe_column`.
"""

from spinney.data.categories import Categories, encode
from spinney.data.category_counts import CategoryCounts, learn_columns
from spinney.data.forest_target import ForestTarget, read_class_target, read_number_target, target_columns
from spinney.data.labels import Labels, named_column
from spinney.data.queries import ByQuery, by_query, read_queries, read_query_weight
from spinney.data.read import read_table
from spinney.data.schema import Schema, match_columns
from spinney.data.several import read_target
from spinney.data.survival import Spans, by_time, risk_sets, spans_of_events, spans_of_intervals
from spinney.data.table import Panel, Table, as_matrix, describe_column
from spinney.data.target import read_labels, read_margin, read_vector, read_weight

__all__ = [
    "ByQuery",
    "Categories",
    "CategoryCounts",
    "ForestTarget",
    "Labels",
    "Panel",
    "Schema",
    "Spans",
    "Table",
    "as_matrix",
    "by_query",
    "by_time",
    "describe_column",
    "encode",
    "learn_columns",
    "match_columns",
    "named_column",
    "read_class_target",
    "read_labels",
    "read_margin",
    "read_number_target",
    "read_queries",
    "read_query_weight",
    "read_table",
    "read_target",
    "read_vector",
    "read_weight",
    "risk_sets",
    "spans_of_events",
    "spans_of_intervals",
    "target_columns",
]
