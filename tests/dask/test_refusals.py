"""What cannot be trained on is an error before work starts, and the message has the reason."""

from __future__ import annotations

import datetime
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import dask
import dask.bag
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy import sparse

import spinney as sp
import spinney.dask as sd
from clusters import another_client, cluster_of
from dask_data import array, delayed, frame
from spinney.errors import ClusterError, DataError, DataTypeError, ParameterError, ParameterTypeError

ROWS = 40
CHUNKS = (10, 30)
X = np.random.default_rng(0).normal(size=(ROWS, 3))
Y = X[:, 0]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2, processes=False) as client:
        yield client


def parts(*tables: Any) -> list[Any]:
    return [dask.delayed(one) for one in tables]


def refused(client: Any, *given: Any, **beside: Any) -> str:
    """The message of the error for data that cannot be used."""
    with pytest.raises(DataError) as caught:
        sd.Dataset(client, *given, **beside)
    return str(caught.value)


def test_partitions_with_other_columns(client: Client) -> None:
    one = pd.DataFrame(X, columns=["a", "b", "c"])
    assert (
        refused(client, parts(one, one[["a", "b"]]))
        == "partition 1 has 2 columns, but partition 0 has 3; every "
        "partition must have the same columns"
    )
    assert "partition 1 has columns of other names, such as 'z'" in refused(
        client, parts(one, one.rename(columns={"b": "z"}))
    )
    assert "partition 1 has columns in another order" in refused(client, parts(one, one[["b", "a", "c"]]))


def test_partitions_with_other_dtypes(client: Client) -> None:
    one = pd.DataFrame(X, columns=["a", "b", "c"])
    assert (
        refused(client, parts(one, one.astype({"b": "float32"})))
        == 'partition 1: column "b" is float32, but float64 in partition 0; give every partition the same dtypes, as with '
        "X.astype(...)"
    )
    assert "is category, but float64 in partition 0" in refused(
        client, parts(one, one.astype({"b": "category"}))
    )
    assert "X is float32, but float64 in partition 0" in refused(client, parts(X, X.astype(np.float32)))
    assert "partition 1 is sparse, but partition 0 is dense" in refused(client, parts(X, sparse.csr_array(X)))


def test_partitions_whose_columns_hold_other_kinds_of_values(client: Client) -> None:
    numbers, texts = (
        pd.DataFrame({"b": pd.Series(values, dtype=object)}) for values in ([1.5, 2.5], ["oak", "ash"])
    )
    dates = pd.DataFrame({"b": pd.Series([datetime.date(2024, 5, 1)], dtype=object)})
    for before, after, message in (
        (numbers, texts, "text, but plain numbers"),
        (texts, numbers, "plain numbers, but text"),
    ):
        with pytest.raises(DataTypeError, match=f'partition 1: column "b" holds {message} in earlier rows'):
            sd.Dataset(client, parts(before, after))
    with pytest.raises(DataTypeError, match='partition 1: column "b" holds dates, but text in earlier rows'):
        sd.Dataset(client, parts(texts, dates), categorical=["b"])


def test_targets_of_other_lengths_or_partitions(client: Client) -> None:
    assert (
        refused(client, array(X, CHUNKS), array(Y, (20, 10, 10)))
        == "y has 3 partitions, but X has 2; give both the same, as with repartition or rechunk"
    )
    assert (
        refused(client, array(X, CHUNKS), array(Y, (30, 10)))
        == "partition 0: y has 30 values, but X has 10 rows; give one value for each row"
    )
    assert "weight has 3 partitions" in refused(client, array(X, CHUNKS), weight=array(Y, (20, 10, 10)))
    assert "partition 1: y has 5 values, but X has 0 rows" in refused(
        client, delayed(X, (40, 0)), parts(Y, Y[:5])
    )


HALF = ROWS // 2
HALVES = parts(X[:HALF], X[HALF:])


