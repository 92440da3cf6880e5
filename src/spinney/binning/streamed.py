"""Data sets of which only codes are kept, block by block."""

from __future__ import annotations

from typing import NoReturn

from spinney.binning.blocks import Blocks
from spinney.binning.dataset import Dataset
from spinney.binning.matrix import BinnedMatrix
from spinney.data import Table
from spinney.errors import DataError


class StreamedDataset(Dataset):
    """A data set whose codes come block by block; everything else of it is in memory, and there is no table.

    Attributes
    ----------
    blocks : Blocks
        The codes.
    """

    blocks: Blocks
    _place = "kept block by block"  # where its codes are, in messages

    @property
    def matrix(self) -> BinnedMatrix:
        """Such a data set never has all codes at hand."""
        self._refuse("this needs all codes in memory")

    @property
    def has_table(self) -> bool:
        """Whether `table` can give it: never."""
        return False

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, as they would be in memory."""
        return self.blocks.nbytes

    def release(self) -> None:
        """There is no table to let go of."""

    def _read(self, what: str) -> Table:
        self._refuse("tree_method exact and approx, and init_model of other cuts, need the table")

    def _refuse(self, why: str) -> NoReturn:
        raise DataError(
            f"{why}, but this data set is {self._place}: it trains with tree_method='hist'. For anything else make a Dataset of "
            "rows that fit into memory"
        )
