"""The operators of section 3: what is done to k(x, c) before it is decomposed.

The generic eigenproblem (generic_eigen) has g(x, y) k(x, y) in place of k(x, y). An
operator turns blocks of k(X, C) into that. A new one needs ``fit`` and ``apply``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core.gram import multiplier

Array = NDArray[np.floating]


class Operator(Protocol):
    """What :func:`~rskpca.spectral.solve` and ``extend`` need of an operator."""

    def fit(self, gram: Any, weights: Array) -> FittedOperator:
        """Learn what ``apply`` needs; ``gram @ v`` gives sums over the centers."""


class FittedOperator(Protocol):
    """An operator that knows its centers.

    ``rounding`` is the size up to which an eigenvalue of K~ can be due to rounding in
    ``apply``; 0 where nothing cancels.
    """

    @property
    def rounding(self) -> float: ...

    def apply(self, block: Array) -> Array:
        """Rows of k(X, C) -> rows of the operator's kernel; may overwrite them."""

    def extension(self, coefficients: Array, dtype: Any) -> Callable[[Array], Array]:
        """The function ``block -> apply(block) @ coefficients``, for blocks of ``dtype``."""


@dataclass(frozen=True)
class Plain:
    """The paper's operator, eq. (modkernel_emp): k itself, about the origin."""

    rounding = 0.0
    shares = 0.0
    means = 0.0

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

    def columns(self, coefficients: Array) -> Array:
        """The coefficients as they are."""
        return coefficients

    def extension(self, coefficients: Array, dtype: Any) -> Callable[[Array], Array]:
        """The function ``block -> block @ coefficients``."""
        return multiplier(coefficients.astype(dtype))


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
        total = float(weights.sum())
        shares = weights / total
        means = gram @ shares
        mean = float(shares @ means)
        rounding = 4 * np.finfo(np.float64).eps * mean * total
        return FittedCentered(shares, means, mean, rounding)


@dataclass(frozen=True, eq=False)
class FittedCentered:
    """:class:`Centered` with its means: ``shares`` are w / n, ``means`` are mu(c_j)."""

    shares: Array
    means: Array
    mean: float
    rounding: float

    def apply(self, block: Array) -> Array:
        """Subtract the means of row and column, in place."""
        rows = block @ self.shares
        block -= self.means
        block -= (rows - self.mean)[:, None]
        return block

    def columns(self, coefficients: Array) -> Array:
        """What k itself is multiplied by: of the functions in terms of psi(c_j), not centered."""
        return coefficients - np.outer(self.shares, coefficients.sum(axis=0))

    def extension(self, coefficients: Array, dtype: Any) -> Callable[[Array], Array]:
        """The function ``block -> apply(block) @ coefficients``."""
        # (k - k s 1' - 1 means' + mean) A  =  k (A - s 1'A) + constant,  with s the shares
        total = coefficients.sum(axis=0)
        constant = (self.mean * total - self.means @ coefficients).astype(dtype)
        multiply = multiplier(self.columns(coefficients).astype(dtype))
        return lambda block: multiply(block) + constant


@dataclass(frozen=True, eq=False)
class Shifted:
    """k(x, c_j) - ``means``_j: sums over centers become differences from their mean.

    What kernel PCA about the mean needs where a function is given by its coefficients alone.
    ``shares`` are the coefficients of the mean, or of its projection on the span of the centers.
    """

    means: Array
    shares: Array
    rounding = 0.0

    def apply(self, block: Array) -> Array:
        """Subtract the means of the columns, in place."""
        block -= self.means
        return block

    def columns(self, coefficients: Array) -> Array:
        """The coefficients as they are."""
        return coefficients

    def extension(self, coefficients: Array, dtype: Any) -> Callable[[Array], Array]:
        """The function ``block -> apply(block) @ coefficients``."""
        constant = (self.means @ coefficients).astype(dtype)
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block: multiply(block) - constant
