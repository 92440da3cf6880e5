"""Callbacks run as copies on a worker. In the end the user's objects get their attributes, and the user gets their errors."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Sequence
from types import MethodType
from typing import Any

import cloudpickle

from spinney.errors import ClusterError

# The number of a callback, the name of an attribute, and its value.
Attribute = tuple[int, str, Any]


class RemoteCallbackError(Exception):
    """An error that a custom callback raised on a worker: its text, and its pickle where it can be pickled."""

    def __init__(self, text: str, data: bytes | None) -> None:
        super().__init__(text, data)
        self._text, self._pickle = text, data

    @classmethod
    def of(cls, error: BaseException) -> RemoteCallbackError:
        """The failure of an error; it can always be sent to the client."""
        return cls(f"{type(error).__name__}: {error}", _pickle_or_none(error))

    def original(self) -> BaseException:
        """The error itself, as on one machine."""
        with contextlib.suppress(Exception):
            found = None if self._pickle is None else pickle.loads(self._pickle)
            if isinstance(found, BaseException):
                return found
        return ClusterError(f"a callback failed with {self._text}")


def callback_state(callbacks: Sequence[object]) -> list[bytes]:
    """Pickles of the attributes of callbacks: one of all together, or one of each attribute that can be pickled.

    Examples
    --------
    >>> import threading
    >>> class Callback:
    ...     pass
    >>> copy, original = Callback(), Callback()
    >>> copy.rounds, copy.lock, original.lock = 5, threading.Lock(), "the user's"
    >>> restore_callbacks([original], callback_state([copy]))
    >>> vars(original)
    {'lock': "the user's", 'rounds': 5}
    """
    found = [
        (number, name, value)
        for number, callback in enumerate(callbacks)
        for name, value in _attributes(_owner(callback))
    ]
    together = _pickle_or_none(found)
    if together is not None:
        return [together]
    pickles = [_pickle_or_none([one]) for one in found]
    return [data for data in pickles if data is not None]


def restore_callbacks(callbacks: Sequence[object], pickles: Sequence[bytes]) -> None:
    """Set the attributes of callbacks to those that `callback_state` gave for their copies, where they can be unpickled here."""
    for data in pickles:
        # A custom class may raise anything here, and the training must not be lost by it.
        with contextlib.suppress(Exception):
            found: list[Attribute] = pickle.loads(data)
            for number, name, value in found:
                _set(_owner(callbacks[number]), name, value)


def _pickle_or_none(value: object) -> bytes | None:
    """The pickle of a value; None if it cannot be made, or cannot be read again."""
    try:
        data: bytes = cloudpickle.dumps(value)
        pickle.loads(data)
    except Exception:  # a custom class may raise any
        return None
    return data


def _owner(callback: object) -> object:
    """The object that has the attributes: that of a method, or else the callback itself."""
    return callback.__self__ if isinstance(callback, MethodType) else callback


def _attributes(owner: object) -> Iterator[tuple[str, Any]]:
    attributes = getattr(owner, "__dict__", None)
    if isinstance(attributes, dict):
        yield from attributes.items()
    for name in _slots(type(owner)):
        with contextlib.suppress(AttributeError):  # it was never set
            yield name, object.__getattribute__(owner, name)


def _set(owner: object, name: str, value: object) -> None:
    if name in _slots(type(owner)):
        object.__setattr__(owner, name, value)
    else:
        vars(owner)[name] = value


def _slots(kind: type[Any]) -> list[str]:
    """Names of the slots of a class and those above it."""
    found = []
    for cls in kind.__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            found.append(f"_{cls.__name__.lstrip('_')}{name}" if private else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]