@pytest.mark.parametrize("name", ["y", "weight", "base_margin", "qid"])
def test_labels_that_some_partitions_lack(client: Client, name: str) -> None:
    values = np.abs(Y[:HALF]) if name != "qid" else np.arange(HALF) // 5
    given = {"y": parts(Y[:HALF], Y[HALF:])}
    for lacks, has in ((0, 1), (1, 0)):
        some = [None, None]
        some[has] = values
        assert refused(client, HALVES, **{**given, name: parts(*some)}) == (
            f"partition {lacks} has no {name}, but partition {has} has; give it for all partitions or for none"
        )


NAMES = np.arange(HALF) // 5 + 2**60
TEXT = "holds text, but numbers in partition 0; give every partition the same dtype"
LARGE = "but partition 0 has int64 beyond 2**53, and together they would be rounded; give every partition the same dtype"


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (NAMES, NAMES.astype(np.uint64), f"is uint64, {LARGE}"),
        (NAMES, np.arange(HALF) * 1.0, f"is float64, {LARGE}"),
        (NAMES, NAMES.astype(str), TEXT),
        (np.arange(HALF), NAMES.astype(str).astype(object), TEXT),
    ],
)
def test_labels_that_cannot_be_joined(client: Client, one: Any, other: Any, message: str) -> None:
    targets = parts(Y[:HALF], Y[HALF:])
    with pytest.raises(DataTypeError) as caught:
        sd.Dataset(client, HALVES, targets, qid=parts(one, other))
    assert str(caught.value) == f"partition 1: qid {message}"
    with pytest.raises(DataTypeError) as caught:
        sd.GBMClassifier(client=client).fit(HALVES, parts(one, other))
    assert str(caught.value) == f"partition 1: y {message}"
    with pytest.raises(DataTypeError) as caught:
        sd.train(client, {}, sd.Dataset(client, HALVES, targets), "auto", groups=parts(one, other))
    assert str(caught.value) == f"partition 1: groups {message}"


def test_a_target_with_missing_or_odd_values_is_reported_as_on_one_machine(client: Client) -> None:
    gap = pd.Series([pd.NA, *Y[1:HALF]], dtype=object)
    assert "partition 0: Input y contains NaN" in refused(client, HALVES, parts(gap, Y[HALF:]))
    odd = np.empty(HALF, dtype=object)
    odd[:] = [np.arange(2)] * HALF
    with pytest.raises(DataTypeError, match="partition 0: y"):
        sd.Dataset(client, HALVES, parts(odd, Y[HALF:]))


def test_labels_of_one_kind_may_be_kept_in_other_ways(client: Client) -> None:
    text = np.array([f"q{k // 5}" for k in range(ROWS)])
    kept = parts(text[:HALF], text[HALF:].astype(object))
    found = sd.Dataset(client, HALVES, parts(Y[:HALF], Y[HALF:].astype(np.float32)), qid=kept)
    assert found.meta.no_labels.queries is not None
    whole = np.concatenate([np.arange(HALF), Y[HALF:]])
    mixed = sd.Dataset(client, HALVES, parts(np.arange(HALF), Y[HALF:]))
    assert sd.train(client, {}, mixed, 3) == sp.train({}, sp.Dataset(X, whole), 3)
    weighted = sd.Dataset(client, HALVES, weight=parts(np.ones(HALF), np.ones(HALF, np.int64)))
    assert weighted.meta.no_labels.weight is not None


def test_targets_of_other_shapes_or_names_in_other_partitions(client: Client) -> None:
    two = np.column_stack([Y, -Y])
    assert refused(client, HALVES, parts(Y[:HALF], two[HALF:])) == (
        "partition 1: y has 2 columns, but one dimension in partition 0; give every partition as many"
    )
    named = pd.DataFrame(two, columns=["p", "q"])
    assert refused(client, HALVES, parts(named[:HALF], named[HALF:][["q", "p"]])) == (
        "partition 1: y has the columns q, p, but p, q in partition 0; give every partition the same"
    )
    with pytest.raises(DataTypeError, match=r"partition 0: y is a single value, 3.0; give one for each row"):
        sd.Dataset(client, HALVES, parts(3.0, 4.0))


