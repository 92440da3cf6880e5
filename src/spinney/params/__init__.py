"""One table of every hyper-parameter; validation, messages and documentation are made from it.

Enters: what the user wrote, a mapping of names (ours, XGBoost's or LightGBM's) to values.
Leaves: a frozen `Config` whose values have the right type, lie in range and fit together; or an error that
names the parameter, the value found and what would be right.
Must not know: data, trees, formulas of losses and metrics, threads.

`config.py` is the table, `forest.py` that of forests, `adaboost.py` that of AdaBoost, `isolation.py` that of
isolation forests, `fields/` their groups of parameters, `rows.py` what one row says, `choices.py` the words that
parameters accept, `objectives.py` and `metrics.py` what is known of losses and metrics without their formulas,
`metric_names.py` which metric a name means, `validate.py` the checks, `by_column.py` those of parameters about
columns, `ranking.py` those of ranking, `seeds.py` what seeds are drawn from, `several.py` how many outputs there are,
`names.py` spellings and suggestions, `render.py` the documentation.
"""

from spinney.params.adaboost import AdaBoostConfig, adaboost_table, parse_adaboost
from spinney.params.by_column import found_places, placed
from spinney.params.config import Config, checked_jobs, checked_seed, table
from spinney.params.forest import ForestConfig, forest_table, parse_forest
from spinney.params.isolation import IsolationConfig, isolation_table, parse_isolation
from spinney.params.metric_names import kind_of, metric_row, metrics_for
from spinney.params.metrics import MetricRow
from spinney.params.names import parse, resolve
from spinney.params.objectives import ObjectiveRow, objective_row
from spinney.params.ranking import gains_of
from spinney.params.render import markdown, numpydoc
from spinney.params.rows import Row
from spinney.params.several import (
    is_by_output,
    levels_of,
    link_of,
    outputs_of,
    takes_targets,
    values_by_output,
)
from spinney.params.survival import aft_values
from spinney.params.validate import checked_rounds

__all__ = [
    "AdaBoostConfig",
    "Config",
    "ForestConfig",
    "IsolationConfig",
    "MetricRow",
    "ObjectiveRow",
    "Row",
    "adaboost_table",
    "aft_values",
    "checked_jobs",
    "checked_rounds",
    "checked_seed",
    "forest_table",
    "found_places",
    "gains_of",
    "is_by_output",
    "isolation_table",
    "kind_of",
    "levels_of",
    "link_of",
    "markdown",
    "metric_row",
    "metrics_for",
    "numpydoc",
    "objective_row",
    "outputs_of",
    "parse",
    "parse_adaboost",
    "parse_forest",
    "parse_isolation",
    "placed",
    "resolve",
    "table",
    "takes_targets",
    "values_by_output",
]
