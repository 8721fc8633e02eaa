"""Products that exploit the structure of a matrix, computed by SciPy's BLAS without the GIL.

The functions in :mod:`scipy.linalg.blas` hold the GIL, so that threads would wait for each other.
BLAS stores matrices by columns; it sees the transposes of matrices that NumPy stores by rows.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char, c_double, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

Array = NDArray[np.floating]

_ONE = c_double(1.0)
_LEFT, _LOWER, _AS_IS = c_char(b"L"), c_char(b"L"), c_char(b"N")


def add_gram(rows: Array, upper: Array) -> None:
    """Add ``rows.T @ rows`` to the upper triangle of a matrix; the lower one is not accessed."""
    n, m = rows.shape
    sizes = c_int(m), c_int(n)
    _call(
        *("dsyrk", _LOWER, _AS_IS, *sizes, _ONE, _address(rows), sizes[0]),
        *(_ONE, _address(upper), sizes[0]),
    )


def mirror(upper: Array) -> Array:
    """Return the symmetric matrix with this upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def times_upper_triangular(values: Array, columns: Array) -> Array:
    """Return ``values @ columns``, with half the work of a full product; overwrite the values."""
    values = np.require(values, np.float64, ["C", "W"])  # a copy if a kernel requires it
    n, m = values.shape
    sizes = c_int(m), c_int(n)
    _call(
        *("dtrmm", _LEFT, _LOWER, _AS_IS, _AS_IS, *sizes, _ONE, _address(columns), sizes[0]),
        *(_address(values), sizes[0]),
    )
    return values


def _address(matrix: Array) -> c_void_p:
    if not (matrix.flags.c_contiguous and matrix.dtype == np.float64):
        raise ValueError("Only float64 matrices that are stored by rows can be multiplied.")
    return c_void_p(matrix.ctypes.data)


def _call(name: str, *arguments: Any) -> None:
    """Call a BLAS function, which takes the addresses of its arguments."""
    _function(name)(*(a if isinstance(a, c_void_p) else byref(a) for a in arguments))


@cache
def _function(name: str) -> Any:
    prototype = ctypes.CFUNCTYPE(None)  # calls release the GIL
    return prototype(get_cython_function_address("scipy.linalg.cython_blas", name))
