"""On a cluster the number of rounds is found as on one machine: by the same rows held out, to the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client
from sklearn.exceptions import ConvergenceWarning

import spinney as sp
import spinney.dask as sd
from clusters import cluster_of
from dask_data import array, file_of, frame
from spinney.errors import ClusterError, DataError, DataTypeError, ParameterError

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 360
CHUNKS = (150, 1, 109, 100)
RNG = np.random.default_rng(4)
X = np.where(RNG.random((ROWS, 4)) < 0.1, np.nan, RNG.normal(size=(ROWS, 4)))
Y = np.nan_to_num(X[:, 0]) + 0.5 * RNG.normal(size=ROWS)
WEIGHT = np.where(RNG.random(ROWS) < 0.2, 0.0, 1.0)
TREES = np.array(["ash", "elm", "oak"])[(Y > -0.5).astype(int) + (Y > 0.5)]
TOWNS = np.array([f"town {k}" for k in RNG.integers(0, 40, ROWS)])
FEW: dict[str, Any] = {"max_rounds": 8, "max_leaves": 5, "learning_rate": 0.4}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2, processes=False) as client:
        yield client


def check_fits(kind: str, client: Client, y: Any, given: Any = None, **parameters: Any) -> tuple[Any, Any]:
    """Fit here and on the cluster, and compare the files and the values of metrics."""
    beside: dict[str, Any] = given or {}
    here = getattr(sp, kind)(**parameters).fit(X, y, **beside)
    chunked = {name: array(values, CHUNKS) for name, values in beside.items()}
    there = getattr(sd, kind)(client=client, **parameters).fit(array(X, CHUNKS), array(y, CHUNKS), **chunked)
    assert file_of(there.model_) == file_of(here.model_)
    assert there.evals_result_ == here.evals_result_
    assert (there.auto_, there.best_score_) == (here.auto_, here.best_score_)
    assert there.n_estimators_ == here.n_estimators_
    return here, there


def test_an_estimator_of_defaults_gives_the_file_of_one_machine(client: Client) -> None:
    """Rows are held out, and a column of many categories gets a target encoding."""
    table = pd.DataFrame(X, columns=list("abcd")).assign(town=[f"town {k % 120}" for k in range(ROWS)])
    here = sp.GBMClassifier().fit(table, Y > 0)
    there = sd.GBMClassifier(client=client).fit(frame(table, CHUNKS), array(Y > 0, CHUNKS))
    assert file_of(there.model_) == file_of(here.model_)
    assert here.best_iteration_ is not None
    assert here.model_.statistics is not None
    assert np.array_equal(there.predict(frame(table, CHUNKS)).compute(), here.predict(table))


@pytest.mark.parametrize(
    ("kind", "y", "given", "parameters"),
    [
        ("GBMRegressor", Y, {"sample_weight": WEIGHT}, {}),
        ("GBMClassifier", TREES, {"sample_weight": WEIGHT, "groups": TOWNS}, {"class_weight": "balanced"}),
        ("GBMRanker", np.floor(np.clip(Y + 2, 0, 4)), {"qid": np.arange(ROWS) // 7}, {}),
        ("GBMRegressor", Y, {}, {"models": 2}),
        ("GBMRegressor", Y, {}, {"preset": "best", "models": 2, "learning_rate": 0.8}),
        ("GBMRegressor", Y, {"groups": TOWNS}, {"n_estimators": 5, "validation_fraction": 0.3, "max_rounds": None}),
    ],
    ids=["weights", "groups", "queries", "two models", "best", "number of rounds"],
)  # fmt: skip
def test_estimators_hold_out_the_rows_of_one_machine(
    client: Client, kind: str, y: Any, given: Any, parameters: Any
) -> None:
    check_fits(kind, client, y, given, **{**FEW, **parameters})


def test_train_holds_out_the_rows_of_one_machine(client: Client) -> None:
    params = {"max_leaves": 5, "learning_rate": 0.4}
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    expected = sp.train(params, sp.Dataset(X, Y), "auto", max_rounds=9, groups=TOWNS)
    found = sd.train(client, params, data, "auto", max_rounds=9, groups=array(TOWNS, (200, 160)))
    assert found.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("rows", ["last", np.arange(ROWS) % 9 == 2], ids=["last", "mask"])
def test_rows_by_their_order_or_name_are_held_out_as_on_one_machine(client: Client, rows: Any) -> None:
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    how: dict[str, Any] = {"max_rounds": 9, "validation": rows}
    near, far = sp.History(), sp.History()
    expected = sp.train({"max_leaves": 5}, sp.Dataset(X, Y), "auto", **how, callbacks=[near])
    found = sd.train(client, {"max_leaves": 5}, data, "auto", **how, callbacks=[far])
    assert found.to_bytes() == expected.to_bytes()
    assert (far.auto, far.evals) == (near.auto, near.evals)
    assert far.auto is not None
    for parameters in (
        FEW,
        {"n_estimators": 5} | ({"validation_fraction": 0.2} if isinstance(rows, str) else {}),
    ):
        here = sp.GBMRegressor(**parameters).fit(X, Y, validation=rows)
        there = sd.GBMRegressor(client=client, **parameters).fit(
            array(X, CHUNKS), array(Y, CHUNKS), validation=rows
        )
        assert file_of(there.model_) == file_of(here.model_)
        assert there.evals_result_ == here.evals_result_


def test_a_dask_array_names_rows_too_and_a_list_of_parts_does_not(client: Client) -> None:
    late = np.arange(ROWS) % 9 == 2
    here = sp.GBMRegressor(**FEW).fit(X, Y, validation=late)
    model = sd.GBMRegressor(client=client, **FEW)
    assert model.fit(array(X, CHUNKS), array(Y, CHUNKS), validation=array(late, CHUNKS)).auto_ == here.auto_
    assert model.model_ == here.model_
    for wrong, kind, message in (
        ([delayed(late)], DataTypeError, "validation must be 'last', an array of row numbers"),
        ([ROWS], DataError, "validation names row 360; there are rows 0 to 359"),
        (late[:9], DataError, r"validation has shape \(9,\); a mask must be \(360,\)"),
    ):
        with pytest.raises(kind, match=message):
            model.fit(array(X, CHUNKS), array(Y, CHUNKS), validation=wrong)


class Squared:
    """A loss in the order of estimators, which is also a metric."""

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        return y_pred - y_true, np.ones(len(y_true))

    def loss(self, y_true: Any, y_pred: Any) -> float:
        return float(np.mean((y_true - y_pred) ** 2))


def test_the_loss_of_an_own_objective_finds_the_rounds_of_one_machine(client: Client) -> None:
    here, _ = check_fits("GBMRegressor", client, Y, objective=Squared(), **FEW)
    assert here.auto_.metric == "loss"
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    with pytest.raises(ParameterError, match="rounds='auto' needs a metric"):
        sd.train(client, {}, data, "auto", objective=lambda scores, labels: (scores - labels, scores))
    without = sd.GBMRegressor(client=client, objective=lambda y_true, y_pred: (y_pred - y_true, y_pred))
    with pytest.raises(ParameterError, match="n_estimators='auto' needs a metric"):
        without.fit(array(X, CHUNKS), array(Y, CHUNKS))


def test_a_search_that_ends_at_its_last_round_warns_here_and_once(client: Client) -> None:
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))
    with pytest.warns(UserWarning, match="rounds='auto' ended at 2 rounds") as found:
        sd.train(client, {"max_leaves": 5, "models": 2}, data, "auto", max_rounds=2)
    assert (len(found), found[0].filename) == (1, __file__)
    with pytest.warns(ConvergenceWarning, match="n_estimators='auto' ended at 2 rounds") as found:
        sd.GBMRegressor(client=client, max_rounds=2).fit(array(X, CHUNKS), array(Y, CHUNKS))
    assert (len(found), found[0].filename) == (1, __file__)


def test_wrong_groups_and_arguments_are_refused_before_training(client: Client) -> None:
    data = sd.Dataset(client, array(X, CHUNKS), array(Y, CHUNKS))

    def refused(kind: type[Exception], match: str, rounds: Any = "auto", **given: Any) -> None:
        with pytest.raises(kind, match=match):
            sd.train(client, {}, data, rounds, **given)

    refused(DataError, r"groups has shape \(50,\); it must be \(360,\)", groups=array(TOWNS[:50], (50,)))
    refused(DataTypeError, "groups must be a dask array", groups=TOWNS)
    broken = array(np.arange(ROWS), (ROWS,)).map_blocks(lambda block: block / "two", dtype=float)
    refused(ClusterError, "groups cannot be computed: ", groups=broken)
    refused(ParameterError, "groups is for rounds='auto', but rounds=20", 20, groups=array(TOWNS, CHUNKS))
    refused(ParameterError, "groups contradicts valid", valid={"all": data}, groups=array(TOWNS, CHUNKS))
    refused(DataError, "holds out 360 of 360 rows", validation_fraction=1.0)
    with pytest.raises(ParameterError, match="groups are held out together, but no rows are"):
        sd.GBMRegressor(client=client, n_estimators=3).fit(
            array(X, CHUNKS), array(Y, CHUNKS), groups=array(TOWNS, CHUNKS)
        )


class Touch:
    """A callback that leaves a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, info: Any) -> None:
        self.path.touch()


def test_what_the_second_model_could_not_hold_out_is_refused_before_the_first(
    client: Client, tmp_path: Path
) -> None:
    groups = RNG.permutation(ROWS) // 12
    y = (groups % 7 == 0).astype(float)
    local, data = sp.Dataset(X, y), sd.Dataset(client, array(X, CHUNKS), array(y, CHUNKS))
    params = {"objective": "log_loss", "eval_metric": "auc"}

    def refused(run: Any, **more: Any) -> bool:
        try:
            run({**params, **more})
        except DataError:
            return True
        return False

    def here(params: Any) -> Any:
        return sp.train(params, local, "auto", groups=groups, max_rounds=1)

    def there(params: Any) -> Any:
        chunked, touch = array(groups, CHUNKS), Touch(tmp_path / "called")
        return sd.train(client, params, data, "auto", groups=chunked, max_rounds=1, callbacks=[touch])

    seed = next(
        k for k in range(40) if not refused(here, random_state=k) and refused(here, random_state=k, models=2)
    )
    assert refused(there, random_state=seed, models=2)
    assert not (tmp_path / "called").exists()
    assert not refused(there, random_state=seed)
    assert (tmp_path / "called").exists()
