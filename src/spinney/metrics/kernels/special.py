"""Functions that several losses need."""

from spinney.jit import inline
from spinney.jit.math import exp, log


@inline
def log1p(x):
    """log(1 + x) of x > -1, to full relative precision."""
    u = 1.0 + x
    return x if u == 1.0 else log(u) * (x / (u - 1.0))


@inline
def log1p_exp(x):
    """log(1 + e**x) without overflow."""
    e = exp(-abs(x))
    return max(x, 0.0) + log(1.0 + e)


@inline
def power(x, exponent):
    """x ** exponent of x > 0."""
    return exp(exponent * log(x))


@inline
def log_gamma(x):
    """Logarithm of the gamma function of x > 0."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    # Stirling's series; at 10 the first term left out is below 2e-17.
    y = 1.0 / (x * x)
    series = 1.0 / 1188.0 - y * (691.0 / 360360.0 - y / 156.0)
    series = 1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * series)))
    return (x - 0.5) * log(x) - x + 0.9189385332046728 + series / x - log(product)
