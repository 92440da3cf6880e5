"""A metric stands in the results under the name that was asked for."""

import numpy as np
import pytest

import spinney as sp
from spinney.errors import DataError

RNG = np.random.default_rng(4)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(float)
FEW = {"objective": "binary", "max_leaves": 4, "min_child_samples": 5}


def data():
    train = sp.Dataset(X[:80], Y[:80])
    return train, sp.Dataset(X[80:], Y[80:], reference=train)


def test_of_a_training_and_its_model(tmp_path):
    train, late = data()
    history = sp.History()
    params = FEW | {"metric": ["aucpr", "binary_logloss"], "early_stopping_round": 50}
    model = sp.train(params, train, 5, valid={"late": late}, metrics=["roc_auc"], callbacks=[history])
    assert list(history.evals["late"]) == ["aucpr", "binary_logloss", "roc_auc"]
    plain = sp.History()
    params = FEW | {"metric": ["average_precision", "logloss", "auc"], "early_stopping_round": 50}
    assert sp.train(params, train, 5, valid={"late": late}, callbacks=[plain]).forest.equal(model.forest)
    assert list(plain.evals["late"].values()) == list(history.evals["late"].values())
    model.save(tmp_path / "model.safetensors")
    for one in (model, sp.load(tmp_path / "model.safetensors")):
        assert list(one.evaluate_batches([(X, Y)])) == ["aucpr", "binary_logloss"]
        assert list(one.evaluate_batches([(X, Y)], ["logloss", "aucpr"])) == ["logloss", "aucpr"]


def test_of_cross_validation():
    found = sp.cv(FEW | {"metric": "aucpr"}, data()[0], 2, 3)
    assert list(found.history["test"]) == ["aucpr"]
    assert ", aucpr=" in repr(found)
    assert "test-aucpr-mean" in found.to_frame()


def test_of_estimators_and_early_stopping():
    model = sp.GBMClassifier(
        n_estimators=9, eval_metric=["aucpr", "error"], early_stopping_rounds=2, first_metric_only=True
    )
    model.fit(X[:80], Y[:80], eval_set=(X[80:], Y[80:]))
    assert list(model.evals_result_["validation_0"]) == ["aucpr", "error"]
    assert model.best_score_["validation_0"]["aucpr"] == max(model.evals_result_["validation_0"]["aucpr"])
    three = sp.GBMClassifier(n_estimators=2, eval_metric=["multi_logloss", "log_loss", "error"])
    found = three.fit(X, np.arange(120) % 3, eval_set=(X, np.arange(120) % 3)).best_score_["validation_0"]
    assert list(found) == ["multi_logloss", "log_loss", "error"]
    assert found["multi_logloss"] == found["log_loss"]


def test_of_lists_at_cutoffs():
    model = sp.GBMRanker(n_estimators=2, eval_metric="lambdarank", eval_at=[1, 3])
    model.fit(X, Y, group=[40, 40, 40], eval_set=(X, Y), eval_group=[40, 40, 40])
    assert list(model.best_score_["validation_0"]) == ["lambdarank@1", "lambdarank@3"]


def test_messages_call_it_so_too():
    train, _ = data()
    late = sp.Dataset(X[80:], np.ones(40), reference=train)
    with pytest.raises(DataError, match="eval_metric='aucpr' needs rows of both classes"):
        sp.train(FEW | {"metric": "aucpr"}, train, 2, valid={"late": late})


def test_of_a_data_set_on_disk():
    train = sp.Dataset.from_batches([(X[:50], Y[:50]), (X[50:], Y[50:])])
    history = sp.History()
    sp.train(
        FEW | {"metric": ["aucpr", "average_precision"]}, train, 3, valid={"all": train}, callbacks=[history]
    )
    found = history.evals["all"]
    assert list(found) == ["aucpr", "average_precision"]
    assert found["aucpr"] == found["average_precision"]
