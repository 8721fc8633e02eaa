"""Principal axes of kernel PCA as elements of the feature space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from ..kernels import AnyKernel
from .eigensystem import EigenSystem

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """Affine space h(z) = mu + sum_i z_i u_i spanned by the principal axes in feature space.

    The orthonormal axes u_i = sum_j ``axes``_ji psi(c_j) and the mean
    mu = sum_j ``shares``_j psi(c_j) are expanded over the centers. This requires an operator with
    ``shares``, ``means`` and ``columns``: plain, centered or shifted. For a shifted operator, mu is
    the projection of the mean of the data onto the span of the basis.

    Attributes
    ----------
    system : EigenSystem
        The eigensystem, with the kernel and the centers c_j.
    axes : ndarray of shape (n_centers, n_components)
        Coefficients of the axes u_i.
    shares : ndarray of shape (n_centers,)
        Coefficients of mu; zero for the paper's operator.
    means : ndarray of shape (n_centers,)
        The values mu(c_j) = <mu, psi(c_j)>.
    values : ndarray of shape (n_centers, n_components)
        The values u_i(c_j) = <u_i, psi(c_j)>.
    """

    system: EigenSystem
    axes: Array
    shares: Array
    means: Array
    values: Array

    @classmethod
    def of(cls, system: EigenSystem) -> FeatureSpace:
        """Create the space from an eigensystem with a plain, centered or shifted operator."""
        operator: Any = system.operator
        root = np.sqrt(system.eigenvalues)
        axes = operator.columns(system.coefficients) * root
        shares, means = (
            np.broadcast_to(a, system.centers.shape[0]) for a in (operator.shares, operator.means)
        )
        values = system.functions * root + means @ axes  # z_i(c_j) = <psi(c_j) - mu, u_i>
        return cls(system, axes, shares, means, values)

    @property
    def kernel(self) -> AnyKernel:
        """The kernel with its bandwidth resolved."""
        return self.system.kernel

    @property
    def centers(self) -> Any:
        """The centers c_j."""
        return self.system.centers

    @property
    def offsets(self) -> Array:
        """The inner products <mu, u_i>."""
        return self.means @ self.axes

    @property
    def mean(self) -> float:
        """The squared norm ||mu||^2."""
        return float(self.shares @ self.means)

    def coefficients(self, Z: Array) -> Array:
        """Return the coefficients of h(z) over psi(c_j), with shape (n_samples, n_centers)."""
        return Z @ self.axes.T + self.shares

    def at_centers(self, Z: Array) -> Array:
        """Return the values <h(z), psi(c_j)> at the centers, with shape (n_samples, n_centers)."""
        return Z @ self.values.T + self.means

    def functions_at(self, X: Any) -> tuple[Array, Array]:
        """Return u_i(x), one column per component, and mu(x) for each point."""
        columns = np.column_stack([self.axes, self.shares])
        centers = self.system.prepare_centers(np.float64)
        sums = gram.product(
            self.kernel, X, centers, lambda block: block @ columns, columns.shape[1]
        )
        return sums[:, :-1], sums[:, -1]

    def squared_norms(self, Z: Array) -> Array:
        """Return ||h(z)||^2 for each row of coordinates."""
        return np.maximum(self.mean + 2 * Z @ self.offsets + np.sum(Z**2, axis=1), 0)

    def residuals(self, X: Any) -> Array:
        """Return the squared distance in feature space between each point and this affine space."""
        return self.prepare(X.dtype)(X)

    def prepare(self, dtype: Any) -> Callable[[Any], Array]:
        """Return :meth:`residuals` specialized to one dtype, with precomputed arrays."""
        # The squared distance is k(x, x) - 2 mu(x) + ||mu||^2 - sum_i z_i^2, in the dtype of X.
        centers, offsets = self.system.prepare_centers(dtype), self.offsets
        computed = centers.dtype
        columns = np.column_stack([self.axes, self.shares]).astype(computed)
        multiply = gram.multiplier(columns)

        def residuals(X: Any) -> Array:
            constants = (self.kernel.diagonal(X) + self.mean).astype(computed)

            def function(block: Array, rows: slice) -> Array:
                products = multiply(block)
                Z = products[:, :-1] - offsets
                left = constants[rows] - 2.0 * products[:, -1] - np.einsum("ij,ij->i", Z, Z)
                return np.maximum(left, 0)[:, None]

            found = gram.row_product(self.kernel, X, centers, function, 1, dtype=computed)
            return found[:, 0].astype(dtype, copy=False)

        return residuals
