"""A sparse table is never made dense: peak memory is told by the kernel of the system."""

import json
import os

import pytest

import children

PROGRAM = """
import json, pathlib, sys
import numpy as np
from scipy import sparse
import spinney as sp

def told(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

rng = np.random.default_rng(0)
rows, columns, each, levels, blocks, leaves = map(int, sys.argv[1:7])
# Everything that is loaded or compiled once.
sp.train({}, sp.Dataset(sparse.csr_array(np.eye(50)), np.arange(50.0)), 1)
if blocks:  # of columns, each with one entry in every row: all of them are bundled
    indices = (rng.integers(0, columns // each, (rows, each)) + np.arange(each) * (columns // each)).astype(np.int32).ravel()
else:
    indices = np.sort(rng.integers(0, columns, (rows, each), dtype=np.int32), axis=1).ravel()
values = (rng.integers(1, levels, rows * each) if levels else rng.random(rows * each)).astype(sys.argv[7])
X = sparse.csr_array((values, indices, np.arange(0, rows * each + 1, each, dtype=np.int32)), shape=(rows, columns))
X.sum_duplicates()
y = rng.normal(size=rows)
del values, indices
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = told("VmRSS")
data = sp.Dataset(X, y)
sp.train({"max_leaves": leaves, **json.loads(sys.argv[8])}, data, 2)
matrix = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
print(json.dumps([told("VmHWM") - before + matrix, 3 * matrix + data.nbytes]))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="this system does not tell peak memory"
)
@pytest.mark.parametrize(
    "table",
    [
        (100_000, 3_000, 40, 9, 0, 31, "float64"),
        (60_000, 300, 60, 9, 0, 31, "float64"),
        (40_000, 20_000, 100, 9, 0, 31, "float64"),
        (80_000, 50_000, 50, 0, 0, 255, "float32"),
        (200_000, 2_000, 20, 200, 1, 255, "float32"),
        (300_000, 2_000, 20, 200, 1, 31, "uint8"),
        (400_000, 2_000, 20, 200, 1, 31, "uint8"),
        (400_000, 2_000, 20, 2, 1, 31, "uint8"),
    ],
)
def test_training_needs_less_than_three_times_the_matrix_and_the_bins(table):
    needed, allowed = memory_of(table, {})
    assert needed < allowed


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="this system does not tell peak memory"
)
@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])
def test_drawing_rows_does_not_change_that(share):
    needed, allowed = memory_of((500_000, 400, 4, 2, 1, 31, "float32"), {"subsample": share})
    assert needed < allowed


def memory_of(table, params):
    """Bytes that a training needs, and those it may need. Memory that is given back is given to the system at once."""
    return children.run(PROGRAM, *table, json.dumps(params), MALLOC_MMAP_THRESHOLD_=131072)