@pytest.mark.parametrize("kind", [object, float])
def test_a_column_that_holds_nothing_in_a_partition_has_the_type_of_the_others(
    client: Client, kind: type
) -> None:
    nothing = pd.DataFrame({"a": pd.Series([None] * HALF, dtype=kind)})
    texts, numbers = pd.DataFrame({"a": ["oak", "ash"] * 10}), pd.DataFrame({"a": Y[HALF:]})
    for some in (texts, numbers):
        for tables in ([nothing, some], [some, nothing]):
            whole = sp.Dataset(pd.concat(tables, ignore_index=True), Y)
            found = sd.Dataset(client, parts(*tables), parts(Y[:HALF], Y[HALF:]))
            assert sd.train(client, {}, found, 3) == sp.train({}, whole, 3)
    message = refused(client, parts(nothing, texts, numbers))
    assert 'partition 2: column "a" is float64, but ' in message
    assert "in partition 1" in message


def test_a_data_set_that_was_cancelled(client: Client) -> None:
    data = sd.Dataset(client, HALVES, parts(Y[:HALF], Y[HALF:]))
    client.cancel(data.parts)
    with pytest.raises(ClusterError, match="the data set is gone: its partitions were cancelled"):
        sd.train(client, {}, data, 2)


def test_what_a_rank_refuses_is_not_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    data = sd.Dataset(client, HALVES, parts(Y[:HALF], Y[HALF:]))
    with pytest.raises(DataError, match="objective log_loss needs labels 0 and 1"):
        sd.train(client, {"objective": "log_loss"}, data, 2)
    assert not [one for one in caplog.records if "Compute Failed" in one.getMessage()]


def test_infinite_values_are_named_by_partition_and_row(client: Client) -> None:
    wrong = X.copy()
    wrong[12, 1] = np.inf
    message = 'partition 1: column "b" holds an infinite value in row 2, counted from 0'
    assert message in refused(client, frame(pd.DataFrame(wrong, columns=["a", "b", "c"]), CHUNKS))
    assert "partition 1: column 1 holds an infinite value in row 2" in refused(
        client, delayed(sparse.csr_array(wrong), CHUNKS)
    )


def test_targets_and_weights_that_are_no_numbers_to_train_on(client: Client) -> None:
    gap = np.where(np.arange(ROWS) == 15, np.nan, Y)
    assert "partition 1: Input y contains NaN. The first is in row 5" in refused(
        client, array(X, CHUNKS), array(gap, CHUNKS)
    )
    assert "partition 0: weight is negative" in refused(
        client, array(X, CHUNKS), array(Y, CHUNKS), weight=array(-np.abs(Y), CHUNKS)
    )
    assert "weight holds only zeros" in refused(
        client, array(X, CHUNKS), array(Y, CHUNKS), weight=array(0 * Y, CHUNKS)
    )
    assert "partition 0: bad input shape (10, 1): weight should be a 1d array" in refused(
        client, array(X, CHUNKS), array(Y, CHUNKS), weight=array(np.ones((ROWS, 1)), CHUNKS)
    )
    with pytest.raises(
        DataError, match=r"partition 0: bad input shape \(10, 1\): sample_weight should be a 1d array"
    ):
        sd.GBMRegressor(client=client).fit(
            array(X, CHUNKS), array(Y, CHUNKS), sample_weight=array(np.ones((ROWS, 1)), CHUNKS)
        )
    with pytest.raises(DataError, match="partition 1: Unknown label type: continuous"):
        sd.GBMClassifier(client=client).fit(
            array(X, CHUNKS), array(np.where(np.arange(ROWS) == 15, 0.5, 1.0), CHUNKS)
        )


def test_tables_without_rows(client: Client) -> None:
    assert refused(client, delayed(X[:0], (0, 0))) == "X has no rows; give at least one"


