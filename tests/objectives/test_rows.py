"""The rows in `params` and the formulas behind them."""

import pytest

from spinney import objectives
from spinney.jit.kernel import REGISTRY
from spinney.jit.sources import all_kernels
from spinney.objectives.links import LINKS
from spinney.objectives.starts import STARTS
from spinney.objectives.targets import DOMAINS
from spinney.params import Config, kind_of, metrics_for, table
from spinney.params.metrics import KINDS, METRICS
from spinney.params.objectives import OBJECTIVES, OWN

PARAMETERS = {row.name for row in table()}
# Forms of metrics that are no mean of a formula.
WITHOUT_FORMULA = ("area", "by_class", "likelihood", "concordance")
# All but the one whose formula is a user's function.
NAMED = {name: row for name, row in OBJECTIVES.items() if name != OWN}
PREDICTED = {kind_of(name) for name in NAMED}


@pytest.mark.parametrize("row", NAMED.values(), ids=NAMED)
def test_every_objective_has_a_formula_in_a_file_of_its_name(row):
    all_kernels()
    assert REGISTRY[f"{row.name}_gradients"].__module__ == f"spinney.objectives.kernels.{row.name}"
    loss = objectives.get(Config(objective=row.name, num_class=3 if "num_class" in row.parameters else 0))
    assert (loss.row, loss.outputs) == (row, 3 if "num_class" in row.parameters else 1)


@pytest.mark.parametrize("row", NAMED.values(), ids=NAMED)
def test_what_the_row_of_an_objective_names_is_there(row):
    assert row.link in LINKS
    assert row.link in KINDS
    assert row.domain in DOMAINS
    assert row.start in (*STARTS, "quantile", "root")
    assert set(row.parameters) <= PARAMETERS
    assert kind_of(row.name) in METRICS[row.metric].fits
    assert metrics_for(row.name)[0] == row.metric


@pytest.mark.parametrize("row", METRICS.values(), ids=METRICS)
def test_every_formula_of_a_metric_stands_in_a_file_of_its_name(row):
    all_kernels()
    formula = row.formula or row.name
    if row.form in WITHOUT_FORMULA:
        assert f"{formula}_losses" not in REGISTRY
    else:
        kernel = f"{formula}_{'values' if row.form == 'by_query' else 'losses'}"
        assert REGISTRY[kernel].__module__ == f"spinney.metrics.kernels.{formula}"
    assert row.doc
    assert set(row.fits) <= PREDICTED


def test_every_formula_has_a_row():
    all_kernels()
    made = [name for name, kernel in REGISTRY.items() if kernel.in_package]
    losses = {name.removesuffix("_gradients") for name in made if name.endswith("_gradients")}
    judges = {name.removesuffix("_losses") for name in made if name.endswith("_losses")}
    assert losses == set(NAMED)
    assert judges == {
        row.formula or row.name for row in METRICS.values() if row.form not in (*WITHOUT_FORMULA, "by_query")
    }
    judging = [name for name in made if REGISTRY[name].__module__.startswith("spinney.metrics.")]
    lists = {name.removesuffix("_values") for name in judging if name.endswith("_values")}
    assert lists == {row.name for row in METRICS.values() if row.form == "by_query"}


@pytest.mark.parametrize("kind", sorted(PREDICTED))
def test_a_spelling_means_one_metric_of_an_objective(kind):
    fitting = [row for row in METRICS.values() if kind in row.fits]
    words = [word for row in fitting for word in (row.name, *row.spellings)]
    assert len(words) == len(set(words))
