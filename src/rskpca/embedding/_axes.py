"""The principal axes of a fitted kernel PCA, as elements of H."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core import gram
from ..kernels import Gaussian, RadialKernel
from ..spectral import EigenSystem, FittedCentered, Moments, Plain, Shifted
from ._base import KernelEmbedding
from .compressed import CompressedKernelPCA

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Axes:
    """v_k = sum_j coefficients_jk psi(c_j), unit axes in H, and the mean of the data in H.

    A point's coordinates are <psi(x) - mean, v_k>, with mean = sum_j shares_j psi(c_j), or
    zero where ``shares`` is None.
    """

    model: Any
    system: EigenSystem
    centers: Array
    coefficients: Array
    shares: Array | None

    @classmethod
    def of(cls, model: Any, n_centers: object) -> Axes:
        """Return the axes of a model, after checking it and the number of points."""
        system = _eigensystem(model)
        check.positive_integer("n_centers", n_centers)
        if n_centers > len(system.centers):  # type: ignore[operator]
            raise ValueError(
                f"n_centers={n_centers} exceeds the {len(system.centers)} centers of the model; "
                "use fewer, or fit a model with more."
            )
        expansion, shares = _on_the_kernel(model, system)
        unit = expansion * np.sqrt(system.eigenvalues)
        return cls(model, system, system.centers.astype(np.float64), unit, shares)

    @property
    def kernel(self) -> RadialKernel:
        return self.system.kernel

    def at(self, Z: Array) -> Array:
        """Return v_k(z) = <v_k, psi(z)>, one row per point."""
        return self._sums(Z, self.coefficients)

    def means_at(self, Z: Array) -> Array:
        """Return <mean, psi(z)> for each point."""
        return (
            np.zeros(len(Z)) if self.shares is None else self._sums(Z, self.shares[:, None])[:, 0]
        )

    def _sums(self, Z: Array, columns: Array) -> Array:
        return gram.product(
            self.kernel, Z, self.centers, gram.multiplier(columns), columns.shape[1]
        )

    def projected(self, Z: Array) -> tuple[Array, Array]:
        """Project the axes on the span of points: K_ZZ A = <psi(Z), v>.

        Return the points without redundant ones, and the coefficients A.
        """
        span = Moments.of(self.kernel, Z)  # A = T T' <psi(Z), v>, with K_ZZ^{-1} = T T'
        return span.basis, span.columns @ (span.columns.T @ self.at(span.basis))

    def compressed(self, Z: Array, coefficients: Array | None = None) -> CompressedKernelPCA:
        """Return the model over the points Z, in the dtype of its centers.

        Without coefficients the axes are projected.
        """
        Z = Z.astype(self.system.centers.dtype)
        if coefficients is None:
            Z, coefficients = self.projected(Z)
        operator = Plain() if self.shares is None else self._shifted(Z)
        system = replace(
            self.system,
            operator=operator,
            centers=Z,
            coefficients=coefficients / np.sqrt(self.system.eigenvalues),
        )
        system = replace(system, functions=system.extend(Z.astype(np.float64)))
        return CompressedKernelPCA.of(self.model, system, self._errors(Z, coefficients))

    def _shifted(self, Z: Array) -> Shifted:
        """Return the mean at Z, and its projection on the span of psi(Z)."""
        means = self.means_at(Z)
        return Shifted(means, lstsq(gram.gram(self.kernel, Z, Z), means, cond=1e-12)[0])

    def _errors(self, Z: Array, coefficients: Array) -> Array:
        """Return ||v - v'|| with v' = sum_j coefficients_j psi(z_j)."""
        lengths = np.sum(self.coefficients * self.at(self.centers), axis=0)
        products = np.sum(coefficients * self.at(Z), axis=0)
        squares = np.sum(coefficients * (gram.gram(self.kernel, Z, Z) @ coefficients), axis=0)
        return np.sqrt(np.maximum(lengths - 2 * products + squares, 0))


def _eigensystem(model: Any) -> EigenSystem:
    wrong = (
        "model must be a fitted kernel PCA such as "
        f"ReducedSetKernelPCA(n_components=5).fit(X), got {model!r}."
    )
    if not isinstance(model, KernelEmbedding | CompressedKernelPCA):
        raise TypeError(wrong)
    check_is_fitted(model)
    return model.model_.system


def _on_the_kernel(model: Any, system: EigenSystem) -> tuple[Array, Array | None]:
    """Return the coefficients of the eigenfunctions with respect to k, and those of the mean."""
    operator = system.operator
    if isinstance(operator, Plain):
        return system.coefficients, None
    if isinstance(operator, FittedCentered | Shifted):
        return operator.columns(system.coefficients), operator.shares
    raise TypeError(
        f"{type(model).__name__} is not a kernel PCA: its operator is "
        f"{type(operator).__name__}, and only axes in feature space can be compressed."
    )


def require_gaussian(kernel: RadialKernel, name: str) -> Gaussian:
    """Return the kernel if it is Gaussian, whose derivative is known; else raise."""
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{name} needs the gradient of a Gaussian kernel, but the model's kernel is "
            f"{kernel!r}; select_reduced_set works for any kernel."
        )
    return kernel
