"""Programs run in a process of their own, and a small copy of the package whose kernels are quick to build."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import spinney

SOURCES = Path(spinney.__file__).resolve().parent.parent
# What the process that runs the tests was told is not for these programs.
FORGOTTEN = ("SPINNEY_KERNELS", "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "OMP_NUM_THREADS", "PYTHONWARNINGS")
LIMIT = 300  # seconds; only what hangs takes so long

TOY_CONSTANTS = "STEP = 1.0\n"
TOY_KERNELS = '''
from spinney.jit import Member, f64, i32, i64, kernel, out, u8, u16
from spinney.jit.barrier import end_turn, meet, take_turn, wait_for_news
from spinney.jit.intrinsics import (
    classes_below, copy_to_one, filled_cells, first_highest, partition_by_code, running_sums, sort_bytes, sums_below, tail,
    transpose_records,
)
from spinney.jit.math import decay, exp, expm1, log, sigmoid
from spinney.jit.math import log_upper_tail, mills
from spinney.toy.constants import STEP


@kernel
def exp_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = exp(values[i])


@kernel
def log_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = log(values[i])


@kernel
def sigmoid_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = sigmoid(values[i])


@kernel
def decay_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = decay(values[i])


@kernel
def expm1_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = expm1(values[i])


@kernel
def mills_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = mills(values[i])


@kernel
def log_upper_tail_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = log_upper_tail(values[i])


@kernel
def step_all(count: i64, values: f64["count"], result: out(f64["count"])):
    for i in range(count):
        result[i] = values[i] + STEP


@kernel
def filled(count: i64, cells: i64["count + 64"], result: out(i64["count"])):
    """Which of the 64 cells from each on are not 0."""
    for i in range(count):
        result[i] = filled_cells(cells, i)


@kernel
def filled_small(count: i64, cells: i32["count + 64"], result: out(i64["count"])):
    """The same of 32-bit cells."""
    for i in range(count):
        result[i] = filled_cells(cells, i)


@kernel
def add_up(first: i64, count: i64, values: i32["first + count"], result: out(i32["count"])):
    """Running sums of the values from the first on."""
    running_sums(values, first, result, count)


@kernel
def turn(step: i64, count: i64, words: i64["16 * step + 4"], lines: out(u8["32 * 64"])):
    """The bytes of up to 16 records, column by column."""
    transpose_records(words, 0, step, count, lines, 0)


@kernel
def sort(count: i64, line: u8["65"], keys: out(u16["80"])):
    """Keys of some bytes behind the first one."""
    sort_bytes(line, 1, count, keys)


@kernel
def highest(count: i64, values: f64["count"], result: out(i64["1"])):
    """The place of the first of the highest numbers."""
    result[0] = first_highest(values, count)


@kernel
def halves(count: i64, values: f64["2 * count"], result: out(f64["count"])):
    """Second half less first half."""
    second = tail(values, count)
    for i in range(count):
        result[i] = second[i] - values[i]


@kernel
def part(rows: i64, width: i64, goes: i64["rows"], memory: out(i64["rows * width"]), spare: out(i64["rows * width"])):
    """Part records of some words, those that go first in place and the others aside."""
    first = 0
    others = 0
    for i in range(rows):
        copy_to_one(memory, i * width, memory, first, spare, others, goes[i], width)
        first += goes[i] * width
        others += (1 - goes[i]) * width


@kernel
def part_bytes(
    rows: i64, width: i64, place: i64, cut: i64, also: i64, memory: out(i64["rows * width"]), spare: out(i64["rows * width"]),
    kept: out(i64["1"]),
):
    """Part records of some words by a byte."""
    kept[0] = partition_by_code(memory, 0, width, rows, place, cut, also, spare)


@kernel
def classes_left(
    rows: i64, width: i64, chunk: i64, memory: i64["rows * width + 4"], cuts: u8["64"], classes: i64,
    left: out(u8["32 * classes"]),
):
    """The weights of each class left of 32 cuts."""
    classes_below(memory, 0, width, rows, 4 * chunk, cuts, 32 * chunk, classes, left)


@kernel
def sums_left(
    rows: i64, width: i64, chunk: i64, memory: i64["rows * width + 4"], cuts: u8["64"], shift: i64, bits: i64,
    left: out(i64["32"]),
):
    """Packed sums left of 32 cuts."""
    sums_below(memory, 0, width, rows, 4 * chunk, cuts, 32 * chunk, shift, bits, left)


@kernel
def hand_on(team: Member, threads: i64, turns: i64, cells: out(i64["8 * threads"])):
    """Every thread adds 1 to what its neighbour had in the turn before; ends early when the team gives up."""
    for turn in range(turns):
        seen = cells[8 * ((team.rank + 1) % team.size)]
        if not meet(team, team.size):
            return
        cells[8 * team.rank] = seen + 1
        if not meet(team, team.size):
            return


@kernel
def take_turns(team: Member, turns: i64, last: i64, cells: out(i64["1"])):
    """Every thread adds 1 to a cell in its turn, then waits until the sum is `last`; ends early when the team gives up."""
    sync = team.sync
    for turn in range(turns):
        if not take_turn(sync):
            return
        cells[0] += 1
        end_turn(sync, turn == turns - 1)
    while True:
        if not take_turn(sync):
            return
        full = cells[0] == last
        news = end_turn(sync, False)
        if full:
            return
        if not wait_for_news(sync, news):
            return
'''


def start(program, *arguments, sources=SOURCES, folder, **environment):
    """Start a Python program that makes errors of warnings."""
    file = Path(tempfile.mkstemp(suffix=".py", dir=folder)[1])
    file.write_text(textwrap.dedent(program), encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    return subprocess.Popen(
        [sys.executable, "-W", "error", file, *map(str, arguments)],
        env=inherited
        | {"PYTHONPATH": str(sources)}
        | {name: str(value) for name, value in environment.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What a started program wrote: its standard output and its standard error. It must have succeeded."""
    with process:
        try:
            told, complaints = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, complaints or told
    return told, complaints


