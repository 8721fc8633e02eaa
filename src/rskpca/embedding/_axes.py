"""The principal axes of a fitted kernel PCA, as points of H: what a compression works on."""

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
        """The axes of the model, once it and the number of points are found sound."""
        system = _eigensystem(model)
        check.positive_integer("n_centers", n_centers)
        if n_centers > len(system.centers):  # type: ignore[operator]
            raise ValueError(
                f"n_centers={n_centers} is more than the {len(system.centers)} centers of the "
                "model; ask for fewer, or fit a model with more."
            )
        expansion, shares = _on_the_kernel(model, system)
        unit = expansion * np.sqrt(system.eigenvalues)
        return cls(model, system, system.centers.astype(np.float64), unit, shares)

    @property
    def kernel(self) -> RadialKernel:
        return self.system.kernel

    def at(self, Z: Array) -> Array:
        """v_k(z) = <v_k, psi(z)>, a row a point."""
        return self._sums(Z, self.coefficients)

    def means_at(self, Z: Array) -> Array:
        """<mean, psi(z)>, a number a point."""
        return (
            np.zeros(len(Z)) if self.shares is None else self._sums(Z, self.shares[:, None])[:, 0]
        )

    def _sums(self, Z: Array, columns: Array) -> Array:
        return gram.product(
            self.kernel, Z, self.centers, gram.multiplier(columns), columns.shape[1]
        )

    def projected(self, Z: Array) -> tuple[Array, Array]:
        """The points that the others do not make redundant, and the coefficients on them of the
        projections of the axes on their span: K_ZZ A = <psi(Z), v>.
        """
        span = Moments.of(self.kernel, Z)  # A = T T' <psi(Z), v>, with K_ZZ^{-1} = T T'
        return span.basis, span.columns @ (span.columns.T @ self.at(span.basis))

    def compressed(self, Z: Array, coefficients: Array | None = None) -> CompressedKernelPCA:
        """The model over the points Z, in the dtype of its centers.

        Without coefficients, with those of the projection.
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
        """The mean at Z, and its projection on the span of psi(Z)."""
        means = self.means_at(Z)
        return Shifted(means, lstsq(gram.gram(self.kernel, Z, Z), means, cond=1e-12)[0])

    def _errors(self, Z: Array, coefficients: Array) -> Array:
        """||v - v'|| with v' = sum_j coefficients_j psi(z_j)."""
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
    """Coefficients of the eigenfunctions on k itself, and those of the mean."""
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
    """The kernel, where its derivative is known."""
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{name} moves its points along the gradient of the Gaussian, but the model's "
            f"kernel is {kernel!r}; select_reduced_set takes any kernel."
        )
    return kernel
