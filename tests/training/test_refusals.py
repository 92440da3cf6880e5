import copy

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError, ParameterError, ParameterTypeError, SpinneyError
from spinney.params import Config
from spinney.params.parameter import FloatParameter

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] * 3
DATA = sp.Dataset(X, Y)
KEPT = sp.Dataset(X, Y, keep_table=True)
LABELLED = [
    sp.Dataset(X, Y > 0, weight=weight, keep_table=True)
    for weight in (None, np.full(60, 1e300), np.full(60, 1e-300))
]


def test_more_classes_than_rows_are_refused_before_memory_is_taken():
    with pytest.raises(DataError, match=r"num_class = 2147483647 is more than there are rows \(60\)"):
        sp.train({"objective": "softmax", "num_class": 2**31 - 1}, sp.Dataset(X, Y > 0), rounds=1)


def test_more_targets_than_columns_are_refused_before_memory_is_taken():
    with pytest.raises(DataError, match="needs y of 2147483647 columns"):
        sp.train({"num_target": 2**31 - 1}, sp.Dataset(X, Y), rounds=1)


@pytest.mark.parametrize("rate", [1e3, 1e30, 1e154, 1e200, 1e308])
def test_a_training_that_diverges_says_so(rate):
    with pytest.raises(ParameterError, match="training diverged in round"):
        sp.train({"learning_rate": rate}, DATA, rounds=60)


EXTREME = [5e-324, 1e-309, 1e-300, 1e-40, 0.3, 1.0, 1e40, 1e300, 1.7e308]
FLOATS = [one.name for one in Config.table() if isinstance(one, FloatParameter)]
WAYS = {
    "all rows": {},
    "goss": {"sampling_method": "goss"},
    "goss at once": {"sampling_method": "goss", "goss_warm_up": False},
    "gradient_based": {"sampling_method": "gradient_based", "subsample": 0.5, "leaf_values": "all"},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx"},
    "local": {"tree_method": "approx", "proposal": "local"},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", [name for name in FLOATS if name != "max_conflict_rate"])
def test_an_extreme_number_trains_or_is_refused_by_an_error_of_ours(name, way):
    params = {"objective": "log_loss", "min_child_samples": 2, "max_leaves": 4, "early_stopping_rounds": 2}
    for value in EXTREME:
        for data in LABELLED:
            try:
                model = sp.train(params | way | {name: value}, data, 2, valid={"train": data})
            except SpinneyError:
                continue
            assert np.isfinite(model.predict_raw(X)).all()


@pytest.mark.parametrize("rate", [2e-308, 1e-309, 5e-324])
@pytest.mark.parametrize("more", [{}, {"sampling_method": "goss"}], ids=["all rows", "goss"])
def test_a_learning_rate_that_floats_cannot_hold_is_refused(rate, more):
    with pytest.raises(ParameterError, match=r"learning_rate = .* is too small"):
        sp.train({"learning_rate": rate} | more, DATA, 3)


def test_a_tiny_learning_rate_warms_up_for_ever():
    params = {"sampling_method": "goss", "min_child_samples": 2, "learning_rate": 2.3e-308}
    tiny = sp.train(params, DATA, 3)
    assert tiny.forest.count[tiny.forest.start[:-1]].tolist() == [60, 60, 60]


def test_a_tiny_sketch_eps_tries_every_cut_there_is():
    tiny, small = (
        sp.train({"tree_method": "approx", "sketch_eps": eps, "min_child_samples": 2}, KEPT, 3).forest
        for eps in (5e-324, 1e-7)
    )
    assert tiny.threshold.tolist() == small.threshold.tolist()


@pytest.mark.parametrize(("scale", "weight"), [(1e300, 1e300), (1e-300, 1e-300)])
def test_a_class_weight_beyond_floating_point_is_refused(scale, weight):
    data = sp.Dataset(X, np.ones(60), weight=np.full(60, weight))
    params = {"objective": "log_loss", "base_score": 0.0, "scale_pos_weight": scale}
    with pytest.raises(
        ParameterError, match=r"scale_pos_weight=1e[+-]300 times the weights .* 0 or infinite"
    ):
        sp.train(params, data, 1)


@pytest.mark.parametrize("callbacks", [5, print, [5]])
def test_callbacks_must_be_callables(callbacks):
    with pytest.raises(ParameterTypeError, match="callbacks must be a list of callables"):
        sp.train({}, DATA, rounds=1, callbacks=callbacks)


def test_an_error_names_the_spelling_that_was_used():
    with pytest.raises(ParameterError, match="eta"):
        sp.train({"eta": -1}, DATA, rounds=1)


@pytest.mark.parametrize(("max_bin", "error"), [("255", ParameterTypeError), (1, ParameterError)])
def test_max_bin_is_checked_before_it_is_compared(max_bin, error):
    with pytest.raises(error, match="max_bin") as caught:
        sp.train({"max_bin": max_bin}, DATA, rounds=1)
    assert "differs" not in str(caught.value)


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ParameterError), (1.5, ParameterTypeError), ("a", ParameterTypeError)]
)
@pytest.mark.parametrize("rows", [1, 60])
def test_prediction_checks_the_number_of_threads(rows, n_jobs, error):
    model = sp.train({}, DATA, rounds=2)
    with pytest.raises(error, match="n_jobs"):
        model.predict(X[:rows], n_jobs=n_jobs)


def test_validation_data_with_the_same_cuts_are_as_good_as_with_the_reference():
    twin = sp.Dataset(X[:20], Y[:20], reference=copy.deepcopy(DATA))
    history = sp.History()
    sp.train({}, DATA, rounds=3, valid={"twin": twin}, callbacks=[history])
    assert len(history.evals["twin"]["rmse"]) == 3
