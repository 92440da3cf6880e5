"""exp, log and the logistic function for kernels: within 1 ulp, free of branches so that loops over them vectorise.

They do not call the system's math library, whose last bit differs between systems; a model trained with these is the
same everywhere. Rounding to an integer and moving it into an exponent is done by adding a large constant, because AVX2
has no instruction that converts between float64 and int64.
"""

from spinney.jit.inline import inline
from spinney.jit.intrinsics import bits_of, from_bits

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # 32 bits of ln 2: its product with an exponent is exact
LN2_LOW = 1.90821492927058770002e-10
SHIFT = 6755399441055744.0  # 1.5 · 2**52: adding it rounds to an integer and leaves it in the low bits
SHIFT_BITS = 4843621399236968448  # the bits of SHIFT
BIAS = 1023
MAGNITUDE = 9223372036854775807  # all bits but the sign
LARGEST_EXP = 709.782712893384
SMALLEST_EXP = -745.1332191019412


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
