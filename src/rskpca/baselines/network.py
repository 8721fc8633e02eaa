"""Kernel map compression: a small radial-basis network that approximates the projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import minimize

from .. import _validation as check
from .._core import gram
from .._core.parallel import single_threaded_blas
from ..embedding._axes import Array, Axes, require_gaussian
from ..embedding.compressed import CompressedKernelPCA
from ..embedding.selection import greedy
from ..kernels import Gaussian

_RANK = 1e-10  # smaller singular values, relative to the largest, are treated as zero


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
    X, weights = training_points(model, X, sample_weight)
    network = _Network.for_model(axes, kernel, X, weights)
    start = axes.centers[np.sort(greedy(axes, n_centers))]
    with single_threaded_blas():  # many small products
        nodes = network.train(start, max_iter).astype(axes.system.centers.dtype)
        coefficients, *_ = network.solve(nodes.astype(np.float64))
    return axes.compressed(nodes, coefficients)


def training_points(model: Any, X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Return the points and weights to train on: those given, or the reduced set of the model."""
    if X is not None:
        X = check.validate_values(model, X, reset=False)
        return X.astype(np.float64), check.sample_weights(sample_weight, len(X))
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be used without X, because the reduced set has its own weights. "
            "Pass X or set sample_weight to None."
        )
    if not hasattr(model, "reduced_set_"):
        raise ValueError(
            f"X must not be None for {type(model).__name__}, which does not have a reduced set. "
            "Pass the training data as X."
        )
    return model.reduced_set_.centers.astype(np.float64), model.reduced_set_.weights


@dataclass(frozen=True, eq=False)
class _Network:
    """Least-squares problem for the nodes of the network.

    The first rows of ``points`` are the training points, with ``targets`` and with ``roots``, the
    square roots of their weights. The other rows are the model's centers, over which ``shares``
    computes the mean.
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
        """Return optimized nodes, whose error is at most that of the start."""
        scale, origin = self.kernel.scale, start.mean(axis=0)

        def objective(flat: Array) -> tuple[float, Array]:
            error, gradient = self.error(origin + scale * flat.reshape(start.shape))
            return error, scale * gradient.ravel()

        first = ((start - origin) / scale).ravel()
        options = {"maxiter": max_iter, "ftol": 1e-10, "gtol": 1e-10}
        found = minimize(objective, first, jac=True, method="L-BFGS-B", options=options)
        better = found.fun < self.error(start)[0]
        return origin + scale * found.x.reshape(start.shape) if better else start

    def solve(self, nodes: Array) -> tuple[Array, Array, Array]:
        """Return the optimal coefficients for the nodes, the residual and the kernel values."""
        values = gram.gram(self.kernel, self.points, nodes)
        n = len(self.targets)
        columns = self.roots[:, None] * (values[:n] - self.shares @ values[n:])
        targets = self.roots[:, None] * self.targets
        coefficients = lstsq(columns, targets, cond=_RANK, lapack_driver="gelsy")[0]
        return coefficients, columns @ coefficients - targets, values

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
