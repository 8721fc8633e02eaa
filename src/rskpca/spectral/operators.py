"""Operators that modify the kernel k(x, c) before its decomposition (section 3 of the paper).

The generic eigenproblem (generic_eigen) uses g(x, y) k(x, y) instead of k(x, y). An operator maps
batches of k(X, C) to batches of this product. To define an operator, inherit from
:class:`FittedOperator` and implement ``fit`` and ``apply``. If only g is new, pass it to
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
    """Interface required by :func:`~rskpca.spectral.solve`."""

    def fit(self, gram: Any, weights: Array) -> FittedOperator:
        """Return the operator fitted to the centers; ``gram @ v`` returns sums over them."""


class Extensible(Protocol):
    """Interface required by ``EigenSystem.extend``."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function of (block, X, C) that evaluates the eigenfunctions at X."""


class FittedOperator(Extensible, Protocol):
    """Base class for operators fitted to their centers; subclasses implement ``apply``."""

    @property
    def rounding(self) -> float:
        """The size up to which eigenvalues of K~ may be due to rounding errors in ``apply``."""
        return 0.0

    @property
    def indefinite(self) -> bool:
        """True if negative eigenvalues of K~ are genuine rather than rounding errors."""
        return False

    def measure(self, weights: Array) -> Array:
        """Return the weights with respect to which the modified kernel is symmetric."""
        return weights

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Return the modified kernel for a block of k(X, C), which may be overwritten."""

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function of (block, X, C) that computes ``apply(...) @ coefficients``."""
        columns = coefficients.astype(dtype)
        return lambda block, X, C: self.apply(block, X, C) @ columns


@dataclass(frozen=True)
class Plain(FittedOperator):
    """The paper's operator (eq. modkernel_emp), which leaves the kernel unchanged."""

    shares = 0.0
    means = 0.0

    def fit(self, gram: Any, weights: Array) -> Plain:
        """Return the operator itself; it has no fitted state."""
        return self

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Return the block unchanged."""
        return block

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients unchanged."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function that computes ``block @ coefficients``."""
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block)


@dataclass(frozen=True)
class Multiplied(FittedOperator):
    """Operator g(x, y) k(x, y) with a user-defined g (eq. generic_eigen of the paper).

    Attributes
    ----------
    g : callable
        Function of points X and C that returns g(x, c) as an array of shape (len(X), len(C)).
        g must be symmetric, and g k must be positive definite; neither is checked.

    Examples
    --------
    Kernel PCA of directions, with the kernel multiplied by the cosine of the angle between points:

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
        """Return the operator itself; it has no fitted state."""
        return self

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Multiply the block by g in place."""
        factors = np.asarray(self.g(X, C))
        if factors.shape != block.shape:
            raise ValueError(
                f"g must return an array of shape (len(X), len(C)) = {block.shape}, "
                f"got {factors.shape}."
            )
        block *= factors
        return block


@dataclass(frozen=True)
class Centered:
    """Operator that centers the data in feature space, as scikit-learn does.

    The kernel becomes k(x, y) - mu(x) - mu(y) + mean(mu), where mu(x) = (1/n) sum_j w_j k(x, c_j).
    """

    def fit(self, gram: Any, weights: Array) -> FittedCentered:
        """Compute mu at the centers.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            K^C, or an object that supports ``gram @ v``.
        weights : ndarray of shape (n_centers,)
            The weights w of the centers.

        Returns
        -------
        FittedCentered
            The fitted operator.
        """
        total = float(weights.sum())
        shares = weights / total
        means = gram @ shares
        mean = float(shares @ means)
        cost = 4 * np.finfo(np.float64).eps * mean * total
        return FittedCentered(shares, means, mean, cost)


@dataclass(frozen=True, eq=False)
class FittedCentered(FittedOperator):
    """Fitted :class:`Centered` operator, with ``shares`` w / n and ``means`` mu(c_j)."""

    shares: Array
    means: Array
    mean: float
    cost: float

    def __post_init__(self) -> None:
        check.shapes(self, shares="m", means="m")

    @property
    def rounding(self) -> float:
        """The rounding error from subtracting the means, proportional to the largest eigenvalue."""
        return self.cost

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Subtract the row and column means in place."""
        rows = block @ self.shares
        block -= self.means
        block -= (rows - self.mean)[:, None]
        return block

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients over psi(c_j), which apply to the unmodified kernel."""
        return coefficients - np.outer(self.shares, coefficients.sum(axis=0))

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function that computes ``apply(block) @ coefficients``."""
        # (k - k s 1' - 1 means' + mean) A  =  k (A - s 1'A) + constant,  where s are the shares
        total = coefficients.sum(axis=0)
        constant = (self.mean * total - self.means @ coefficients).astype(dtype)
        multiply = multiplier(self.columns(coefficients).astype(dtype))
        return lambda block, X, C: multiply(block) + constant


@dataclass(frozen=True, eq=False)
class Shifted:
    """Operator k(x, c_j) - means_j, which subtracts the mean from sums over the centers.

    Centered kernel PCA uses this operator for functions of which only the coefficients are known.
    ``shares`` are the coefficients of the mean, or of its projection onto the span of the centers.
    """

    means: Array
    shares: Array

    def __post_init__(self) -> None:
        check.shapes(self, means="m", shares="m")

    def columns(self, coefficients: Array) -> Array:
        """Return the coefficients unchanged."""
        return coefficients

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function that computes ``(block - means) @ coefficients``."""
        constant = (self.means @ coefficients).astype(dtype)
        multiply = multiplier(coefficients.astype(dtype))
        return lambda block, X, C: multiply(block) - constant
