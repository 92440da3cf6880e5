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


PART = """
    import json
    import numpy as np
    from spinney.toy import kernels

    found = []
    for width in range(1, 14):
        for rows in (0, 1, 2, 40):
            goes = np.random.default_rng(rows).integers(0, 2, rows)
            records = np.arange(rows * width).reshape(rows, width)
            memory, spare = records.reshape(-1).copy(), np.full(rows * width, -1)
            kernels.part(rows, width, goes, memory, spare)
            first = int(goes.sum()) * width
            aside = np.full(rows * width, -1)
            aside[: rows * width - first] = records[goes == 0].reshape(-1)
            found.append(bool((memory[:first] == records[goes == 1].reshape(-1)).all() and (spare == aside).all()))
    print(json.dumps(found))
"""


def test_records_of_any_width_are_copied_to_one_of_two_places_and_nowhere_else(toy, way):
    assert toy(PART, SPINNEY_KERNELS=way) == [True] * 52


PART_BYTES = """
    import json
    import numpy as np
    from spinney.toy import kernels

    found = []
    for width in range(1, 14):
        for rows in (0, 1, 2, 3, 40):
            rng = np.random.default_rng(rows)
            records = rng.integers(-(2**63), 2**63, (rows, width))
            place, cut, also = int(rng.integers(8 * width)), int(rng.integers(256)), int(rng.integers(-1, 256))
            codes = records.view(np.uint8).reshape(rows, 8 * width)[:, place]
            goes = (codes <= cut) | (codes == also)
            memory, spare, kept = records.reshape(-1).copy(), np.full(rows * width, -1), np.zeros(1, np.int64)
            kernels.part_bytes(rows, width, place, cut, also, memory, spare, kept)
            aside = np.full(rows * width, -1)
            aside[: (~goes).sum() * width] = records[~goes].reshape(-1)
            same = (memory[: int(kept[0])] == records[goes].reshape(-1)).all() and (spare == aside).all()
            found.append(bool(same and kept[0] == goes.sum() * width))
    print(json.dumps(found))
"""


def test_records_of_any_width_are_parted_by_one_of_their_bytes(toy, way):
    assert toy(PART_BYTES, SPINNEY_KERNELS=way) == [True] * 65


BELOW = """
    import json
    import numpy as np
    from spinney.toy import kernels

    found = []
    for classes in (1, 2, 3, 8):
        for rows in (0, 1, 2, 3, 50):
            for width, chunk in ((5, 0), (10, 0), (10, 1)):
                rng = np.random.default_rng(rows)
                memory = rng.integers(-(2**63), 2**63, rows * width + 4)
                numbers = memory[: rows * width].view(np.int32).reshape(rows, 2 * width)
                codes = memory[: rows * width].view(np.uint8).reshape(rows, 8 * width)[:, 32 * chunk : 32 * chunk + 32]
                cuts = rng.integers(0, 256, 64).astype(np.uint8)
                cuts[:6] = cuts[32:38] = (0, 255, 254, 1, 127, 128)

                numbers[:, -2], numbers[:, -1] = rng.integers(1, 6, rows), rng.integers(0, classes, rows)
                goes = codes <= cuts[32 * chunk : 32 * chunk + 32]
                left = np.full(32 * classes, 77, np.uint8)
                kernels.classes_left(rows, width, chunk, memory, cuts, classes, left)
                of_class = numbers[:, -1] == np.arange(classes)[:, None]
                found.append(bool((left == ((of_class * numbers[:, -2]) @ goes).reshape(-1)).all()))

                numbers[:, -2], numbers[:, -1] = rng.integers(1, 1000, rows), rng.integers(-1000, 1000, rows)
                goes = codes <= cuts[32 * chunk : 32 * chunk + 32]
                left = np.full(32, 77)
                kernels.sums_left(rows, width, chunk, memory, cuts, 3, 20, left)
                weight, target = numbers[:, -2].astype(np.int64), numbers[:, -1].astype(np.int64)
                found.append(bool((left == ((((target >> 3) * weight) << 20) + weight) @ goes).all()))
    print(json.dumps(found))
"""


