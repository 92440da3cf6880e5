"""Callbacks were copied to a worker: in the end the user's own get what the copies have, and the user the errors."""

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


class OwnError(Exception):
    """What a callback of the user's raised on a worker: told, and pickled if it can be."""

    def __init__(self, said: str, made: bytes | None) -> None:
        super().__init__(said, made)
        self._said, self._made = said, made

    @classmethod
    def of(cls, error: BaseException) -> OwnError:
        """One that can travel."""
        return cls(f"{type(error).__name__}: {error}", _pickled(error))

    def original(self) -> BaseException:
        """The error itself, as on one machine."""
        with contextlib.suppress(Exception):
            found = None if self._made is None else pickle.loads(self._made)
            if isinstance(found, BaseException):
                return found
        return ClusterError(f"a callback failed with {self._said}")


def packed(callbacks: Sequence[object]) -> list[bytes]:
    """The attributes of callbacks, pickled: all together, or each by itself without those that cannot travel.

    Examples
    --------
    >>> import threading
    >>> class Told:
    ...     pass
    >>> told, mine = Told(), Told()
    >>> told.rounds, told.lock, mine.lock = 5, threading.Lock(), "mine"
    >>> give_back([mine], packed([told]))
    >>> vars(mine)
    {'lock': 'mine', 'rounds': 5}
    """
    found = [
        (number, name, value)
        for number, callback in enumerate(callbacks)
        for name, value in _attributes(_owner(callback))
    ]
    whole = _pickled(found)
    if whole is not None:
        return [whole]
    pieces = [_pickled([one]) for one in found]
    return [piece for piece in pieces if piece is not None]


def give_back(callbacks: Sequence[object], pieces: Sequence[bytes]) -> None:
    """Give callbacks the attributes that their copies have in the end, but for those that cannot be read here."""
    for piece in pieces:
        # Classes of the user's may refuse anything, and the training must not be lost by it.
        with contextlib.suppress(Exception):
            found: list[Attribute] = pickle.loads(piece)
            for number, name, value in found:
                _set(_owner(callbacks[number]), name, value)


def _pickled(value: object) -> bytes | None:
    """Its pickle, if it can be made and read again."""
    try:
        made: bytes = cloudpickle.dumps(value)
        pickle.loads(made)
    except Exception:  # what a class of the user's raises
        return None
    return made


def _owner(callback: object) -> object:
    """What has the attributes: the object of a method, or else the callback itself."""
    return callback.__self__ if isinstance(callback, MethodType) else callback


def _attributes(owner: object) -> Iterator[tuple[str, Any]]:
    held = getattr(owner, "__dict__", None)
    if isinstance(held, dict):
        yield from held.items()
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
        own = cls.__dict__.get("__slots__", ())
        for name in (own,) if isinstance(own, str) else own:
            private = name.startswith("__") and not name.endswith("__")
            found.append(f"_{cls.__name__.lstrip('_')}{name}" if private else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]
