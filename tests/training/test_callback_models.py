"""The model so far, as callbacks see it."""

import pickle

import numpy as np
import pytest

import spinney as sp
from spinney.errors import ParameterError

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + RNG.normal(size=200)
PARAMS = {"max_leaves": 4, "subsample": 0.5}


def test_a_callback_sees_the_model_so_far():
    seen = []
    whole = sp.train(PARAMS, sp.Dataset(X, Y), 4, callbacks=[lambda info: seen.append(info.model)])
    for done, model in enumerate(seen, start=1):
        assert model == sp.train(PARAMS, sp.Dataset(X, Y), done)
    assert seen[-1] == whole


def test_a_model_asked_for_later_is_that_of_its_round():
    infos = []
    sp.train(PARAMS, sp.Dataset(X, Y), 3, callbacks=[infos.append])
    assert [info.model.rounds for info in infos] == [1, 2, 3]
    assert infos[0].model is infos[0].model


def test_a_callback_can_save_and_training_can_go_on_from_that(tmp_path):
    def keep(info):
        info.model.save(tmp_path / f"{info.round}.safetensors")
        return info.round == 3

    sp.train(PARAMS, sp.Dataset(X, Y), 7, callbacks=[keep])
    again = sp.train(PARAMS, sp.Dataset(X, Y), 4, init_model=tmp_path / "3.safetensors")
    assert again == sp.train(PARAMS, sp.Dataset(X, Y), 7)


def test_models_of_a_training_that_goes_on_hold_the_old_rounds():
    first = sp.train(PARAMS, sp.Dataset(X, Y), 2)
    seen = []
    sp.train(PARAMS, sp.Dataset(X, Y), 2, init_model=first, callbacks=[lambda info: seen.append(info.model)])
    assert [model.rounds for model in seen] == [3, 4]
    np.testing.assert_array_equal(seen[0].predict(X, rounds=2), first.predict(X))


def test_a_model_so_far_has_no_best_round():
    data, seen = sp.Dataset(X, Y), []
    params = PARAMS | {"early_stopping_rounds": 2}
    sp.train(params, data, 3, valid={"train": data}, callbacks=[lambda info: seen.append(info.model)])
    assert [model.best_round for model in seen] == [None, None, None]


def test_estimators_tell_callbacks_too():
    seen = []
    model = sp.GBMRegressor(n_estimators=2).fit(X, Y, callbacks=[lambda info: seen.append(info.model)])
    assert seen[-1] == model.model_


def test_a_round_is_told_and_compared_without_its_model():
    infos = []
    for _ in range(2):
        sp.train(PARAMS, sp.Dataset(X, Y), 1, callbacks=[infos.append])
    assert infos[0] == infos[1]
    assert repr(infos[0]) == "RoundInfo(round=1, rounds=1, evals={}, start=0)"
    assert infos[0] == sp.RoundInfo(1, 1, {})


def test_a_copy_of_a_round_goes_without_the_model():
    infos = []
    sp.train(PARAMS, sp.Dataset(X, Y), 1, callbacks=[infos.append])
    copied = pickle.loads(pickle.dumps(infos[0]))
    assert copied == infos[0]
    with pytest.raises(ParameterError, match="has no model"):
        _ = copied.model


def test_no_model_is_made_unless_it_is_asked_for(monkeypatch):
    from spinney.training import booster

    made, concatenate = [], booster.concatenate
    monkeypatch.setattr(booster, "concatenate", lambda trees: made.append(len(trees)) or concatenate(trees))
    sp.train(PARAMS, sp.Dataset(X, Y), 4, callbacks=[lambda info: None])
    assert made == [4]