def test_a_missing_target(client: Client) -> None:
    data = sd.Dataset(client, array(X, CHUNKS))
    with pytest.raises(DataError, match="data has no target: give y to Dataset"):
        sd.train(client, {}, data)
    with pytest.raises(DataError, match="requires y to be passed"):
        sd.GBMRegressor(client=client).fit(array(X, CHUNKS), None)


def test_what_is_no_collection(client: Client) -> None:
    with pytest.raises(
        DataTypeError, match="X must be a dask array or data frame, or a list of delayed tables, got numpy's"
    ):
        sd.Dataset(client, X)
    with pytest.raises(DataTypeError, match=r"y must be a dask array .* got list of float"):
        sd.Dataset(client, array(X, CHUNKS), Y.tolist())
    with pytest.raises(DataTypeError, match=r"X must be a dask array .* got pandas's DataFrame"):
        sd.GBMRegressor(client=client).fit(pd.DataFrame(X), Y)
    with pytest.raises(
        DataTypeError, match=r"data must be a spinney\.dask.Dataset, got a spinney.Dataset of this"
    ):
        sd.train(client, {}, sp.Dataset(X, Y))
    with pytest.raises(DataTypeError, match="reference must be"):
        sd.Dataset(client, array(X, CHUNKS), reference=3)


def test_validation_rows_that_were_binned_apart(client: Client) -> None:
    data, other = (sd.Dataset(client, array(rows, CHUNKS), array(Y, CHUNKS)) for rows in (X, X + 1))
    with pytest.raises(DataError, match=r"valid\['late'\] was binned apart"):
        sd.train(client, {}, data, valid={"late": other})
    with pytest.raises(DataError, match="eval_set: partition 0: y has 30 values"):
        sd.GBMRegressor(client=client).fit(
            array(X, CHUNKS), array(Y, CHUNKS), eval_set=(array(X, CHUNKS), array(Y, (30, 10)))
        )


def test_wrong_parameters(client: Client) -> None:
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    with pytest.raises(ParameterError, match="max_leafs"):
        sd.train(client, {"max_leafs": 3}, data)
    with pytest.raises(ParameterError, match="max_bin = 7 differs from the Dataset's 255"):
        sd.train(client, {"max_bin": 7}, data)
    with pytest.raises(ParameterError, match="cuts='all' must be 'sample' or 'sketch'"):
        sd.Dataset(client, array(X, CHUNKS), cuts="all")
    with pytest.raises(ParameterError, match=r"cuts=array.* must be 'sample' or 'sketch'"):
        sd.Dataset(client, array(X, CHUNKS), cuts=Y[:2])
    with pytest.raises(ParameterError, match="early_stopping_rounds needs validation data"):
        sd.train(client, {"early_stopping_rounds": 2}, data)
    with pytest.raises(DataError, match="group and qid are both given"):
        sd.Dataset(client, array(X, CHUNKS), group=array(Y, CHUNKS), qid=array(Y, CHUNKS))


@pytest.mark.parametrize("what", ["callbacks", "metrics", "objective"])
def test_functions_that_cannot_travel(client: Client, what: str) -> None:
    lock = threading.Lock()

    def locked(*given: Any) -> Any:
        return lock

    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    message = f"{what}.* cannot travel to a worker, since it cannot be pickled: TypeError: cannot pickle"
    with pytest.raises(ParameterTypeError, match=message):
        sd.train(client, {}, data, valid={"v": data}, **{what: locked if what == "objective" else [locked]})


def test_an_estimator_that_cannot_travel(client: Client) -> None:
    lock = threading.Lock()
    estimator = sd.GBMRegressor(client=client, objective=lambda y, raw: (lock, raw))
    with pytest.raises(ParameterTypeError, match="cannot travel to a worker, since it cannot be pickled"):
        estimator.fit(array(X, CHUNKS), array(Y, CHUNKS))


