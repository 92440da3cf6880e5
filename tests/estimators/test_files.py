"""Estimators in files."""

import json
import struct

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import spinney as sp
from spinney.errors import DataError, DataTypeError, ModelFormatError
from spinney.model import header

LABELS = {
    "text": np.array(["ash", "elm", "oak"]),
    "wide text": np.array(["ash", "elm", "oak"], dtype="<U20"),
    "texts as objects": np.array(["", "élm", "oak\0"], dtype=object),
    "long text": np.array(["a" * 300, "b", "c"], dtype="<U400"),
    "whole numbers": np.array([-5, 0, 2**62]),
    "small whole numbers": np.array([3, 7, 9], np.int8),
    "unsigned": np.array([0, 1, 2**64 - 1], np.uint64),
    "floats": np.array([-1.0, 0.0, 2.0]),
    "float32": np.array([-1.0, 0.0, 3e38], np.float32),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "estimator.safetensors"


@pytest.fixture(scope="module")
def classifier(table, three):
    given = {"class_weight": {"ash": 1.0, "elm": 2.0}, "monotone_constraints": (0, 1, 0, -1)}
    model = sp.GBMClassifier(n_estimators=4, max_leaves=5, early_stopping_rounds=2, **given)
    y = LABELS["text"][three]
    return model.fit(
        pd.DataFrame(table, columns=list("abcd")), y, eval_set=(pd.DataFrame(table, columns=list("abcd")), y)
    )


@pytest.fixture(scope="module")
def frame(table):
    return pd.DataFrame(table, columns=list("abcd"))


def again(estimator, path):
    estimator.save(path)
    return sp.load_estimator(path)


def fitted(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def test_an_estimator_comes_back_as_it_was(classifier, path, frame):
    found = again(classifier, path)
    assert type(found) is sp.GBMClassifier
    assert found.get_params() == classifier.get_params()
    assert fitted(found).keys() == fitted(classifier).keys()
    for name, value in fitted(classifier).items():
        np.testing.assert_array_equal(getattr(found, name), value)
    for method in ("predict", "predict_proba", "decision_function", "apply"):
        np.testing.assert_array_equal(getattr(found, method)(frame), getattr(classifier, method)(frame))
    np.testing.assert_array_equal(found.feature_importances_, classifier.feature_importances_)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame[list("bacd")])


def test_a_file_read_and_written_again_has_the_same_bytes(classifier, path, tmp_path):
    again(classifier, path).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_a_regressor_comes_back(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=3, max_leaves=4, random_state=np.int64(5)).fit(table, numbers)
    found = again(model, path)
    np.testing.assert_array_equal(found.predict(table), model.predict(table))
    assert found.random_state == 5
    assert found.evals_result_ == {}
    assert not hasattr(found, "feature_names_in_")
    assert not hasattr(found, "classes_")
    assert found.fit(table, numbers).model_ == model.model_


@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_type(name, table, three, path):
    labels = LABELS[name][three]
    model = sp.GBMClassifier(n_estimators=2, max_leaves=4).fit(table, labels)
    found = again(model, path)
    predicted = found.predict(table)
    assert predicted.tolist() == model.predict(table).tolist()
    if name != "long text":  # its dtype is wider than a file may ask for
        assert found.classes_.dtype == model.classes_.dtype
        assert predicted.dtype == model.predict(table).dtype


@pytest.mark.parametrize("y", [[True, False], ["no", "yes"], [1, 2]])
def test_two_labels_and_one_come_back(y, table, path):
    labels = np.resize(y, len(table))
    model = sp.GBMClassifier(n_estimators=2).fit(table, labels)
    assert again(model, path).predict(table).tolist() == model.predict(table).tolist()
    single = sp.GBMClassifier(n_estimators=2).fit(table, np.full(len(table), y[0]))
    found = again(single, path)
    assert found.predict(table[:2]).tolist() == [y[0], y[0]]
    np.testing.assert_array_equal(found.predict_proba(table[:2]), np.ones((2, 1)))


def test_one_file_serves_as_a_model_too(classifier, path, frame):
    classifier.save(path)
    model = sp.load(path)
    assert model == classifier.model_
    np.testing.assert_array_equal(model.predict(frame), classifier.predict_proba(frame))
    assert sp.Model.from_bytes(path.read_bytes()) == model


def test_a_file_of_an_estimator_has_a_format_of_its_own(classifier, path):
    classifier.save(path)
    assert Opened(path).text["format"] == header.WITH_ESTIMATOR
    classifier.model_.save(path)
    assert Opened(path).text["format"] == 1


def test_categories_stand_in_an_estimators_file(numbers, path):
    frame = pd.DataFrame({"town": np.resize(["Oslo", "Rome", "Bern"], len(numbers)), "size": numbers})
    model = sp.GBMRegressor(n_estimators=2).fit(frame, numbers)
    np.testing.assert_array_equal(again(model, path).predict(frame), model.predict(frame))
    assert sp.load(path) == model.model_


def test_a_bare_model_is_not_an_estimator(classifier, path):
    classifier.model_.save(path)
    with pytest.raises(
        ModelFormatError, match=r"holds a model without an estimator; read it with spinney\.load"
    ):
        sp.load_estimator(path)


def test_an_estimator_must_be_fitted_to_be_saved(path):
    with pytest.raises(NotFittedError):
        sp.GBMRegressor().save(path)
    assert not path.exists()


def test_a_class_of_the_users_own_is_not_saved(table, numbers, path):
    class Mine(sp.GBMRegressor):
        pass

    with pytest.raises(
        DataTypeError, match=r"GBMClassifier, GBMRanker, GBMRegressor, .*, not Mine; save its `model_`"
    ):
        Mine(n_estimators=1).fit(table, numbers).save(path)


def test_metrics_reach_back_to_the_best_round(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=30, learning_rate=0.9, early_stopping_rounds=3)
    model.fit(table[:100], numbers[:100], eval_set=(table[100:], numbers[100:]))
    assert model.best_iteration_ < model.n_iter_
    model.save(path)
    opened = Opened(path)
    opened.text["estimator"]["evals"] = {"a": {"rmse": [1.0]}}
    opened.close()
    with pytest.raises(ModelFormatError, match="must be a list of 4 to"):
        sp.load_estimator(path)


def test_validation_data_and_metrics_keep_their_order_in_a_file(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=1, eval_metric=["rmse", "mae"])
    data = (table, numbers)
    found = again(model.fit(*data, eval_set=[data, data], eval_names=["seen", "new"]), path)
    assert list(found.evals_result_) == list(found.best_score_) == ["seen", "new"]
    assert list(found.best_score_["new"]) == ["rmse", "mae"]


def test_a_label_that_is_no_text_is_not_saved(table, path):
    model = sp.GBMClassifier(n_estimators=1).fit(
        table, np.resize(np.array(["a", "\ud800"], object), len(table))
    )
    with pytest.raises(DataError, match="is no text that UTF-8 can hold"):
        model.save(path)


def test_metrics_that_are_not_finite_come_back(table, numbers, path):
    model = sp.GBMRegressor(n_estimators=3).fit(table, numbers, eval_set=(table, numbers))
    model.evals_result_["validation_0"]["rmse"][:] = [np.inf, np.nan, -np.inf]
    np.testing.assert_equal(again(model, path).evals_result_, model.evals_result_)


class Opened:
    """A model file taken apart."""

    def __init__(self, path):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        self.path, self.entries, self.body = path, json.loads(data[8 : 8 + length]), data[8 + length :]
        self.text = json.loads(self.entries["__metadata__"]["spinney"])

    def close(self):
        self.entries["__metadata__"]["spinney"] = json.dumps(self.text)
        head = json.dumps(self.entries).encode()
        self.path.write_bytes(struct.pack("<Q", len(head)) + head + self.body)


def put(*where):
    """An attack that puts a value into the estimator's part."""
    *keys, last, value = where

    def attack(part):
        for key in keys:
            part = part[key]
        part[last] = value

    return attack


def labels(dtype, values):
    return put("classes", {"dtype": dtype, "values": values})


ATTACKS = {
    "a field more": (put("evil", 1), "too much or too little: 'evil'"),
    "a field less": (lambda part: part.pop("evals"), "too much or too little: 'evals'"),
    "unknown class": (put("class", "os.system"), "estimator is unknown: 'os.system'"),
    "class is a list": (put("class", ["GBMClassifier"]), "estimator is unknown"),
    "giant class": (put("class", "x" * 10**6), "estimator is unknown"),
    "another class": (put("class", "GBMRegressor"), "GBMRegressor has no parameter 'class_weight'"),
    "params is a list": (put("params", []), "params must be a JSON object"),
    "left_out is text": (put("left_out", "eval_metric"), "left_out a list of names"),
    "unknown parameter": (put("params", "evil", 1), "GBMClassifier has no parameter 'evil'"),
    "a parameter of Python's": (put("params", "__class__", 1), "has no parameter '__class__'"),
    "unknown left out": (put("left_out", ["evil"]), "has no parameter 'evil'"),
    "left out is a number": (put("left_out", [1]), "has no parameter 1"),
    "left out and there": (put("left_out", ["gamma"]), "left out that is there"),
    "rate is negative": (put("params", "learning_rate", -1), "wrong parameter: learning_rate=-1"),
    "rate is text": (put("params", "learning_rate", "0.1"), "wrong parameter: learning_rate='0.1'"),
    "rate is an object": (put("params", "learning_rate", {"evil": []}), "stands for nothing"),
    "a tuple of text": (put("params", "eval_metric", {"tuple": "abc"}), "stands for nothing"),
    "a tuple and pairs": (put("params", "eval_metric", {"tuple": [], "pairs": []}), "stands for nothing"),
    "pairs that are none": (put("params", "class_weight", {"pairs": [[1, 2, 3]]}), "list of pairs"),
    "pairs twice": (put("params", "class_weight", {"pairs": [["a", 1], ["a", 2]]}), "a key twice"),
    "a list for a key": (put("params", "class_weight", {"pairs": [[[], 1]]}), "neither text nor a number"),
    "rounds are negative": (put("params", "n_estimators", -3), "wrong parameter: n_estimators"),
    "fraction is 2": (put("params", "validation_fraction", 2), "wrong parameter: validation_fraction"),
    "importance is unknown": (put("params", "importance_type", "evil"), "wrong parameter: importance_type"),
    "progress is text": (put("params", "progress", "yes"), "wrong parameter: progress"),
    "categorical is a number": (put("params", "categorical", 3), "wrong parameter: categorical=3"),
    "categorical holds null": (put("params", "categorical", [None]), "wrong parameter: categorical="),
    "class_weight is text": (put("params", "class_weight", "evil"), "wrong parameter: class_weight='evil'"),
    "class_weight is negative": (
        put("params", "class_weight", {"pairs": [["a", -1.0]]}),
        "wrong parameter: class_weight",
    ),
    "giant metric": (put("params", "eval_metric", "x" * 10**6), "wrong parameter: eval_metric"),
    "no classes": (put("classes", None), "classes must have a dtype and values"),
    "classes are a list": (put("classes", ["a", "b", "c"]), "classes must have a dtype and values"),
    "classes are text": (labels("U3", "abc"), "must be a list of labels"),
    "no labels": (labels("U3", []), "must be a list of labels"),
    "two labels of three": (labels("U3", ["a", "b"]), "2 classes do not fit a model of 3 outputs"),
    "four labels of three": (labels("U3", ["a", "b", "c", "d"]), "4 classes do not fit"),
    "a label twice": (labels("U3", ["a", "b", "b"]), "distinct"),
    "labels out of order": (labels("U3", ["b", "a", "c"]), "ascending"),
    "labels of two types": (labels("object", ["a", 1, "c"]), "cannot hold 1"),
    "a label that is null": (labels("object", ["a", None, "c"]), "cannot hold"),
    "a label that is a list": (labels("object", ["a", [], "c"]), "cannot hold"),
    "numbers as objects": (labels("object", [1, 2, 3]), "cannot hold 1"),
    "truth values as numbers": (labels("int64", [0, 1, True]), "cannot hold True"),
    "a float among numbers": (labels("int64", [0, 1, 2.0]), "cannot hold 2.0"),
    "a number too large": (labels("int8", [0, 1, 300]), "does not fit dtype int8"),
    "a negative unsigned": (labels("uint8", [-1, 0, 1]), "does not fit dtype uint8"),
    "a float too large": (labels("float16", [0.0, 1.0, 1e300]), "does not fit dtype float16"),
    "a float too fine": (labels("float32", [0.0, 1.0, 1.1]), "does not fit dtype float32"),
    "unknown dtype": (labels("evil", ["a", "b", "c"]), "cannot have the dtype 'evil'"),
    "dtype is a number": (labels(8, [1, 2, 3]), "cannot have the dtype 8"),
    "a dtype of records": (labels("i4,i4", [1, 2, 3]), "cannot have the dtype"),
    "giant dtype": (labels("U1000000000", ["a", "b", "c"]), "cannot have the dtype 'U1000000000'"),
    "dtype too narrow": (labels("U1", ["ab", "b", "c"]), "cannot have the dtype 'U1'"),
    "dtype of no width": (labels("U", ["a", "b", "c"]), "cannot have the dtype 'U'"),
    "named is 1": (put("named", 1), "named must be whether"),
    "evals are a list": (put("evals", []), "evals must map data sets to metrics"),
    "metrics are a list": (put("evals", {"a": []}), "evals must map data sets to metrics"),
    "values are text": (put("evals", {"a": {"rmse": "1"}}), "must be a list of 1 to 4 numbers"),
    "values too many": (put("evals", {"a": {"rmse": [1] * 5}}), "must be a list of 1 to 4 numbers"),
    "no values": (put("evals", {"a": {"rmse": []}}), "must be a list of 1 to 4 numbers"),
    "values of other lengths": (
        put("evals", {"a": {"rmse": [1, 2]}, "b": {"rmse": [1]}}),
        "as many values as each other",
    ),
    "objective is a number": (put("params", "objective", 3), "wrong parameter: objective=3"),
    "objective is a list": (put("params", "objective", ["x"]), "wrong parameter: objective="),
    "giant objective": (put("params", "objective", "x" * 10**6), "wrong parameter: objective='xxx"),
    "objective of numbers": (put("params", "objective", "huber"), "wrong parameter: objective='huber'"),
    "a value is text": (put("evals", {"a": {"rmse": ["evil"]}}), "must be a number, not 'evil'"),
    "a value is true": (put("evals", {"a": {"rmse": [True]}}), "must be a number, not True"),
}


RECORD = {
    "tried": 4,
    "chosen": 3,
    "holdout_rows": 9,
    "metric": "rmse",
    "score": 0.5,
    "refitted": True,
    "stopped_by": "patience",
}


def test_a_file_without_what_auto_did_is_that_of_an_older_spinney(classifier, path):
    classifier.save(path)
    opened = Opened(path)
    assert opened.text["estimator"].pop("auto") is None
    opened.close()
    assert sp.load_estimator(path).auto_ is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evil": 1}, "auto must have tried, chosen"),
        ({"tried": 2}, "auto must have chosen some of the rounds that it tried"),
        ({"chosen": True}, "auto must have chosen some of the rounds"),
        ({"holdout_rows": -1}, "auto must have chosen some of the rounds"),
        ({"tried": 2**63}, "auto must have chosen some of the rounds"),
        ({"metric": None}, "auto must have a metric and its score"),
        ({"metric": ["x"] * 10**5}, "auto must have a metric and its score"),
        ({"score": "evil"}, "must be a number"),
        ({"refitted": 1}, "auto cannot have stopped by"),
        ({"stopped_by": ["x"]}, "auto cannot have stopped by"),
        ({"stopped_by": "evil" * 10**5}, "auto cannot have stopped by"),
    ],
)  # fmt: skip
def test_what_a_file_says_of_auto_is_not_trusted(change, message, classifier, path):
    check_refused(put("auto", {**RECORD, **change}), message, classifier, path)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_part_made_to_do_harm_is_refused(name, classifier, path):
    check_refused(*ATTACKS[name], classifier, path)


