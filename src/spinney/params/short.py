"""Values as messages show them."""

from __future__ import annotations

import reprlib


class _Short(reprlib.Repr):
    """Short forms of values, of integers too that Python refuses to write out because they have thousands of digits."""

    def repr_int(self, x: int, level: int) -> str:
        return (
            f"<an integer of {x.bit_length()} bits>" if x.bit_length() > 1000 else super().repr_int(x, level)
        )


_SHORT = _Short()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def shown(value: object) -> str:
    """Return the value as a message shows it, shortened if it is long.

    Examples
    --------
    >>> shown([1, "a"]), shown(10**5000)
    ("[1, 'a']", '<an integer of 16610 bits>')
    """
    return _SHORT.repr(value)
