"""Trainings with every loss."""

import numpy as np
import pytest

import losses
import spinney as sp
from spinney.errors import DataError, SpinneyError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
TARGETS = {name: losses.target_of(name, 300, RNG) for name in losses.NAMES}
WEIGHT = RNG.random(300)
# Losses whose metric is their mean; of the others it is a root, a deviance, or one that scikit-learn knows.
SAME = [
    "absolute_error",
    "huber",
    "pseudo_huber",
    "fair",
    "quantile",
    "expectile",
    "log_loss",
    "focal",
    "softmax",
]
FEW = {"max_leaves": 6, "min_child_samples": 5}


def mean_loss(name, model, y):
    raw = model.predict_raw(X)
    return np.mean(losses.loss(name, raw.T, y, **losses.PARAMS.get(name, {})))


@pytest.mark.parametrize("name", losses.NAMES)
def test_training_lowers_the_loss_from_its_least_constant_and_its_metric_says_so(name):
    y, history = TARGETS[name], sp.History()
    data = sp.Dataset(X, y)
    model = sp.train(losses.params_of(name) | FEW, data, 20, valid={"train": data}, callbacks=[history])
    constant = sp.train(losses.params_of(name) | FEW, data, 0)
    assert mean_loss(name, model, y) < mean_loss(name, constant, y)
    (values,) = history.evals["train"].values()
    assert values[-1] < values[0]
    if name in SAME:
        assert values[-1] == pytest.approx(mean_loss(name, model, y))


@pytest.mark.parametrize("name", losses.NAMES)
def test_any_number_of_threads_gives_the_same_model(name):
    y = TARGETS[name]
    made = [
        sp.train(losses.params_of(name) | FEW | {"n_jobs": jobs}, sp.Dataset(X, y, weight=WEIGHT), 5)
        for jobs in (1, 2)
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("name", losses.NAMES)
def test_models_of_every_loss_come_back_from_their_bytes(name):
    model = sp.train(losses.params_of(name) | FEW, sp.Dataset(X, TARGETS[name]), 3)
    again = sp.Model.from_bytes(model.to_bytes())
    assert again == model
    assert again.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", [one for one in losses.ONE_SCORE if one not in losses.SHARES])
@pytest.mark.parametrize("size", [1e-25, 1e-5, 1e5, 1e25])
def test_targets_of_any_size_train_or_are_refused_by_an_error_of_ours(name, size):
    data = sp.Dataset(
        X, TARGETS[name] * size if name != "squared_log_error" else np.abs(TARGETS[name]) * size
    )
    try:
        model = sp.train(losses.params_of(name) | FEW | {"learning_rate": 0.9}, data, 12)
    except SpinneyError:
        return
    assert np.isfinite(model.predict_raw(X)).all()


@pytest.mark.parametrize("name", losses.ONE_SCORE)
@pytest.mark.parametrize("far", [-800.0, 800.0])
def test_a_start_far_away_trains_or_is_refused_by_an_error_of_ours(name, far):
    data = sp.Dataset(X, TARGETS[name], base_margin=np.full(300, far))
    try:
        model = sp.train(losses.params_of(name) | FEW, data, 12)
    except SpinneyError:
        return
    assert np.isfinite(model.predict_raw(X)).all()


@pytest.mark.parametrize("name", ["poisson", "tweedie"])
def test_exposure_is_the_logarithm_that_rows_start_from(name):
    rng = np.random.default_rng(1)
    exposure = rng.uniform(0.2, 5.0, 3000)
    table = rng.normal(size=(3000, 2))
    rate = np.exp(0.6 * np.sign(table[:, 0]))
    y = rng.poisson(rate * exposure) * 1.0
    data = sp.Dataset(table, y, base_margin=np.log(exposure))
    model = sp.train({"objective": name, "max_leaves": 4}, data, 60)
    assert model.base_score.tolist() == [0.0]
    rates = model.predict(table, base_margin=np.zeros(3000))
    assert np.abs(np.log(rates / rate)).mean() < 0.1
    np.testing.assert_allclose(
        model.predict(table, base_margin=np.log(exposure)), rates * exposure, rtol=1e-12
    )


def test_probabilities_as_targets_are_as_good_as_rows_of_both_classes():
    share = np.clip(1 / (1 + np.exp(-X[:, 0])), 0.05, 0.95)
    soft = sp.train({"objective": "log_loss"} | FEW, sp.Dataset(X, share), 10)
    both = sp.Dataset(
        np.vstack([X, X]), np.repeat([1.0, 0.0], 300), weight=np.concatenate([share, 1 - share])
    )
    hard = sp.train({"objective": "log_loss"} | FEW | {"min_child_samples": 10}, both, 10)
    np.testing.assert_allclose(soft.predict(X), hard.predict(X), atol=0.02)


@pytest.mark.parametrize(
    ("name", "wrong"), [("poisson", -1.0), ("gamma", 0.0), ("log_loss", 1.3), ("squared_log_error", -2.0)]
)
def test_a_target_of_validation_rows_outside_the_domain_is_told_with_their_name(name, wrong):
    data = sp.Dataset(X, TARGETS[name])
    other = sp.Dataset(X[:5], np.array([1.0, 1.0, wrong, 1.0, 1.0]), reference=data)
    with pytest.raises(DataError, match=rf"valid\['rest'\]: .*y\[2\] = {wrong:g}"):
        sp.train({"objective": name}, data, 3, valid={"rest": other})


@pytest.mark.parametrize("name", losses.NAMES)
def test_a_target_without_a_value_is_refused(name):
    y = TARGETS[name].copy()
    y[3] = np.nan
    with pytest.raises(DataError, match="y contains NaN"):
        sp.train(losses.params_of(name), sp.Dataset(X, y), 1)
