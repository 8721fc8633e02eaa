"""Kernel herding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.parallel import single_threaded
from ..kernels import Gaussian, RadialKernel
from ._base import Array
from ._batch import Choice, CountedDensity, equal_shares

METHODS = ("greedy", "gradient")
_TIE = 1e-12  # rounding error of a score, relative to the kernel's largest value


class HerdingDensity(CountedDensity):
    """Points chosen by kernel herding, each representing n / m rows.

    Herding (Chen, Welling and Smola) adds, one by one, the point at which the data are densest
    compared to the points chosen so far:

        x_{t+1} = argmax_x mu(x) - (1 / (t + 1)) sum_{s <= t} k(x, x_s),

    with the mean map mu(x) = (1/n) sum_i w_i k(x, x_i). If the data have few dimensions in feature
    space, the MMD decreases as 1 / m, while that of a random sample decreases as 1 / sqrt(m).

    Parameters
    ----------
    n_centers : int, default=100
        Number of points, m; at most the number of rows.
    method : {"greedy", "gradient"}, default="greedy"
        ``"greedy"`` maximizes over the rows of the data, ``"gradient"`` over all of space by
        gradient ascent from the best row. ``"gradient"`` requires a Gaussian kernel and tens of
        passes over the data per point.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        If None, a Gaussian with the median bandwidth is used. Omit it inside an embedding, which
        passes its own kernel.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed; herding is deterministic.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers in the order of selection, and weights. A point that is chosen again gets a larger
        weight, so there may be fewer than ``n_centers`` centers. There is no radius, because rows
        are not assigned to centers.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each row; -1 for rows with weight 0. The weights do not depend on it.
        It is computed on first access, so X must not be modified before then.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    The mean map requires O(n^2) kernel values, computed in batches; the selection requires another
    O(n m), with running sums. If n^2 is too large, apply herding to a fine reduced set instead; its
    weights enter the mean map, and its radius bounds the difference::

        fine = ShadowDensity(kernel, ell=8.0).fit(X).reduced_set_
        HerdingDensity(100, kernel=kernel).fit(fine.centers, sample_weight=fine.weights)

    Rows whose scores differ only by rounding are ties; the first of them is chosen.

    References
    ----------
    Y. Chen, M. Welling, A. Smola. Super-samples from kernel herding. UAI 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Gaussian, HerdingDensity
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> density = HerdingDensity(4, kernel=Gaussian(1.0)).fit(X)
    >>> density.reduced_set_.centers.ravel(), density.reduced_set_.weights
    (array([0.1, 5. ]), array([3., 1.]))
    """

    def __init__(
        self,
        n_centers: int = 100,
        *,
        method: str = "greedy",
        kernel: RadialKernel | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_centers = n_centers
        self.method = method
        self.kernel = kernel
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        if self.method not in METHODS:
            raise ValueError(f'method must be "greedy" or "gradient", got {self.method!r}.')

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        if self.method == "gradient" and not isinstance(kernel, Gaussian):
            raise ValueError(
                'method="gradient" requires a Gaussian kernel, whose gradient is known, got a '
                f'{type(kernel).__name__}; method="greedy" works with any kernel.'
            )
        herd = _over_rows if self.method == "greedy" else _over_space
        points = herd(X, weights / weights.sum(), kernel, self.n_centers)
        return equal_shares(points, weights.sum())


def _mean_map(X: Array, shares: Array, kernel: RadialKernel) -> Array:
    """Return mu at each row."""
    column = shares[:, None]
    return gram.product(kernel, X, X, lambda block: block @ column, 1)[:, 0]


def _first_best(scores: Array, tie: float) -> int:
    """Return the first row whose score is the largest up to rounding."""
    return int(np.argmax(scores >= scores.max() - tie))


def _over_rows(X: Array, shares: Array, kernel: RadialKernel, size: int) -> Array:
    """Choose points from among the rows, keeping a running sum of k(x, x_s) for each row."""
    mean, taken = _mean_map(X, shares, kernel), np.zeros(len(X))
    chosen = np.empty(size, dtype=np.intp)
    values = gram.KernelRows(kernel, X, X, np.float64)
    with single_threaded():
        for t in range(size):
            i = chosen[t] = _first_best(mean - taken / (t + 1), _TIE * kernel.kappa)
            taken += values[slice(i, i + 1)][0]
    return X[chosen]


def _over_space(X: Array, shares: Array, kernel: RadialKernel, size: int) -> Array:
    """Choose points in all of space, by gradient ascent from the best row."""
    mean, taken = _mean_map(X, shares, kernel), np.zeros(len(X))
    field = _Field(X, shares, kernel)
    with single_threaded():
        for t in range(size):
            start = _first_best(mean - taken / (t + 1), _TIE)
            taken += field.add_summit(field.rows[start])
    return field.summits().astype(X.dtype)


class _Field:
    """The score and its gradient for a Gaussian kernel.

    Points are centered and measured in bandwidths.
    """

    def __init__(self, X: Array, shares: Array, kernel: RadialKernel) -> None:
        self.kernel, self.shares = kernel, shares
        self.cloud = gram.Centers.prepare(X, kernel.scale, np.float64)
        self.rows = self.cloud.rows
        self.chosen = np.empty((0, X.shape[1]))
        self._values = np.empty((1, len(X)))

    def _to_data_units(self, z: Array) -> Array:
        return self.cloud.origin + self.cloud.scale * z

    def _at_rows(self, z: Array) -> NDArray[np.float64]:
        """Return k(z, x_i) for each row, in an array that the next call overwrites."""
        point = self._to_data_units(z)[None]
        scaled = gram.scaled_distances(point, self.cloud, self.kernel, self._values)
        return self.kernel.evaluate(scaled)[0]

    def descent(self, z: Array) -> tuple[float, Array]:
        """Return the negative score at z and its gradient; grad k(z, y) = 2 (y - z) k(z, y)."""
        data = self.shares * self._at_rows(z)
        chosen = np.exp(-np.sum((self.chosen - z) ** 2, axis=1)) / (len(self.chosen) + 1)
        score = data.sum() - chosen.sum()
        gradient = 2 * (data @ self.rows - chosen @ self.chosen - score * z)
        return -score, -gradient

    def add_summit(self, start: Array) -> NDArray[np.float64]:
        """Ascend from ``start`` to a point z and add it; return k(x_i, z) for each row."""
        from scipy.optimize import minimize

        options = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 200}
        found = minimize(self.descent, start, jac=True, method="L-BFGS-B", options=options)
        self.chosen = np.vstack([self.chosen, found.x])
        return self._at_rows(found.x)

    def summits(self) -> Array:
        """Return the chosen points in the units of the data."""
        return self._to_data_units(self.chosen)
