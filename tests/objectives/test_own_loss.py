"""A loss and a metric that only this module knows: a formula and a row each, and everything else follows."""

import numpy as np
import pytest

import spinney as sp
from spinney import metrics, objectives
from spinney.data import Labels
from spinney.errors import ParameterError
from spinney.jit import inline
from spinney.jit.kernel import REGISTRY
from spinney.jit.team import Team
from spinney.metrics.kernels import frames
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.pointwise import pointwise
from spinney.params import Config
from spinney.params.metrics import METRICS, MetricRow
from spinney.params.objectives import OBJECTIVES, ObjectiveRow

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = X[:, 0] * 2 + RNG.normal(size=400) * 0.1
WEIGHT = RNG.random(400)


@inline
def cosh_gradient(score, target, parameters):
    """log cosh of the distance in units of the parameter: between squared and absolute error."""
    t = np.tanh((score - target) / parameters[0])
    return t * parameters[0], 1.0 - t * t + 0.01


@inline
def beyond_half(prediction, target, parameters):
    """1 where the distance is more than a half."""
    return 1.0 if abs(prediction - target) > 0.5 else 0.0


@pytest.fixture(scope="module", autouse=True)
def own():
    """The loss and the metric, registered while these tests run."""
    kernels = [pointwise("log_cosh", cosh_gradient), frames.pointwise("far", beyond_half)]
    row = ObjectiveRow(name="log_cosh", spellings=("cosh",), metric="far", parameters=("max_delta_step",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OBJECTIVES, "log_cosh", row)
        patch.setitem(METRICS, "far", MetricRow(name="far", spellings=("beyond",)))
        yield
    for kernel in kernels:
        del REGISTRY[kernel.name]


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


def test_the_first_metric_is_the_loss_s_own_and_metrics_of_numbers_fit_too():
    assert [metric.name for metric in metrics.metrics_of(Config(objective="log_cosh"))] == ["far"]
    assert Config(objective="log_cosh", eval_metric="rmse").eval_metric == ("rmse",)
    assert Config(eval_metric="far").eval_metric == ("far",)
    with pytest.raises(ParameterError, match="eval_metric='logloss' does not fit objective='log_cosh'"):
        Config(objective="log_cosh", eval_metric="logloss")


@pytest.mark.kernels
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_frame_multiplies_the_formula_by_the_weights_and_gives_it_its_parameters(weight):
    scores = RNG.normal(size=(1, 400))
    gradients = gradients_room(scores)
    loss = objectives.get(Config(objective="log_cosh", max_delta_step=3.0))
    with Team(1) as team:
        team.run(loss.gradients(Labels(Y, weight), gradients, team.size))
    t, w = np.tanh((scores[0] - Y) / 3.0), np.ones(400) if weight is None else weight
    expected = np.stack([t * 3.0 * w, (1.0 - t * t + 0.01) * w], axis=1)
    np.testing.assert_allclose(gradients.pairs[0], expected, rtol=1e-6)


def test_a_model_does_not_depend_on_the_threads_that_run_an_own_loss():
    made = [
        sp.train({"objective": "cosh", "n_jobs": threads, "max_delta_step": 1.0}, sp.Dataset(X, Y), 5)
        for threads in (1, 2)
    ]
    assert made[0] == made[1]
