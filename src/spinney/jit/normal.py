"""The normal distribution for kernels: tails and intervals without loss of digits far from the middle."""

from spinney.jit.inline import inline
from spinney.jit.math import exp, log

ROOT = 0.3989422804014327  # 1 / sqrt(2π)
LOG_ROOT = 0.9189385332046728  # log sqrt(2π)
# An interval so narrow, times the size of its ends, has the density of its middle to 1e-10.
NARROW = 1e-5


@inline
def density(z):
    """φ(z)."""
    return ROOT * exp(-0.5 * z * z)


@inline
def mills(z):
    """(1 - Φ(z)) / φ(z) of z >= 0, within 2 ulp.

    (1 + z) times it is smooth in t = (z - 5) / (z + 5), from -1 to 1: its Chebyshev series to t**25, as powers of t.
    """
    z = min(z, 1e300)
    t = (z - 5.0) / (z + 5.0)
    q = 1.7327578943235103e-10
    q = q * t + 6.288377855498677e-11
    q = q * t - 2.039456977423449e-09
    q = q * t - 1.0846925288860795e-09
    q = q * t + 1.4010248782442869e-08
    q = q * t + 1.0082895646260188e-08
    q = q * t - 8.232321223515427e-08
    q = q * t - 6.738323465177047e-08
    q = q * t + 4.968188503341836e-07
    q = q * t + 3.2197131609042185e-07
    q = q * t - 3.280567012895583e-06
    q = q * t - 1.7723438185601556e-07
    q = q * t + 2.271112294988288e-05
    q = q * t - 2.48054584472145e-05
    q = q * t - 0.0001343747460125513
    q = q * t + 0.00045704381820007954
    q = q * t + 1.953073289303005e-05
    q = q * t - 0.004201290310663574
    q = q * t + 0.0163482312692141
    q = q * t - 0.038026592187762366
    q = q * t + 0.061505045841013566
    q = q * t - 0.0661776007789934
    q = q * t + 0.025072179301611947
    q = q * t + 0.07778159886873554
    q = q * t - 0.2294875382521129
    q = q * t + 1.1568486282918946
    return q / (1.0 + z)


@inline
def upper_tail(z):
    """1 - Φ(z)."""
    part = density(z) * mills(abs(z))
    return part if z >= 0.0 else 1.0 - part


@inline
def log_upper_tail(z):
    """log(1 - Φ(z)), also where the tail itself is 0 in float64."""
    return log(mills(z)) - 0.5 * z * z - LOG_ROOT if z >= 0.0 else log(upper_tail(z))


@inline
def is_narrow(a, b):
    """Whether the density hardly changes from a to b."""
    return (b - a) * (1.0 + 0.5 * abs(a + b)) < NARROW


@inline
def interval(a, b):
    """φ(a), φ(b) and Φ(b) - Φ(a), all divided by one number, and its logarithm; a < b, a + b >= 0, not narrow.

    Where both ends are on one side that number is φ(a): far out all three would be 0.
    """
    if a >= 0.0:
        ratio = exp(0.5 * (a - b) * (a + b))
        return 1.0, ratio, mills(a) - ratio * mills(b), -0.5 * a * a - LOG_ROOT
    at_a = density(a)
    at_b = density(b)
    return at_a, at_b, 1.0 - at_a * mills(-a) - at_b * mills(b), 0.0


@inline
def log_interval(a, b):
    """log(Φ(b) - Φ(a)), a < b; either may be infinite."""
    if b == float("inf"):
        return log_upper_tail(a)
    if a == float("-inf"):
        return log_upper_tail(-b)
    if is_narrow(a, b):
        middle = 0.5 * (a + b)
        return log(b - a) - 0.5 * middle * middle - LOG_ROOT
    mirrored = a + b < 0.0
    _, _, mass, unit = interval(-b if mirrored else a, -a if mirrored else b)
    return log(mass) + unit
