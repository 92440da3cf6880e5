"""What every library is asked to do, in one vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The hyper-parameters that all libraries are given alike."""

    objective: str = "log_loss"  # a name of `losses.LOSSES`
    classes: int = 2
    rounds: int = 100
    learning_rate: float = 0.1
    method: str = "hist"  # hist, approx or exact
    proposal: str = "global"  # of approx: global or local
    policy: str = "lossguide"  # lossguide or depthwise
    leaves: int = 31  # 0: no limit
    depth: int = 0  # 0: no limit
    bins: int = 255
    min_child_samples: int = 20
    min_child_weight: float = 1e-3
    reg_lambda: float = 1.0
    splitter: str = "best"  # of forests: best, or random for extra trees
    threads: int = 2
    seed: int = 0


# What our defaults do otherwise to categories, as LightGBM has it: both do the same work.
LIKE_LIGHTGBM: Mapping[str, Any] = {"max_cat_threshold": 32, "cat_charge": 0.0}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    repeats: int | None = None
    threads: int = 2
    peers: tuple[str, ...] | None = None

    def times(self, usual: int) -> int:
        """Return how often to repeat a measurement that is usually repeated `usual` times."""
        if self.repeats is not None:
            return self.repeats
        return 1 if self.quick else usual

    def size(self, full: int, quick: int) -> int:
        """Return the full size, or the small one of a smoke test."""
        return quick if self.quick else full