def test_clients_that_cannot_serve(client: Client) -> None:
    given = array(X, CHUNKS), array(Y, CHUNKS)
    with pytest.raises(ParameterTypeError, match=r"client must be a dask\.distributed.Client, got Array"):
        sd.Dataset(*given)
    with pytest.raises(ParameterError, match="client=None means Dask's default client, but there is none"):
        sd.Dataset(None, *given)
    with another_client(client) as closed:
        data = sd.Dataset(closed, *given)
        with pytest.raises(ParameterError, match="data was made with another client"):
            sd.train(client, {}, data)
    with pytest.raises(ParameterError, match="client is closed"):
        sd.Dataset(closed, *given)
    with pytest.raises(ParameterError, match="client is closed"):
        sd.GBMRegressor(client=closed).fit(*given)


def test_a_partition_that_cannot_be_computed_is_named(client: Client) -> None:
    good, bad = dask.delayed(X), dask.delayed(_divide)(X, None)
    with pytest.raises(ClusterError, match="partition 1: X cannot be computed: TypeError"):
        sd.Dataset(client, [good, bad])
    with pytest.raises(ClusterError, match="partition 0: y cannot be computed: TypeError"):
        sd.Dataset(client, [good], [bad])
    fitted = sd.GBMRegressor(client=client, n_estimators=1).fit([good], [dask.delayed(Y)])
    with pytest.raises(ClusterError, match="partition 0: y cannot be computed: TypeError"):
        fitted.score([good], [bad])


def test_what_cannot_be_predicted_or_scored(client: Client) -> None:
    fitted = sd.GBMRegressor(client=client, n_estimators=1).fit(array(X, CHUNKS), array(Y, CHUNKS))
    for flat in (array(Y, CHUNKS), frame(pd.Series(Y), CHUNKS)):
        with pytest.raises(DataError, match="X has 1 dimensions; give a table with rows and columns"):
            fitted.predict(flat)
    with pytest.raises(DataTypeError, match="X must be a dask array or data frame"):
        fitted.predict(dask.bag.from_sequence([1, 2]))
    assert np.array_equal(fitted.predict(dask.delayed(X)).compute(), fitted.predict(X))
    with pytest.raises(DataError, match="y is None; a score needs the target"):
        fitted.score(array(X, CHUNKS), None)
    with pytest.raises(DataError, match="y has 25 values, but X has 40 rows"):
        fitted.score(array(X, CHUNKS), array(Y[:25], (10, 15)))
    with pytest.raises(DataError, match="sample_weight has 25 values, but X has 40 rows"):
        fitted.score(array(X, CHUNKS), array(Y, CHUNKS), sample_weight=array(Y[:25], (10, 15)))
    with pytest.raises(DataTypeError, match="partition 1: y holds text, but numbers in partition 0"):
        fitted.score(HALVES, parts(Y[:HALF], Y[HALF:].astype(str)))
    with pytest.raises(DataError, match="partition 1 has no y"):
        fitted.score(HALVES, parts(Y[:HALF], None))
    with pytest.raises(DataTypeError, match=r"y is a single value, 3\.0"):
        fitted.score(HALVES, parts(3.0, 4.0))
    both = parts(Y[:HALF], Y[HALF:])
    assert fitted.score(HALVES, both, sample_weight=parts(None, None)) == fitted.score(HALVES, both)
    with pytest.raises(DataError, match="X has no rows; score needs at least one"):
        fitted.score(array(X[:0], (0,)), array(Y[:0], (0,)))


def test_a_cluster_without_workers() -> None:
    with (
        cluster_of(0, processes=False) as empty,
        pytest.raises(ParameterError, match="client has no workers"),
    ):
        sd.Dataset(empty, array(X, CHUNKS))


def test_spinney_does_not_import_dask_and_its_error_names_the_package() -> None:
    code = (
        "import sys, spinney, spinney.training.booster, spinney.estimators.classifier\n"
        "assert not {'dask', 'distributed'} & set(sys.modules)\n"
        "sys.modules['distributed'] = None\n"
        "try:\n    import spinney.dask\n"
        "except ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == (
        "MissingPackageError spinney.dask needs the package distributed, which is not there: pip install 'spinney[dask]'"
    )


def _divide(a, b):
    return a / b
