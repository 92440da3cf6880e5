"""Compressing pages, by PyArrow where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DatasetFormatError, ParameterError
from spinney.messages import shown

PLAIN = ""
CODECS = ("lz4", "zstd")
CHOICES = ("auto", "none", *CODECS)
PAYS = 0.8  # share of its bytes that a page must shrink to: reading fewer costs unpacking them
TRIES = 3  # pages that must not have shrunk before nothing is tried any more


class Compressor:
    """Compresses pages as long as that pays.

    Parameters
    ----------
    choice : {"auto", "none", "lz4", "zstd"}
        "auto" is lz4 where PyArrow is installed and pages shrink by it.
    """

    def __init__(self, choice: str) -> None:
        if not isinstance(choice, str) or choice not in CHOICES:
            raise ParameterError(
                f"compression={shown(choice)} must be one of {', '.join(map(repr, CHOICES))}"
            )
        if choice in CODECS and find_spec("pyarrow") is None:
            raise ParameterError(f"compression={choice!r} needs PyArrow: pip install 'spinney[files]'")
        self._auto = choice == "auto"
        codec = "lz4" if self._auto and find_spec("pyarrow") is not None else choice
        self._codec = codec if codec in CODECS else PLAIN
        self._left = TRIES

    def pack(self, data: NDArray[np.uint8]) -> tuple[str, Any]:
        """Name of the codec, and the bytes to be written."""
        if self._codec == PLAIN or not len(data):
            return PLAIN, data
        import pyarrow

        packed = pyarrow.compress(data, codec=self._codec)
        if packed.size <= PAYS * len(data) or (not self._auto and packed.size < len(data)):
            return self._codec, packed
        self._left -= self._auto
        if self._left == 0:
            self._codec = PLAIN
        return PLAIN, data


def unpack(codec: str, data: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """The bytes of a page, `size` of them, that was compressed."""
    if codec == PLAIN:
        return data
    if find_spec("pyarrow") is None:
        raise DatasetFormatError(f"it is compressed by {codec}: reading it needs PyArrow")
    import pyarrow

    try:
        found = np.frombuffer(pyarrow.decompress(data, decompressed_size=size, codec=codec), np.uint8)
    except (pyarrow.ArrowException, OSError) as error:
        raise DatasetFormatError(f"it cannot be decompressed: {error}") from error
    if len(found) != size:
        raise DatasetFormatError(f"it has {len(found)} bytes after decompression, not {size}")
    return found
