"""Errors of held-out rows reconstructed from a few kernel principal components.

The errors are distances in the input space. Unlike distances in feature space, they can be compared
between bandwidths (Alam and Fukumizu, Hyperparameter selection in kernel principal component
analysis, 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist, squareform

from .eig import leading_eigenpairs

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

_MOST_COMPONENTS = 10
# With a wide kernel, the components are linear. They must not be able to represent the rows, or the
# widest kernel would always be the best.
_LINEAR_SHARE = 0.9
# Ridge relative to the total weight. On digits, usps, yale, pendigits, magic, german, iris and
# wine, choosing it for each bandwidth from 1e-6 to 1e-2 hardly changes the chosen bandwidth.
_RIDGE = 1e-3


def held_out_errors(X: Array, weights: Array, scales: Array) -> Array:
    """Return the squared error of reconstructed rows for each bandwidth, relative to the variance.

    In two-fold cross-validation, Gaussian kernel PCA of one half of the rows maps the other half to
    coordinates, from which kernel ridge regression reconstructs them. The rows must be distinct.
    """
    squares = squareform(squared_distances(X))
    order = np.random.RandomState(0).permutation(len(X))
    half, other = order[::2], order[1::2]
    variances = principal_variances(X, weights)
    n_components = min(count_components(variances), len(other) - 1)
    errors = np.zeros(len(scales))
    for i, scale in enumerate(scales):
        gram = np.exp(-squares / scale**2)
        for known, new in ((half, other), (other, half)):
            errors[i] += _sum_of_squares(gram, X, weights, known, new, n_components)
    return errors / (weights.sum() * variances.sum())


def squared_distances(X: Array) -> Array:
    """Return the squared distances between all pairs of rows, and check that they are finite."""
    squares: Array = pdist(X, "sqeuclidean")
    if not np.isfinite(squares).all():
        raise ValueError(
            "The squared distances between some rows overflow. Remove extreme values, or set "
            "bandwidth or gamma to a number."
        )
    return squares


def principal_variances(X: Array, weights: Array) -> Array:
    """Return the variances along the principal axes in descending order."""
    shares = weights / weights.sum()
    centered = np.sqrt(shares)[:, None] * (X - shares @ X)
    return np.asarray(np.linalg.svd(centered, compute_uv=False) ** 2)


def count_components(variances: Array) -> int:
    """Return the most linear components, from 1 to 10, that explain less than 90% of the variance.

    If a single component explains more, the result is 1.
    """
    explained = np.cumsum(variances) / variances.sum()
    return int(np.clip(np.searchsorted(explained, _LINEAR_SHARE), 1, _MOST_COMPONENTS))


def _sum_of_squares(
    gram: Array, X: Array, weights: Array, known: Rows, new: Rows, n_components: int
) -> float:
    """Return the weighted sum of the squared errors of the new rows."""
    shares = weights[known] / weights[known].sum()
    inside, between = gram[np.ix_(known, known)], gram[np.ix_(new, known)]
    coordinates = _kernel_pca(inside, between, shares, n_components)
    mean = shares @ X[known]
    error = X[new] - mean - _regress(*coordinates, shares, X[known] - mean)
    return float(weights[new] @ np.sum(error**2, axis=1))


def _kernel_pca(
    gram: Array, between: Array, shares: Array, n_components: int
) -> tuple[Array, Array]:
    """Return the coordinates of the known and of the new rows."""
    means = gram @ shares
    total, root = shares @ means, np.sqrt(shares)[:, None]
    centered = gram - means - means[:, None] + total
    values, vectors = leading_eigenpairs(root * centered * root.T, n_components)
    new = between - means - (between @ shares)[:, None] + total
    axes = root * vectors / np.sqrt(values)
    return centered @ axes, new @ axes


def _regress(known: Array, new: Array, shares: Array, targets: Array) -> Array:
    """Return predictions of kernel ridge regression on the coordinates.

    The bandwidth is the root mean square distance between the coordinates of two known rows.
    """
    square = 2 * shares @ np.sum(known**2, axis=1) or 1.0
    matrix = np.exp(-cdist(known, known, "sqeuclidean") / square)
    matrix[np.diag_indices_from(matrix)] += _RIDGE / shares
    solution = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True), targets)
    return np.asarray(np.exp(-cdist(new, known, "sqeuclidean") / square) @ solution)
