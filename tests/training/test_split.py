"""Train, validation and test parts of a data set."""

import pickle

import numpy as np
import pytest

import spinney as sp
from spinney.data import read_class_target
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.params import ForestConfig
from spinney.training.forest import train_forest
from spinney.training.splitting import RowSplitter

RNG = np.random.default_rng(3)
ROWS = 100
X = RNG.normal(size=(ROWS, 3))
Y = (X[:, 0] > 0.8).astype(float)
DATA = sp.Dataset(X, Y, weight=np.arange(1.0, ROWS + 1), bundle=False)
PARAMS = {"objective": "log_loss", "max_leaves": 4, "min_child_samples": 2, "n_jobs": 1}


def test_every_row_is_in_one_part():
    parts = sp.split(DATA, valid=0.2, test=15)
    assert [part.rows for part in parts] == [65, 20, 15]
    assert sorted(np.concatenate([part.index for part in parts]).tolist()) == list(range(ROWS))
    for part in parts:
        assert part.target.tolist() == Y[part.index].tolist()
        assert part.weight.tolist() == (part.index + 1.0).tolist()


def test_only_parts_that_are_asked_for_are_made():
    train, test = sp.split(DATA, test=0.3)
    assert (train.rows, test.rows) == (70, 30)


def test_parts_train_and_validate_as_data_sets_of_their_rows_do():
    train, valid = sp.split(DATA, valid=0.4, seed=5)
    own = [
        sp.Dataset(X[part.index], part.target, weight=part.weight, reference=DATA) for part in (train, valid)
    ]
    histories = sp.History(), sp.History()
    models = [
        sp.train(PARAMS, one, rounds=3, valid={"valid": other}, callbacks=[history])
        for (one, other), history in zip([(train, valid), own], histories, strict=True)
    ]
    assert models[0] == models[1]
    assert histories[0] == histories[1]


def test_a_part_can_be_split_and_cross_validated():
    train, _ = sp.split(DATA, test=0.5)
    first, second = sp.split(train, valid=0.5)
    assert sorted([*first.index, *second.index]) == train.index.tolist()
    own = sp.Dataset(X[train.index], train.target, weight=train.weight, reference=DATA)
    found = [sp.cv(PARAMS, one, folds=3, rounds=2) for one in (train, own)]
    assert found[0].models == found[1].models
    assert found[0].oof.tobytes() == found[1].oof.tobytes()


@pytest.mark.parametrize("gone", [False, True], ids=["table", "bins"])
def test_a_training_on_a_part_goes_on_from_a_model(gone):
    table = X.copy()
    whole = sp.Dataset(table, Y)
    if gone:
        whole.release()
        del table
    train, valid = sp.split(whole, valid=0.3)
    one = sp.train(PARAMS, train, rounds=4)
    first = sp.train(PARAMS, train, rounds=2)
    assert sp.train(PARAMS, train, rounds=2, init_model=first, valid={"valid": valid}) == one


def test_a_forest_grows_on_a_part():
    train, _ = sp.split(DATA, test=0.5)
    own = sp.Dataset(X[train.index], reference=DATA)
    config = ForestConfig.parse({"criterion": "gini"})
    grown = [
        train_forest(config, one.binned, read_class_target(Y[train.index], train.rows)[1], 3, n_jobs=1)
        for one in (train, own)
    ]
    assert grown[0] == grown[1]


def test_a_part_can_be_pickled_and_told_about():
    train, valid = sp.split(DATA, valid=0.3)
    again = pickle.loads(pickle.dumps(train))
    assert sp.train(PARAMS, again, rounds=2) == sp.train(PARAMS, train, rounds=2)
    assert repr(valid) == repr(DATA).replace("rows=100", "rows=30")
    assert valid.describe() == DATA.describe() | {"rows": 30}


def test_seeds_draw_and_rows_may_stay_in_order():
    def indexes(**given):
        return [part.index.tolist() for part in sp.split(DATA, valid=0.2, test=0.1, **given)]

    assert indexes(seed=1) == indexes(seed=1)
    assert indexes(seed=1) != indexes(seed=2)
    assert indexes(shuffle=False) == [list(range(70)), list(range(70, 90)), list(range(90, 100))]


