"""Every parameter as a typed declaration, and a `ParameterSet` for each family of models.

Enters: what the user wrote, a mapping of names (ours, XGBoost's or LightGBM's) to values.
Leaves: a frozen `Config`, `ForestConfig`, `AdaBoostConfig` or `IsolationConfig` whose values have the right type, lie in
range and fit together; or an error that names the parameter, the value found and what would be right.
Does not depend on data, trees, formulas of losses and metrics, or threads.

`parameter.py` has the types of parameters, `per_column.py` those about columns, `parameter_set.py` what all families share.
`common.py`, `tree_parameters.py` and `loss_parameters.py` declare groups of parameters, of which `boosting.py` makes `Config`;
`forest.py`, `adaboost.py` and `isolation.py` are the other families, `estimators.py` has what only estimators take.
`objectives.py` and `metrics.py` are the tables of losses and metrics without their formulas, `docs.py` writes the documentation.

A new parameter is a declaration in its group or family; a new type of values is a class in `parameter.py`. Checks, messages,
documentation and the model file follow from it. Estimators that have it list it in their `parameters.py`, from which
`python -m spinney.estimators` writes their constructors.
"""

from spinney.params.adaboost import AdaBoostConfig
from spinney.params.boosting import Config
from spinney.params.common import DataParams, checked_jobs, checked_rounds, checked_seed
from spinney.params.docs import markdown, numpydoc
from spinney.params.forest import ForestConfig
from spinney.params.isolation import IsolationConfig
from spinney.params.loss_parameters import aft_values, gains_of
from spinney.params.metrics import MetricInfo, kind_of, metric_info, metrics_for
from spinney.params.objectives import (
    ObjectiveInfo,
    is_by_output,
    levels_of,
    link_of,
    objective_info,
    outputs_of,
    takes_targets,
    values_by_output,
)
from spinney.params.parameter import Parameter
from spinney.params.parameter_set import ParameterSet
from spinney.params.per_column import check_columns, resolve_columns

__all__ = [
    "AdaBoostConfig",
    "Config",
    "DataParams",
    "ForestConfig",
    "IsolationConfig",
    "MetricInfo",
    "ObjectiveInfo",
    "Parameter",
    "ParameterSet",
    "aft_values",
    "check_columns",
    "checked_jobs",
    "checked_rounds",
    "checked_seed",
    "gains_of",
    "is_by_output",
    "kind_of",
    "levels_of",
    "link_of",
    "markdown",
    "metric_info",
    "metrics_for",
    "numpydoc",
    "objective_info",
    "outputs_of",
    "resolve_columns",
    "takes_targets",
    "values_by_output",
]
