"""Pre-images: points in the input space with given kernel PCA coordinates.

psi is not surjective, so h(z) = mu + sum_i z_i u_i is rarely the image of a point. The methods
differ in how they choose an approximate pre-image; all use the centers instead of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from .._core import gram
from .._core.parallel import slices
from ..kernels import Gaussian
from ..reduced_set import ReducedSet
from .eigensystem import STORED_CENTERS, EigenSystem
from .feature_space import FeatureSpace

Array = NDArray[np.floating]

# Choices for the ridge, relative to the weight of one row, and for the bandwidth of the kernel on
# the coordinates, relative to their root mean square distance. Adding a ridge of 1e-6 and a
# bandwidth of 16 hardly changed the error on held-out rows of usps, mnist, pendigits, magic and
# covtype.
_RIDGES, _WIDTHS = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5), (1.0, 4.0)
_VALIDATED = 1_000  # largest number of points used in leave-one-out cross-validation
_NEIGHBORS = 10  # as in Kwok and Tsang
_ROUNDS, _TOLERANCE = 200, 1e-9  # fixed-point iterations; the tolerance is in bandwidths
_BLOCK_ELEMENTS = 2**22


class Preimages(Protocol):
    """Interface of a fitted method that maps coordinates to points."""

    def __call__(self, Z: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Ridge:
    """Pre-images by kernel ridge regression of the weighted points on their coordinates.

    The function g minimizes sum_j w_j ||x_j - mean - g(z_j)||^2 + alpha ||g||^2 in the RKHS of a
    Gaussian kernel on the coordinates, whose bandwidth is their root mean square distance (Bakir,
    Weston and Schoelkopf, Learning to find pre-images, 2004). Coordinate i is scaled by
    sqrt(v_i / (v_i + v / d)), where v_i is its variance, v the total variance and d the number of
    features. This is a Wiener filter for isotropic noise with the same total variance as the data.
    If alpha is None, leave-one-out cross-validation chooses alpha, the bandwidth (this one or four
    times as large), and whether to use the filter.
    """

    kernel: Gaussian
    scales: Array
    mean: Array
    known: Array
    columns: Array

    @classmethod
    def fit(cls, system: EigenSystem, points: ReducedSet, alpha: float | None = None) -> Ridge:
        if points.n_centers > STORED_CENTERS:
            raise ValueError(
                f'method="ridge" supports at most {STORED_CENTERS:,} centers, '
                f'got {points.n_centers:,}. Use a smaller ell, method="distances" or '
                'method="fixed-point".'
            )
        X, weights = points.centers.astype(np.float64), points.weights
        mean = weights @ X / points.n_samples
        coordinates = system.extend(X) * np.sqrt(system.eigenvalues)
        scales, factor = _filter(system, points.n_features), 1.0
        if alpha is None:
            choices = scales, np.ones_like(scales)
            scales, factor, alpha = _cross_validate(choices, coordinates, weights, X - mean)
        known = coordinates * scales
        kernel = _kernel(known, weights, factor)
        root = np.sqrt(weights)[:, None]
        matrix = gram.gram(kernel, known, known) * root * root.T
        matrix[np.diag_indices_from(matrix)] += alpha
        cholesky = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        return cls(kernel, scales, mean, known, root * cho_solve(cholesky, root * (X - mean)))

    def __call__(self, Z: Array) -> Array:
        function = gram.multiplier(self.columns.astype(Z.dtype))
        Z = Z * self.scales.astype(Z.dtype)
        moved = gram.product(self.kernel, Z, self.known, function, len(self.mean), dtype=Z.dtype)
        moved += self.mean.astype(Z.dtype)
        return moved


def _filter(system: EigenSystem, n_features: int) -> Array:
    """Return scale factors for the coordinates, which form a Wiener filter for isotropic noise."""
    scales: Array = np.sqrt(system.eigenvalues / (system.eigenvalues + system.trace / n_features))
    return scales


def _kernel(known: Array, weights: Array, factor: float) -> Gaussian:
    """Return a Gaussian kernel with ``factor`` times the RMS distance as its bandwidth."""
    return Gaussian(factor * (_root_mean_square_distance(known, weights) or 1.0))


def _cross_validate(
    scales: tuple[Array, ...], coordinates: Array, weights: Array, targets: Array
) -> tuple[Array, float, float]:
    """Return the scales, bandwidth factor and ridge with the smallest leave-one-out error.

    Copies of a point are left out together.
    """
    _, first, place = np.unique(targets, axis=0, return_index=True, return_inverse=True)
    root = np.sqrt(np.bincount(place.ravel(), weights=weights))[:, None]
    some = slice(None, None, -(-len(first) // _VALIDATED))
    root, targets = root[some], targets[first][some]
    errors: dict[tuple[int, float, float], float] = {}
    for i, scale in enumerate(scales):
        known = coordinates * scale
        for factor in _WIDTHS:
            kernel = _kernel(known, weights, factor)
            found = _leave_one_out(kernel, known[first][some], root, targets)
            errors |= {(i, factor, alpha): error for alpha, error in found.items()}
    i, factor, alpha = min(errors, key=errors.__getitem__)
    return scales[i], factor, alpha


def _leave_one_out(
    kernel: Gaussian, known: Array, root: Array, targets: Array
) -> dict[float, float]:
    """Return, for each ridge, the weighted squared error of predicting points from the others.

    With the weighted kernel matrix M and H = M (M + alpha I)^{-1}, the leave-one-out residual of a
    point is its residual divided by 1 - H_ii.
    """
    values, vectors = eigh(gram.gram(kernel, known, known) * root * root.T, check_finite=False)
    values, targets = np.maximum(values, 0), root * targets
    projected, errors = vectors.T @ targets, {}
    for alpha in _RIDGES:
        left = alpha / (values + alpha)  # I - H has the same eigenvectors
        residual = vectors @ (left[:, None] * projected)
        errors[alpha] = float(np.sum((residual / (vectors**2 @ left)[:, None]) ** 2))
    return errors


def _root_mean_square_distance(Z: Array, weights: Array) -> float:
    """Return the root mean square distance between two rows drawn according to the weights."""
    shares = weights / weights.sum()
    return float(np.sqrt(2 * shares @ np.sum((Z - shares @ Z) ** 2, axis=1)))


def _as_if(values: Array, squared_norms: Array) -> Array:
    """Return k(x, c_j) for a point x whose image has the same distance to psi(c_j) as h(z).

    The two squared distances are ||h - psi(c)||^2 = ||h||^2 + 1 - 2 h(c) and
    ||psi(x) - psi(c)||^2 = 2 - 2 k(x, c).
    """
    return values + (1 - squared_norms[:, None]) / 2


@dataclass(frozen=True, eq=False)
class Distances:
    """Pre-images from constraints on the distances to the nearest centers.

    For a Gaussian kernel, the distance between h(z) and psi(c_j) determines a distance to c_j. The
    pre-image is the point in the affine span of the ten nearest centers that fits these distances
    in the least-squares sense (Kwok and Tsang, The pre-image problem in kernel methods, 2004).
    """

    space: FeatureSpace
    points: Array
    values: Array
    means: Array

    @classmethod
    def fit(cls, system: EigenSystem, points: ReducedSet) -> Distances:
        space = FeatureSpace.of(_gaussian(system, "distances"))
        known = points.centers.astype(np.float64)
        return cls(space, known, *space.functions_at(known))

    def __call__(self, Z: Array) -> Array:
        n_neighbors = min(_NEIGHBORS, len(self.points))
        n_features = self.points.shape[1]
        width = len(self.points) + n_neighbors * n_features
        return _by_blocks(Z, n_features, width, lambda z: self._block(z, n_neighbors))

    def _block(self, Z: Array, n_neighbors: int) -> Array:
        at_points = Z @ self.values.T + self.means
        similar = _as_if(at_points, self.space.squared_norms(Z))
        nearest = np.argpartition(-similar, n_neighbors - 1, axis=1)[:, :n_neighbors]
        similar = np.take_along_axis(similar, nearest, axis=1)
        squared = -np.log(np.clip(similar, self._least, 1.0)) * self.space.kernel.scale**2
        return _placed(self.points[nearest], squared)

    @property
    def _least(self) -> float:
        """The kernel value at the largest accepted distance, a bound on the points' diameter."""
        across = 2 * np.linalg.norm(self.points - self.points.mean(axis=0), axis=1).max()
        least = np.exp(-((across / self.space.kernel.scale) ** 2))
        return float(max(least, np.finfo(np.float64).tiny))


