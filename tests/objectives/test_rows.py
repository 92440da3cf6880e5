"""The rows in `params` and the formulas behind them."""

import pytest

from spinney import metrics, objectives
from spinney.jit.kernel import REGISTRY
from spinney.jit.sources import all_kernels
from spinney.objectives.links import LINKS, STARTS
from spinney.objectives.targets import DOMAINS
from spinney.params import Config, metrics_for, table
from spinney.params.metrics import METRICS
from spinney.params.objectives import OBJECTIVES

PARAMETERS = {row.name for row in table()}


@pytest.mark.parametrize("row", OBJECTIVES.values(), ids=OBJECTIVES)
def test_every_objective_has_a_formula_in_a_file_of_its_name(row):
    all_kernels()
    assert REGISTRY[f"{row.name}_gradients"].__module__ == f"spinney.objectives.kernels.{row.name}"
    loss = objectives.get(Config(objective=row.name, num_class=3 if "num_class" in row.parameters else 0))
    assert (loss.row, loss.outputs) == (row, 3 if row.form == "softmax" else 1)


@pytest.mark.parametrize("row", OBJECTIVES.values(), ids=OBJECTIVES)
def test_what_the_row_of_an_objective_names_is_there(row):
    assert row.link in LINKS
    assert row.domain in DOMAINS
    assert row.form == "softmax" or row.link in STARTS
    assert set(row.parameters) <= PARAMETERS
    assert METRICS[row.metric].link == row.link
    assert metrics_for(row.name)[0] == row.metric


@pytest.mark.parametrize("row", METRICS.values(), ids=METRICS)
def test_every_metric_has_a_formula_in_a_file_of_its_name(row):
    all_kernels()
    if row.form == "area":
        assert f"{row.name}_losses" not in REGISTRY
    else:
        assert REGISTRY[f"{row.name}_losses"].__module__ == f"spinney.metrics.kernels.{row.name}"
    assert metrics.get(row.name).higher_is_better == row.higher_is_better
    assert any(row.name in metrics_for(objective) for objective in OBJECTIVES)


def test_every_formula_has_a_row():
    all_kernels()
    made = [name for name, kernel in REGISTRY.items() if kernel.in_package]
    losses = {name.removesuffix("_gradients") for name in made if name.endswith("_gradients")}
    judges = {name.removesuffix("_losses") for name in made if name.endswith("_losses")}
    assert losses == set(OBJECTIVES)
    assert judges == {row.name for row in METRICS.values() if row.form != "area"}
