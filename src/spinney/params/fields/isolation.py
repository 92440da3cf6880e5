"""What an isolation tree sees, and which rows are called abnormal."""

from dataclasses import dataclass

from spinney.params.choices import ABSENT, UNSEEN
from spinney.params.rows import INT32, Bounds, param


@dataclass(frozen=True, kw_only=True)
class SampleFields:
    """What a tree sees."""

    max_samples: int | float | str = param(
        "auto",
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, high=1, low_open=True),
        choices={"auto": ()},
        doc="Rows that are drawn for each tree: so many, or a share of the rows (rounded down, at least 1). auto draws 256. "
        "Where there are fewer rows than that, each tree sees all of them.",
    )
    contamination: float | str = param(
        "auto",
        group="evaluation",
        low=0,
        high=0.5,
        low_open=True,
        choices={"auto": ()},
        doc="Share of the training rows that is called abnormal: it sets offset_. auto sets it to -0.5, the score of a row whose "
        "path is as long as the average.",
    )
    max_features: int | float = param(
        1.0,
        group="sampling",
        low=1,
        high=INT32,
        share=Bounds(low=0, high=1, low_open=True),
        doc="Columns that are drawn for each tree: so many, or a share of them (rounded down, at least 1).",
    )
    bootstrap: bool = param(
        False,
        group="sampling",
        doc="Whether the rows of a tree are drawn with replacement. A row that is drawn again counts again.",
    )


@dataclass(frozen=True, kw_only=True)
class StrangerFields:
    """What a table leaves open."""

    unseen: str = param(
        "rarest",
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
