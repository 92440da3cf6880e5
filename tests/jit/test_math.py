"""exp, log and their kin, and the normal distribution: near the truth, and the same bits at every CPU level."""

import functools
import math

import mpmath
import numpy as np
import pytest

TINY = 5e-324
SMALLEST_NORMAL = 2.2250738585072014e-308
LARGEST = 1.7976931348623157e308
LARGEST_EXP = 709.782712893384
SMALLEST_EXP = -745.1332191019412

SPECIAL = {
    "exp": [
        (0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (-TINY, 1.0), (math.inf, math.inf), (-math.inf, 0.0), (LARGEST, math.inf),
        (-LARGEST, 0.0), (709.79, math.inf), (-745.14, 0.0), (math.nan, math.nan),
    ],
    "log": [
        (1.0, 0.0), (0.0, -math.inf), (-0.0, -math.inf), (math.inf, math.inf), (-math.inf, math.nan), (-1.0, math.nan),
        (-TINY, math.nan), (-LARGEST, math.nan), (math.nan, math.nan),
    ],
    "sigmoid": [
        (0.0, 0.5), (-0.0, 0.5), (TINY, 0.5), (-TINY, 0.5), (math.inf, 1.0), (-math.inf, 0.0), (40.0, 1.0),
        (LARGEST, 1.0), (-LARGEST, 0.0), (-708.5, 0.0), (math.nan, math.nan),
    ],
    "expm1": [
        (0.0, 0.0), (TINY, TINY), (-TINY, -TINY), (math.inf, math.inf), (-math.inf, -1.0), (709.0, math.inf), (-50.0, -1.0),
        (math.nan, math.nan),
    ],
    "decay": [(0.0, 1.0), (TINY, 1.0)],
    "mills": [(1e20, 1e-20), (math.inf, 1e-300)],
    "log_upper_tail": [(0.0, math.log(0.5)), (-40.0, 0.0), (-math.inf, 0.0)],
}  # fmt: skip
# How far from the truth results may be: in units of their last place.
ULPS = {"decay": 450, "expm1": 2, "mills": 4, "log_upper_tail": 4}


def around(value, steps=2):
    """A number and its nearest neighbours."""
    numbers = [value]
    for towards in (-math.inf, math.inf):
        near = value
        for _ in range(steps):
            near = math.nextafter(near, towards)
            numbers.append(near)
    return numbers


@functools.cache
def points(name):
    """Where a function is compared with the truth: all of its range, and where its parts meet. Special values last."""
    rng = np.random.default_rng(0)
    if name == "exp":
        spread = [
            rng.uniform(SMALLEST_EXP, LARGEST_EXP, 1000),
            rng.uniform(-1, 1, 1000),
            rng.uniform(-745, -708, 300),
        ]
        edges = [
            LARGEST_EXP,
            SMALLEST_EXP,
            -708.4,
            -745.0,
            1e-20,
            -1e-20,
            *(math.log(2) * k / 2 for k in range(-9, 10)),
        ]
    elif name == "log":
        spread = [
            np.exp(rng.uniform(-708, 709, 1000)), rng.uniform(0.5, 2, 1000), 1 + rng.normal(size=300) * 1e-9,
            rng.integers(1, 2**52, 300) * TINY,
        ]  # fmt: skip
        edges = [
            LARGEST,
            SMALLEST_NORMAL,
            3 * TINY,
            0.5,
            1.0,
            2.0,
            math.sqrt(0.5),
            math.sqrt(2),
            math.e,
            2.0**-1022,
        ]
    elif name == "expm1":
        spread = [rng.uniform(-40, 708, 1000), rng.uniform(-1, 1, 1000), rng.normal(size=300) * 1e-9]
        edges = [1e-20, -1e-20, *(math.log(2) * k / 2 for k in range(-9, 10))]
    elif name == "decay":
        spread = [rng.uniform(0, 708, 1000), rng.uniform(0, 1, 1200)]
        edges = [1e-20, 708.0, *(math.log(2) * k / 2 for k in range(1, 20))]
    elif name == "mills":
        spread = [rng.uniform(0, 12, 1500), np.exp(rng.uniform(-20, 300, 800))]
        edges = [5.0, 8.3, 38.5]
    elif name == "log_upper_tail":
        spread = [rng.uniform(0, 40, 1200), rng.uniform(-6, 0, 700), np.exp(rng.uniform(0, 300, 300))]
        edges = [0.0, 8.3, 38.5]
    else:
        spread = [rng.uniform(-708, 708, 700), rng.uniform(-40, 40, 1000), rng.uniform(-1, 1, 700)]
        edges = [
            -708.0 + 1e-9,
            36.7,
            37.5,
            -36.7,
            -37.5,
            1e-20,
            -1e-20,
            *(math.log(2) * k / 2 for k in range(-9, 10)),
        ]
    found = np.concatenate([*spread, *(around(edge) for edge in edges)])
    low, high = {
        "exp": (SMALLEST_EXP, LARGEST_EXP),
        "log": (TINY, LARGEST),
        "sigmoid": (-708.0, LARGEST),
        "expm1": (-40.0, 708.9),
        "decay": (0.0, 708.0),
        "mills": (0.0, LARGEST),
        "log_upper_tail": (-6.0, LARGEST),
    }[name]
    found = found[(found >= low) & (found <= high)]
    assert len(found) > 2000
    return np.append(found, [x for x, _ in SPECIAL[name]])


def truth(name, x):
    x = mpmath.mpf(float(x))
    return {
        "exp": mpmath.exp,
        "log": mpmath.log,
        "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "expm1": mpmath.expm1,
        "decay": lambda x: mpmath.exp(-x),
        "mills": mills,
        "log_upper_tail": lambda x: mpmath.log(mills(x)) - x * x / 2 - mpmath.log(2 * mpmath.pi) / 2,
    }[name](x)


def mills(x):
    """The upper tail of the normal distribution over its density; far out by its series."""
    if x > 1e3:
        return (1 - 1 / x**2 + 3 / x**4 - 15 / x**6 + 105 / x**8 - 945 / x**10) / x
    return mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(x * x / 2) * mpmath.erfc(x / mpmath.sqrt(2))


COMPUTE = """
    import json, sys
    import numpy as np
    from spinney.jit import library
    from spinney.toy import kernels

    results = {}
    with np.load(sys.argv[1]) as points:
        for name, values in points.items():
            results[name] = np.empty_like(values)
            getattr(kernels, name + "_all")(len(values), values, results[name])
            # Alone and in a crowd: a loop that is vectorised has a remainder that is not.
            for i in range(0, len(values), 7):
                one = np.empty(1)
                getattr(kernels, name + "_all")(1, values[i : i + 1], one)
                assert one.tobytes() == results[name][i : i + 1].tobytes(), (name, values[i])
    np.savez(sys.argv[2], **results)
    how = library.runtime()
    print(json.dumps(how.level or how.kind))
"""


@pytest.fixture(scope="module")
def compute(toy, tmp_path_factory):
    """A function that runs all functions on all points, one way."""
    folder = tmp_path_factory.mktemp("math")
    np.savez(folder / "points.npz", **{name: points(name) for name in SPECIAL})

    @functools.cache
    def run(way):
        assert toy(COMPUTE, folder / "points.npz", folder / f"{way}.npz", SPINNEY_KERNELS=way) == way
        with np.load(folder / f"{way}.npz") as results:
            return dict(results)

    return run


def test_every_way_to_run_them_gives_the_same_bits(compute, way):
    for name, values in compute("jit").items():
        assert compute(way)[name].tobytes() == values.tobytes(), name


@pytest.mark.parametrize("name", SPECIAL)
def test_results_are_near_the_truth(compute, name):
    known = len(SPECIAL[name])
    with mpmath.workprec(200):
        for x, y in zip(points(name)[:-known], compute("jit")[name][:-known], strict=True):
            exact = truth(name, x)
            bound = ULPS.get(name, 1) * math.ulp(float(exact))
            if name == "log_upper_tail":
                bound = max(bound, 2e-16)  # near 0, where a probability near 1 has been rounded
            assert abs(mpmath.mpf(float(y)) - exact) <= mpmath.mpf(bound), (x, y)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(compute, name):
    found = compute("jit")[name][-len(SPECIAL[name]) :]
    np.testing.assert_array_equal(found, [y for _, y in SPECIAL[name]])


def test_the_logistic_function_never_leaves_its_range(compute):
    results = compute("jit")["sigmoid"]
    known = results[~np.isnan(results)]
    assert ((known >= 0) & (known <= 1)).all()
    order = np.argsort(points("sigmoid")[~np.isnan(results)])
    assert (np.diff(known[order]) >= -np.spacing(known[order][1:])).all()
