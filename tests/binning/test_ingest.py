"""`ingest` has the one order of the steps: each is called once, and only where its result is needed."""

from contextlib import contextmanager

import numpy as np
import pytest

from spinney.binning.cuts import find_cuts
from spinney.binning.encode import Counts, bins_of_draft, count_draft, encode_columns, final_plan
from spinney.binning.ingest import BatchScan, IngestArgs, MemoryExecutor, ingest
from spinney.data import RawLabels, Schema, read_table
from spinney.jit.team import Team
from spinney.params import DataParams

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(200, 3))
ONE_HOT = np.eye(6)[RNG.integers(0, 6, 200)]


class NotedScan(BatchScan):
    """Notes its steps, and does them for a table in memory: the oracle of an executor."""

    def __init__(self, table, args, steps):
        self.table, self.args, self.steps = table, args, steps
        self.rows, self.from_sparse, self.absent = table.rows, False, 0.0

    def schema(self):
        self.steps.append("schema")
        return Schema(None, self.table.columns)

    def cuts(self, schema):
        self.steps.append("cuts")
        with Team(1) as team:
            return find_cuts(self.table, None, self.args.params.max_bin, team)

    def draft(self, schema, first):
        self.steps.append("draft")
        with Team(1) as team:
            self.codes = encode_columns(self.table, first, team)
            counts = Counts.none(self.table.columns)
            counts.add(count_draft(self.codes, first, team))
        return counts

    def plan(self, first, default, counts, bundling):
        self.steps.append("plan")
        with Team(1) as team:
            entries = bins_of_draft(self.codes, first, default, team).entries
        return final_plan(first, default, counts, self.rows, False, [(0, entries)], bundling)

    def store(self, schema, recoding):
        self.steps.append("recode" if recoding.needed else "keep")
        return recoding.plan


class NotedExecutor:
    def __init__(self, scan=NotedScan):
        self.make, self.steps = scan, []

    @contextmanager
    def scan(self, source, args):
        self.steps.append("scan")
        try:
            yield self.make(source, args, self.steps)
        finally:
            self.steps.append("end")


def noted(X, args):
    executor = NotedExecutor()
    return ingest(read_table(X), args, executor), executor.steps


def whole(X, args):
    return ingest((X, RawLabels()), args, MemoryExecutor(n_jobs=1))


@pytest.mark.parametrize(
    ("X", "given", "last"),
    [
        (DENSE, {}, ["keep"]),
        (ONE_HOT, {"bundle": False}, ["keep"]),
        (ONE_HOT, {}, ["plan", "recode"]),
    ],
)
def test_each_step_is_called_once_and_gives_the_plan_of_a_table_in_memory(X, given, last):
    args = IngestArgs(params=DataParams(**given))
    plan, steps = noted(X, args)
    assert steps == ["scan", "schema", "cuts", "draft", *last, "end"]
    expected = whole(X, args).plan
    assert plan.cuts.same(expected.cuts)
    for name in ("group", "low", "codes", "default"):
        assert np.array_equal(getattr(plan.features, name), getattr(expected.features, name))


def test_rows_coded_by_the_cuts_of_others_are_neither_cut_nor_bundled():
    cuts = whole(ONE_HOT, IngestArgs(params=DataParams())).cuts
    plan, steps = noted(ONE_HOT[:50], IngestArgs(params=DataParams(), known=Schema(None, 6), cuts=cuts))
    assert steps == ["scan", "schema", "draft", "keep", "end"]
    assert len(plan.features.group_codes) == 6


def test_a_failure_ends_the_scan():
    class Failing(NotedScan):
        def draft(self, schema, first):
            raise KeyboardInterrupt

    executor = NotedExecutor(Failing)
    with pytest.raises(KeyboardInterrupt):
        ingest(read_table(DENSE), IngestArgs(params=DataParams()), executor)
    assert executor.steps == ["scan", "schema", "cuts", "end"]