@pytest.mark.parametrize("shuffle", [True, False])
def test_values_of_the_target_are_stratified(shuffle):
    labels = np.repeat([0.0, 1.0, 2.0], [50, 30, 20])[RNG.permutation(ROWS)]
    parts = sp.split(sp.Dataset(X, labels), valid=0.2, test=0.3, stratified=True, shuffle=shuffle)
    for part, share in zip(parts, (0.5, 0.2, 0.3), strict=True):
        for value, count in ((0.0, 50), (1.0, 30), (2.0, 20)):
            assert abs((part.target == value).sum() - share * count) <= 1


def test_groups_stay_whole():
    groups = RNG.integers(0, 30, ROWS)
    parts = sp.split(DATA, valid=0.25, test=0.25, groups=groups)
    found = [set(groups[part.index].tolist()) for part in parts]
    assert sum(map(len, found)) == len(set().union(*found))
    assert [part.rows for part in parts] == pytest.approx([50, 25, 25], abs=4)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({}, ParameterError, "split needs the size of a part"),
        ({"valid": 0.0}, ParameterError, "valid=0.0 must be a share above 0 and below 1"),
        ({"valid": 1.5}, ParameterError, "valid=1.5 must be a share above 0"),
        ({"test": 100}, ParameterError, "test=100 must be a number of rows from 1 to 99"),
        ({"test": 0}, ParameterError, "test=0 must be a number of rows from 1 to 99"),
        ({"valid": 0.5, "test": 0.5}, ParameterError, "valid=0.5 and test=0.5 leave no row of 100 to train on"),
        ({"valid": "some"}, ParameterTypeError, "valid='some' must be a share"),
        ({"valid": True}, ParameterTypeError, "valid=True must be a share"),
        ({"valid": 0.2, "stratified": 2}, ParameterTypeError, "stratified=2 must be True or False"),
        ({"valid": 0.2, "groups": np.zeros(ROWS)}, DataError, "the valid part gets no group of rows"),
    ],
)  # fmt: skip
def test_parts_that_make_no_sense_are_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        sp.split(DATA, **given)


def test_only_data_sets_are_split():
    with pytest.raises(DataTypeError, match=r"dataset must be a spinney.Dataset, got ndarray"):
        sp.split(X, valid=0.2)


def test_a_part_whose_rows_weigh_nothing_is_refused():
    weight = np.where(np.arange(ROWS) < 70, 1.0, 0.0)
    with pytest.raises(DataError, match="test part: every row has weight 0"):
        sp.split(sp.Dataset(X, Y, weight=weight), test=0.3, shuffle=False)


@pytest.mark.kernels
@pytest.mark.parametrize("rows", [2, 7, 100])
@pytest.mark.parametrize("parts", [2, 3, 7])
def test_rows_are_dealt_evenly_and_every_class_too(rows, parts):
    classes = np.random.default_rng(rows).integers(0, 3, rows)
    for seed in (None, 4):
        assigned = RowSplitter(rows, seed=seed).evenly(parts)
        sizes = np.bincount(assigned, minlength=parts)
        assert sizes.max() - sizes.min() <= 1
        assigned = RowSplitter(rows, classes=classes, seed=seed).evenly(parts)
        counts = np.array([np.bincount(assigned[classes == one], minlength=parts) for one in range(3)])
        assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


@pytest.mark.parametrize("kind", [float, object])
def test_rows_without_a_group_are_refused_and_tear_no_group_apart(kind):
    groups = np.random.default_rng(0).integers(0, 20, 300).astype(float)
    groups[7] = np.nan
    data = sp.Dataset(np.zeros((300, 1)), np.zeros(300))
    with pytest.raises(DataError, match="groups holds NaN in row 7"):
        sp.split(data, valid=0.3, groups=groups.astype(kind))


def test_classes_that_are_too_small_for_a_part_are_named():
    data = sp.Dataset(np.zeros((6, 1)), np.arange(6.0))
    with pytest.raises(DataError, match="valid part gets no row: classes"):
        sp.split(data, valid=0.3, shuffle=False, stratified=True)