def run(program, *arguments, **given):
    """Run a program to its end and read the JSON that it prints; nothing else may be printed."""
    with tempfile.TemporaryDirectory() as folder:
        told, complaints = finish(start(program, *arguments, folder=folder, **given))
    assert complaints == ""
    return json.loads(told)


def small_checkout(folder):
    """A copy of the package with `jit` alone and a room of toy kernels; returns the folder to import it from."""
    package = Path(folder) / "src" / "spinney"
    shutil.copytree(
        SOURCES / "spinney" / "jit", package / "jit", ignore=shutil.ignore_patterns("built", "__pycache__")
    )
    for name in ("__init__.py", "errors.py"):
        shutil.copy(SOURCES / "spinney" / name, package / name)
    toy = package / "toy"
    toy.mkdir()
    (toy / "__init__.py").touch()
    (toy / "constants.py").write_text(TOY_CONSTANTS)
    (toy / "kernels.py").write_text(TOY_KERNELS)
    return package.parent


FIT = """
import hashlib, json, os, signal, sys, threading, warnings
import numpy as np
import spinney as sp
from spinney.jit import cores

cores.THREADS_PER_CORE = 64  # as in conftest.py: teams are as large as a test sets them


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 50))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=3_000) > 0).astype(float)


def fit(n_jobs=2, rounds=4, callbacks=()):
    # Table large enough for every step to be shared among threads.
    X, y = data()
    dataset = sp.Dataset(X, y, n_jobs=n_jobs)
    model = sp.train({"objective": "log_loss", "n_jobs": n_jobs}, dataset, rounds=rounds, callbacks=callbacks)
    return hashlib.sha256(model.to_bytes() + model.predict(X, n_jobs=n_jobs).tobytes()).hexdigest()


def team_threads():
    return sum(thread.name.startswith("spinney") for thread in threading.enumerate())

"""


def run_fits(program, *arguments, **given):
    """Run a program that has `fit()`, which trains a model and returns a digest of it, and `team_threads()`."""
    return run(FIT + textwrap.dedent(program), *arguments, **given)


SETTINGS = """
import decimal, gc, hashlib, json, locale, logging, os, random, signal, sys, threading, warnings
import numpy as np


def settings():
    # JSON of everything that belongs to the whole process.
    handlers = {}
    for number in sorted(signal.valid_signals()):
        handlers[str(number)] = repr(signal.getsignal(number))
    logger = logging.getLogger("spinney")
    facts = {
        "numpy errors": np.geterr(),
        "numpy random": [str(part) for part in np.random.get_state()],
        "random": hashlib.sha256(repr(random.getstate()).encode()).hexdigest(),
        "warnings": [repr(entry) for entry in warnings.filters],
        "environment": dict(os.environ),
        "threads": threading.active_count(),
        "signals": handlers,
        "folder": os.getcwd(),
        "path": sys.path,
        "hooks": [repr(sys.excepthook), repr(threading.excepthook), repr(sys.displayhook)],
        "switch interval": sys.getswitchinterval(),
        "recursion": sys.getrecursionlimit(),
        "collector": [gc.isenabled(), gc.get_threshold()],
        "locale": locale.setlocale(locale.LC_ALL),
        "decimal": repr(decimal.getcontext()),
        "logging": [repr(logging.root.handlers), logging.root.level, repr(logger.handlers), logger.level],
        "affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
    }
    mask = os.umask(0)
    os.umask(mask)
    if "numba" in sys.modules:
        config = sys.modules["numba"].config
        facts["numba"] = {name: repr(value) for name, value in vars(config).items() if name.isupper()}
        parallel = sys.modules.get("numba.np.ufunc.parallel")
        facts["numba threads"] = getattr(parallel, "_is_initialized", False)
    return json.loads(json.dumps(facts | {"mask": mask}))

"""
