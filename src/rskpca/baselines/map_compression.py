"""Kernel map compression: small radial-basis networks that approximate the projection.

The nodes of a network, and for :func:`learn_map` their bandwidths, are optimized by L-BFGS. For
given nodes, the coefficients are a least-squares solution (variable projection).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .. import _validation as check
from .._core import gram
from .._core.parallel import single_threaded_blas
from .._validation import validate_points
from ..embedding.compressed import Array, Axes, CompressedKernelPCA, require_gaussian
from ..embedding.selection import greedy
from ..kernels import Gaussian

_RANK = 1e-10  # smaller singular values, relative to the largest, are treated as zero
_WIDEST = np.log(10.0)  # learned bandwidths stay within a factor of 10 of the kernel's bandwidth


def compress_map(
    model: Any,
    n_centers: int,
    X: Any = None,
    sample_weight: Any = None,
    *,
    max_iter: int = 100,
) -> CompressedKernelPCA:
    """Train a small radial-basis network to reproduce the coordinates of the training points.

    This is the kernel map compression of Arif and Vela (2011). The network
    x -> sum_j a_j k(x, z_j), centered like the model, has m movable nodes z_j. It minimizes
    sum_i w_i ||y_i - network(x_i)||^2, where y_i are the model's coordinates of x_i. For given
    nodes, the coefficients a are a least-squares solution, so only the nodes are optimized
    (variable projection), by L-BFGS. The initial nodes are the centers that
    :func:`~rskpca.select_reduced_set` would keep. All nodes share the kernel's bandwidth, so that
    the result is a kernel expansion; :func:`learn_map` learns a bandwidth for each node.

    Parameters
    ----------
    model : fitted kernel PCA
        A model such as :class:`~rskpca.ReducedSetKernelPCA` with a Gaussian kernel.
    n_centers : int
        Number of nodes, at most the number of centers of the model.
    X : array-like of shape (n_samples, n_features), default=None
        The training points. None means the model's reduced set with its weights.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row of X.
    max_iter : int, default=100
        Maximum number of L-BFGS iterations.

    Returns
    -------
    CompressedKernelPCA
        The fitted transformer.

    Notes
    -----
    For n rows of X, an iteration takes O(n m (m + d)) time and O(n m) memory.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.baselines import compress_map
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=3, bandwidth=60.0, ell=4.0).fit(X)
    >>> compress_map(model, n_centers=10, max_iter=5).basis_.shape
    (10, 64)
    """
    axes = Axes.of(model, n_centers)
    kernel = require_gaussian(axes.kernel, "compress_map")
    check.positive_integer("max_iter", max_iter)
    X, weights = _training_points(model, X, sample_weight)
    network = _Network.for_model(axes, kernel, X, weights)
    start = axes.centers[np.sort(greedy(axes, n_centers))]
    with single_threaded_blas():  # threads would slow down many small products
        nodes = network.train(start, max_iter).astype(axes.system.centers.dtype)
        coefficients, *_ = network.solve(nodes.astype(np.float64))
    return axes.compressed(nodes, coefficients)


def _training_points(model: Any, X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Return the points and weights to train on: those given, or the reduced set of the model."""
    if X is not None:
        X = check.validate_values(model, X, reset=False)
        return X.astype(np.float64), check.sample_weights(sample_weight, len(X))
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be used without X, because the reduced set has its own weights. "
            "Pass X or set sample_weight to None."
        )
    if model.model_.landmarks:
        raise ValueError(
            f"X must not be None for {type(model).__name__}, which does not have a reduced set. "
            "Pass the training data as X."
        )
    return model.reduced_set_.centers.astype(np.float64), model.reduced_set_.weights


def _least_squares(columns: Array, targets: Array) -> tuple[Array, Array]:
    """Return the least-squares solution and the residual."""
    solution = lstsq(columns, targets, cond=_RANK, lapack_driver="gelsy")[0]
    return solution, columns @ solution - targets


def _descend(
    objective: Callable[[Array], tuple[float, Array]], start: Array, max_iter: int, bounds: Any
) -> Array:
    """Return parameters found by L-BFGS, whose error is at most that of the starting point."""
    options = {"maxiter": max_iter, "ftol": 1e-10, "gtol": 1e-10}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x if found.fun < objective(start)[0] else start


