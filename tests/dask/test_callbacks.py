"""In the end the user's callbacks get the attributes of their copies."""

from __future__ import annotations

import threading
from typing import Any

from spinney.dask.callbacks import callback_state, restore_callbacks


class Plain:
    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


class Slotted:
    __slots__ = ("__own", "count", "unset")

    def own(self) -> Any:
        return self.__own

    def take(self, own: Any, count: int) -> Slotted:
        self.__own, self.count = own, count
        return self


class Unreadable:
    """Its pickle can be made, but not read."""

    def __reduce__(self) -> Any:
        return int, ("no number",)


def test_attributes_that_callbacks_share_are_shared_again() -> None:
    log: list[int] = [1, 2]
    one, two = Plain(), Plain()
    restore_callbacks([one, two], callback_state([Plain(log=log), Plain(log=log)]))
    assert one.log == [1, 2]
    assert one.log is two.log


def test_what_cannot_be_pickled_or_read_stays_behind() -> None:
    mine = Plain(lock="mine", odd="mine", rounds=0)
    restore_callbacks(
        [mine], callback_state([Plain(lock=threading.Lock(), odd=Unreadable(), rounds=5, extra="x")])
    )
    assert vars(mine) == {"lock": "mine", "odd": "mine", "rounds": 5, "extra": "x"}


def test_a_piece_that_cannot_be_read_at_the_client_changes_nothing() -> None:
    mine = Plain(rounds=1)
    restore_callbacks([mine], [b"no pickle", *callback_state([Plain(rounds=2)])])
    assert mine.rounds == 2


def test_slots_come_back_too() -> None:
    mine = Slotted().take("mine", 0)
    restore_callbacks([mine], callback_state([Slotted().take("copy", 7)]))
    assert (mine.own(), mine.count, hasattr(mine, "unset")) == ("copy", 7, False)


def test_the_object_of_a_method_gets_its_attributes() -> None:
    mine = Slotted()
    restore_callbacks([mine.own], callback_state([Slotted().take("copy", 7).own]))
    assert mine.count == 7


def test_functions_and_classes_may_be_callbacks() -> None:
    restore_callbacks([print, Plain], callback_state([print, Plain]))
