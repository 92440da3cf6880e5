"""What a training may share: the codes of its data set, and threads, as many as it is worth."""

from __future__ import annotations

from spinney.binning.binned import BinnedData
from spinney.errors import DataError
from spinney.growth.hist import most_threads
from spinney.jit.team import most_for, threads_for
from spinney.params import Config

# Values (rows × columns) from which a training is shared among threads. The fewer the columns, the more rows there are to
# partition for the same number of values, so below SHARE_COLUMNS more values are asked for, in proportion; trees of SHARE_LEAVES
# ask for a third. Time of 20 rounds of 31 and of 255 leaves on one thread / on two: 500 × 50 .86, 1.01; 1 000 × 50 1.21, 1.38;
# 2 000 × 50 1.17, 1.54; 1 000 × 28 .84, .86; 2 000 × 28 .98, 1.51; 5 000 × 28 1.19, 1.73; 5 000 × 10 .85, 1.20; 10 000 × 10 .93,
# 1.40; 20 000 × 10 1.14, 1.26; 20 000 × 4 .90, 1.26; 50 000 × 4 .87, 1.39; 100 000 × 4 1.17, 1.30.
SHARE_VALUES = 50_000
SHARE_COLUMNS = 50
SHARE_LEAVES = 128
# Where columns are sparse, rows decide: however few entries they have, each is partitioned and moved. 200 columns, of which
# 5 %, 2 %, .5 % and .1 % is stored: 5 000 rows 1.04, 1.15, 1.06, .66; 10 000 1.07, 1.36, 1.25, .85; 20 000 1.23, 1.03, 1.09,
# 1.17; 50 000 1.15, 1.49, 1.36, 1.46; 100 000 about 1.55 each.
SHARE_SPARSE_ROWS = 20_000


def check_in_memory(data: BinnedData, what: str) -> None:
    """Refuse a data set whose codes come block by block, for something that needs all of them at once."""
    if data.codes.matrix is None:
        raise DataError(
            f"{what} needs all codes at once, and those of the data set come block by block; make a Dataset of the table in "
            "memory, or boost with tree_method='hist'"
        )


def threads_of(config: Config, data: BinnedData) -> int:
    """Threads that this training is worth."""
    codes = data.codes
    values, sparse = codes.values * data.rows // codes.rows, codes.features.sparse_codes > 0
    work = values * min(max(values // data.rows, 1), SHARE_COLUMNS)
    if config.max_leaves >= SHARE_LEAVES and config.tree_method != "exact":
        work *= 3
    most = most_for(work, SHARE_VALUES * SHARE_COLUMNS)
    if sparse:
        most = max(most, most_for(data.rows, SHARE_SPARSE_ROWS))
    if config.tree_method == "hist":
        most = min(most, most_threads(codes))
    return threads_for(config.n_jobs, most)
