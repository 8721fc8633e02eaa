"""The one eigensolver: few components of a large matrix by Lanczos, else LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from .parallel import undivided

LANCZOS_FROM_SIZE = 300
DENSE_UP_TO_SIZE = 5000

_SPARE = 5  # vectors of a block beyond those wanted
_WIDEST = 12  # blocks that a basis may have
_STEPS = 100
_TOLERANCE = 1e-13

Floats = NDArray[np.float64]


def leading_eigenpairs(
    matrix: Any, n_components: int, rounding: float = 0.0, *, indefinite: bool = False
) -> tuple[Floats, Floats]:
    """Largest eigenvalues of a symmetric matrix, descending, with unit vectors.

    Eigenvalues that are negative, or cannot be told from zero, are left out: those within the
    rounding of the decomposition, relative to the largest, or within ``rounding``, which is what
    making the matrix has cost. Of an ``indefinite`` matrix negative ones are kept. ``matrix`` is an
    array, which may be overwritten, a product, or sparse and without eigenvalues above 1.
    """
    size = matrix.shape[0]
    n_components = min(n_components, size)
    with undivided(size**2):
        values, vectors = _decomposed(matrix, n_components)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    sizes = np.abs(values) if indefinite else values
    kept = sizes > max(size * np.finfo(np.float64).eps * values[0], rounding, 0.0)
    return values[kept], vectors[:, kept]


def _decomposed(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """By the quickest way that converges."""
    size = matrix.shape[0]
    values, vectors = None, None
    if isinstance(matrix, LinearOperator) and n_components + _SPARE < size:
        values, vectors = _block_lanczos(matrix, n_components)
    elif size >= LANCZOS_FROM_SIZE and n_components <= size // 20:
        values, vectors = _lanczos(matrix, n_components)
    if values is None or vectors is None:
        values, vectors = _all_at_once(matrix, n_components)
    return values, vectors


def _all_at_once(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """By LAPACK, or of a large sparse matrix by its factors."""
    size = matrix.shape[0]
    if isinstance(matrix, LinearOperator):
        matrix = matrix @ np.eye(size)
    if sparse.issparse(matrix):
        if size > DENSE_UP_TO_SIZE:
            return _inverse_lanczos(matrix, n_components)
        matrix = matrix.toarray()
    first = size - n_components
    values, vectors = eigh(matrix, subset_by_index=[first, size - 1], check_finite=False)
    if len(values) < n_components:  # a subset of many equal eigenvalues can come back empty
        values, vectors = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
        values, vectors = values[first:], vectors[:, first:]
    return values, vectors


def _lanczos(matrix: Any, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Lanczos from a fixed start vector; (None, None) where it does not converge."""
    stored = isinstance(matrix, np.ndarray)
    product = _symmetric_product(matrix) if stored else matrix
    tries = 50 if stored else 100  # what else there is costs more of a sparse one
    try:
        return eigsh(product, k=n_components, which="LA", v0=_start(matrix), maxiter=tries)
    except ArpackError:  # no convergence, or a zero matrix
        return None, None


def _symmetric_product(matrix: Floats) -> LinearOperator:
    """Products from one triangle: half of the memory to read, which is what they wait for."""
    columns = matrix.T  # as BLAS wants it; no copy
    return LinearOperator(matrix.shape, lambda v: dsymv(1.0, columns, v), dtype=matrix.dtype)


def _block_lanczos(matrix: Any, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Lanczos with a block of vectors, for a matrix that is made anew at each product.

    The basis is kept orthogonal to rounding, and cut down to its best part when it is too wide.
    (None, None) where it does not converge.
    """
    width = n_components + _SPARE
    block = np.linalg.qr(np.random.default_rng(0).standard_normal((matrix.shape[0], width)))[0]
    basis, images = block[:, :0], block[:, :0]
    for _ in range(_STEPS):
        last = matrix @ block
        basis, images = np.hstack([basis, block]), np.hstack([images, last])
        projected = basis.T @ images
        values, turns = eigh((projected + projected.T) / 2)
        scale = np.abs(values).max()
        found, turned = values[-n_components:], turns[:, -n_components:]
        residuals = images @ turned - basis @ turned * found
        block = _new_directions(last, basis, scale)
        if not block.size or np.linalg.norm(residuals, axis=0).max() <= _TOLERANCE * scale:
            return found, basis @ turned
        if basis.shape[1] >= _WIDEST * width:
            kept = turns[:, -3 * width :]
            basis, images = basis @ kept, images @ kept
    return None, None


def _new_directions(images: Floats, basis: Floats, scale: float) -> Floats:
    """An orthonormal basis of what the images have outside of the span of the basis."""
    for _ in range(2):
        images = images - basis @ (basis.T @ images)
    left, sizes, _ = np.linalg.svd(images, full_matrices=False)
    left = left[:, sizes > len(basis) * np.finfo(np.float64).eps * scale]
    return np.linalg.qr(left - basis @ (basis.T @ left))[0]


def _inverse_lanczos(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """Lanczos on (matrix - sigma)^{-1}, with sigma just above 1, the largest eigenvalue.

    Plain Lanczos is slow where eigenvalues crowd below the largest. Graphs of which that is
    true are long and thin, and so the factors of their matrices are sparse too.
    """
    size, sigma = matrix.shape[0], 1 + 1e-6
    shifted = (matrix - sigma * sparse.eye_array(size)).tocsc()
    factors = splu(shifted, "MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})
    inverse = LinearOperator((size, size), matvec=factors.solve, dtype=np.float64)
    start = _start(matrix)
    return eigsh(matrix, k=n_components, sigma=sigma, which="LM", v0=start, OPinv=inverse)


def _start(matrix: Any) -> Floats:
    return np.random.default_rng(0).standard_normal(matrix.shape[0])
