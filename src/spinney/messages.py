"""What messages of any package have in common: short forms of values, names of types, and names that were probably meant."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


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


def type_name(value: object) -> str:
    """The name of a value's type, with its module where another type here has the same name.

    Examples
    --------
    >>> type_name(3)
    'int'
    """
    kind = type(value)
    return f"{kind.__module__}.{kind.__name__}" if kind.__name__ == "Dataset" else kind.__name__


def with_article(noun: str) -> str:
    """A noun with its article.

    Examples
    --------
    >>> with_article("int"), with_article("str")
    ('an int', 'a str')
    """
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def nearest_names(name: str, known: Mapping[str, str]) -> dict[str, str]:
    """The names nearest to an unknown one, three at most.

    Parameters
    ----------
    name : str
        The unknown name.
    known : mapping
        Every known spelling, with its canonical name.

    Returns
    -------
    dict
        The nearest spelling by canonical name, nearest first.

    Examples
    --------
    >>> nearest_names("num_leafs", {"num_leaves": "max_leaves", "max_depth": "max_depth"})
    {'max_leaves': 'num_leaves'}
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    near: dict[str, str] = {}
    for spelling in get_close_matches(plain, known, n=5, cutoff=0.75):
        near.setdefault(known[spelling], spelling)
    return dict(list(near.items())[:3])


def nearest_choice(word: str, choices: Mapping[str, Iterable[str]]) -> str:
    """The end of a message about an unknown word: the nearest of the accepted ones, empty where none is near.

    Examples
    --------
    >>> nearest_choice("lossguid", {"lossguide": ("leafwise",), "depthwise": ()})
    " (did you mean 'lossguide'?)"
    """
    spellings = {spelling: choice for choice, others in choices.items() for spelling in (*others, choice)}
    near = get_close_matches(word.lower(), spellings, n=1, cutoff=0.7)
    return f" (did you mean {spellings[near[0]]!r}?)" if near else ""
