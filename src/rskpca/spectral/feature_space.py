"""The principal axes of kernel PCA as elements of the feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from ..kernels import RadialKernel
from .eigensystem import EigenSystem

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The affine space of the principal axes: h(z) = mu + sum_i z_i u_i.

    Every element is a sum over the centers: u_i = sum_j ``axes``_ji psi(c_j), orthonormal, and
    mu = sum_j ``shares``_j psi(c_j). This applies to every operator that has ``shares``, ``means``
    and ``columns``: plain, centered, and shifted, where mu is the projection of the mean of the
    data on the span of the basis.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    centers : ndarray of shape (n_centers, n_features)
        c_j.
    axes : ndarray of shape (n_centers, n_components)
        Coefficients of the u_i.
    shares : ndarray of shape (n_centers,)
        Coefficients of mu; zero for the paper's operator.
    means : ndarray of shape (n_centers,)
        mu(c_j) = <mu, psi(c_j)>.
    values : ndarray of shape (n_centers, n_components)
        u_i(c_j) = <u_i, psi(c_j)>.
    """

    kernel: RadialKernel
    centers: Array
    axes: Array
    shares: Array
    means: Array
    values: Array

    @classmethod
    def of(cls, system: EigenSystem) -> FeatureSpace:
        """Return the feature space of a kernel PCA.

        Parameters
        ----------
        system : EigenSystem
            The eigensystem of a plain, centered or shifted operator.

        Returns
        -------
        FeatureSpace
            The axes and the mean; no kernel values are computed.
        """
        operator: Any = system.operator
        root = np.sqrt(system.eigenvalues)
        axes = operator.columns(system.coefficients) * root
        shares, means = (
            np.broadcast_to(a, len(system.centers)) for a in (operator.shares, operator.means)
        )
        values = system.functions * root + means @ axes  # z_i(c_j) = <psi(c_j) - mu, u_i>
        return cls(system.kernel, system.centers, axes, shares, means, values)

    @property
    def offsets(self) -> Array:
        """<mu, u_i>."""
        return self.means @ self.axes

    @property
    def mean(self) -> float:
        """||mu||^2."""
        return float(self.shares @ self.means)

    def coefficients(self, Z: Array) -> Array:
        """Return the coefficients of h(z) with respect to psi(c_j).

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_centers)
            Coefficients.
        """
        return Z @ self.axes.T + self.shares

    def at_centers(self, Z: Array) -> Array:
        """Return the inner products <h(z), psi(c_j)>.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_centers)
            The function h(z) at the centers.
        """
        return Z @ self.values.T + self.means

    def functions_at(self, X: Array) -> tuple[Array, Array]:
        """Evaluate u_i and mu as functions.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            u_i(x).
        ndarray of shape (n_samples,)
            mu(x).
        """
        columns = np.column_stack([self.axes, self.shares])
        sums = gram.product(
            self.kernel, X, self.centers, lambda block: block @ columns, columns.shape[1]
        )
        return sums[:, :-1], sums[:, -1]

    def squared_norms(self, Z: Array) -> Array:
        """Return ||h(z)||^2.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples,)
            Squared norms.
        """
        return np.maximum(self.mean + 2 * Z @ self.offsets + np.sum(Z**2, axis=1), 0)

    def residuals(self, X: Array) -> Array:
        """Return squared distances from the space: k(x,x) - 2 mu(x) + ||mu||^2 - sum_i z_i^2.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points; their dtype is that of the result.

        Returns
        -------
        ndarray of shape (n_samples,)
            Not negative.
        """
        columns = np.column_stack([self.axes, self.shares]).astype(X.dtype)
        multiply = gram.multiplier(columns)
        offsets = self.offsets
        constant = self.kernel.kappa + self.mean

        def function(block: Array) -> Array:
            products = multiply(block)
            Z = products[:, :-1] - offsets
            left = constant - 2.0 * products[:, -1] - np.einsum("ij,ij->i", Z, Z)
            return np.maximum(left, 0)[:, None]

        return gram.product(self.kernel, X, self.centers, function, 1, dtype=X.dtype)[:, 0]
