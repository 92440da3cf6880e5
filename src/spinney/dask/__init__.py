"""Training on a Dask cluster, to the bytes of one machine.

`Dataset` bins dask arrays and data frames on their workers, `train` trains on them, and `GBMClassifier`, `GBMRegressor` and
`GBMRanker` are spinney's estimators on dask collections. Needs the extra `dask`: pip install 'spinney[dask]'.

Enters: a client, dask collections. Leaves: an ordinary `Model`, or dask collections of predictions. Every worker that takes part
in a training is a *rank*. It has consecutive partitions, and exchanges sums with the others over Dask's own connections. A rank
that is lost costs time, not the training: those that are left, and workers that came meanwhile, go on from the last finished
round. No other package imports Dask, nor does `import spinney`.

Binning: `inputs` has the *partitions* that a user gives, `partitions` reads them on their workers, `executor` makes an
`EncodedPart` of each, codes and labels. The client only gets small results: lengths, names, types, counts. `labels` gathers all
labels on one worker.

Training: a *run* is the same work on all ranks, one task on each worker (`ranks`), whose collective calls are messages
(`communicator`). `rank_data` makes a `BinnedData` of a rank's parts. Ranks keep *checkpoint records*, the finished rounds; after
a run that was interrupted, `run` starts the next one from these.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from spinney.errors import MissingPackageError

for _package in ("dask", "distributed"):
    if find_spec(_package) is None:
        raise MissingPackageError(
            f"spinney.dask needs the package {_package}, which is not there: pip install 'spinney[dask]'"
        )

if TYPE_CHECKING:
    from spinney.dask.dataset import Dataset
    from spinney.dask.estimators import GBMClassifier, GBMRanker, GBMRegressor
    from spinney.dask.training import train

_HOME = {
    "Dataset": "spinney.dask.dataset",
    "GBMClassifier": "spinney.dask.estimators",
    "GBMRanker": "spinney.dask.estimators",
    "GBMRegressor": "spinney.dask.estimators",
    "train": "spinney.dask.training",
}

__all__ = ["Dataset", "GBMClassifier", "GBMRanker", "GBMRegressor", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'spinney.dask' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
