"""Values that travel through Dask."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import cloudpickle
import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.errors import ParameterTypeError

T = TypeVar("T")
CHUNK = 4 << 20  # bytes of one task's argument; Dask warns from 10 MB on
WORD = 8  # bytes that some kernels look at in one go


def sound(value: T) -> T:
    """The same value with every array in it aligned, as kernels want it; what is sound already is not copied.

    Arrays that came from another worker may stand anywhere in memory.

    Examples
    --------
    >>> odd = np.zeros(17, np.uint8)[1:].view(np.float64)
    >>> odd.flags.aligned, sound([odd])[0].flags.aligned
    (False, True)
    """
    found: Any = value
    if isinstance(value, np.ndarray):
        found = _aligned(value)
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [sound(one) for one in value] if _may_hold_arrays(value) else value
        if any(one is not two for one, two in zip(parts, value, strict=True)):
            found = type(value)(parts)
    elif isinstance(value, dict):
        found = {name: sound(one) for name, one in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        new = {name: sound(one) for name, one in own.items()}
        changed = {name: one for name, one in new.items() if one is not own[name]}
        found = replace(value, **changed) if changed else value
    same: T = found
    return same


def _aligned(array: NDArray[Any]) -> NDArray[Any]:
    odd = array.flags.c_contiguous and array.ctypes.data % WORD
    return array.copy() if not array.flags.aligned or odd else array


def _may_hold_arrays(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether it is worth looking into a sequence: those of names and numbers may be long."""
    return bool(values) and not isinstance(values[0], str | int | float | bytes)


def array_bytes(value: Any) -> int:
    """Bytes of all arrays in a value.

    Examples
    --------
    >>> array_bytes([np.zeros(3), (np.zeros(2, np.uint8), "text")])
    26
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(array_bytes(one) for one in value) if _may_hold_arrays(value) else 0
    if is_dataclass(value) and not isinstance(value, type):
        return sum(array_bytes(getattr(value, one.name)) for one in fields(value))
    return 0


def pickled(value: Any, what: str = "something that is given") -> bytes:
    """The pickle of a value that goes to the workers.

    Raises
    ------
    ParameterTypeError
        It cannot be pickled, as open files, locks and clients, and functions that use them, cannot.
    """
    try:
        made: bytes = cloudpickle.dumps(value)
    except Exception as error:  # what a class of the user's raises
        raise ParameterTypeError(
            f"{what} cannot travel to a worker, since it cannot be pickled: {type(error).__name__}: {error}"
        ) from error
    return made


def kept(client: Client, value: Any) -> Future:
    """A value of the client's on the cluster: once, in pieces that Dask likes, and there again after a worker was lost."""
    data = pickled(value)
    chunks = [client.submit(itself, data[at : at + CHUNK], pure=False) for at in range(0, len(data), CHUNK)]
    return client.submit(unpickled, chunks, pure=False)


def itself(value: T) -> T:
    """Task: a value."""
    return value


def unpickled(chunks: list[bytes]) -> Any:
    """Task: a value from the pieces of its pickle."""
    return pickle.loads(b"".join(chunks))


def weighed(*kinds: type[Any]) -> None:
    """Let Dask know how many bytes values of these kinds have; by itself it would count those of the object alone."""
    for kind in kinds:
        sizeof.register(kind)(array_bytes)
