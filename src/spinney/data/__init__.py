"""Tables and labels: what users give, read into arrays that the other packages use.

Enters: a NumPy array, a list of rows, a pandas, Polars or PyArrow frame, or a SciPy sparse matrix; targets, weights and
margins of the same kinds, though not sparse (`RawLabels`). All at once, in batches, or in files.

Leaves: a `Table` (panels of numeric columns, NaN for missing, or stored entries), its `Schema` with the categories of its
categorical columns, and `Labels`; a forest's target as `ForestTarget`. Arrays of float32 and float64 are not copied; other
numbers are converted block by block when they are used.

Bins, trees, objectives and estimators are not used here. Infinite values are not searched for, because that would be one more
pass over the table: binning finds them, and names the column with `describe_column`.
"""

from spinney.data.categories import Categories, encode
from spinney.data.category_counts import CategoryCounts, find_schema
from spinney.data.label_collector import LabelCollector
from spinney.data.labels import Labels, RawLabels, named_column
from spinney.data.queries import ByQuery, by_query, read_queries, read_query_weight
from spinney.data.read import read_table
from spinney.data.schema import Schema, match_columns
from spinney.data.survival import Spans, by_time, risk_sets, spans_of_events, spans_of_intervals
from spinney.data.table import Panel, Table, as_matrix, describe_column
from spinney.data.target import (
    ForestTarget,
    read_class_labels,
    read_class_target,
    read_labels,
    read_margin,
    read_number_target,
    read_target,
    read_vector,
    read_weight,
    target_columns,
)

__all__ = [
    "ByQuery",
    "Categories",
    "CategoryCounts",
    "ForestTarget",
    "LabelCollector",
    "Labels",
    "Panel",
    "RawLabels",
    "Schema",
    "Spans",
    "Table",
    "as_matrix",
    "by_query",
    "by_time",
    "describe_column",
    "encode",
    "find_schema",
    "match_columns",
    "named_column",
    "read_class_labels",
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
