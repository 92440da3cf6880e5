"""What a column is does not depend on which rows a fold drew."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import KFold, cross_val_score

import spinney as sp
from spinney.errors import DataError, DataTypeError

ROWS = 60
NUMBER = np.random.default_rng(0).random(ROWS)
Y = (NUMBER > 0.5).astype(int)
FOLDS = KFold(3)  # rows 0 to 19, 20 to 39, and 40 to 59
DIGITS = [str(row % 7) for row in range(ROWS)]
ONE_WORD = ["X" if row == 3 else text for row, text in enumerate(DIGITS)]

FRAMES = {
    "object": lambda values: pd.DataFrame({"number": NUMBER, "c": pd.Series(values, dtype=object)}),
    "string": lambda values: pd.DataFrame({"number": NUMBER, "c": pd.Series(values, dtype="string")}),
    "category": lambda values: pd.DataFrame({"number": NUMBER, "c": pd.Categorical(values)}),
    "arrow": lambda values: pd.DataFrame(
        {"number": NUMBER, "c": pd.Series(values, dtype=pd.ArrowDtype(pa.string()))}
    ),
    "polars": lambda values: pl.DataFrame({"number": NUMBER, "c": values}),
    "pyarrow": lambda values: pa.table({"number": NUMBER, "c": values}),
}
ESTIMATORS = {
    "boosting, classes": sp.GBMClassifier(n_estimators=2),
    "boosting": sp.GBMRegressor(n_estimators=2),
    "forest, classes": sp.RandomForestClassifier(n_estimators=2, random_state=0),
    "forest": sp.RandomForestRegressor(n_estimators=2, random_state=0),
    "extra trees": sp.ExtraTreesClassifier(n_estimators=2, random_state=0),
    "tree": sp.DecisionTreeRegressor(random_state=0),
    "AdaBoost": sp.AdaBoostClassifier(n_estimators=2, random_state=0),
}
KINDS = {
    "text": ["ash", "oak"] * 10,
    "digits": DIGITS[:20],
    "numbers": np.arange(20.0).tolist(),
    "decimals": [Decimal(row) / 4 for row in range(20)],
    "truth values": [True, False] * 10,
}


def parts(X, rows):
    """Some rows of a table."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    return X[rows.tolist()] if isinstance(X, pl.DataFrame) else X.take(rows)


def scores(estimator, X):
    """The score of each fold; a fit that fails is an error."""
    return [
        estimator.fit(parts(X, train), Y[train]).score(parts(X, test), Y[test])
        for train, test in FOLDS.split(NUMBER)
    ]


@pytest.mark.parametrize("frame", FRAMES)
def test_one_word_among_digits_makes_no_fold_fail(frame):
    X = FRAMES[frame](ONE_WORD)
    expected = scores(sp.GBMClassifier(n_estimators=2, categorical=["c"]), X)
    model = sp.GBMClassifier(n_estimators=2)
    if frame == "category":
        assert scores(model, X) == expected
        return
    with pytest.warns(DataConversionWarning, match='"c": text that all reads as numbers') as noted:
        assert scores(model, X) == expected
    assert len(noted) == 1  # of the fold without the word


@pytest.mark.parametrize("name", ESTIMATORS)
def test_cross_validation_scores_every_fold_of_digits(name):
    for values in (ONE_WORD, DIGITS):
        with pytest.warns(DataConversionWarning, match="is taken as categories, as all text is"):
            found = cross_val_score(
                ESTIMATORS[name], FRAMES["object"](values), Y, cv=FOLDS, error_score="raise"
            )
        assert np.isfinite(found).all()


def test_isolation_forests_and_rankers_take_digits_too():
    X = FRAMES["object"](DIGITS)
    with pytest.warns(DataConversionWarning, match='"c": text'):
        outliers = sp.IsolationForest(n_estimators=2, random_state=0).fit(X)
    with pytest.warns(DataConversionWarning, match='"c": text'):
        ranker = sp.GBMRanker(n_estimators=2).fit(X, Y, group=[20, 40])
    for model in (outliers.model_, ranker.model_):
        assert set(model.schema.categories[1].values) == set(DIGITS)


def test_the_warning_comes_once_a_fit_and_names_every_column():
    X = pd.DataFrame({f"c{k}": DIGITS for k in range(12)} | {"word": ONE_WORD})
    said = r'"c0", .*"c9" and 2 more: text .* is taken .*X\[\'c0\'\]\.astype\(float\), or pass categorical='
    with pytest.warns(DataConversionWarning, match=said) as noted:
        sp.GBMRegressor(n_estimators=1).fit(X, Y)
    assert len(noted) == 1
    assert noted[0].filename == __file__
    sp.GBMRegressor(n_estimators=1, categorical=[f"c{k}" for k in range(12)]).fit(X, Y)


def test_a_fit_that_goes_on_warns_of_no_column_that_it_knows():
    X = FRAMES["object"](DIGITS)
    model = sp.GBMRegressor(n_estimators=1, warm_start=True)
    with pytest.warns(DataConversionWarning, match='"c": text'):
        model.fit(X, Y)
    assert model.set_params(n_estimators=2).fit(X, Y).n_iter_ == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frame", ["object", "polars", "pyarrow"])
