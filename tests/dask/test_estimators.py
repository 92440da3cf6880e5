"""Estimators on dask collections give the files of those on one machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

import spinney as sp
import spinney.dask as sd
from clusters import another_client, cluster_of
from dask_data import array, delayed, file_of, frame
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.params.parameter import draw_seed

ROWS = 400
CHUNKS = (150, 1, 149, 100)
RNG = np.random.default_rng(0)
X = np.where(RNG.random((ROWS, 5)) < 0.1, np.nan, RNG.normal(size=(ROWS, 5)))
Y = np.nan_to_num(X[:, 0]) + 0.3 * RNG.normal(size=ROWS)
WEIGHT = RNG.random(ROWS)
TREES = np.array(["ash", "elm", "oak"])[(Y > -0.5).astype(int) + (Y > 0.5)]
SMALL: dict[str, Any] = {"n_estimators": 6, "max_leaves": 7}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2, processes=False) as client:
        yield client


def check_fits(kind: str, client: Client, y: Any, given: Any = None, **parameters: Any) -> tuple[Any, Any]:
    """Fit here and on the cluster, and compare all that a fit leaves."""
    beside: dict[str, Any] = given or {}
    parameters = SMALL | parameters
    here = getattr(sp, kind)(**parameters).fit(X, y, **beside)
    chunked = {name: array(values, CHUNKS) for name, values in beside.items()}
    there = getattr(sd, kind)(client=client, **parameters).fit(array(X, CHUNKS), array(y, CHUNKS), **chunked)
    assert file_of(there.model_) == file_of(here.model_)
    check_fitted(there, here)
    return here, there


def check_fitted(there: Any, here: Any) -> None:
    assert set(vars(there)) - {"client"} == set(vars(here))
    for name in vars(here):
        if name.endswith("_") and name != "model_":
            assert np.array_equal(getattr(there, name), getattr(here, name)), name


@pytest.mark.parametrize(
    ("kind", "y", "parameters"),
    [
        ("GBMRegressor", Y, {}),
        ("GBMRegressor", Y, {"objective": "quantile", "quantile_alpha": [0.2, 0.8]}),
        ("GBMRegressor", np.column_stack([Y, -Y]), {"subsample": 0.7, "random_state": 3}),
        ("GBMClassifier", Y > 0, {}),
        ("GBMClassifier", TREES, {"class_weight": "balanced"}),
        ("GBMClassifier", np.column_stack([Y > 0, Y > 1]).astype(int), {"class_weight": {1: 2.0}}),
    ],
    ids=["numbers", "levels", "targets", "two", "three", "labels"],
)
def test_a_fit_gives_the_file_of_one_machine(client: Client, kind: str, y: Any, parameters: Any) -> None:
    here, there = check_fits(kind, client, y, {"sample_weight": WEIGHT}, **parameters)
    predicted = there.predict(array(X, CHUNKS))
    assert np.array_equal(predicted.compute(), here.predict(X))
    assert there.score(array(X, CHUNKS), array(y, CHUNKS)) == here.score(X, y)


def test_a_ranking_gives_the_file_of_one_machine(client: Client) -> None:
    qid, relevance = np.sort(RNG.integers(0, 30, ROWS)), np.floor(np.clip(Y + 2, 0, 4))
    here, there = check_fits("GBMRanker", client, relevance, {"qid": qid})
    found = there.score(array(X, CHUNKS), array(relevance, CHUNKS), qid=array(qid, CHUNKS))
    assert found == here.score(X, relevance, qid=qid)


def test_rows_are_held_out_as_on_one_machine(client: Client) -> None:
    _, there = check_fits(
        "GBMClassifier", client, TREES, {"sample_weight": WEIGHT},
        validation_fraction=0.25, early_stopping_rounds=2, learning_rate=1.0, n_estimators=20, random_state=1,
    )  # fmt: skip
    assert there.best_iteration_ < 20


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_source_of_seeds_is_drawn_from_as_on_one_machine(client: Client, source: Any) -> None:
    fits: list[Any] = []
    for make in (sp.GBMRegressor, sd.GBMRegressor):
        state = source(4)
        estimator = make(**SMALL, subsample=0.5, random_state=state)
        local = make is sp.GBMRegressor
        if not local:
            estimator.set_params(client=client)
        fits.append(estimator.fit(X, Y) if local else estimator.fit(array(X, CHUNKS), array(Y, CHUNKS)))
        fits.append(draw_seed(state))
    assert file_of(fits[0].model_) == file_of(fits[2].model_)
    assert fits[1] == fits[3]


def test_frames_with_text_and_validation_data_give_the_file_of_one_machine(client: Client) -> None:
    table = pd.DataFrame(X, columns=list("abcde")).assign(text=TREES, kind=pd.Categorical(TREES[::-1]))
    other, labels = table[:120], pd.Series(TREES)
    given: dict[str, Any] = {"eval_names": ["some", "all"], "eval_class_weight": [{"oak": 2.0}, None]}
    here = sp.GBMClassifier(**SMALL).fit(
        table, labels, eval_set=[(other, labels[:120]), (table, labels)], eval_sample_weight=[WEIGHT[:120], None],
        **given,
    )  # fmt: skip
    pairs = [(frame(other, (50, 70)), frame(labels[:120], (50, 70)))]
    pairs.append((frame(table, CHUNKS), frame(labels, CHUNKS)))
    there = sd.GBMClassifier(**SMALL, client=client).fit(
        *pairs[1], eval_set=pairs, eval_sample_weight=[array(WEIGHT[:120], (50, 70)), None], **given
    )
    assert file_of(there.model_) == file_of(here.model_)
    check_fitted(there, here)
    assert there.feature_names_in_.tolist() == [*"abcde", "text", "kind"]


def test_early_stopping_uses_rows_on_the_cluster(client: Client) -> None:
    rules = {
        "n_estimators": 30,
        "learning_rate": 1.0,
        "early_stopping_rounds": 2,
        "eval_metric": ["l1", "l2"],
    }
    here = sp.GBMRegressor(**rules).fit(X[:300], Y[:300], eval_set=(X[300:], Y[300:]))
    there = sd.GBMRegressor(client=client, **rules).fit(
        array(X[:300], (100, 200)), array(Y[:300], (100, 200)), eval_set=(array(X[300:], (100,)), array(Y[300:], (100,))),
    )  # fmt: skip
    assert file_of(there.model_) == file_of(here.model_)
    check_fitted(there, here)
    assert there.best_iteration_ < 28
    assert list(there.evals_result_["validation_0"]) == ["l1", "l2"]


def test_rows_of_one_class_need_no_trees(client: Client) -> None:
    _, there = check_fits("GBMClassifier", client, np.full(ROWS, "ash"))
    assert there.n_iter_ == 0
    assert set(there.predict(array(X, CHUNKS)).compute()) == {"ash"}


def test_a_fit_goes_on_from_a_model_of_the_same_rows(client: Client) -> None:
    first = sd.GBMRegressor(client=client, **SMALL).fit(array(X, CHUNKS), array(Y, CHUNKS))
    more = sd.GBMRegressor(client=client, **SMALL).fit(array(X, CHUNKS), array(Y, CHUNKS), init_model=first)
    here = sp.GBMRegressor(**SMALL).fit(X, Y)
    assert file_of(more.model_) == file_of(sp.GBMRegressor(**SMALL).fit(X, Y, init_model=here).model_)
    warm = sd.GBMRegressor(client=client, **SMALL, warm_start=True).fit(array(X, CHUNKS), array(Y, CHUNKS))
    warm.set_params(n_estimators=12).fit(array(X, CHUNKS), array(Y, CHUNKS))
    assert file_of(warm.model_) == file_of(more.model_)
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new trees") as caught:
        warm.fit(array(X, CHUNKS), array(Y, CHUNKS))
    assert [str(one.filename) for one in caught] == [__file__]


def test_digits_as_text_are_categories_that_are_warned_of_as_on_one_machine(client: Client) -> None:
    digits = np.array(["1", "2", "3"], dtype=object)[(Y > 0).astype(int) + (Y > 0.5)]
    table = pd.DataFrame({"number": X[:, 0], "digits": digits})
    predicted = (
        r"""^column "digits": text that all reads as numbers is taken .*X\['digits'\]\.astype\(float\), or"""
    )
    with pytest.warns(DataConversionWarning, match=predicted):
        here = sp.GBMRegressor(**SMALL).fit(table, Y)
    with pytest.warns(DataConversionWarning, match=predicted) as caught:
        there = sd.GBMRegressor(client=client, **SMALL).fit(frame(table, CHUNKS), array(Y, CHUNKS))
    assert [note.filename for note in caught] == [__file__]
    assert file_of(there.model_) == file_of(here.model_)
    with pytest.raises(DataError, match='"digits" holds text that reads as numbers'):
        sd.Dataset(client, frame(table, CHUNKS), array(Y, CHUNKS))


@pytest.mark.parametrize("cuts", ["sample", "sketch"])
def test_a_column_without_values_takes_anything_later_as_on_one_machine(client: Client, cuts: str) -> None:
    table = pd.DataFrame({"number": X[:, 0]})
    for values in (np.array([None] * ROWS, dtype=object), pd.array([None] * ROWS, dtype="string")):
        empty = table.assign(c=values)
        here = sp.Dataset(empty, Y)
        there = sd.Dataset(client, delayed(empty, CHUNKS), array(Y, CHUNKS), cuts=cuts)
        assert there.schema == here.schema
        assert there.schema.empty == (1,)
        assert there.cuts.bins[1] == here.cuts.bins[1] == 1
    later = table.assign(c=TREES)
    known = {"schema": there.schema, "max_bin": 63}
    found = sd.Dataset(client, delayed(later, CHUNKS), array(Y, CHUNKS), cuts=cuts, **known)
    assert found.schema == sp.Dataset(later, Y, **known).schema == sp.Dataset(later, Y).schema


def test_a_fit_goes_on_with_values_in_a_column_that_had_none(client: Client) -> None:
    empty = pd.DataFrame({"number": X[:, 0], "c": np.array([None] * ROWS, dtype=object)})
    here = sp.GBMRegressor(**SMALL).fit(empty, Y)
    there = sd.GBMRegressor(client=client, **SMALL).fit(frame(empty, CHUNKS), array(Y, CHUNKS))
    assert file_of(there.model_) == file_of(here.model_)
    later = empty.assign(c=TREES)
    assert there.predict(later).tolist() == here.predict(empty).tolist()
    more = sd.GBMRegressor(client=client, **SMALL).fit(
        frame(later, CHUNKS), array(Y, CHUNKS), init_model=there
    )
    assert file_of(more.model_) == file_of(sp.GBMRegressor(**SMALL).fit(later, Y, init_model=here).model_)
    assert more.model_.schema.categorical == (1,)


def test_functions_of_the_users_run_on_a_worker(client: Client) -> None:
    def size(y: Any, predicted: Any) -> tuple[str, float, bool]:
        return "size", float(np.abs(y - predicted).max()), False

    given = {"eval_metric": size, **SMALL}
    here = sp.GBMRegressor(**given).fit(X, Y, eval_set=(X, Y))
    X_, Y_ = array(X, CHUNKS), array(Y, CHUNKS)
    there = sd.GBMRegressor(client=client, **given).fit(X_, Y_, eval_set=(X_, Y_))
    assert there.evals_result_ == here.evals_result_


def test_callbacks_have_in_the_end_what_their_copies_have(client: Client) -> None:
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    history, other = sp.History(), sp.History()
    model = sd.train(client, {"max_leaves": 4}, data, 3, valid={"all": data}, callbacks=[history])
    whole = sp.Dataset(X, Y)
    assert file_of(model) == file_of(
        sp.train({"max_leaves": 4}, whole, 3, valid={"all": whole}, callbacks=[other])
    )
    assert history.evals == other.evals
    assert len(history.evals["all"]["rmse"]) == 3


def test_the_default_client_serves_where_none_is_given(client: Client) -> None:
    with another_client(client, default=True):
        found = sd.GBMRegressor(**SMALL).fit(array(X, CHUNKS), array(Y, CHUNKS))
    assert file_of(found.model_) == file_of(sp.GBMRegressor(**SMALL).fit(X, Y).model_)


def test_lists_of_delayed_tables_are_fitted_and_predicted(client: Client) -> None:
    found = sd.GBMRegressor(client=client, **SMALL).fit(delayed(X, CHUNKS), delayed(Y, CHUNKS))
    here = sp.GBMRegressor(**SMALL).fit(X, Y)
    assert file_of(found.model_) == file_of(here.model_)
    predicted = dask.compute(*found.predict(delayed(X, CHUNKS)))
    assert [len(one) for one in predicted] == list(CHUNKS)
    assert np.array_equal(np.concatenate(predicted), here.predict(X))


@pytest.fixture(scope="module")
def classifier(client: Client) -> Any:
    """An estimator that was fitted on a frame, so that it has names of columns."""
    table = pd.DataFrame(X, columns=list("abcde")).assign(text=TREES)
    return sd.GBMClassifier(client=client, **SMALL).fit(frame(table, CHUNKS), frame(pd.Series(TREES), CHUNKS))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "apply"])
def test_predictions_of_a_frame_are_lazy_arrays_of_unknown_length(classifier: Any, method: str) -> None:
    table = pd.DataFrame(X, columns=list("abcde")).assign(text=TREES)
    whole = frame(table, CHUNKS)
    predicted = getattr(classifier, method)(whole[whole.a > 0])
    assert isinstance(predicted, da.Array)
    assert np.isnan(predicted.shape[0])
    wanted = getattr(classifier.to_local(), method)(table[table.a > 0])
    found = predicted.compute()
    assert (found.dtype, found.shape[1:]) == (predicted.dtype, predicted.shape[1:])
    assert np.array_equal(found, wanted)


def test_predictions_of_an_array_have_its_chunks(client: Client) -> None:
    here, there = check_fits("GBMRegressor", client, Y, {"base_margin": Y / 2})
    predicted = there.predict(array(X, CHUNKS), base_margin=array(Y / 2, CHUNKS), rounds=3)
    assert predicted.chunks == (CHUNKS,)
    assert predicted.dtype == np.float64
    assert np.array_equal(predicted.compute(), here.predict(X, base_margin=Y / 2, rounds=3))
    assert np.array_equal(there.predict_raw(array(X, CHUNKS)).compute(), here.predict_raw(X))
    assert np.array_equal(there.predict(X[:5]), here.predict(X[:5]))


def test_partitions_of_files_stay_what_they_are(client: Client, tmp_path: Path) -> None:
    """Dask reads several files at once where few of their columns are used."""
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=Y, **{f"more{k}": Y for k in range(20)})
    for place in range(8):
        table[50 * place : 50 * place + 50].to_parquet(tmp_path / f"part{place}.parquet")
    files = dd.read_parquet(tmp_path)
    assert files["y"].optimize().npartitions < files.npartitions == 8
    found = sd.GBMRegressor(client=client, **SMALL).fit(files[["a", "b"]], files["y"])
    here = sp.GBMRegressor(**SMALL).fit(table[["a", "b"]], table["y"])
    assert file_of(found.model_) == file_of(here.model_)
    predicted = found.predict(files[["a", "b"]])
    assert predicted.numblocks == (8,)
    assert np.array_equal(
        files.assign(predicted=predicted).predicted.compute(), here.predict(table[["a", "b"]])
    )


def test_predictions_of_other_columns_are_refused_before_anything_is_computed(classifier: Any) -> None:
    with pytest.raises(DataError, match="feature names should match"):
        classifier.predict(frame(pd.DataFrame(X, columns=list("abcdf")), CHUNKS))
    with pytest.raises(DataTypeError, match="staged predictions need rows of this process"):
        next(classifier.staged_predict(array(X, CHUNKS)))
    table = frame(pd.DataFrame(X, columns=list("abcde")).assign(text=TREES), CHUNKS)
    with pytest.raises(DataError, match="base_margin has 2 partitions, but X has 4"):
        classifier.predict(table, base_margin=array(Y, (200, 200)))


def test_copies_and_files_go_without_the_client(classifier: Any, client: Client, tmp_path: Path) -> None:
    table = pd.DataFrame(X[:9], columns=list("abcde")).assign(text=TREES[:9])
    wanted = classifier.predict(table)
    again = pickle.loads(pickle.dumps(classifier))
    assert again.client is None
    assert again.predict(table).tolist() == wanted.tolist()
    classifier.save(tmp_path / "model")
    loaded = sp.load_estimator(tmp_path / "model")
    assert type(loaded) is sp.GBMClassifier
    assert loaded.predict(table).tolist() == wanted.tolist()
    assert type(classifier.to_local()) is sp.GBMClassifier
    copy = clone(classifier)
    assert copy.client is client
    assert not hasattr(copy, "model_")
    assert copy.get_params() == classifier.get_params()


def test_parameters_are_those_of_the_local_estimators_and_the_client(client: Client) -> None:
    for kind in ("GBMClassifier", "GBMRegressor", "GBMRanker"):
        here, there = getattr(sp, kind)(), getattr(sd, kind)()
        assert there.get_params() == {**here.get_params(), "client": None}
        assert "client : dask.distributed.Client" in (type(there).__doc__ or "")
        assert "max_leaves :" in (type(there).__doc__ or "")
    with pytest.raises(ParameterTypeError, match="num_leaves is called max_leaves here"):
        sd.GBMRegressor(num_leaves=3)


def test_a_fit_that_fails_leaves_nothing_fitted(client: Client) -> None:
    found = sd.GBMRegressor(client=client, **SMALL).fit(array(X, CHUNKS), array(Y, CHUNKS))
    with pytest.raises(DataError, match=r"partition 2: Input y contains NaN\. The first is in row 3"):
        found.fit(array(X, CHUNKS), array(np.where(np.arange(ROWS) == 154, np.nan, Y), CHUNKS))
    assert not hasattr(found, "model_")


def test_what_a_cluster_does_not_serve_is_refused(client: Client) -> None:
    X_, Y_ = array(X, CHUNKS), array(Y, CHUNKS)
    with pytest.raises(ParameterError, match="progress=True shows nothing of a cluster"):
        sd.GBMRegressor(client=client, progress=True).fit(X_, Y_)
    with pytest.raises(ParameterError, match="tree_method='exact'"):
        sd.GBMRegressor(client=client, tree_method="exact").fit(X_, Y_)
    with pytest.raises(ParameterError, match="early_stopping_rounds=3 needs validation data"):
        sd.GBMRegressor(client=client, n_estimators=5, early_stopping_rounds=3).fit(X_, Y_)
