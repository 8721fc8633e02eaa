"""The exponential function, compiled for vector instructions.

On processors without AVX-512, ``np.exp`` takes three to four times as long. Let x = k log(2) + r
with an integer k. Then exp(x) = 2^k exp(r), and a polynomial approximates exp(r) for |r| up to
log(2) / 2. Adding 1.5 times a large power of two rounds a number to an integer, which is then
stored in the lowest bits; shifting these bits into the exponent yields 2^k. The coefficients of the
polynomial interpolate exp at Chebyshev nodes. log(2) is split into two parts, so that k times the
first part is exact.
"""

from __future__ import annotations

import numpy as np

from .compiled import jit

_WIDTH = 256  # values per block; the buffers of a block stay in the cache
# The result is 0 below _LOW, where exponentials are close to the smallest normal number.
_LOW, _LOG2_E, _ROUND, _BIAS = -708.0, 1.4426950408889634, 1.5 * 2.0**52, 1023 << 52
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C0, _C1, _C2, _C3 = 1.0, 1.0, 0.5000000000000019, 0.16666666666666685
_C4, _C5, _C6 = 0.041666666666487426, 0.00833333333331685, 0.001388888895248257
_C7, _C8, _C9 = 0.0001984126989569798, 2.4801485316025182e-05, 2.7557236015966065e-06
_C10, _C11 = 2.7632696764571815e-07, 2.511155821118388e-08
# The same constants for float32.
_f = np.float32
_LOW_F, _LOG2_E_F, _ROUND_F, _ZERO_F = _f(-87.0), _f(_LOG2_E), _f(1.5 * 2.0**23), _f(0.0)
_LN2_HIGH_F, _LN2_LOW_F = _f(0.693359375), _f(-2.12194440e-4)
_SHIFT_F, _BIAS_F = np.int32(23), np.int32(127 << 23)
_D0, _D1, _D2 = _f(1.0), _f(1.0000000377334783), _f(0.5000000047139321)
_D3, _D4 = _f(0.16666415437987242), _f(0.041666352801020455)
_D5, _D6 = _f(0.008375132781144028), _f(0.0013941116406064019)


def exp_in_place(values):
    """Replace values with their exponentials, accurate to about one rounding error.

    Parameters
    ----------
    values : ndarray of shape (n,)
        float32 or float64 values, at most 88. NaN stays NaN.
    """
    (_exp_float32 if values.dtype == np.float32 else _exp_float64)(values)


# All blocks have the same length, so that a result does not depend on its position.


@jit(error_model="numpy", fastmath={"contract"})
def _exp_float64(values):
    powers, padded = np.empty(_WIDTH), np.zeros(_WIDTH)
    whole = len(values) // _WIDTH * _WIDTH
    for start in range(0, whole, _WIDTH):
        _exp_block64(values[start : start + _WIDTH], powers, powers.view(np.int64))
    padded[: len(values) - whole] = values[whole:]
    _exp_block64(padded, powers, powers.view(np.int64))
    values[whole:] = padded[: len(values) - whole]


@jit(error_model="numpy", fastmath={"contract"})
def _exp_block64(x, powers, bits):
    """Exponentiate a block of values in place; ``bits`` is a view of the work array ``powers``."""
    for i in range(_WIDTH):
        powers[i] = (_LOW if x[i] < _LOW else x[i]) * _LOG2_E + _ROUND
    for i in range(_WIDTH):
        k = powers[i] - _ROUND
        r = (x[i] - k * _LN2_HIGH) - k * _LN2_LOW
        y = _C6 + r * (_C7 + r * (_C8 + r * (_C9 + r * (_C10 + r * _C11))))
        y = _C0 + r * (_C1 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * y)))))
        x[i] = 0.0 if x[i] < _LOW else y
    for i in range(_WIDTH):
        bits[i] = (bits[i] << 52) + _BIAS
    for i in range(_WIDTH):
        x[i] *= powers[i]


@jit(error_model="numpy", fastmath={"contract"})
def _exp_float32(values):
    powers, padded = np.empty(_WIDTH, np.float32), np.zeros(_WIDTH, np.float32)
    whole = len(values) // _WIDTH * _WIDTH
    for start in range(0, whole, _WIDTH):
        _exp_block32(values[start : start + _WIDTH], powers, powers.view(np.int32))
    padded[: len(values) - whole] = values[whole:]
    _exp_block32(padded, powers, powers.view(np.int32))
    values[whole:] = padded[: len(values) - whole]


@jit(error_model="numpy", fastmath={"contract"})
def _exp_block32(x, powers, bits):
    for i in range(_WIDTH):
        powers[i] = (_LOW_F if x[i] < _LOW_F else x[i]) * _LOG2_E_F + _ROUND_F
    for i in range(_WIDTH):
        k = powers[i] - _ROUND_F
        r = (x[i] - k * _LN2_HIGH_F) - k * _LN2_LOW_F
        y = _D0 + r * (_D1 + r * (_D2 + r * (_D3 + r * (_D4 + r * (_D5 + r * _D6)))))
        x[i] = _ZERO_F if x[i] < _LOW_F else y
    for i in range(_WIDTH):
        bits[i] = (bits[i] << _SHIFT_F) + _BIAS_F
    for i in range(_WIDTH):
        x[i] *= powers[i]