def _placed(points: Array, squared: Array) -> Array:
    """Return points in the affine span of given points that best fit the squared distances."""
    # ``points`` has shape (rows, k, d), with k points p_j per row.
    # With y and p_j relative to the mean of the p_j, ||p_j||^2 - squared_j = 2 <p_j, y> - ||y||^2.
    # The last term is the same for all j, and subtracting the mean over j removes it. Then
    # y = P' G^+ h, where h is half of the centered left-hand side.
    middle = points.mean(axis=1)
    points = points - middle[:, None]
    products = points @ points.transpose(0, 2, 1)
    half = (np.einsum("ijj->ij", products) - squared) / 2
    half -= half.mean(axis=1, keepdims=True)
    shares = np.linalg.pinv(products, rcond=1e-10, hermitian=True) @ half[:, :, None]
    return middle + (points.transpose(0, 2, 1) @ shares)[:, :, 0]


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Pre-images by fixed-point iteration for the point whose image is nearest to h(z).

    With h(z) = sum_j a_j psi(c_j), the iteration of Mika et al. (Kernel PCA and de-noising in
    feature spaces, 1999) is x <- sum_j a_j k(x, c_j) c_j / sum_j a_j k(x, c_j), starting from the
    nearest center in feature space. The nearest image maximizes the denominator h(x). A step that
    decreases h(x) is halved, so the result is never farther from h(z) than the initial center.
    """

    space: FeatureSpace

    @classmethod
    def fit(cls, system: EigenSystem, points: ReducedSet) -> FixedPoint:
        return cls(FeatureSpace.of(_gaussian(system, "fixed-point")))

    def __call__(self, Z: Array) -> Array:
        centers = self.space.centers
        return _by_blocks(Z, centers.shape[1], len(centers), self._block)

    def _block(self, Z: Array) -> Array:
        space = self.space
        centers = space.centers.astype(np.float64)
        prepared = space.system.prepare_centers(np.float64)
        coefficients = space.coefficients(Z)
        X = centers[_as_if(space.at_centers(Z), space.squared_norms(Z)).argmax(axis=1)]
        moving = np.arange(len(Z))

        def step(a: Array, X: Array) -> tuple[Array, Array]:
            return _step(gram.gram(space.kernel, X, prepared), a, centers, X)

        height, target = step(coefficients, X)
        for _ in range(_ROUNDS):
            steps = np.linalg.norm(target - X[moving], axis=1)
            far = steps > _TOLERANCE * space.kernel.scale
            moving, height, target = moving[far], height[far], target[far]
            if not len(moving):
                break
            tried, aims = step(coefficients[moving], target)
            better = tried >= height
            X[moving[better]] = target[better]
            height[better] = tried[better]
            halfway = (X[moving] + target) / 2
            target = np.where(better[:, None], aims, halfway)
        return X


def _step(terms: Array, coefficients: Array, centers: Array, X: Array) -> tuple[Array, Array]:
    """Return h(x) = sum_j a_j k(x, c_j) and the next point, which is x if h(x) <= 0.

    ``terms`` contains k(x, c_j) and is overwritten.
    """
    terms *= coefficients
    height = terms.sum(axis=1)
    positive = height > 0
    following = X.copy()
    following[positive] = terms[positive] @ centers / height[positive, None]
    return height, following


def _gaussian(system: EigenSystem, method: str) -> EigenSystem:
    if not isinstance(system.kernel, Gaussian):
        raise ValueError(
            f'method="{method}" requires a Gaussian kernel, got {system.kernel!r}. '
            'Use method="ridge", which supports every kernel.'
        )
    return system


def _by_blocks(Z: Array, n_features: int, width: int, function: Callable[[Array], Array]) -> Array:
    """Apply a function to float64 batches of rows, and return the result in the dtype of Z."""
    out = np.empty((len(Z), n_features), dtype=Z.dtype)
    for rows in slices(0, len(Z), max(16, _BLOCK_ELEMENTS // width)):
        out[rows] = function(Z[rows].astype(np.float64))
    return out


METHODS: dict[str, type[Ridge] | type[Distances] | type[FixedPoint]] = {
    "ridge": Ridge,
    "fixed-point": FixedPoint,
    "distances": Distances,
}