@dataclass(frozen=True, eq=False)
class _Network:
    """Least-squares problem for the nodes of the network.

    The first rows of ``points`` are the training points, with ``targets`` and with ``roots``, the
    square roots of their weights. The other rows are the model's centers, and ``shares`` are their
    weights in the mean.
    """

    kernel: Gaussian
    points: Array
    roots: Array
    targets: Array
    shares: Array

    @classmethod
    def for_model(cls, axes: Axes, kernel: Gaussian, X: Array, weights: Array) -> _Network:
        """Create the problem for coordinates at X, scaled so that the zero network has error 1."""
        targets = axes.system.extend(X) * np.sqrt(axes.system.eigenvalues)
        size = np.sqrt(weights @ np.sum(targets**2, axis=1))
        roots = np.sqrt(weights) / max(size, np.finfo(np.float64).tiny)
        if axes.shares is None:
            return cls(kernel, X, roots, targets, np.empty(0))
        return cls(kernel, np.concatenate([X, axes.centers]), roots, targets, axes.shares)

    def train(self, start: Array, max_iter: int) -> Array:
        """Return optimized nodes, whose error is at most that of the initial nodes."""
        scale, origin = self.kernel.scale, start.mean(axis=0)

        def objective(flat: Array) -> tuple[float, Array]:
            error, gradient = self.error(origin + scale * flat.reshape(start.shape))
            return error, scale * gradient.ravel()

        first = ((start - origin) / scale).ravel()
        found = _descend(objective, first, max_iter, None)
        return start if found is first else origin + scale * found.reshape(start.shape)

    def solve(self, nodes: Array) -> tuple[Array, Array, Array]:
        """Return the optimal coefficients for the nodes, the residual and the kernel values."""
        values = gram.gram(self.kernel, self.points, nodes)
        n = len(self.targets)
        columns = self.roots[:, None] * (values[:n] - self.shares @ values[n:])
        targets = self.roots[:, None] * self.targets
        return *_least_squares(columns, targets), values

    def error(self, nodes: Array) -> tuple[float, Array]:
        """Return the weighted squared error, relative to the zero network, and its gradient.

        Because the coefficients minimize the error, only the kernel values contribute to the
        gradient. With E the derivative with respect to the kernel values, the derivative with
        respect to z_j is (2 / sigma^2) sum_i E_ij k(x_i, z_j) (x_i - z_j).
        """
        coefficients, residual, values = self.solve(nodes)
        by_value = 2 * (self.roots[:, None] * residual) @ coefficients.T
        if len(self.shares):
            by_mean = -np.outer(self.shares, by_value.sum(axis=0))
            by_value = np.concatenate([by_value, by_mean])
        by_value *= values
        origin = nodes.mean(axis=0)
        pulled = by_value.T @ (self.points - origin)
        pulled -= by_value.sum(axis=0)[:, None] * (nodes - origin)
        return float(np.sum(residual**2)), 2 / self.kernel.scale**2 * pulled


# ------------------------------------------------------------------ learned bandwidths


class RadialBasisMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Radial-basis network x -> b + sum_j a_j exp(-||x - z_j||^2 / s_j^2).

    :func:`learn_map` returns this transformer, which is always fitted; ``fit`` does nothing.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, n_features)
        The nodes z_j.
    bandwidths : ndarray of shape (n_nodes,)
        Their bandwidths s_j.
    coefficients : ndarray of shape (n_nodes, n_components)
        The coefficients a_j.
    intercept : ndarray of shape (n_components,)
        The constant b.

    Attributes
    ----------
    basis_ : ndarray of shape (n_nodes, n_features)
        The nodes.
    n_features_in_ : int
        Number of features.
    """

    def __init__(
        self, nodes: Array, bandwidths: Array, coefficients: Array, intercept: Array
    ) -> None:
        self.nodes = nodes
        self.bandwidths = bandwidths
        self.coefficients = coefficients
        self.intercept = intercept

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing, because the network is already fitted."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Array:
        """Return the approximate coordinates of new points."""
        values = _values(validate_points(self, X), self.nodes, self.bandwidths)
        return self.intercept + values @ self.coefficients

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return int(self.nodes.shape[1])

    @property
    def basis_(self) -> Array:
        """The nodes."""
        return self.nodes

    @property
    def _n_features_out(self) -> int:
        return self.coefficients.shape[1]


def learn_map(
    model: Any, n_centers: int, X: Any = None, sample_weight: Any = None, *, max_iter: int = 100
) -> RadialBasisMap:
    """Train a radial-basis network with learned nodes and bandwidths to reproduce coordinates.

    Kernel map compression (Arif and Vela 2011) approximates the projection by a generalized
    radial-basis network, in which each node has its own bandwidth. This function minimizes
    sum_i w_i ||y_i - network(x_i)||^2 by L-BFGS over the nodes and the logarithms of the
    bandwidths, whereas :func:`~rskpca.baselines.compress_map` keeps the kernel's bandwidth for all
    nodes. The coefficients and the intercept are a least-squares solution (variable projection).

    Parameters
    ----------
    model : fitted kernel PCA
        A model such as :class:`~rskpca.ReducedSetKernelPCA` with a Gaussian kernel.
    n_centers : int
        Number of nodes, at most the number of centers of the model.
    X : array-like of shape (n_samples, n_features), default=None
        The training points. None means the model's reduced set with its weights.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row of X.
    max_iter : int, default=100
        Maximum number of L-BFGS iterations.

    Returns
    -------
    RadialBasisMap
        The network, as a fitted transformer.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.baselines import learn_map
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=3, bandwidth=60.0, ell=4.0).fit(X)
    >>> learn_map(model, n_centers=10, max_iter=5).bandwidths.shape
    (10,)
    """
    axes = Axes.of(model, n_centers)
    kernel = require_gaussian(axes.kernel, "learn_map")
    check.positive_integer("max_iter", max_iter)
    points, weights = _training_points(model, X, sample_weight)
    targets = axes.system.extend(points) * np.sqrt(axes.system.eigenvalues)
    problem = _LearnedNetwork.of(points, weights, targets, kernel.scale)
    start = axes.centers[np.sort(greedy(axes, n_centers))]
    with single_threaded_blas():  # threads would slow down many small products
        return problem.train(start, max_iter)


@dataclass(frozen=True, eq=False)
class _LearnedNetwork:
    """Least-squares problem for nodes and bandwidths; the constant network has error 1."""

    points: Array
    roots: Array
    targets: Array
    scale: float

    @classmethod
    def of(cls, points: Array, weights: Array, targets: Array, scale: float) -> _LearnedNetwork:
        spread = targets - weights @ targets / weights.sum()
        size = np.sqrt(weights @ np.sum(spread**2, axis=1))
        return cls(points, np.sqrt(weights) / max(size, np.finfo(float).tiny), targets, scale)

    def train(self, start: Array, max_iter: int) -> RadialBasisMap:
        """Return the network optimized from these nodes, initially with the kernel's bandwidth."""
        m, d = start.shape
        origin = start.mean(axis=0)

        def unpack(flat: Array) -> tuple[Array, Array]:
            nodes = origin + self.scale * flat[: m * d].reshape(m, d)
            return nodes, self.scale * np.exp(flat[m * d :])

        def objective(flat: Array) -> tuple[float, Array]:
            error, by_nodes, by_logs = self.error(*unpack(flat))
            return error, np.concatenate([self.scale * by_nodes.ravel(), by_logs])

        first = np.concatenate([((start - origin) / self.scale).ravel(), np.zeros(m)])
        bounds = [(None, None)] * (m * d) + [(-_WIDEST, _WIDEST)] * m
        nodes, bandwidths = unpack(_descend(objective, first, max_iter, bounds))
        solution = self.solve(nodes, bandwidths)[0]
        return RadialBasisMap(nodes, bandwidths, solution[1:], solution[0])

    def solve(self, nodes: Array, bandwidths: Array) -> tuple[Array, Array, Array]:
        """Return the intercept and coefficients, the residual, and the kernel values."""
        values = _values(self.points, nodes, bandwidths)
        columns = self.roots[:, None] * np.column_stack([np.ones(len(values)), values])
        targets = self.roots[:, None] * self.targets
        return *_least_squares(columns, targets), values

    def error(self, nodes: Array, bandwidths: Array) -> tuple[float, Array, Array]:
        """Return the error and its gradients with respect to nodes and log bandwidths.

        The coefficients minimize the error, so only the kernel values contribute. With E the
        derivative with respect to k_ij = exp(-||x_i - z_j||^2 / s_j^2), the derivatives are
        (2 / s_j^2) sum_i E_ij k_ij (x_i - z_j) and (2 / s_j^2) sum_i E_ij k_ij ||x_i - z_j||^2.
        """
        solution, residual, values = self.solve(nodes, bandwidths)
        by_value = 2 * (self.roots[:, None] * residual) @ solution[1:].T * values
        factors = 2 / bandwidths**2
        squared = cdist(self.points, nodes, "sqeuclidean")
        by_nodes = by_value.T @ self.points - by_value.sum(axis=0)[:, None] * nodes
        by_logs = factors * np.sum(by_value * squared, axis=0)
        return float(np.sum(residual**2)), factors[:, None] * by_nodes, by_logs


def _values(X: Array, nodes: Array, bandwidths: Array) -> Array:
    """Return exp(-||x_i - z_j||^2 / s_j^2)."""
    return np.exp(-cdist(X, nodes, "sqeuclidean") / bandwidths**2)