def check_refused(attack, message, classifier, path):
    classifier.save(path)
    opened = Opened(path)
    attack(opened.text["estimator"])
    opened.close()
    with pytest.raises(ModelFormatError, match=message) as refused:
        sp.load_estimator(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert sp.load(path) == classifier.model_


HEADERS = {
    "no part": (lambda text: text.pop("estimator"), "too much or too little: 'estimator'"),
    "a part that is a list": (lambda text: text.update(estimator=[]), "estimator must be a JSON object"),
    "a part in an older format": (lambda text: text.update(format=1), "too much or too little: 'estimator'"),
    "NaN": (lambda text: text["estimator"].update(evals=float("nan")), "it holds NaN"),
    "categories of none": (lambda text: text.update(categories=[None] * 4), "categories must be left out"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_made_to_do_harm_is_refused_as_a_model_too(name, classifier, path):
    attack, message = HEADERS[name]
    classifier.save(path)
    opened = Opened(path)
    attack(opened.text)
    opened.close()
    for read in (sp.load, sp.load_estimator):
        with pytest.raises(ModelFormatError, match=message):
            read(path)


def test_names_need_columns_that_have_some(table, numbers, path):
    sp.GBMRegressor(n_estimators=1).fit(table, numbers).save(path)
    opened = Opened(path)
    opened.text["estimator"]["named"] = True
    opened.close()
    with pytest.raises(ModelFormatError, match="named must be whether columns have names"):
        sp.load_estimator(path)


def test_a_regressor_has_no_classes(table, numbers, classifier, path):
    sp.GBMRegressor(n_estimators=1).fit(table, numbers).save(path)
    opened = Opened(path)
    opened.text["estimator"]["classes"] = {"dtype": "int64", "values": [0, 1]}
    opened.close()
    with pytest.raises(ModelFormatError, match="a GBMRegressor has no classes"):
        sp.load_estimator(path)
    part = opened.text["estimator"]
    classifier.save(path)
    opened = Opened(path)
    opened.text["estimator"] = part | {"classes": None}
    opened.close()
    with pytest.raises(ModelFormatError, match="a GBMRegressor has no classes"):
        sp.load_estimator(path)


def test_a_classifier_needs_a_model_of_classes(table, numbers, two, path):
    sp.GBMClassifier(n_estimators=1).fit(table, two).save(path)
    part = Opened(path).text["estimator"]
    sp.GBMRegressor(n_estimators=1).fit(table, numbers).save(path)
    opened = Opened(path)
    opened.text["estimator"] = part
    opened.close()
    with pytest.raises(
        ModelFormatError, match="2 classes do not fit a model of 1 outputs and objective 'squared_error'"
    ):
        sp.load_estimator(path)
