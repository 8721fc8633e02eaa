"""The operators of section 3, which modify k(x, c) before it is decomposed.

The generic eigenproblem (generic_eigen) has g(x, y) k(x, y) in place of k(x, y). An operator
turns batches of k(X, C) into batches of that product. A new one inherits from
:class:`FittedOperator` and implements ``fit`` and ``apply``; if only g is new, pass it to
:class:`Multiplied`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core.gram import multiplier

Array = NDArray[np.floating]

Extension = Callable[[Any, Array, Array], Array]


class Operator(Protocol):
    """The interface that :func:`~rskpca.spectral.solve` needs."""

    def fit(self, gram: Any, weights: Array) -> FittedOperator:
        """Learn what ``apply`` needs; ``gram @ v`` returns sums over the centers."""


class Extensible(Protocol):
    """The interface that ``EigenSystem.extend`` needs."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return the function ``(block, X, C) -> eigenfunctions at X`` for blocks of ``dtype``."""


class FittedOperator(Extensible, Protocol):
    """An operator fitted to its centers. Inherit from it and implement ``apply``."""

    @property
    def rounding(self) -> float:
        """Eigenvalues of K~ up to this size can be due to rounding in ``apply``."""
        return 0.0

    @property
    def indefinite(self) -> bool:
        """True if negative eigenvalues of K~ are genuine rather than rounding errors."""
        return False

    def measure(self, weights: Array) -> Array:
        """Return the weights with respect to which the operator's kernel is symmetric."""
        return weights

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Turn a block of k(X, C) into a block of the operator's kernel; may overwrite it."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return the function ``(block, X, C) -> apply(block, X, C) @ coefficients``."""
        columns = coefficients.astype(dtype)
        return lambda block, X, C: self.apply(block, X, C) @ columns


@dataclass(frozen=True)
class Plain(FittedOperator):
    """The paper's operator (eq. modkernel_emp): the kernel unchanged, without centering."""

    shares = 0.0
    means = 0.0

    def fit(self, gram: Any, weights: Array) -> Plain:
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            Not used.
        weights : ndarray of shape (n_centers,)
            Not used.

        Returns
        -------
        Plain
            The operator itself.
        """
        return self

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Return the block unchanged."""
        return block

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients unchanged."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return the function ``block @ coefficients``."""
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block)


@dataclass(frozen=True)
class Multiplied(FittedOperator):
    """g(x, y) k(x, y) with a user-defined g: the paper's equation (generic_eigen).

    Attributes
    ----------
    g : callable
        Function of points X and C that returns the array of g(x, c), of shape (len(X), len(C)).
        It must be symmetric, and g k positive definite; this is not checked.

    Examples
    --------
    Kernel PCA of directions: the kernel is weighted by the cosine of the angle between points.

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
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            Not used.
        weights : ndarray of shape (n_centers,)
            Not used.

        Returns
        -------
        Multiplied
            The operator itself.
        """
        return self

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Multiply the block by g, in place."""
        factors = np.asarray(self.g(X, C))
        if factors.shape != block.shape:
            raise ValueError(
                f"g must return an array of shape (len(X), len(C)) = {block.shape}, "
                f"but returned {factors.shape}."
            )
        block *= factors
        return block


@dataclass(frozen=True)
class Centered:
    """Kernel PCA about the mean in feature space, as in scikit-learn.

    k(x, y) - mu(x) - mu(y) + mean of mu, with mu(x) = (1/n) sum_j w_j k(x, c_j).
    """

    def fit(self, gram: Any, weights: Array) -> FittedCentered:
        """Compute mu at the centers.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            K^C, or an object that multiplies vectors like K^C.
        weights : ndarray of shape (n_centers,)
            w.

        Returns
        -------
        FittedCentered
            The operator with its means.
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

    def __post_init__(self) -> None:
        check.shapes(self, shares="m", means="m")

    @property
    def rounding(self) -> float:
        """Subtracting the means causes rounding errors relative to the largest eigenvalue."""
        return self.cost

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Subtract the row and column means, in place."""
        rows = block @ self.shares
        block -= self.means
        block -= (rows - self.mean)[:, None]
        return block

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients with respect to psi(c_j), which k itself is multiplied by."""
        return coefficients - np.outer(self.shares, coefficients.sum(axis=0))

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return the function ``apply(block) @ coefficients``."""
        # (k - k s 1' - 1 means' + mean) A  =  k (A - s 1'A) + constant,  with s the shares
        total = coefficients.sum(axis=0)
        constant = (self.mean * total - self.means @ coefficients).astype(dtype)
        multiply = multiplier(self.columns(coefficients).astype(dtype))
        return lambda block, X, C: multiply(block) + constant


@dataclass(frozen=True, eq=False)
class Shifted:
    """k(x, c_j) - means_j, which turns sums over centers into differences from their mean.

    Kernel PCA about the mean uses it for functions that are given by their coefficients alone.
    ``shares`` are the coefficients of the mean, or of its projection on the span of the centers.
    """

    means: Array
    shares: Array

    def __post_init__(self) -> None:
        check.shapes(self, means="m", shares="m")

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients unchanged."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return the function ``(block - means) @ coefficients``."""
        constant = (self.means @ coefficients).astype(dtype)
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block) - constant
