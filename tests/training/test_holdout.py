"""Copies of rows are held out together; rows of few values, which only look like copies, are not."""

import numpy as np
import pytest

import spinney as sp
from rank_data import Meeting, on_ranks, raised, shards_of
from spinney.collective import ALONE
from spinney.target_encoding.duplicates import Duplicates
from spinney.training import driver
from spinney.training.holdout import AllGroups, RowGroups, find_row_groups, held_out

# Searches are kept short here.
pytestmark = pytest.mark.filterwarnings("ignore:.*='auto' ended at")

ROWS = 600
FAST = {"learning_rate": 0.3, "max_leaves": 4, "n_jobs": 1}
RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (ROWS, 3))
Y = X[:, 0] + 0.5 * RNG.normal(size=ROWS)


def held_rows(params, dataset):
    """Targets of the rows that auto holds out."""
    seen = []

    def metric(scores, labels):
        seen.append(np.array(labels))
        return "seen", 0.0, False

    sp.train({**FAST, **params}, dataset, "auto", metrics=[metric], max_rounds=1)
    return seen[0]


def groups_of(data, groups=None, ranks=ALONE):
    return find_row_groups(groups, data, Duplicates(data, communicator=ranks), ranks)


def copied_rows(y, seed=1):
    """Rows drawn with replacement: which, and a data set of them."""
    rows = np.random.default_rng(seed).integers(0, ROWS, ROWS)
    return rows, sp.Dataset(X[rows], y[rows])


def test_copies_of_a_row_are_held_out_together():
    rows, dataset = copied_rows(np.arange(ROWS) * 1.0)
    held = set(held_rows({}, dataset).tolist())
    assert len(np.unique(rows)) * 0.08 < len(held) < len(np.unique(rows)) * 0.12
    assert len(held_rows({}, dataset)) == np.isin(rows, list(held)).sum()


def test_copies_of_classes_are_held_out_alike():
    y = (np.arange(ROWS) % 10 == 0).astype(float)
    rows, dataset = copied_rows(y)
    labels, kin = (
        dataset.labels(),
        groups_of(dataset.binned).everywhere,
    )
    chosen = held_out(kin.labels(labels), y[rows].astype(np.int64), 0.1, 0, "groups", alike=True)
    held = [np.unique(rows[chosen & (y[rows] == one)]) for one in (0, 1)]
    for one in (0, 1):
        assert abs(len(held[one]) - 0.1 * len(np.unique(rows[y[rows] == one]))) < 1
    assert chosen.sum() == np.isin(rows, np.concatenate(held)).sum()
    assert np.array_equal(np.sort(held_rows({"objective": "log_loss"}, dataset)), np.sort(y[rows][chosen]))


def test_copies_do_not_let_a_training_go_on_for_ever():
    tables = [copied_rows(np.random.default_rng(seed).normal(size=ROWS), seed)[1] for seed in range(5)]
    assert np.median([sp.train(FAST, dataset, "auto").best_round for dataset in tables]) < 10


LOOKUPS = {
    "a column": np.arange(ROWS)[:, None] % 40,
    "two columns": np.column_stack([np.arange(ROWS) % 12, np.arange(ROWS) // 12 % 12]),
    "bits": np.arange(ROWS)[:, None] >> np.arange(7) & 1,
}


@pytest.mark.parametrize("kind", LOOKUPS)
@pytest.mark.parametrize("classes", [False, True])
def test_tables_of_few_values_that_say_all_of_the_target_are_not_taken_for_copies(kind, classes):
    rng = np.random.default_rng(0)
    cells = np.unique(LOOKUPS[kind], axis=0)
    rows = rng.integers(0, len(cells), 800)
    y = rng.normal(size=len(cells))[rows]
    target, params = ((y > 0).astype(float), {"objective": "log_loss"}) if classes else (y, {})
    dataset = sp.Dataset(cells[rows].astype(float), target)
    assert groups_of(dataset.binned).everywhere is None
    assert sp.train({**FAST, **params}, dataset, "auto").best_round > 20


def test_copies_that_cannot_be_held_out_whole_are_held_out_by_row(monkeypatch):
    everything = RowGroups(np.zeros(ROWS, np.int64), duplicates=True)
    monkeypatch.setattr(driver, "find_row_groups", lambda *_: AllGroups(everything))
    found = sp.train(FAST, sp.Dataset(X, Y), "auto", validation_fraction=0.2)
    monkeypatch.undo()
    assert found == sp.train(FAST, sp.Dataset(X, Y), "auto", validation_fraction=0.2)


@pytest.mark.parametrize("cuts", [[0, 200, ROWS], [0, ROWS]])
def test_ranks_find_the_groups_of_all_rows(cuts):
    groups = RNG.integers(0, 40, ROWS)
    copied = np.tile(np.arange(ROWS // 3), 3)
    for given, dataset in ((groups, sp.Dataset(X, Y)), (None, sp.Dataset(X[copied], Y[copied]))):
        expected = groups_of(dataset.binned, given)
        shards = shards_of(dataset, cuts)

        def find(ranks, given=given, shards=shards):
            data = shards[ranks.rank]
            own = None if given is None else given[data.first : data.first + data.rows]
            return groups_of(data, own, ranks)

        found = raised(on_ranks(Meeting(len(shards)), find))
        numbers = found[0].everywhere.number
        assert found[0].everywhere.duplicates == (given is None)
        first, second = (
            np.unique(one, return_inverse=True)[1] for one in (numbers, expected.everywhere.number)
        )
        assert first.tolist() == second.tolist()
        assert [one.everywhere for one in found[1:]] == [None] * (len(found) - 1)
        if given is not None:
            assert np.concatenate([one.local for one in found]).tolist() == expected.local.tolist()
