"""Principal axes of a fitted kernel PCA, represented as elements of the RKHS H."""

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
    """Unit principal axes in H and the mean of the data in H, expanded over the centers.

    The axes are v_k = sum_j coefficients_jk psi(c_j), and the mean is sum_j shares_j psi(c_j), or
    zero if ``shares`` is None. The coordinates of a point x are <psi(x) - mean, v_k>.
    """

    model: Any
    system: EigenSystem
    centers: Array
    coefficients: Array
    shares: Array | None

    @classmethod
    def of(cls, model: Any, n_centers: object) -> Axes:
        """Return the axes of a fitted model after validating the model and n_centers."""
        system = _eigensystem(model)
        check.positive_integer("n_centers", n_centers)
        if n_centers > len(system.centers):  # type: ignore[operator]
            raise ValueError(
                f"n_centers must be at most {len(system.centers)}, the number of centers of the "
                f"model, got {n_centers}. Decrease n_centers or fit a model with more centers."
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
        centers = self.system.prepare_centers(np.float64)
        return gram.product(self.kernel, Z, centers, gram.multiplier(columns), columns.shape[1])

    def projected(self, Z: Array) -> tuple[Array, Array]:
        """Project the axes onto the span of psi(Z) by solving K_ZZ A = <psi(Z), v>.

        Return the points that are not redundant, and the coefficients A.
        """
        span = Moments.of(self.kernel, Z)  # A = T T' <psi(Z), v>, with K_ZZ^{-1} = T T'
        return span.basis, span.columns @ (span.columns.T @ self.at(span.basis))

    def compressed(self, Z: Array, coefficients: Array | None = None) -> CompressedKernelPCA:
        """Return the model expressed in the points Z, cast to the dtype of its centers.

        If coefficients is None, the axes are projected onto the span of psi(Z).
        """
        Z = Z.astype(self.system.centers.dtype)
        if coefficients is None:
            Z, coefficients = self.projected(Z)
        operator = Plain() if self.shares is None else self._shifted(Z)
        subspace = self.system.subspace
        system = replace(
            self.system,
            operator=operator,
            centers=Z,
            coefficients=coefficients / np.sqrt(self.system.eigenvalues),
            subspace=subspace if subspace is not None and subspace.serves(Z) else None,
        )
        system = replace(system, functions=system.extend(Z.astype(np.float64)))
        return CompressedKernelPCA.of(self.model, system, self._errors(Z, coefficients))

    def _shifted(self, Z: Array) -> Shifted:
        """Return the mean evaluated at Z and its projection onto the span of psi(Z)."""
        means = self.means_at(Z)
        return Shifted(means, lstsq(gram.gram(self.kernel, Z, Z), means, cond=1e-12)[0])

    def _errors(self, Z: Array, coefficients: Array) -> Array:
        """Return the distances ||v - v'||, where v' = sum_j coefficients_j psi(z_j)."""
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
    """Return the expansions of the eigenfunctions and of the mean in the functions k(., c_j)."""
    operator = system.operator
    if isinstance(operator, Plain):
        return system.coefficients, None
    if isinstance(operator, FittedCentered | Shifted):
        return operator.columns(system.coefficients), operator.shares
    raise TypeError(
        f"Only a kernel PCA has axes in feature space that can be compressed, but "
        f"{type(model).__name__} uses the operator {type(operator).__name__}. Pass a model such "
        "as ReducedSetKernelPCA(n_components=5).fit(X)."
    )


def require_gaussian(kernel: RadialKernel, name: str) -> Gaussian:
    """Return the kernel if it is Gaussian, so that its gradient is available; else raise."""
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{name} requires a Gaussian kernel, whose gradient it uses, but the model's kernel "
            f"is {kernel!r}. Use select_reduced_set, which supports every kernel."
        )
    return kernel
