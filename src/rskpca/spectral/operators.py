"""The operators of section 3: what is done to k(x, c) before it is decomposed.

The generic eigenproblem (generic_eigen) has g(x, y) k(x, y) in place of k(x, y). An
operator turns blocks of k(X, C) into that. A new one inherits from :class:`FittedOperator`
and writes ``fit`` and ``apply``; where only g is new, :class:`Multiplied` takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core.gram import multiplier

Array = NDArray[np.floating]

Extension = Callable[[Any, Array, Array], Array]


class Operator(Protocol):
    """What :func:`~rskpca.spectral.solve` needs of an operator."""

    def fit(self, gram: Any, weights: Array) -> FittedOperator:
        """Learn what ``apply`` needs; ``gram @ v`` gives sums over the centers."""


class Extensible(Protocol):
    """What ``EigenSystem.extend`` needs of a fitted operator."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """The function ``(block, X, C) -> eigenfunctions at X``, for blocks of ``dtype``."""


class FittedOperator(Extensible, Protocol):
    """An operator that knows its centers. Inherit from it, and write ``apply``."""

    @property
    def rounding(self) -> float:
        """Up to here an eigenvalue of K~ can be due to rounding in ``apply``."""
        return 0.0

    @property
    def indefinite(self) -> bool:
        """Whether negative eigenvalues of K~ are eigenvalues as others are, and no rounding."""
        return False

    def measure(self, weights: Array) -> Array:
        """The weights of the sums over centers, in which the operator's kernel is symmetric."""
        return weights

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """The block k(X, C) -> the same block of the operator's kernel; may overwrite it."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """The function ``(block, X, C) -> apply(block, X, C) @ coefficients``."""
        columns = coefficients.astype(dtype)
        return lambda block, X, C: self.apply(block, X, C) @ columns


@dataclass(frozen=True)
class Plain(FittedOperator):
    """The paper's operator, equation (modkernel_emp): k itself, about the origin."""

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

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """The block as it is."""
        return block

    def columns(self, coefficients: Array) -> Array:
        """The coefficients as they are."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """The function ``block @ coefficients``."""
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block)


@dataclass(frozen=True)
class Multiplied(FittedOperator):
    """g(x, y) k(x, y) with a g of your own: the paper's equation (generic_eigen).

    Attributes
    ----------
    g : callable
        From points X and C to the array of g(x, c), of shape (len(X), len(C)). Symmetric, and
        such that g k is positive definite: this is yours to know.

    Examples
    --------
    Kernel PCA of directions: the kernel counts only as far as two points point alike.

    >>> import numpy as np
    >>> from rskpca import Gaussian, ReducedSet
    >>> from rskpca.spectral import Multiplied, solve
    >>> def cosine(X, C):
    ...     return X @ C.T / np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(C, axis=1))
    >>> points = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    >>> reduced_set = ReducedSet(points, np.array([3.0, 1.0, 2.0]))
    >>> system = solve(Multiplied(cosine), Gaussian(2.0), reduced_set, 2)
    >>> np.allclose(system.extend(points), system.functions)
    True
    """

    g: Callable[[Array, Array], Array]

    def fit(self, gram: Any, weights: Array) -> Multiplied:
        """There is nothing to learn.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            Not used.
        weights : ndarray of shape (n_centers,)
            Not used.

        Returns
        -------
        Multiplied
            Itself.
        """
        return self

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """The block times g, in place."""
        factors = np.asarray(self.g(X, C))
        if factors.shape != block.shape:
            raise ValueError(
                f"g must make an array of shape (len(X), len(C)) = {block.shape}, "
                f"but made {factors.shape}."
            )
        block *= factors
        return block


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
        cost = 4 * np.finfo(np.float64).eps * mean * total
        return FittedCentered(shares, means, mean, cost)


@dataclass(frozen=True, eq=False)
class FittedCentered(FittedOperator):
    """:class:`Centered` with its means: ``shares`` are w / n, ``means`` are mu(c_j)."""

    shares: Array
    means: Array
    mean: float
    cost: float

    @property
    def rounding(self) -> float:
        """Subtracting the means costs some roundings of the largest eigenvalue."""
        return self.cost

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Subtract the means of row and column, in place."""
        rows = block @ self.shares
        block -= self.means
        block -= (rows - self.mean)[:, None]
        return block

    def columns(self, coefficients: Array) -> Array:
        """What k itself is multiplied by: of the functions in terms of psi(c_j), not centered."""
        return coefficients - np.outer(self.shares, coefficients.sum(axis=0))

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """The function ``apply(block) @ coefficients``."""
        # (k - k s 1' - 1 means' + mean) A  =  k (A - s 1'A) + constant,  with s the shares
        total = coefficients.sum(axis=0)
        constant = (self.mean * total - self.means @ coefficients).astype(dtype)
        multiply = multiplier(self.columns(coefficients).astype(dtype))
        return lambda block, X, C: multiply(block) + constant


@dataclass(frozen=True, eq=False)
class Shifted:
    """k(x, c_j) - means_j: sums over centers become differences from their mean.

    What kernel PCA about the mean needs where a function is given by its coefficients alone.
    ``shares`` are the coefficients of the mean, or of its projection on the span of the centers.
    """

    means: Array
    shares: Array

    def columns(self, coefficients: Array) -> Array:
        """The coefficients as they are."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """The function ``(block - means) @ coefficients``."""
        constant = (self.means @ coefficients).astype(dtype)
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block) - constant
