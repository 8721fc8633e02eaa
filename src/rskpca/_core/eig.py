"""Eigensolver that uses Lanczos for a few components of a large matrix, and LAPACK otherwise.

Plain Lanczos converges slowly if many eigenvalues are close to the largest, as in random walks with
a small bandwidth. In this case, Lanczos is applied to the inverse of a shifted matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from .parallel import interruptible, single_threaded_blas

LANCZOS_FROM_SIZE = 300
DENSE_UP_TO_SIZE = 5000
SUBSET_UP_TO_SIZE = 2000  # larger subset solves would delay Ctrl-C by more than a second

# Number of rounding errors to allow for. After weighting and centering a few distant clusters, zero
# eigenvalues were off by up to 10 rounding errors.
_ROUNDINGS = 32
_OVERSAMPLING = 5  # extra vectors per block
_MAX_BLOCKS = 12  # basis size, in blocks, at which block Lanczos restarts
_MAX_STEPS = 100
_TOLERANCE = 1e-13
_MORE_VECTORS = 20  # Lanczos vectors beyond twice the number of components; ties need more
# Plain Lanczos is stopped after this number of restarts. For a stored matrix, about 170 products
# take as long as a Cholesky factorization; a sparse factorization is more expensive.
_RESTARTS, _SPARSE_RESTARTS = 15, 100
_CHECKING_STEPS = 20  # Lanczos steps that look for eigenvalues that plain Lanczos has missed
_MISSED = 1e-10  # tolerance of this check, relative to the largest eigenvalue
_MARGIN = 1e-2  # relative distance between the shift and the estimated largest eigenvalue

Floats = NDArray[np.float64]


def leading_eigenpairs(
    matrix: Any, n_components: int, rounding: float = 0.0, *, indefinite: bool = False
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix and their unit eigenvectors.

    The eigenvalues are in descending order. Those that are negative or indistinguishable from zero
    are dropped. The threshold is the rounding error of the decomposition, relative to the largest
    eigenvalue, or ``rounding``, the error already present in the matrix, if that is larger. If
    ``indefinite`` is True, negative eigenvalues are kept. ``matrix`` is an array (which may be
    overwritten), a LinearOperator, or a sparse matrix without eigenvalues above 1.
    """
    size = matrix.shape[0]
    n_components = min(n_components, size)
    with single_threaded_blas(size**2):
        values, vectors = _decompose(matrix, n_components)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    sizes = np.abs(values) if indefinite else values
    lost = max(size, _ROUNDINGS) * np.finfo(np.float64).eps * values[0]
    kept = sizes > max(lost, rounding, 0.0)
    return values[kept], vectors[:, kept]


