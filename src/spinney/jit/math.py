"""exp, log, the logistic function and the normal distribution for kernels.

All but the normal distribution are within 1 ulp and free of branches, so that loops over them vectorise. Tails and intervals
of the normal distribution lose no digits far from the middle: they are computed from the ratio of tail and density (`mills`),
from which logarithms and ratios of differences follow where the tails themselves are 0.

They do not call the system's math library, whose last bit differs between systems; a model trained with these is the
same everywhere. Rounding to an integer and moving it into an exponent is done by adding a large constant, because AVX2
has no instruction that converts between float64 and int64.
"""

from spinney.jit.intrinsics import bits_of, from_bits
from spinney.jit.types import inline

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # 32 bits of ln 2: its product with an exponent is exact
LN2_LOW = 1.90821492927058770002e-10
SHIFT = 6755399441055744.0  # 1.5 · 2**52: adding it rounds to an integer and leaves it in the low bits
SHIFT_BITS = 4843621399236968448  # the bits of SHIFT
BIAS = 1023
MAGNITUDE = 9223372036854775807  # all bits but the sign
LARGEST_EXP = 709.782712893384
SMALLEST_EXP = -745.1332191019412
INVERSE_SQRT_2PI = 0.3989422804014327
LOG_SQRT_2PI = 0.9189385332046728
# An interval so narrow, times the size of its ends, has the density of its middle to 1e-10.
NARROW = 1e-5


@inline
def exp_parts(x):
    """exp(x) / 2**k as a sum of a large and a small float64, and k; x within ±745."""
    shifted = x * LOG2_E + SHIFT
    k = shifted - SHIFT
    high = x - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    # Taylor's series to r**13: |r| <= .347, so the first term left out is below 2**-57.
    q = 1.6059043836821613e-10
    q = q * r + 2.08767569878681e-09
    q = q * r + 2.505210838544172e-08
    q = q * r + 2.755731922398589e-07
    q = q * r + 2.7557319223985893e-06
    q = q * r + 2.48015873015873e-05
    q = q * r + 0.0001984126984126984
    q = q * r + 0.001388888888888889
    q = q * r + 0.008333333333333333
    q = q * r + 0.041666666666666664
    q = q * r + 0.16666666666666666
    q = q * r + 0.5
    small = q * (r * r) - ((r - high) + low)
    tail = r + small
    tail_low = small - (tail - r)
    total = 1.0 + tail
    total_low = (tail - (total - 1.0)) + tail_low
    return total, total_low, k


@inline
def power_of_two(k):
    """2**k for a whole float64 k in -1022..1023."""
    return from_bits((bits_of(k + SHIFT) - SHIFT_BITS + BIAS) << 52)


@inline
def fine_scale(value):
    """Power of two that brings a value from 2**-900 to 2**900 between 2**29 and 2**30; 1 for 0."""
    exponent = (bits_of(value) >> 52) - BIAS
    return from_bits((BIAS + 29 - exponent) << 52) if value > 0.0 else 1.0


@inline
def exp(x):
    """e**x; 0 where that is below the smallest subnormal, infinity above the largest float64."""
    clamped = min(max(x, -746.0), 710.0)
    total, _, k = exp_parts(clamped)
    half = (k * 0.5 + SHIFT) - SHIFT
    value = (total * power_of_two(half)) * power_of_two(k - half)
    value = float("inf") if x > LARGEST_EXP else value
    value = 0.0 if x < SMALLEST_EXP else value
    return x if x != x else value


@inline
def decay(x):
    """e**-x for x from 0 to 708, within 1e-13 of it: `exp` without its corrections, for long sums."""
    shifted = SHIFT - x * LOG2_E
    k = shifted - SHIFT
    r = (-x - k * LN2_HIGH) - k * LN2_LOW
    # Taylor's series to r**11: the first term left out is below 2**-47 of r.
    q = 2.505210838544172e-08
    q = q * r + 2.755731922398589e-07
    q = q * r + 2.7557319223985893e-06
    q = q * r + 2.48015873015873e-05
    q = q * r + 0.0001984126984126984
    q = q * r + 0.001388888888888889
    q = q * r + 0.008333333333333333
    q = q * r + 0.041666666666666664
    q = q * r + 0.16666666666666666
    q = q * r + 0.5
    q = q * r + 1.0
    q = q * r + 1.0
    return q * from_bits((bits_of(shifted) - SHIFT_BITS + BIAS) << 52)


@inline
def expm1(x):
    """e**x - 1, within 2 ulp; infinity from x = 709 on."""
    clamped = min(max(x, -700.0), 709.0)
    total, total_low, k = exp_parts(clamped)
    scale = power_of_two(k)
    value = (total * scale - 1.0) + total_low * scale
    value = float("inf") if x >= 709.0 else value
    return x if x != x else value


@inline
def order_key(value):
    """A whole number in the order of float64 values; -0 has that of 0."""
    bits = bits_of(value + 0.0)
    return bits ^ ((bits >> 63) & MAGNITUDE)


@inline
def value_of_key(key):
    """The value of a key."""
    return from_bits(key ^ ((key >> 63) & MAGNITUDE))


@inline
def sigmoid(x):
    """1 / (1 + e**-x), to full relative precision for x >= -708 and 0 below."""
    clamped = min(max(-x, -708.0), 708.0)
    total, total_low, k = exp_parts(clamped)
    scale = power_of_two(k)
    e = total * scale
    e_low = total_low * scale
    # The sum 1 + e with its rounding error, then one correction of the quotient by its exact residual.
    d = 1.0 + e
    part = d - e
    d_low = ((e - (d - part)) + (1.0 - part)) + e_low
    quotient = 1.0 / d
    rough = from_bits(bits_of(quotient) & -134217728)
    d_high = from_bits(bits_of(d) & -134217728)
    residual = (1.0 - rough * d_high) - rough * ((d - d_high) + d_low)
    value = rough + residual * quotient
    value = 0.0 if x < -708.0 else value
    return x if x != x else value


@inline
def log(x):
    """Natural logarithm of x > 0; -infinity for 0, NaN below."""
    tiny = x < 2.2250738585072014e-308
    scaled = x * 18014398509481984.0 if tiny else x
    bits = bits_of(scaled)
    # Exponent and mantissa such that the mantissa lies in [sqrt(1/2), sqrt(2)).
    offset = bits - 4604544271217802189
    exponent_bits = offset >> 52
    mantissa = from_bits(bits - (exponent_bits << 52))
    k = from_bits(exponent_bits + SHIFT_BITS) - SHIFT
    k = k - 54.0 if tiny else k
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
    odd = z * (0.6666666666666735130 + w * (0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)))
    half_square = 0.5 * f * f
    value = k * LN2_HIGH - ((half_square - (s * (half_square + (odd + even)) + k * LN2_LOW)) - f)
    value = float("-inf") if x == 0.0 else value
    value = x if x == float("inf") else value
    return float("nan") if (x < 0.0 or x != x) else value


@inline
def density(z):
    """φ(z)."""
    return INVERSE_SQRT_2PI * exp(-0.5 * z * z)


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
    return log(mills(z)) - 0.5 * z * z - LOG_SQRT_2PI if z >= 0.0 else log(upper_tail(z))


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
        return 1.0, ratio, mills(a) - ratio * mills(b), -0.5 * a * a - LOG_SQRT_2PI
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
        return log(b - a) - 0.5 * middle * middle - LOG_SQRT_2PI
    mirrored = a + b < 0.0
    _, _, mass, unit = interval(-b if mirrored else a, -a if mirrored else b)
    return log(mass) + unit
