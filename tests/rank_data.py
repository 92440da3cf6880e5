"""Ranks that are threads of this process: what they join by, and the shards of a data set that they hold."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np

from spinney.binning.binned import MemoryBlocks
from spinney.binning.matrix import take_codes
from spinney.binning.raw_table import NoTable
from spinney.collective import Communicator, RankLostError
from spinney.model.boosted import mean_model
from spinney.training.driver import train_rank
from spinney.training.round_plan import Auto

PATIENCE = 20.0  # seconds until a rank that waits for others gives up


class Meeting:
    """Where the ranks of one run meet. After so many joins rank `lost` goes, and all others lose it."""

    def __init__(self, size, lost=None, after=None):
        self.size, self.lost, self.after = size, lost, after
        self.barrier = threading.Barrier(size, timeout=PATIENCE)
        self.given = [None] * size
        self.joins = 0
        self.sent = []  # bytes of each join, of one rank

    def meet(self):
        try:
            self.barrier.wait()
        except threading.BrokenBarrierError:
            raise RankLostError("another rank has gone") from None


class ThreadCommunicator(Communicator):
    """What one of these ranks joins the others by."""

    def __init__(self, meeting, rank):
        self._meeting, self.rank, self.size = meeting, rank, meeting.size
        self._joins = 0

    def _exchanged(self, verb, values):
        """What all ranks have given to the same verb."""
        meeting = self._meeting
        if self.rank == meeting.lost and self._joins == meeting.after:
            meeting.barrier.abort()
            raise RankLostError("this rank was to go")
        self._joins += 1
        meeting.given[self.rank] = verb, None if values is None else values.copy()
        meeting.meet()
        given = list(meeting.given)
        assert {one for one, _ in given} == {verb}
        if self.rank == 0:
            meeting.joins += 1
            meeting.sent.append(0 if values is None else values.nbytes)
        meeting.meet()
        return [one for _, one in given]

    def _alike(self, verb, values):
        found = self._exchanged(verb, values)
        assert {(one.shape, one.dtype) for one in found} == {(values.shape, values.dtype)}
        return found

    def allreduce_sum(self, values):
        assert values.dtype.kind in "iu"
        values[...] = np.sum(self._alike("sum", values), axis=0, dtype=values.dtype)

    def allreduce_max(self, values):
        values[...] = np.max(self._alike("largest", values), axis=0)

    def gather(self, values):
        found = self._exchanged("gather", values)
        assert {(one.shape[1:], one.dtype) for one in found} == {(values.shape[1:], values.dtype)}
        return found if self.rank == 0 else None

    def broadcast(self, values):
        return self._exchanged("spread", values if self.rank == 0 else None)[0].copy()


def rows_in_blocks(data, begins):
    """Rows begins[0]..begins[-1]-1 of binned data as a rank has them: codes in blocks, and no table."""
    own = data.take(np.arange(begins[0], begins[-1]))
    matrix = data.matrix()
    blocks = [take_codes(matrix, np.arange(begin, end, dtype=np.int32)) for begin, end in pairwise(begins)]
    codes = MemoryBlocks(blocks, matrix.features, matrix.wide, matrix.from_sparse)
    return replace(
        own, codes=codes, selected=None, raw=NoTable("in blocks"), first=begins[0], total=data.rows
    )


def cut_rows(rng, dataset, size):
    """Where each of some shards begins, drawn at random, empty ones among them; queries stay whole."""
    places = np.arange(dataset.rows + 1)
    if dataset.queries is not None:
        places = places[np.diff(dataset.queries, prepend=-1, append=-1) != 0]
    inner = np.sort(rng.choice(places, size - 1))
    return [0, *inner.tolist(), dataset.rows]


def shards_of(dataset, cuts, most_rows=70):
    """The shards of a data set, cut at some rows, in blocks of so many rows."""
    found = []
    for begin, end in pairwise(cuts):
        begins = [*range(begin, end, most_rows), end]
        found.append(rows_in_blocks(dataset.binned, begins if begin < end else [begin]))
    return found


def on_ranks(meeting, work):
    """What `work(communicator)` gives at each rank, an error where it was raised."""

    def run(rank):
        try:
            return work(ThreadCommunicator(meeting, rank))
        except Exception as error:
            meeting.barrier.abort()
            return error

    with ThreadPoolExecutor(meeting.size) as pool:
        return list(pool.map(run, range(meeting.size)))


def raised(found):
    """What ranks gave, or the error of one of them: the first that is not about the loss of another rank."""
    errors = [one for one in found if isinstance(one, Exception)]
    for cause in sorted(errors, key=lambda one: isinstance(one, RankLostError)):
        raise cause
    return found


def train_on_ranks(params, dataset, rounds=3, *, cuts, valid=None, meeting=None, **given):
    """The models of all ranks of a training on shards, errors where they were raised; `valid` names data sets and their cuts.

    Groups of `Auto` are cut as rows are.
    """
    shards = shards_of(dataset, cuts)
    meeting = meeting or Meeting(len(shards))
    watched = {
        name: shards if data is dataset else shards_of(data, own)
        for name, (data, own) in (valid or {}).items()
    }

    def work(communicator):
        own = {name: found[communicator.rank] for name, found in watched.items()}
        course = rounds
        if isinstance(rounds, Auto) and rounds.groups is not None:
            course = replace(
                rounds, groups=rounds.groups[cuts[communicator.rank] : cuts[communicator.rank + 1]]
            )
        models = train_rank(
            params, shards[communicator.rank], course, communicator=communicator, valid=own or None,
            **{name: value(communicator.rank) if name == "on_round" else value for name, value in given.items()},
        )  # fmt: skip
        return mean_model(models)

    return on_ranks(meeting, work)
