"""The operators of section 3: what is done to k(x, c) before it is decomposed.

The generic eigenproblem (generic_eigen) has g(x, y) k(x, y) in place of k(x, y). An
operator turns blocks of k(X, C) into that. A new one needs ``fit`` and ``apply``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


class Operator(Protocol):
    """What :func:`~rskpca.spectral.solve` and ``extend`` need of an operator."""

    def fit(self, gram: Any, weights: Array) -> FittedOperator:
        """Learn what ``apply`` needs; ``gram @ v`` gives sums over the centers."""


class FittedOperator(Protocol):
    """An operator that knows its centers."""

    def apply(self, block: Array) -> Array:
        """Rows of k(X, C) -> rows of the operator's kernel; may overwrite them."""

    def product(self, block: Array, coefficients: Array) -> Array:
        """``apply(block) @ coefficients``, for coefficients made of eigenfunctions."""


@dataclass(frozen=True)
class Plain:
    """The paper's operator, eq. (modkernel_emp): k itself."""

    def fit(self, gram: Any, weights: Array) -> Plain:
        """There is nothing to learn.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            Not used.
        weights : ndarray of shape (n_centers,)
            Not used.

        Returns
        -------
        Plain
            Itself.
        """
        return self

    def apply(self, block: Array) -> Array:
        """The block as it is."""
        return block

    def product(self, block: Array, coefficients: Array) -> Array:
        """k(X, C) @ coefficients."""
        return block @ coefficients


@dataclass(frozen=True)
class Centered:
    """Kernel PCA about the mean in feature space, as scikit-learn's.

    k(x, y) - mu(x) - mu(y) + mean of mu, with mu(x) = (1/n) sum_j w_j k(x, c_j).
    """

    def fit(self, gram: Any, weights: Array) -> FittedCentered:
        """Learn mu at the centers.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            K^C, or anything that multiplies vectors as it does.
        weights : ndarray of shape (n_centers,)
            w.

        Returns
        -------
        FittedCentered
            With the means.
        """
        shares = weights / weights.sum()
        means = gram @ shares
        return FittedCentered(shares, means, float(shares @ means))


@dataclass(frozen=True, eq=False)
class FittedCentered:
    """:class:`Centered` with its means: ``shares`` are w / n, ``means`` are mu(c_j)."""

    shares: Array
    means: Array
    mean: float

    def apply(self, block: Array) -> Array:
        """Subtract the means of row and column, in place."""
        rows = block @ self.shares.astype(block.dtype, copy=False)
        block -= self.means.astype(block.dtype, copy=False)
        block -= (rows - block.dtype.type(self.mean))[:, None]
        return block

    def product(self, block: Array, coefficients: Array) -> Array:
        """The centered block @ coefficients.

        Eigenfunctions have mean zero, so what is the same along a row drops out.
        """
        return block @ coefficients - self.means.astype(block.dtype, copy=False) @ coefficients
