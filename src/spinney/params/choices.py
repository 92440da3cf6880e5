"""The words that parameters accept. Each table maps a canonical name to its other spellings."""

from collections.abc import Iterator, Mapping
from typing import Protocol

GROW_POLICIES: Mapping[str, tuple[str, ...]] = {
    "lossguide": ("leafwise", "leaf-wise"),
    "depthwise": ("level", "levelwise"),
}

SAMPLING_METHODS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("bagging",),
    "goss": (),
    "gradient_based": (),
    "weighted": (),
}

LEAF_VALUES: Mapping[str, tuple[str, ...]] = {"sample": (), "all": ()}

LEAF_ESTIMATIONS: Mapping[str, tuple[str, ...]] = {"newton": (), "line_search": ()}

BUNDLE_ORDERS: Mapping[str, tuple[str, ...]] = {"auto": (), "degree": (), "nonzero": ()}

UNSEEN: Mapping[str, tuple[str, ...]] = {"missing": (), "error": (), "rarest": ()}

ABSENT: Mapping[str, tuple[str, ...]] = {"zero": (), "missing": ()}

TREE_METHODS: Mapping[str, tuple[str, ...]] = {"hist": ("auto",), "approx": (), "exact": ()}

FOREST_METHODS: Mapping[str, tuple[str, ...]] = {"hist": ("auto",), "exact": ()}

# What scikit-learn calls its criteria. Its "friedman_mse" is "squared_error" from version 1.9 on.
CRITERIA: Mapping[str, tuple[str, ...]] = {
    "gini": (),
    "entropy": ("log_loss",),
    "squared_error": ("friedman_mse",),
    "absolute_error": (),
    "poisson": (),
}

SPLITTERS: Mapping[str, tuple[str, ...]] = {"best": (), "random": ()}

CLASS_WEIGHTS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "given": (),
    "balanced": (),
    "balanced_subsample": (),
}

ADABOOST_LOSSES: Mapping[str, tuple[str, ...]] = {
    "samme": (),
    "linear": (),
    "square": (),
    "exponential": (),
}

# Their places are what formulas get.
AFT_DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {"normal": (), "logistic": (), "extreme": ()}

PROPOSALS: Mapping[str, tuple[str, ...]] = {"global": (), "local": ()}


class Spelled(Protocol):
    """A row with other spellings of its name."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """The other spellings."""


class Spellings(Mapping[str, tuple[str, ...]]):
    """Other spellings by canonical name, of rows as they are when it is asked."""

    def __init__(
        self, rows: Mapping[str, Spelled], more: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self._rows, self._more = rows, more or {}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._more[name] if name in self._more else self._rows[name].spellings

    def __iter__(self) -> Iterator[str]:
        yield from self._rows
        yield from self._more

    def __len__(self) -> int:
        return len(self._rows) + len(self._more)
