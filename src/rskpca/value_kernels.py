"""Positive definite kernels that are evaluated directly rather than through a radial profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import manhattan_distances, pairwise_kernels
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from . import _validation as check
from ._core import gram, sparse
from ._core.parallel import slices

Array = NDArray[np.floating]

NAMES = ("linear", "poly", "sigmoid", "cosine", "laplacian")
_OWN_BLOCK = 16  # rows per block if k(x, x) is read from the diagonals of kernel matrices
_ASYMMETRIC = 1e-6


class Kernel(gram.Valued, BaseEstimator):
    """Positive definite kernel defined by a function that returns its values.

    It can be used with every method whose bounds depend only on distances in feature space, such as
    :class:`NystromKernelPCA`, :class:`ReducedSetKernelPCA` and :class:`ShadowDensity`. The kernel
    must be positive definite; an indefinite kernel is reported when the eigenproblem is solved.

    Parameters
    ----------
    function : callable
        Function of two sets of rows, X and Y, that returns the array of k(x, y) with shape
        (len(X), len(Y)). Both are float64 arrays, or CSR arrays if the data are sparse.
    diagonal_function : callable, default=None
        Function that returns k(x, x) for each row. If None, it is computed from ``function``,
        which is slower.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.kernels import Kernel
    >>> quadratic = Kernel(lambda X, Y: (1 + X @ Y.T) ** 2)
    >>> quadratic(np.array([[0.0], [2.0]]))
    array([[ 1.,  1.],
           [ 1., 25.]])
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        *,
        diagonal_function: Callable[[Any], Any] | None = None,
    ) -> None:
        self.function = function
        self.diagonal_function = diagonal_function

    def prepare(self, C: Any) -> Callable[[Any], Array]:
        """Return a function that computes k(X, C) for a batch of rows."""
        C = C.astype(np.float64)
        return lambda X: self._values(X.astype(np.float64), C)

    def _values(self, X: Any, C: Any) -> Array:
        """Call the function and check the shape of its result."""
        values = sparse.densify(self.function(X, C))
        expected = X.shape[0], C.shape[0]
        if np.shape(values) != expected:
            raise ValueError(
                f"The kernel function must return an array of shape (len(X), len(Y)) = {expected}, "
                f"got shape {np.shape(values)}. For a function of two single rows, use "
                "rskpca.kernels.sklearn_kernel(function)."
            )
        return np.asarray(values)

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        X = X.astype(np.float64)
        if self.diagonal_function is None:
            blocks = [X[rows] for rows in slices(0, X.shape[0], _OWN_BLOCK)]
            own = [np.diagonal(self._values(block, block)) for block in blocks]
            return np.concatenate([np.empty(0), *own]).astype(np.float64)
        own_values = np.asarray(self.diagonal_function(X), dtype=np.float64)
        if own_values.shape != (X.shape[0],):
            raise ValueError(
                f"diagonal_function must return one number per row, with shape ({X.shape[0]},), "
                f"got shape {own_values.shape}."
            )
        return own_values

    def squared(self) -> Kernel:
        """Return the kernel k^2, whose feature map is psi(x) (x) psi(x)."""
        return _SquaredKernel(self)

    def resolve(
        self, X: Any, sample_weight: Any = None, random_state: Any = 0, before: Any = None
    ) -> Self:
        """Return a copy of the kernel after checking its values for the first rows.

        Parameters
        ----------
        X : array or CSR array of shape (n_samples, n_features)
            The data.
        sample_weight, random_state, before : object
            Not used; radial kernels need them for bandwidth rules.

        Returns
        -------
        Kernel
            The resolved kernel.
        """
        resolved = type(self)(**self.get_params(deep=False))
        resolved._check(X[:2])
        return resolved

    def _check(self, X: Any) -> None:
        """Check the kernel values of the first rows."""
        matrix = self.prepare(X)(X)
        if not np.isfinite(matrix).all():
            return  # all non-finite values are reported when the eigenproblem is solved
        check_symmetric(matrix)
        own = self.diagonal(X)
        if not np.allclose(own, np.diagonal(matrix), rtol=_ASYMMETRIC, atol=0):
            raise ValueError(
                f"diagonal_function must return k(x, x) for each row, got {own[0]:g} for a row "
                f"with k(x, x) = {matrix[0, 0]:g}."
            )
        if (own < 0).any():
            raise ValueError(
                f"The kernel is not positive definite: k(x, x) = {own.min():g} for one of the "
                "first rows. Use a positive definite kernel."
            )

    def same_as(self, other: Any) -> bool:
        """Return True if both kernels have the same type and parameters."""
        return type(self) is type(other) and self.get_params() == other.get_params()

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the kernel matrix k(X, Y). Y defaults to X."""
        X = check_array(X, dtype=np.float64, accept_sparse="csr")
        Y = X if Y is None else check_array(Y, dtype=np.float64, accept_sparse="csr")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"Y must have {X.shape[1]} features, like X, got {Y.shape[1]}.")
        return gram.gram(self, X, Y)


def check_symmetric(matrix: Array) -> None:
    """Raise an error if a matrix of kernel values is not symmetric."""
    asymmetry = np.abs(matrix - matrix.T).max(initial=0)
    if asymmetry > _ASYMMETRIC * np.abs(matrix).max(initial=0):
        raise ValueError(
            f"The kernel is not symmetric: k(x, y) and k(y, x) differ by {asymmetry:.3g}. Use a "
            "positive definite kernel."
        )


class NamedKernel(Kernel):
    """scikit-learn kernel that is not radial.

    Parameters
    ----------
    name : {"linear", "poly", "sigmoid", "cosine", "laplacian"}
        scikit-learn's name; ``"laplacian"`` is exp(-gamma ||x - y||_1), with the L1 distance.
    gamma : float, default=None
        Factor that multiplies the inner products or distances. None means 1 / n_features.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.kernels import NamedKernel
    >>> NamedKernel("poly", gamma=1.0, degree=2)(np.array([[0.0], [2.0]]))
    array([[ 1.,  1.],
           [ 1., 25.]])
    """

    name: str
    gamma: float | None
    degree: float
    coef0: float

    def __init__(
        self, name: str, gamma: float | None = None, degree: float = 3, coef0: float = 1
    ) -> None:
        self.name = name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def resolve(
        self, X: Any, sample_weight: Any = None, random_state: Any = 0, before: Any = None
    ) -> Self:
        """Return a copy in which ``gamma`` is a number.

        Parameters
        ----------
        X : array or CSR array of shape (n_samples, n_features)
            The data.
        sample_weight, random_state, before : object
            Not used; radial kernels need them for bandwidth rules.

        Returns
        -------
        NamedKernel
            The resolved kernel.
        """
        resolved = type(self)(self.name, self._gamma(X.shape[1]), self.degree, self.coef0)
        resolved.check()
        return resolved

    def check(self) -> None:
        """Check the parameters; gamma must be a number."""
        check.one_of("name", self.name, NAMES)
        check.positive_number("gamma", self.gamma)
        check.number_within("degree", self.degree, 0, np.inf)
        check.number_within("coef0", self.coef0, -np.inf, np.inf)

    def prepare(self, C: Any) -> Callable[[Any], Array]:
        """Return a function that computes k(X, C) for a batch of rows."""
        C, gamma = C.astype(np.float64), self._gamma(C.shape[1])
        if self.name == "laplacian":
            return lambda X: np.exp(-gamma * manhattan_distances(X.astype(np.float64), C))
        if self.name == "cosine":
            C = normalize(C)
        columns = sparse.transpose(C)

        def values(X: Any) -> Array:
            X = X.astype(np.float64)
            X = normalize(X, copy=False) if self.name == "cosine" else X
            return self._of_products(sparse.product(X, columns), gamma)

        return values

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        if self.name == "laplacian":
            return np.ones(X.shape[0])
        own = sparse.squared_norms(X.astype(np.float64))
        if self.name == "cosine":
            return (own > 0).astype(np.float64)
        return self._of_products(own, self._gamma(X.shape[1]))

    def _gamma(self, n_features: int) -> float:
        return 1 / n_features if self.gamma is None else self.gamma

    def _of_products(self, products: Array, gamma: float) -> Array:
        """Return the kernel values for inner products of rows."""
        if self.name == "poly":
            return np.asarray((gamma * products + self.coef0) ** self.degree)
        if self.name == "sigmoid":
            return np.tanh(gamma * products + self.coef0)
        return products


class RowKernel(Kernel):
    """Kernel defined by a function of two single rows, as accepted by scikit-learn's estimators.

    Parameters
    ----------
    function : callable
        Function of two rows that returns a number.
    params : dict, default=None
        Additional keyword arguments of the function.
    """

    def __init__(
        self, function: Callable[..., float], params: dict[str, Any] | None = None
    ) -> None:
        self.function = function
        self.params = params

    def _values(self, X: Any, C: Any) -> Array:
        return np.asarray(pairwise_kernels(X, C, metric=self.function, **(self.params or {})))

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) for each row."""
        X, params = X.astype(np.float64), self.params or {}
        rows = (X[[i]] for i in range(X.shape[0])) if sparse.is_sparse(X) else X
        return np.array([self.function(x, x, **params) for x in rows], dtype=np.float64)


class _SquaredKernel(Kernel):
    """The kernel k^2."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def prepare(self, C: Any) -> Callable[[Any], Array]:
        """Return a function that computes k(X, C)^2 for a batch of rows."""
        values = self.kernel.prepare(C)
        return lambda X: np.square(values(X))

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x)^2 for each row."""
        return np.square(self.kernel.diagonal(X))
