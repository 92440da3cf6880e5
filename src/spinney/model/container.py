"""The safetensors container: eight bytes of length, a JSON header, then the arrays without gaps.

Written with the safetensors package; read by hand, so that every check is explicit and nothing larger than
the file is ever allocated. See https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ModelFormatError
from spinney.safe_io import parse_json

PREFIX = 8
# The limit of the safetensors package itself.
LONGEST_HEADER = 100_000_000
TEXT_KEY = "spinney"

_CODE_OF: dict[np.dtype[Any], str] = {
    np.dtype(np.int64): "I64",
    np.dtype(np.int32): "I32",
    np.dtype(np.uint8): "U8",
    np.dtype(np.uint16): "U16",
    np.dtype(np.uint32): "U32",
    np.dtype(np.float32): "F32",
    np.dtype(np.float64): "F64",
}


@dataclass(frozen=True)
class Container:
    """A container whose header was read; its arrays are still to be checked.

    Attributes
    ----------
    text : str
        The one text stored beside the arrays.
    entries : dict
        What the header has about each array; not trusted yet.
    body : memoryview
        The bytes of the arrays.
    """

    text: str
    entries: dict[str, object]
    body: memoryview


def write(arrays: Mapping[str, NDArray[Any]], text: str) -> bytes:
    """Put arrays and one text into a container.

    Parameters
    ----------
    arrays : mapping of str to array
        C-contiguous arrays.
    text : str
        What to store beside them.

    Returns
    -------
    bytes
        The same arrays and text give the same bytes.

    Examples
    --------
    >>> import numpy as np
    >>> data = write({"start": np.arange(3)}, "hello")
    >>> box = read(data)
    >>> box.text, take(box, {"start": [np.dtype(np.int64)]})["start"].tolist()
    ('hello', [0, 1, 2])
    """
    from safetensors.numpy import save

    data: bytes = save(dict(arrays), metadata={TEXT_KEY: text})
    header_length(data[:PREFIX], len(data))
    return data


def header_length(prefix: bytes, size: int) -> int:
    """Length of the header of a file of `size` bytes that begins with `prefix`.

    Examples
    --------
    >>> header_length(bytes([2, 0, 0, 0, 0, 0, 0, 0]), 10)
    2
    """
    if len(prefix) < PREFIX:
        raise ModelFormatError(f"this is not a model file, or it is cut off: its size is {size} bytes")
    length = int.from_bytes(prefix, "little")
    if not 2 <= length <= min(LONGEST_HEADER, size - PREFIX):
        raise ModelFormatError(
            f"this is not a model file, or it is cut off: its header would be {length} of {size} bytes"
        )
    return length


def read(data: bytes) -> Container:
    """Read the header of a container.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    Container
        The stored text and what the header has about the arrays.

    Examples
    --------
    >>> read(b"hello")
    Traceback (most recent call last):
    ...
    spinney.errors.ModelFormatError: this is not a model file, or it is cut off: its size is 5 bytes
    """
    length = header_length(data[:PREFIX], len(data))
    body = PREFIX + length
    try:
        header = data[PREFIX:body].decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFormatError("this is not a model file: its header is not UTF-8 text") from error
    entries = parse_json(header, "the container's header")
    if not isinstance(entries, dict) or not header.startswith("{"):
        raise ModelFormatError("this is not a model file: its header is not a JSON object")
    metadata = entries.pop("__metadata__", None)
    if not isinstance(metadata, dict) or list(metadata) != [TEXT_KEY]:
        raise ModelFormatError(
            f"this is not a spinney model file: its header has no {TEXT_KEY!r} entry alone"
        )
    text = metadata[TEXT_KEY]
    if not isinstance(text, str):
        raise ModelFormatError(f"the header's {TEXT_KEY!r} entry must be text")
    return Container(text, entries, memoryview(data)[body:])


def take(container: Container, wanted: Mapping[str, Sequence[np.dtype[Any]]]) -> dict[str, NDArray[Any]]:
    """Take the arrays out of a container, which must hold exactly those that are wanted.

    Parameters
    ----------
    container : Container
        A container whose header was read.
    wanted : mapping of str to dtypes
        The name of each array, and the dtypes that it may have.

    Returns
    -------
    dict of str to array
        One-dimensional arrays that cannot be written to, views into the container where alignment allows.

    Examples
    --------
    >>> import numpy as np
    >>> take(read(write({"start": np.arange(3)}, "")), {})
    Traceback (most recent call last):
    ...
    spinney.errors.ModelFormatError: the file holds the array 'start', which no model has
    """
    unknown = container.entries.keys() - wanted.keys()
    if unknown:
        raise ModelFormatError(f"the file holds the array {short_repr(min(unknown))}, which no model has")
    spans: list[tuple[int, int, str]] = []
    dtypes: dict[str, np.dtype[Any]] = {}
    for name, allowed in wanted.items():
        if name not in container.entries:
            raise ModelFormatError(f"the file lacks the array {name!r}")
        begin, end, dtypes[name] = _span(name, container.entries[name], allowed)
        spans.append((begin, end, name))
    _check_cover(spans, len(container.body))
    return {name: _view(container.body[begin:end], dtypes[name]) for begin, end, name in spans}


def _span(name: str, entry: object, allowed: Sequence[np.dtype[Any]]) -> tuple[int, int, np.dtype[Any]]:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFormatError(f"the array {name!r} must be described by dtype, shape and data_offsets")
    dtype = next((one for one in allowed if entry["dtype"] == _CODE_OF[one]), None)
    if dtype is None:
        found, codes = short_repr(entry["dtype"]), " or ".join(repr(_CODE_OF[one]) for one in allowed)
        raise ModelFormatError(f"the array {name!r} has dtype {found}; it must be {codes}")
    (length,) = _whole_numbers(entry["shape"], 1, f"the shape of the array {name!r}")
    begin, end = _whole_numbers(entry["data_offsets"], 2, f"the offsets of the array {name!r}")
    if end - begin != length * dtype.itemsize:
        raise ModelFormatError(
            f"the array {name!r} has {length} entries of {dtype.itemsize} bytes, not {end - begin} bytes"
        )
    return begin, end, dtype


def _whole_numbers(found: object, many: int, what: str) -> list[int]:
    if isinstance(found, list) and len(found) == many:
        numbers = [number for number in found if type(number) is int and number >= 0]
        if len(numbers) == many:
            return numbers
    raise ModelFormatError(f"{what} must be {many} whole numbers of 0 or more, not {short_repr(found)}")


def _check_cover(spans: list[tuple[int, int, str]], size: int) -> None:
    covered = 0
    for begin, end, name in sorted(spans):
        if begin != covered:
            raise ModelFormatError(f"the array {name!r} begins at byte {begin}; {covered} would leave no gap")
        covered = end
    if covered != size:
        raise ModelFormatError(f"the arrays need {covered} bytes but the file has {size} bytes of them")


def _view(span: memoryview, dtype: np.dtype[Any]) -> NDArray[Any]:
    array: NDArray[Any] = np.frombuffer(span, dtype.newbyteorder("<"))
    if not (array.flags.aligned and array.dtype.isnative):
        array = array.astype(dtype)
        array.flags.writeable = False
    return array
