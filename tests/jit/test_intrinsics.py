"""Instructions that have no word in Python do the same compiled, under Numba's JIT and as plain Python."""

TAIL = """
    import json
    import numpy as np
    from spinney.toy import kernels

    found = []
    for count in (0, 1, 5, 1000):
        values, result = np.arange(2.0 * count) ** 2, np.full(count, -1.0)
        kernels.halves(count, values, result)
        found.append(bool((result == values[count:] - values[:count]).all()))
    print(json.dumps(found))
"""


def test_the_tail_of_an_array_begins_at_its_item(toy, way):
    assert toy(TAIL, SPINNEY_KERNELS=way) == [True] * 4
