"""Several levels of a quantile in one model."""

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

import spinney as sp
from spinney.data import Labels
from spinney.errors import ParameterError, ParameterTypeError
from spinney.jit.team import Team
from spinney.metrics import Predictions, get
from spinney.params import Config

LEVELS = [0.05, 0.5, 0.95]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
y = X[:, 0] + (1 + np.abs(X[:, 1])) * RNG.normal(size=400)
PARAMS = {"objective": "quantile", "max_leaves": 6, "learning_rate": 0.5, "min_child_samples": 3}


@pytest.fixture(scope="module")
def data():
    return sp.Dataset(X, y)


@pytest.fixture(scope="module")
def model(data):
    return sp.train({**PARAMS, "quantile_alpha": LEVELS}, data, rounds=12)


def test_every_level_has_the_trees_of_a_model_of_its_own(model, data):
    raw = model.predict_raw(X)
    for k, level in enumerate(LEVELS):
        alone = sp.train({**PARAMS, "quantile_alpha": level}, data, rounds=12)
        assert np.array_equal(raw[:, k], alone.predict(X))


def test_predictions_never_cross_though_scores_may(model):
    raw, said = model.predict_raw(X), model.predict(X)
    assert (np.diff(raw, axis=1) < 0).any()
    assert np.array_equal(said, np.sort(raw, axis=1))
    assert np.array_equal(model.predict(X[:1]), said[:1])
    assert model.predict_leaf(X).shape == (400, 36)


def test_a_list_of_one_level_is_that_level(data):
    one = sp.train({**PARAMS, "quantile_alpha": [0.3]}, data, rounds=2)
    assert one == sp.train({**PARAMS, "quantile_alpha": 0.3}, data, rounds=2)
    assert one.predict(X).shape == (400,)


def test_the_metric_is_the_mean_pinball_loss_of_sorted_predictions(data):
    history = sp.History()
    weight = np.random.default_rng(1).integers(1, 4, 400) * 1.0
    other = sp.Dataset(X, y, weight=weight, reference=data)
    params = {**PARAMS, "quantile_alpha": LEVELS, "early_stopping_rounds": 50}
    model = sp.train(params, data, 4, valid={"all": other}, callbacks=[history])
    said = np.sort(model.predict_raw(X, rounds=4), axis=1)
    wanted = np.mean(
        [mean_pinball_loss(y, said[:, k], sample_weight=weight, alpha=a) for k, a in enumerate(LEVELS)]
    )
    assert history.evals["all"]["pinball"][-1] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.kernels
def test_crossing_scores_are_judged_once_they_are_sorted():
    config = Config(objective="quantile", quantile_alpha=[0.25, 0.75])
    with Team(1) as team:
        crossing, sorted_ = (
            get("pinball", config)
            .compute(Predictions(np.array(scores), "sorted", team), Labels(np.array([1.0, 2.0])))
            .value
            for scores in ([[3.0, 1.0], [0.0, 4.0]], [[0.0, 1.0], [3.0, 4.0]])
        )
    # Rows lose (.25 · 1 + .25 · 2) / 2 and (.25 · 1 + .25 · 2) / 2.
    assert crossing == sorted_ == 0.375


def test_files_threads_and_going_on_keep_every_level(model, data, tmp_path):
    model.save(tmp_path / "levels.safetensors")
    found = sp.load(tmp_path / "levels.safetensors")
    assert found == model
    assert found.params.quantile_alpha == tuple(LEVELS)
    assert np.array_equal(found.predict(X), model.predict(X))
    params = {**PARAMS, "quantile_alpha": LEVELS}
    same = {sp.train({**params, "n_jobs": jobs}, data, rounds=12).to_bytes() for jobs in (2, 3, 8)}
    assert same == {model.to_bytes()}
    begun = sp.train(params, data, rounds=5)
    assert sp.train(params, data, rounds=7, init_model=begun) == model
    with pytest.raises(ParameterError, match=r"quantile_alpha=.* differs from init_model's"):
        sp.train({**params, "quantile_alpha": [0.1, 0.5, 0.9]}, data, rounds=1, init_model=begun)


def test_predictions_out_of_fold_do_not_cross(data):
    found = sp.cv({**PARAMS, "quantile_alpha": np.array(LEVELS)}, data, folds=3, rounds=6)
    assert found.oof.shape == (400, 3)
    assert (np.diff(found.oof, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("level", "error", "said"),
    [
        ([0.5, 0.4], ParameterError, "must be ascending"),
        ([0.5, 0.5], ParameterError, "must be ascending"),
        ([], ParameterError, "is empty"),
        ([0.0, 0.5], ParameterError, "out of range"),
        ([0.5, 1.0], ParameterError, "out of range"),
        (1.0, ParameterError, "out of range"),
        ([0.1, np.nan], ParameterError, "must be a finite number"),
        (np.nan, ParameterError, "must be a finite number"),
        (["a"], ParameterTypeError, "must be a float"),
        ("0.5", ParameterTypeError, "must be a float"),
        ([[0.1, 0.2]], ParameterTypeError, "must be a float"),
        (None, ParameterTypeError, "must be a float"),
        (True, ParameterTypeError, "must be a float"),
    ],
    ids=str,
)
def test_levels_must_be_ascending_shares(level, error, said):
    with pytest.raises(error, match=rf"^quantile_alpha=.*{said}"):
        Config.parse({"objective": "quantile", "quantile_alpha": level})


def test_levels_come_back_from_what_they_are_written_as():
    config = Config.parse({"objective": "quantile", "quantile_alpha": (0.1, np.float32(0.5))})
    assert config.to_dict()["quantile_alpha"] == [0.1, 0.5]
    assert Config.parse(config.to_dict()) == config


def test_levels_need_the_loss_of_quantiles_one_column_and_their_own_metric(data):
    levels = {"quantile_alpha": LEVELS}
    with pytest.raises(ParameterError, match="needs objective='quantile', but objective='squared_error'"):
        sp.train({**levels, "eval_metric": "pinball"}, data)
    with pytest.raises(
        ParameterError, match=r"eval_metric='mae' does not fit .* the metrics that fit are pinball"
    ):
        sp.train({**PARAMS, **levels, "eval_metric": "mae"}, data)
    with pytest.raises(ParameterError, match="several levels and num_target=2"):
        sp.train({**PARAMS, **levels}, sp.Dataset(X, X[:, :2]))
