"""Sorting the few items of a node: keys, categories along which cuts are tried; and sets of categories."""

from spinney.jit.inline import inline


@inline
def sort_few(count, keys):
    """Sort some keys by comparing them."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
        gap = gap // 3


@inline
def sort_by_key(count, keys, first, second, third):
    """Sort some items by their keys, ascending; the other arrays move along. Equal keys keep the order of `first`."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            a = first[i]
            b = second[i]
            c = third[i]
            j = i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and first[j - gap] > a)):
                keys[j] = keys[j - gap]
                first[j] = first[j - gap]
                second[j] = second[j - gap]
                third[j] = third[j - gap]
                j -= gap
            keys[j] = key
            first[j] = a
            second[j] = b
            third[j] = c
        gap = gap // 3


@inline
def sort_places(count, keys, places):
    """Sort some places by their keys, ascending; of equal keys the lower place comes first."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            key = keys[i]
            place = places[i]
            j = i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and places[j - gap] > place)):
                keys[j] = keys[j - gap]
                places[j] = places[j - gap]
                j -= gap
            keys[j] = key
            places[j] = place
        gap = gap // 3


@inline
def clear_set(words, members):
    """No category."""
    for k in range(words):
        members[k] = 0


@inline
def put_in(code, members):
    """Add a category to a set."""
    members[code >> 6] |= 1 << (code & 63)