def test_what_is_left_of_32_cuts_is_summed_by_class_and_packed(toy, way):
    assert toy(BELOW, SPINNEY_KERNELS=way) == [True] * 120


FILLED = """
    import json
    import numpy as np
    from spinney.toy import kernels

    rng, found = np.random.default_rng(0), []
    for bits, fill in ((62, kernels.filled), (30, kernels.filled_small)):
        for share in (0.0, 0.1, 0.9, 1.0):
            cells = rng.integers(-(2**bits), 2**bits, 100 + 64) * (rng.random(164) < share)
            cells[5], cells[7] = 1 << bits, -1
            result = np.zeros(100, np.int64)
            fill(100, cells.astype(np.int64 if bits == 62 else np.int32), result)
            seen = [[int(word) >> k & 1 for k in range(64)] for word in result]
            found.append(seen == [[int(cell != 0) for cell in cells[i : i + 64]] for i in range(100)])
    print(json.dumps(found))
"""


def test_cells_that_are_filled_have_a_bit_each(toy, way):
    assert toy(FILLED, SPINNEY_KERNELS=way) == [True] * 8


SUMS = """
    import json
    import numpy as np
    from spinney.toy import kernels

    rng, found = np.random.default_rng(0), []
    for count in (0, 1, 7, 8, 9, 15, 16, 255, 256, 257):
        for first in (0, 3):
            values = rng.integers(-(2**22), 2**22, first + count).astype(np.int32)
            result = np.full(count, -7, np.int32)
            kernels.add_up(first, count, values, result)
            found.append(bool((result == np.cumsum(values[first:])).all()))
    print(json.dumps(found))
"""


def test_running_sums_of_any_number_of_values_are_those_of_a_loop(toy, way):
    assert toy(SUMS, SPINNEY_KERNELS=way) == [True] * 20


TURN = """
    import json
    import numpy as np
    from spinney.toy import kernels

    rng, found = np.random.default_rng(0), []
    for step in (4, 5, 9):
        for count in (1, 2, 15, 16):
            words = rng.integers(-(2**63), 2**63 - 1, 16 * step + 4)
            lines = np.zeros(32 * 64, np.uint8)
            kernels.turn(step, count, words, lines)
            records = words[: 16 * step].view(np.uint8).reshape(16, 8 * step)[:count, :32]
            found.append(bool((lines.reshape(32, 64)[:, :count] == records.T).all()))
    print(json.dumps(found))
"""


def test_bytes_of_records_are_turned_into_lines(toy, way):
    assert toy(TURN, SPINNEY_KERNELS=way) == [True] * 12


SORT = """
    import json
    import numpy as np
    from spinney.toy import kernels

    rng, found = np.random.default_rng(0), []
    for count in range(1, 65):
        for codes in ([0], [255], [0, 255], [7, 8, 9], range(256)):
            line, keys = rng.choice(np.array(codes, np.uint8), 65), np.zeros(80, np.uint16)
            kernels.sort(count, line, keys)
            wanted = sorted(int(code) << 8 | k for k, code in enumerate(line[1 : count + 1]))
            behind = (16 if count <= 16 else 32 if count <= 32 else 64) + 16 - count
            found.append(keys[: count + behind].tolist() == wanted + [65535] * behind)
    print(json.dumps(found))
"""


def test_bytes_are_sorted_with_their_places(toy, way):
    assert toy(SORT, SPINNEY_KERNELS=way) == [True] * 320


HIGHEST = """
    import json
    import numpy as np
    from spinney.toy import kernels

    rng, found = np.random.default_rng(0), []
    for count in (8, 16, 24, 64, 256):
        for least, most in ((0, 1), (0, 3), (-1000, 1000), (-5, 0)):
            values, result = rng.integers(least, most, count).astype(float), np.zeros(1, np.int64)
            values[rng.random(count) < 0.2] = -1.0e300
            kernels.highest(count, values, result)
            found.append(int(result[0]) == int(np.argmax(values)))
    print(json.dumps(found))
"""


def test_the_first_of_the_highest_numbers_is_found(toy, way):
    assert toy(HIGHEST, SPINNEY_KERNELS=way) == [True] * 20
