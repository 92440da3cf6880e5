"""How a table is binned."""

from dataclasses import dataclass

from spinney.params.choices import ABSENT, BUNDLE_ORDERS, UNSEEN
from spinney.params.rows import param


@dataclass(frozen=True, kw_only=True)
class BinFields:
    """How many bins a column has."""

    max_bin: int = param(
        255,
        group="data",
        low=2,
        high=65536,
        aliases=("max_bins",),
        doc="Most bins of a column of numbers. A column of up to max_bin categories has a bin for each. Of more, the most "
        "frequent that together make up 99 % of the rows with a value have one, at least max_bin and at "
        "most 65 000 of them; the others share a bin.",
    )


@dataclass(frozen=True, kw_only=True)
class BundleFields:
    """Which columns share codes."""

    bundle: bool = param(
        True,
        group="data",
        aliases=("enable_bundle", "is_enable_bundle"),
        in_model=False,
        doc="Whether columns that are hardly ever away from zero together share a group. Without conflicts the model is "
        "the same, it is found faster.",
    )
    bundle_order: str = param(
        "auto",
        group="data",
        choices=BUNDLE_ORDERS,
        in_model=False,
        doc="Which columns look for a bundle first: those with the most conflicting columns (degree) or with the most "
        "entries (nonzero). auto takes degree up to 4096 columns.",
    )
    max_conflict_rate: float = param(
        0.0,
        group="data",
        low=0,
        high=1,
        doc="Conflicts that a bundle may have, as a share of the rows: entries of one column in rows where another one is "
        "away from zero too. They are lost, which changes the model.",
    )


@dataclass(frozen=True, kw_only=True)
class MeaningFields:
    """What a table leaves open."""

    unseen: str = param(
        "missing",
        group="data",
        choices=UNSEEN,
        doc="What a category means that training did not see: a missing value, an error, or the rarest category.",
    )
    absent: str = param(
        "zero",
        group="data",
        choices=ABSENT,
        doc="What an entry that a sparse matrix does not store means: 0, or a missing value.",
    )


@dataclass(frozen=True, kw_only=True)
class DataFields(MeaningFields, BundleFields, BinFields):
    """How a table is binned; fields of the last base stand first."""
