"""What shards cannot be trained on is refused by one rank, before any work, and ends the run for all."""

import numpy as np
import pytest

import spinney as sp
from rank_data import Meeting, on_ranks, raised, shards_of, train_on_ranks
from spinney.collective import ALONE, RankLostError
from spinney.errors import DataError, DataTypeError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.training.driver import train_rank
from spinney.training.round_plan import Auto

ROWS = 240


def numbers(rng):
    return rng.normal(size=(ROWS, 4))


def refused(params, dataset, kind, match, **given):
    with pytest.raises(kind, match=match):
        raised(train_on_ranks(params, dataset, 2, cuts=[0, 100, ROWS], **given))


def test_what_shards_do_not_serve_is_refused_before_any_work():
    rng = np.random.default_rng(0)
    table = numbers(rng)
    dataset = sp.Dataset(table, rng.normal(size=ROWS), keep_table=True)
    for method in ("exact", "approx"):
        refused({"tree_method": method}, dataset, ParameterError, "on shards use tree_method='hist'")
    with pytest.raises(DataError, match="codes of shard must come in blocks"):
        train_rank({}, dataset.binned, communicator=ALONE)
    with pytest.raises(DataTypeError, match="shard must be BinnedData"):
        train_rank({}, dataset, communicator=ALONE)


def test_labels_are_checked_by_their_numbers_in_the_whole_table():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, ROWS).astype(float)
    target[170] = 7.0
    dataset = sp.Dataset(numbers(rng), target)
    refused({"objective": "log_loss"}, dataset, DataError, r"y\[170\] = 7")
    good = sp.Dataset(numbers(rng), target > 0.5)
    other = sp.Dataset(numbers(rng), target, reference=good)
    watched = {"other": (other, [0, 10, ROWS])}
    refused({"objective": "log_loss"}, good, DataError, r"valid\['other'\]: .*y\[170\] = 7", valid=watched)


def test_ranks_that_do_not_belong_together_are_refused():
    rng = np.random.default_rng(0)
    table = numbers(rng)
    one = sp.Dataset(table, rng.normal(size=ROWS))
    heavy = sp.Dataset(table, rng.normal(size=ROWS), weight=np.ones(ROWS))
    first, second = shards_of(one, [0, 100, ROWS])
    _, weighted = shards_of(heavy, [0, 100, ROWS])

    def run(shards, params):
        return on_ranks(
            Meeting(2),
            lambda communicator: train_rank(
                params[communicator.rank], shards[communicator.rank], communicator=communicator
            ),
        )

    for shards, params, match in (
        ([first, weighted], [{}, {}], "ranks differ in whether rows have weights"),
        ([first, first], [{}, {}], "shards must follow each other and have all 240 rows"),
        ([first, second], [{}, {"max_leaves": 5}], "ranks differ in parameters, rounds or cuts"),
    ):
        cause, lost = run(shards, params)
        with pytest.raises(DataError, match=match):
            raise cause
        assert isinstance(lost, RankLostError)


def test_an_error_of_the_users_metric_ends_the_run_for_all():
    rng = np.random.default_rng(0)
    dataset = sp.Dataset(numbers(rng), rng.normal(size=ROWS))

    def broken(scores, labels):
        raise ZeroDivisionError("oh")

    cuts = [0, 100, ROWS]
    found = train_on_ranks({}, dataset, 2, cuts=cuts, valid={"v": (dataset, cuts)}, metrics=[broken])
    assert isinstance(found[0], OwnFunctionError)
    assert isinstance(found[1], RankLostError)


def test_one_rank_alone_checks_validation_labels_and_held_out_rows_too():
    rng = np.random.default_rng(0)
    table = numbers(rng)
    target = rng.integers(0, 2, ROWS).astype(float)
    dataset = sp.Dataset(table, target)
    params = {"objective": "log_loss", "eval_metric": "auc"}
    one_class = sp.Dataset(table, np.ones(ROWS), reference=dataset)
    for cuts in ([0, ROWS], [0, 100, ROWS]):
        with pytest.raises(DataError, match=r"valid\['v'\]: eval_metric='auc' needs rows of both classes"):
            raised(train_on_ranks(params, dataset, 2, cuts=cuts, valid={"v": (one_class, cuts)}))
        target = dataset.target.copy()
        target[2] = 7.0
        wrong = sp.Dataset(table, target)
        with pytest.raises(DataError, match=r"y\[2\]"):
            raised(train_on_ranks(params, wrong, Auto(validation_fraction=0.1), cuts=cuts))


@pytest.mark.parametrize("rounds", [None, "auto", -1])
def test_ranks_take_a_number_of_rounds_or_auto(rounds):
    dataset = sp.Dataset(numbers(np.random.default_rng(0)), np.arange(float(ROWS)))
    with pytest.raises((ParameterError, ParameterTypeError), match="rounds"):
        raised(train_on_ranks({}, dataset, rounds, cuts=[0, 100, ROWS]))