def _decompose(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """Compute the eigenpairs by the fastest method that converges."""
    size = matrix.shape[0]
    values, vectors = None, None
    if isinstance(matrix, LinearOperator) and n_components + _OVERSAMPLING < size:
        values, vectors = _block_lanczos(matrix, n_components)
    elif size >= LANCZOS_FROM_SIZE and n_components <= size // 20:
        values, vectors = _lanczos(matrix, n_components)
        if values is None and isinstance(matrix, np.ndarray):
            values, vectors = _cholesky_lanczos(matrix, n_components)
    if values is None or vectors is None:
        values, vectors = _direct(matrix, n_components)
    return values, vectors


def _direct(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """Compute the eigenpairs with LAPACK, or by a sparse factorization of a large sparse matrix."""
    size = matrix.shape[0]
    if isinstance(matrix, LinearOperator):
        matrix = matrix @ np.eye(size)
    if sparse.issparse(matrix):
        if size > DENSE_UP_TO_SIZE:
            return _inverse_lanczos(matrix, n_components)
        matrix = matrix.toarray()
    first = size - n_components
    # SciPy's solver holds the GIL. With more components, a full decomposition is as fast.
    if size <= SUBSET_UP_TO_SIZE and n_components <= size // 3:
        values, vectors = eigh(matrix, subset_by_index=[first, size - 1], check_finite=False)
        if len(values) == n_components:  # LAPACK may return none if many eigenvalues are equal
            return values, vectors
    values, vectors = interruptible(np.linalg.eigh, matrix)
    return values[first:], vectors[:, first:]


def _lanczos(matrix: Any, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Run Lanczos with a fixed start vector; return (None, None) if it does not converge."""
    stored = isinstance(matrix, np.ndarray)
    product = _symmetric_product(matrix) if stored else matrix
    restarts = _RESTARTS if stored else _SPARSE_RESTARTS
    options = {"v0": _start(matrix), "ncv": min(2 * n_components + _MORE_VECTORS, matrix.shape[0])}
    try:
        values, vectors = eigsh(product, k=n_components, which="LA", maxiter=restarts, **options)
    except ArpackError:  # no convergence, or a zero matrix
        return None, None
    missed = _largest_outside(product, vectors) > values.min() + _MISSED * np.abs(values).max()
    return (None, None) if missed else (values, vectors)


def _largest_outside(matrix: Any, vectors: Floats) -> float:
    """Return a lower bound on the largest eigenvalue orthogonal to the given eigenvectors.

    A Krylov space contains a single eigenvector per eigenvalue. Plain Lanczos finds the other
    eigenvectors of a repeated eigenvalue only because of rounding errors, and can miss them.
    """
    size, n_given = vectors.shape
    n_steps = min(_CHECKING_STEPS, size - n_given)
    known = np.empty((size, n_given + n_steps), order="F")
    known[:, :n_given] = vectors
    images = np.empty((size, n_steps), order="F")
    direction = np.random.default_rng(1).standard_normal((size,))
    for step in range(n_steps):
        before, span = np.linalg.norm(direction), known[:, : n_given + step]
        for _ in range(2):
            direction = direction - span @ (span.T @ direction)
        norm = np.linalg.norm(direction)
        if norm <= _TOLERANCE * before:
            n_steps = step
            break
        known[:, n_given + step] = direction / norm
        direction = images[:, step] = matrix @ known[:, n_given + step]
    projected = known[:, n_given : n_given + n_steps].T @ images[:, :n_steps]
    return float(np.linalg.eigvalsh(projected)[-1]) if n_steps else -np.inf


def _cholesky_lanczos(matrix: Floats, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Run block Lanczos on (shift - matrix)^{-1}; return (None, None) if the result is inaccurate.

    The shift is slightly above the largest eigenvalue, so that the shifted matrix has a Cholesky
    factor. Computing it takes a small fraction of the time of a full decomposition. Eigenvalues far
    from the shift are less accurate.
    """
    try:
        product, start = _symmetric_product(matrix), _start(matrix)
        largest = eigsh(product, 1, v0=start, tol=_MARGIN / 10, which="LA")[0][0]
        shift = (1 + _MARGIN) * largest
        shifted = -matrix
        shifted.flat[:: len(matrix) + 1] += shift
        factor = cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    except (ArpackError, LinAlgError):
        return None, None

    def solve(V: Floats) -> Floats:
        return cho_solve(factor, V, check_finite=False)

    inverse = LinearOperator(matrix.shape, matvec=solve, matmat=solve, dtype=np.float64)
    _, vectors = _block_lanczos(inverse, n_components)
    if vectors is None:
        return None, None
    images = matrix @ vectors
    values = np.sum(vectors * images, axis=0)
    accurate = np.abs(images - vectors * values).max() <= 10 * _TOLERANCE * largest
    return (values, vectors) if accurate else (None, None)


def _symmetric_product(matrix: Floats) -> LinearOperator:
    """Return an operator that reads only one triangle of the matrix.

    This is faster, because products are limited by memory bandwidth.
    """
    columns = matrix.T  # Fortran order, without a copy
    return LinearOperator(matrix.shape, lambda v: dsymv(1.0, columns, v), dtype=matrix.dtype)


def _block_lanczos(matrix: Any, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Run block Lanczos for a matrix that is recomputed for every product.

    The basis is reorthogonalized, and restarted from its leading Ritz vectors when it becomes too
    wide. Return (None, None) if the iteration does not converge.
    """
    width = n_components + _OVERSAMPLING
    block = np.linalg.qr(np.random.default_rng(0).standard_normal((matrix.shape[0], width)))[0]
    basis, images = block[:, :0], block[:, :0]
    for _ in range(_MAX_STEPS):
        last = matrix @ block
        basis, images = np.hstack([basis, block]), np.hstack([images, last])
        projected = basis.T @ images
        values, rotation = eigh((projected + projected.T) / 2)
        scale = np.abs(values).max()
        found, leading = values[-n_components:], rotation[:, -n_components:]
        residuals = images @ leading - basis @ leading * found
        block = _new_directions(last, basis, scale)
        if not block.size or np.linalg.norm(residuals, axis=0).max() <= _TOLERANCE * scale:
            return found, basis @ leading
        if basis.shape[1] >= _MAX_BLOCKS * width:
            kept = rotation[:, -3 * width :]
            basis, images = basis @ kept, images @ kept
    return None, None


def _new_directions(images: Floats, basis: Floats, scale: float) -> Floats:
    """Return an orthonormal basis of the part of the images outside the span of the basis."""
    for _ in range(2):
        images = images - basis @ (basis.T @ images)
    left, sizes, _ = np.linalg.svd(images, full_matrices=False)
    left = left[:, sizes > len(basis) * np.finfo(np.float64).eps * scale]
    return np.linalg.qr(left - basis @ (basis.T @ left))[0]


def _inverse_lanczos(matrix: Any, n_components: int) -> tuple[Floats, Floats]:
    """Run Lanczos on (matrix - sigma)^{-1} with sigma slightly above 1, the largest eigenvalue.

    Plain Lanczos converges slowly if many eigenvalues are close to the largest. Graphs with this
    property are long and thin, so their matrices have sparse factors.
    """
    size, sigma = matrix.shape[0], 1 + 1e-6
    shifted = (matrix - sigma * sparse.eye_array(size)).tocsc()
    factors = splu(shifted, "MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})
    inverse = LinearOperator((size, size), matvec=factors.solve, dtype=np.float64)
    start = _start(matrix)
    return eigsh(matrix, k=n_components, sigma=sigma, which="LM", v0=start, OPinv=inverse)


def _start(matrix: Any) -> Floats:
    """Return the fixed start vector."""
    return np.random.default_rng(0).standard_normal(matrix.shape[0])
