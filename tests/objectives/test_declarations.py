"""Losses and metrics are declared in `params`, and their formulas follow: for all that there are, and for a new one of each."""

import numpy as np
import pytest

import spinney as sp
from spinney import metrics, objectives
from spinney.data import Labels
from spinney.data.labels import allocate_gradients
from spinney.errors import ParameterError
from spinney.jit.kernel import REGISTRY
from spinney.jit.sources import all_kernels
from spinney.jit.team import Team
from spinney.metrics.kernels.pointwise import metric
from spinney.objectives.base import DOMAINS, LINKS
from spinney.objectives.kernels.pointwise import loss_without_search
from spinney.objectives.starts import STARTS
from spinney.params import Config, MetricInfo, ObjectiveInfo, kind_of, metrics_for
from spinney.params.metrics import KINDS, METRICS
from spinney.params.objectives import OBJECTIVES, OWN

PARAMETERS = {row.name for row in Config.table()}
# Forms of metrics that are no mean of a formula.
WITHOUT_FORMULA = ("area", "by_class", "likelihood", "concordance")
# All but the one whose formula is a user's function.
NAMED = {name: row for name, row in OBJECTIVES.items() if name != OWN}
FILES = {
    "pointwise": "pointwise",
    "softmax": "classes",
    "one_vs_rest": "classes",
    "pairs": "ranking",
    "listwise": "ranking",
    "cox": "survival",
    "aft": "survival",
}
PREDICTED = {kind_of(name) for name in NAMED}


@pytest.mark.parametrize("row", NAMED.values(), ids=NAMED)
def test_every_objective_has_a_formula_in_the_file_of_its_form(row):
    all_kernels()
    assert REGISTRY[f"{row.name}_gradients"].__module__ == f"spinney.objectives.kernels.{FILES[row.form]}"
    loss = objectives.get(Config(objective=row.name, num_class=3 if "num_class" in row.parameters else 0))
    assert (loss.info, loss.outputs) == (row, 3 if "num_class" in row.parameters else 1)


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
def test_every_metric_has_its_formula(row):
    all_kernels()
    formula = row.formula or row.name
    if row.form in WITHOUT_FORMULA:
        assert f"{formula}_losses" not in REGISTRY
    else:
        kernel = f"{formula}_{'values' if row.form == 'by_query' else 'losses'}"
        assert REGISTRY[kernel].__module__.startswith("spinney.metrics.kernels.")
    assert row.doc
    assert set(row.fits) <= PREDICTED


def test_every_formula_has_a_row():
    all_kernels()
    made = [name for name, kernel in REGISTRY.items() if kernel.in_package]
    losses = {name.removesuffix("_gradients") for name in made if name.endswith("_gradients")}
    measured = {name.removesuffix("_losses") for name in made if name.endswith("_losses")}
    assert losses == set(NAMED)
    assert measured == {
        row.formula or row.name for row in METRICS.values() if row.form not in (*WITHOUT_FORMULA, "by_query")
    }
    of_metrics = [name for name in made if REGISTRY[name].__module__.startswith("spinney.metrics.")]
    lists = {name.removesuffix("_values") for name in of_metrics if name.endswith("_values")}
    assert lists == {row.name for row in METRICS.values() if row.form == "by_query"}


@pytest.mark.parametrize("kind", sorted(PREDICTED))
def test_a_spelling_means_one_metric_of_an_objective(kind):
    fitting = [row for row in METRICS.values() if kind in row.fits]
    words = [word for row in fitting for word in (row.name, *row.spellings)]
    assert len(words) == len(set(words))


# --- A loss and a metric that only this module has: a formula and a declaration each, and everything else follows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = X[:, 0] * 2 + RNG.normal(size=400) * 0.1
WEIGHT = RNG.random(400)


def log_cosh(score, target, parameters):
    """log cosh of the distance in units of the parameter: between squared and absolute error."""
    t = np.tanh((score - target) / parameters[0])
    return t * parameters[0], 1.0 - t * t + 0.01


def far(prediction, target, parameters):
    """1 where the distance is more than a half."""
    return 1.0 if abs(prediction - target) > 0.5 else 0.0


@pytest.fixture(scope="module")
def new_formulas():
    """The loss and the metric, registered while these tests run."""
    loss_without_search(log_cosh)
    metric(far)
    row = ObjectiveInfo(name="log_cosh", spellings=("cosh",), metric="far", parameters=("max_delta_step",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OBJECTIVES, "log_cosh", row)
        patch.setitem(METRICS, "far", MetricInfo(name="far", spellings=("beyond",)))
        yield
    del REGISTRY["log_cosh_gradients"], REGISTRY["far_losses"]


@pytest.mark.usefixtures("new_formulas")
def test_training_and_evaluation_know_a_loss_and_a_metric_by_their_rows():
    data, history = sp.Dataset(X, Y, weight=WEIGHT), sp.History()
    params = {"objective": "cosh", "eval_metric": ["beyond", "mae"], "max_delta_step": 2.0}
    model = sp.train(params, data, 30, valid={"train": data}, callbacks=[history])
    assert model.objective == "log_cosh"
    assert model.base_score[0] == pytest.approx(np.average(Y, weights=WEIGHT))
    far, mae = history.evals["train"]["beyond"], history.evals["train"]["mae"]
    assert far[-1] == pytest.approx(np.average(np.abs(model.predict(X) - Y) > 0.5, weights=WEIGHT))
    assert far[-1] < 0.5 * far[0]
    assert mae[-1] < 0.5 * mae[0]


@pytest.mark.usefixtures("new_formulas")
def test_the_first_metric_is_the_loss_s_own_and_metrics_of_numbers_fit_too():
    assert [metric.name for metric in metrics.metrics_of(Config(objective="log_cosh"))] == ["far"]
    assert Config(objective="log_cosh", eval_metric="rmse").eval_metric == ("rmse",)
    assert Config(eval_metric="far").eval_metric == ("far",)
    with pytest.raises(ParameterError, match="eval_metric='logloss' does not fit objective='log_cosh'"):
        Config(objective="log_cosh", eval_metric="logloss")


@pytest.mark.kernels
@pytest.mark.usefixtures("new_formulas")
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_frame_multiplies_the_formula_by_the_weights_and_gives_it_its_parameters(weight):
    scores = RNG.normal(size=(1, 400))
    gradients = allocate_gradients(scores)
    loss = objectives.get(Config(objective="log_cosh", max_delta_step=3.0))
    with Team(1) as team:
        team.run(loss.gradients(Labels(Y, weight), gradients, team.size))
    t, w = np.tanh((scores[0] - Y) / 3.0), np.ones(400) if weight is None else weight
    expected = np.stack([t * 3.0 * w, (1.0 - t * t + 0.01) * w], axis=1)
    np.testing.assert_allclose(gradients.pairs[0], expected, rtol=1e-6)


@pytest.mark.usefixtures("new_formulas")
def test_a_model_does_not_depend_on_the_threads_that_run_a_new_loss():
    made = [
        sp.train({"objective": "cosh", "n_jobs": threads, "max_delta_step": 1.0}, sp.Dataset(X, Y), 5)
        for threads in (1, 2)
    ]
    assert made[0] == made[1]