def test_a_column_that_is_all_missing_in_a_training_part_takes_what_it_holds_elsewhere(frame, kind):
    X = FRAMES[frame](KINDS[kind] + [None] * 40)
    missing = FRAMES[frame]([None] * ROWS)
    categorical = ["c"] if kind == "digits" else "auto"
    for model in (
        sp.GBMRegressor(n_estimators=2, categorical=categorical),
        sp.RandomForestRegressor(n_estimators=2, random_state=0, categorical=categorical),
    ):
        assert np.isfinite(scores(model, X)).all()
        fold, rest = np.arange(20), np.arange(20, ROWS)
        model.fit(parts(X, rest), Y[rest])
        assert model.predict(parts(X, fold)).tolist() == model.predict(parts(missing, fold)).tolist()


LATER = {
    "text": ["ash"] * ROWS,
    "digits": DIGITS,
    "numbers": NUMBER,
    "whole numbers": np.arange(ROWS),
    "truth values": NUMBER > 0.5,
    "categories": pd.Categorical(DIGITS),
    "dates": pd.Series([datetime.date(2024, 5, 1)] * ROWS, dtype=object),
    "times": pd.Series([pd.Timestamp("2024-05-01")] * ROWS),
    "nothing": [None] * ROWS,
}
NOTHING = {
    "object": pd.Series([None] * ROWS, dtype=object),
    "NaN": np.full(ROWS, np.nan),
    "string": pd.array([None] * ROWS, dtype="string"),
    "category": pd.Categorical([None] * ROWS),
    "boolean": pd.array([None] * ROWS, dtype="boolean"),
    "null": pd.Series([None] * ROWS, dtype=pd.ArrowDtype(pa.null())),
}


@pytest.mark.parametrize("nothing", NOTHING)
def test_a_column_without_values_takes_anything_later(nothing, tmp_path):
    X = pd.DataFrame({"number": NUMBER, "c": NOTHING[nothing]})
    for model in (
        sp.GBMRegressor(n_estimators=2),
        sp.ExtraTreesRegressor(n_estimators=2, random_state=0),
        sp.AdaBoostRegressor(n_estimators=2, random_state=0),
        sp.IsolationForest(n_estimators=2, random_state=0),
    ):
        model.fit(X, Y)
        assert model.model_.schema.empty == (1,)
        assert model.model_.schema.categorical == ()
        model.save(tmp_path / "model.spinney")
        again = sp.load_estimator(tmp_path / "model.spinney")
        assert again.model_ == model.model_
        for values in LATER.values():
            later = X.assign(c=values)
            assert again.predict(later).tolist() == model.predict(X).tolist()
            assert model.predict(later).tolist() == model.predict(X).tolist()


def test_all_numbers_missing_in_a_frame_are_a_column_without_values_too():
    X = pd.DataFrame({"number": NUMBER, "c": np.nan})
    model = sp.GBMRegressor(n_estimators=2).fit(X, Y)
    assert model.predict(X.assign(c="oak")).tolist() == model.predict(X).tolist()
    plain = sp.GBMRegressor(n_estimators=2).fit(X.to_numpy(), Y)
    assert plain.model_.schema.categories is None  # an array has numbers only
    rows = [[number, None] for number in NUMBER]
    assert sp.GBMRegressor(n_estimators=2).fit(rows, Y).model_.schema.empty == (1,)


def test_validation_data_may_hold_what_training_lacked():
    X = pd.DataFrame({"number": NUMBER, "c": NOTHING["object"]})
    pairs = [(X.assign(c=values), Y) for values in LATER.values()]
    model = sp.GBMRegressor(n_estimators=3).fit(X, Y, eval_set=pairs)
    histories = [found["rmse"] for found in model.evals_result_.values()]
    assert len(histories) == len(LATER)
    assert all(history == histories[0] for history in histories)


def test_permutation_importance_takes_what_training_lacked():
    X = pd.DataFrame({"number": NUMBER, "c": NOTHING["object"]})
    model = sp.GBMRegressor(n_estimators=3).fit(X, Y)
    found = sp.permutation_importance(model, X.assign(c=DIGITS), Y, repeats=2)
    assert found.importances_mean[1] == 0.0
    assert found.importances_mean[0] > 0.0


def test_unseen_categories_that_are_to_be_errors_are_so_without_any_category_too():
    X = pd.DataFrame({"number": NUMBER, "c": NOTHING["object"]})
    model = sp.GBMRegressor(n_estimators=2, unseen="error").fit(X, Y)
    with pytest.raises(DataError, match="\"c\" holds 'ash', a category that training did not see"):
        model.predict(X.assign(c="ash"))
    assert model.predict(X.assign(c=1.5)).tolist() == model.predict(X).tolist()


def test_numbers_and_text_in_one_column_are_refused_whatever_else_it_holds():
    X = pd.DataFrame({"number": NUMBER, "c": pd.Series([*DIGITS[:-1], 3.0], dtype=object)})
    with pytest.raises(DataTypeError, match="mixes text with other values"):
        sp.GBMRegressor(n_estimators=2).fit(X, Y)
