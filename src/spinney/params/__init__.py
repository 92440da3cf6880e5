"""One table of every hyper-parameter; validation, messages and documentation are made from it.

Enters: what the user wrote, a mapping of names (ours, XGBoost's or LightGBM's) to values.
Leaves: a frozen `Config` whose values have the right type, lie in range and fit together; or an error that
names the parameter, the value found and what would be right.
Must not know: data, trees, objectives' formulas, threads. It knows the names of objectives and metrics only.

`config.py` is the table, `rows.py` what one row says, `choices.py` the names of objectives and metrics,
`validate.py` the checks, `by_column.py` those of parameters about columns, `names.py` spellings and
suggestions, `render.py` the documentation.
"""

from spinney.params.by_column import found_places, placed
from spinney.params.choices import metrics_for
from spinney.params.config import Config, table
from spinney.params.names import parse, resolve
from spinney.params.render import markdown, numpydoc
from spinney.params.rows import Row
from spinney.params.validate import checked_rounds

__all__ = [
    "Config",
    "Row",
    "checked_rounds",
    "found_places",
    "markdown",
    "metrics_for",
    "numpydoc",
    "parse",
    "placed",
    "resolve",
    "table",
]
