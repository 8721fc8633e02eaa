"""Reference implementations of the fast primitives in NumPy: slow, short and easy to verify.

The fast versions are tested against these functions. Where a result depends on the order of
floating-point operations (the radius test of Algorithm 2), this module defines the order.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def squared_distances(X: Array, c: Array) -> NDArray[np.float64]:
    """Return the squared Euclidean distances from the rows of ``X`` to one point ``c``.

    Differences are computed in float64, squared, and summed in feature order.
    """
    total = np.zeros(len(X))
    for k in range(X.shape[1]):
        with np.errstate(over="ignore"):
            difference = X[:, k].astype(np.float64) - np.float64(c[k])
            total += difference * difference
    return total


def cover(
    X: Array, radius: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Run Algorithm 2, the shadow set selection procedure.

    Return the indices of the rows of ``X`` that became centers, in order; the index of each row's
    center (the map alpha of section 5); and the squared distance from each row to its center. A
    center always belongs to its own shadow, so radius 0 keeps every row.
    """
    rows: list[np.intp] = []
    labels = np.empty(len(X), dtype=np.intp)
    squared = np.zeros(len(X))
    remaining = np.arange(len(X))
    while len(remaining):
        distances = squared_distances(X[remaining], X[remaining[0]])
        shadow = distances < float(radius) * float(radius)
        shadow[0] = True
        labels[remaining[shadow]] = len(rows)
        squared[remaining[shadow]] = distances[shadow]
        rows.append(remaining[0])
        remaining = remaining[~shadow]
    return np.array(rows, dtype=np.intp), labels, squared


def aging_cover(
    X: Array, radius: float, patience: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Run Algorithm 2 row by row; a center expires after ``patience`` rows without a new member.

    Return, for each row, the index of the row that opened its center, and the squared distance to
    that center.
    """
    last: dict[int, int] = {}  # row that opened the center -> last row that joined it
    homes = np.empty(len(X), dtype=np.intp)
    squared = np.zeros(len(X))
    for i in range(len(X)):
        last = {home: row for home, row in last.items() if i - row <= patience}
        distances = squared_distances(X[list(last)], X[i])
        within = np.flatnonzero(distances < float(radius) * float(radius))
        homes[i] = list(last)[within[0]] if len(within) else i
        squared[i] = distances[within[0]] if len(within) else 0.0
        last[int(homes[i])] = i
    return homes, squared


def pairwise_squared_distances(X: Array, C: Array) -> NDArray[np.float64]:
    """Return all squared distances between rows of ``X`` and rows of ``C``."""
    return np.stack([squared_distances(X, c) for c in C], axis=1)


def subspace_squared_distances(
    X: Array, coordinates: Array, origin: Array, axes: Array
) -> NDArray[np.float64]:
    """Return the squared distances from rows to points that are given by subspace coordinates.

    By Pythagoras, they are the squared distances within the subspace plus the squared distance
    from it.
    """
    moved = X - origin
    projected = moved @ axes
    outside = np.sum((moved - projected @ axes.T) ** 2, axis=1)
    return pairwise_squared_distances(projected, coordinates) + outside[:, None]


def kernel_product(kernel: Any, X: Array, C: Array, coefficients: Array) -> Array:
    """Return ``k(X, C) @ coefficients``, computed from the full kernel matrix."""
    scaled = kernel.sign * pairwise_squared_distances(X, C) / kernel.scale**2
    return kernel.evaluate(scaled) @ coefficients


def moments(kernel: Any, X: Array, weights: Array, C: Array, columns: Array) -> tuple[Array, Array]:
    """Return the weighted sums of b(x) and b(x) b(x)' over x, with b(x) = k(x, C) @ columns."""
    B = kernel_product(kernel, X, C, columns)
    return weights @ B, B.T @ (weights[:, None] * B)


def greedy_pivots(kernel: Any, X: Array, weights: Array | None, n_pivots: int) -> NDArray[np.intp]:
    """Return Cholesky pivots of k(X, X), each of which maximizes the weighted residual diagonal."""
    left = kernel_product(kernel, X, X, np.eye(len(X)))
    pivots: list[np.intp] = []
    for _ in range(n_pivots):
        diagonal = np.diagonal(left) * (1.0 if weights is None else weights)
        pivots.append(np.argmax(diagonal))
        column = left[:, pivots[-1]] / np.sqrt(left[pivots[-1], pivots[-1]])
        left = left - np.outer(column, column)
    return np.array(pivots, dtype=np.intp)


def leading_eigenpairs(
    matrix: Array, n_components: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues in descending order, and unit eigenvectors as columns."""
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]


def accumulate(labels: NDArray[np.intp], values: Array, totals: Array) -> None:
    """Add each value to the total of its label in place, in row order."""
    for label, value in zip(labels, values, strict=True):
        totals[label] += value


def accumulate_exactly(
    labels: NDArray[np.intp], values: Array, totals: Array, residues: Array
) -> None:
    """Accumulate like :func:`accumulate`, and store the exact rounding errors in ``residues``."""
    for j in np.unique(labels):
        exact = Fraction(totals[j]) + Fraction(residues[j])
        for value in values[labels == j]:
            exact += Fraction(value)
            totals[j] += value
        residues[j] = float(exact - Fraction(totals[j]))


def nearest_centers(X: Array, C: Array) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the nearest center of each row (the first among ties) and its squared distance."""
    squared = pairwise_squared_distances(X, C)
    labels = np.argmin(squared, axis=1)
    return labels, squared[np.arange(len(X)), labels]


def spanning_tree_lengths(C: Array) -> NDArray[np.float64]:
    """Return the edge lengths of the minimum spanning tree, longest first (Prim's algorithm)."""
    to_tree = np.sqrt(squared_distances(C, C[0]))
    outside = np.arange(1, len(C))
    lengths = np.zeros(len(outside))
    for step in range(len(lengths)):
        newest = outside[np.argmin(to_tree[outside])]
        lengths[step] = to_tree[newest]
        outside = outside[outside != newest]
        to_tree = np.minimum(to_tree, np.sqrt(squared_distances(C, C[newest])))
    return np.sort(lengths)[::-1]


def splitmix64(salt: int, number: int) -> int:
    """Return the value at index ``number`` of the splitmix64 sequence with seed ``salt``."""
    z = (salt + (number + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def sample_keys(salt: int, start: int, weights: Array) -> NDArray[np.float64]:
    """Return the key -log(u) / weight of each row; it is infinite for rows of weight 0.

    Rows are numbered from ``start``, and u in (0, 1] is a hash of the row number.
    """
    keys = np.full(len(weights), np.inf)
    for i in np.flatnonzero(weights):
        u = ((splitmix64(salt, start + int(i)) >> 11) + 1) * 2.0**-53
        keys[i] = -math.log(u) / weights[i]
    return keys
