"""Training on a target of several columns: one model, a tree for each column and round."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, mean_absolute_error, r2_score, roc_auc_score

import spinney as sp
from losses import target_of
from spinney.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = np.column_stack([X[:, 0] + X[:, 1], np.sin(2 * X[:, 2]), np.abs(X[:, 3])]) + 0.1 * RNG.normal(
    size=(300, 3)
)
LABELS = (np.median(Y, axis=0) < Y).astype(float)
SMALL = {"max_leaves": 5, "learning_rate": 0.3}


def by_column(params, Y, rounds=6, **given):
    """A model for each column."""
    return [sp.train(params, sp.Dataset(X, Y[:, k], **given), rounds) for k in range(Y.shape[1])]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "absolute_error"},
        {"objective": "huber"},
        {"objective": "expectile", "expectile_alpha": 0.8},
        {"leaf_estimation": "line_search"},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"subsample": 0.6},
        {"subsample": 0.6, "leaf_values": "all"},
    ],
    ids=str,
)
def test_a_column_has_the_trees_of_a_model_of_its_own(params):
    model = sp.train({**SMALL, **params}, sp.Dataset(X, Y), rounds=6)
    raw = model.predict_raw(X)
    assert model.forest.trees == 18
    for k, alone in enumerate(by_column({**SMALL, **params}, Y)):
        assert np.array_equal(raw[:, k], alone.predict_raw(X))


@pytest.mark.parametrize(
    "objective", ["poisson", "gamma", "tweedie", "squared_log_error", "mape", "quantile"]
)
def test_predictions_of_every_loss_are_those_of_models_by_column(objective):
    rng = np.random.default_rng(1)
    target = np.column_stack([target_of(objective, 300, rng) for _ in range(2)])
    params = {**SMALL, "objective": objective}
    model = sp.train(params, sp.Dataset(X, target), rounds=3)
    for k, alone in enumerate(by_column(params, target, 3)):
        # Gradients may be rounded at random, by a seed that differs from column to column.
        assert model.base_score[k] == alone.base_score[0]
        assert np.allclose(model.predict(X)[:, k], alone.predict(X), rtol=0.3, atol=0.3)


def test_labels_with_heavy_positives_and_weights_train_as_models_by_column():
    weight = np.random.default_rng(2).integers(1, 3, len(X)) * 1.0
    params = {**SMALL, "objective": "log_loss", "scale_pos_weight": 3.0}
    model = sp.train(params, sp.Dataset(X, LABELS, weight=weight), rounds=6)
    for k, alone in enumerate(by_column(params, LABELS, weight=weight)):
        assert np.array_equal(model.predict(X)[:, k], alone.predict(X))


def test_rows_that_weigh_nothing_are_left_out_of_every_column():
    weight = np.where(np.arange(len(X)) < 200, 1.0, 0.0)
    params = {**SMALL, "objective": "log_loss", "scale_pos_weight": 2.0}
    spoilt = np.where(np.arange(len(X))[:, None] < 200, LABELS, 1 - LABELS)
    found = [sp.train(params, sp.Dataset(X, one, weight=weight), rounds=3) for one in (LABELS, spoilt)]
    assert np.array_equal(found[0].predict(X), found[1].predict(X))


def test_the_number_of_targets_is_that_of_the_data_set_unless_told():
    data = sp.Dataset(X, Y)
    found = sp.train(SMALL, data, rounds=1)
    assert found.params.num_target == 3
    assert found.outputs == 3
    assert sp.train({**SMALL, "num_target": 3}, data, rounds=1) == found
    for told in (1, 2):
        with pytest.raises(DataError, match=rf"y of {told} columns? \(num_target={told}\), got 3"):
            sp.train({**SMALL, "num_target": told}, data, rounds=1)


def test_the_bytes_do_not_depend_on_threads():
    data = sp.Dataset(X, Y)
    params = {**SMALL, "objective": "absolute_error", "subsample": 0.7}
    found = [sp.train({**params, "n_jobs": jobs}, data, rounds=3).to_bytes() for jobs in (1, 2, 3, 8)]
    assert len(set(found)) == 1


def test_a_file_gives_the_model_back(tmp_path):
    model = sp.train(SMALL, sp.Dataset(X, Y), rounds=3)
    model.save(tmp_path / "several.safetensors")
    found = sp.load(tmp_path / "several.safetensors")
    assert found == model
    assert found.params.num_target == 3
    assert np.array_equal(found.predict(X), model.predict(X))
    assert np.array_equal(found.predict(X[:1]), model.predict(X)[:1])


def test_going_on_gives_the_bytes_of_one_training():
    data = sp.Dataset(X, Y)
    begun = sp.train(SMALL, data, rounds=2)
    assert sp.train(SMALL, data, rounds=3, init_model=begun) == sp.train(SMALL, data, rounds=5)
    with pytest.raises(ParameterError, match="num_target=1 differs from init_model's 3"):
        sp.train(SMALL, sp.Dataset(X, Y[:, 0]), rounds=1, init_model=begun)


def test_metrics_of_numbers_are_means_over_columns():
    weight = np.random.default_rng(3).integers(0, 3, len(X)) * 1.0
    data, history = sp.Dataset(X, Y, weight=weight), sp.History()
    metrics = ["rmse", "mse", "mae", "r2"]
    model = sp.train({**SMALL, "eval_metric": metrics}, data, 4, valid={"all": data}, callbacks=[history])
    said = model.predict(X)
    found = {name: values[-1] for name, values in history.evals["all"].items()}
    squared = np.average(np.square(said - Y).mean(axis=1), weights=weight)
    assert found["mse"] == pytest.approx(squared, rel=1e-12)
    assert found["rmse"] == pytest.approx(np.sqrt(squared), rel=1e-12)
    assert found["mae"] == pytest.approx(mean_absolute_error(Y, said, sample_weight=weight), rel=1e-12)
    assert found["r2"] == pytest.approx(r2_score(Y, said, sample_weight=weight), rel=1e-12)


def test_metrics_of_labels_are_means_over_labels():
    data, history = sp.Dataset(X, LABELS), sp.History()
    metrics = ["logloss", "auc", "accuracy", "f1"]
    params = {**SMALL, "objective": "log_loss", "eval_metric": metrics}
    model = sp.train(params, data, 4, valid={"all": data}, callbacks=[history])
    said, found = model.predict(X), {name: values[-1] for name, values in history.evals["all"].items()}
    loss = -np.mean(LABELS * np.log(said) + (1 - LABELS) * np.log(1 - said))
    assert found["logloss"] == pytest.approx(loss, rel=1e-9)
    assert found["auc"] == pytest.approx(roc_auc_score(LABELS, said), rel=1e-12)
    assert found["accuracy"] == pytest.approx(np.mean((said > 0.5) == LABELS), rel=1e-12)
    assert found["f1"] == pytest.approx(f1_score(LABELS, said > 0.5, average="macro"), rel=1e-12)


def test_a_metric_that_a_column_cannot_have_is_refused_with_its_place():
    lone = LABELS.copy()
    lone[:, 1] = 1.0
    data = sp.Dataset(X, lone)
    with pytest.raises(
        DataError, match=r"valid\['all'\]: column 1 of y: eval_metric='auc' needs rows of both"
    ):
        sp.train({"objective": "log_loss", "eval_metric": "auc"}, data, 1, valid={"all": data})


def test_a_loss_of_your_own_gets_all_columns():
    seen = []

    def squares(scores, labels):
        seen.append((scores.shape, labels.shape, labels.weight is None))
        return scores - labels, np.ones_like(scores)

    data = sp.Dataset(X, Y)
    own = sp.train({**SMALL, "eval_metric": "mae"}, data, 4, objective=squares, valid={"all": data})
    named = sp.train({**SMALL, "base_score": 0.0}, data, 4)
    assert set(seen) == {((300, 3), (300, 3), True)}
    assert own.params.num_target == 3
    assert np.array_equal(own.predict(X), named.predict(X))


def test_a_loss_of_your_own_may_have_other_outputs_than_targets():
    def location_and_scale(scores, labels):
        return scores - labels.mean(axis=1, keepdims=True), np.ones_like(scores)

    model = sp.train({**SMALL, "num_class": 2}, sp.Dataset(X, Y), 2, objective=location_and_scale)
    assert model.predict(X).shape == (300, 2)
    with pytest.raises(
        ParameterError, match="does not fit objective='own' with num_class=2 and num_target=3"
    ):
        sp.train(
            {"num_class": 2, "num_target": 3, "eval_metric": "mae"},
            sp.Dataset(X, Y),
            2,
            objective=location_and_scale,
        )


def test_a_metric_of_your_own_gets_all_columns():
    shapes = set()

    def worst(scores, labels):
        shapes.update({scores.shape, labels.shape})
        return "worst", np.abs(scores - labels).max(), False

    data = sp.Dataset(X, Y)
    sp.train(SMALL, data, 1, valid={"all": data}, metrics=[worst])
    assert shapes == {(300, 3)}


def test_cross_validation_predicts_every_column_out_of_fold():
    data = sp.Dataset(X, LABELS)
    found = sp.cv({**SMALL, "objective": "log_loss"}, data, folds=3, rounds=3)
    assert found.oof.shape == (300, 3)
    test = found.folds[0].test
    assert np.array_equal(found.oof[test], found.models[0].predict(X[test]))


def test_parts_keep_the_columns_and_strata_need_one():
    train, test = sp.split(sp.Dataset(X, Y), test=0.2)
    assert sp.train(SMALL, train, 1, valid={"test": test}).outputs == 3
    with pytest.raises(DataError, match="stratified=True needs y of one column, but there are 3"):
        sp.split(sp.Dataset(X, LABELS), test=0.2, stratified=True)


def test_a_margin_starts_every_column():
    margin = np.column_stack([Y[:, 0], np.zeros(300), np.ones(300)])
    model = sp.train(SMALL, sp.Dataset(X, Y, base_margin=margin), rounds=2)
    alone = sp.train(SMALL, sp.Dataset(X, Y[:, 2], base_margin=margin[:, 2]), rounds=2)
    found = model.predict(X, base_margin=margin)
    assert np.array_equal(found[:, 2], alone.predict(X, base_margin=margin[:, 2]))
    with pytest.raises(DataError, match="base_margin"):
        sp.train(SMALL, sp.Dataset(X, Y, base_margin=margin[:, :2]), rounds=1)


def test_more_columns_than_rows_can_be_trained():
    few = sp.Dataset(X[:3], np.arange(15.0).reshape(3, 5))
    assert sp.train({}, few, rounds=1).predict(X[:3]).shape == (3, 5)


@pytest.mark.parametrize(
    ("params", "target", "said"),
    [
        ({"objective": "softmax", "num_class": 2}, LABELS, "objective softmax needs y of 1 column, got 3"),
        ({"objective": "poisson"}, Y, "column 0 of y: objective poisson needs y of 0 or more"),
        (
            {"objective": "poisson"},
            np.abs(Y) * [1, 0, 1],
            "column 1 of y: objective poisson needs a row with y above 0",
        ),
        ({}, Y * [1, 1, 1e31], "column 2 of y: .* is too large to train on"),
        ({}, np.column_stack([Y[:, 0], np.full(300, np.inf)]), "column 1 of y: .*inf is too large"),
        ({"objective": "log_loss"}, Y, "column 0 of y: objective log_loss needs labels 0 and 1"),
    ],
)
def test_a_target_that_does_not_fit_is_refused_with_its_column(params, target, said):
    with pytest.raises(DataError, match=said):
        sp.train(params, sp.Dataset(X, target), rounds=1)


def test_columns_without_values_or_none_at_all_are_refused():
    gap = Y.copy()
    gap[7, 1] = np.nan
    with pytest.raises(DataError, match=r"column 1 of y contains NaN\. The first is in row 7"):
        sp.Dataset(X, gap)
    with pytest.raises(DataError, match="y"):
        sp.Dataset(X, np.empty((300, 0)))


def test_validation_rows_need_the_same_columns():
    data = sp.Dataset(X, Y)
    other = sp.Dataset(X, Y[:, :2], reference=data)
    with pytest.raises(DataError, match=r"valid\['other'\]: .* needs y of 3 columns \(num_target=3\), got 2"):
        sp.train(SMALL, data, rounds=1, valid={"other": other})
