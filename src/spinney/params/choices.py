"""The words that parameters accept. Each table maps a canonical name to its other spellings."""

from collections.abc import Mapping

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

BUNDLE_ORDERS: Mapping[str, tuple[str, ...]] = {"auto": (), "degree": (), "nonzero": ()}

UNSEEN: Mapping[str, tuple[str, ...]] = {"missing": (), "error": (), "rarest": ()}

ABSENT: Mapping[str, tuple[str, ...]] = {"zero": (), "missing": ()}

TREE_METHODS: Mapping[str, tuple[str, ...]] = {"hist": ("auto",), "approx": (), "exact": ()}

PROPOSALS: Mapping[str, tuple[str, ...]] = {"global": (), "local": ()}
