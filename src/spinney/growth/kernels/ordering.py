"""Categories in the order of their keys, as far as a split looks at them."""

from spinney.jit.inline import inline

FEW_ENDS = 64  # categories at either end that are picked out one by one, without sorting all of them


@inline
def sort_by_key(order, keys, count):
    """Sort category numbers by their keys, of equal ones by number (heap sort: no memory, no bad cases)."""
    size = count
    start = count // 2
    while size > 1:
        if start > 0:
            start -= 1
        else:
            size -= 1
            held = order[0]
            order[0] = order[size]
            order[size] = held
        at = start
        while 2 * at + 1 < size:
            child = 2 * at + 1
            one = order[child]
            if child + 1 < size:
                other = order[child + 1]
                if keys[one] < keys[other] or (keys[one] == keys[other] and one < other):
                    child += 1
                    one = other
            top = order[at]
            if keys[top] > keys[one] or (keys[top] == keys[one] and top > one):
                break
            order[at] = one
            order[child] = top
            at = child


@inline
def comes_first(one, other, last_first, keys):
    """Whether a category comes before another one in the order of their keys, or in the reverse order."""
    a = keys[one]
    b = keys[other]
    return (a < b or (a == b and one < other)) != last_first


@inline
def keep_first(number, kept, count, most, last_first, keys):
    """Put a category in its place among the first `most` so far, of which there are `count`; returns how many then."""
    if count == most and not comes_first(number, kept[most - 1], last_first, keys):
        return count
    at = min(count, most - 1)
    while at > 0 and comes_first(number, kept[at - 1], last_first, keys):
        kept[at] = kept[at - 1]
        at -= 1
    kept[at] = number
    return min(count + 1, most)


@inline
def order_ends(order, lows, highs, keys, used, most):
    """Put the first and the last `most` categories into the places that sorting would put them. `lows`, `highs`: scratch."""
    if most > FEW_ENDS or used <= 4 * most:
        sort_by_key(order, keys, used)
        return
    low_count = 0
    high_count = 0
    for i in range(used):
        number = order[i]
        low_count = keep_first(number, lows, low_count, most, False, keys)
        high_count = keep_first(number, highs, high_count, most, True, keys)
    for k in range(most):
        order[k] = lows[k]
        order[used - 1 - k] = highs[k]
