"""Compute better weights or representatives for the centers of another density."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._core import gram
from .._core.nnls import nonnegative_least_squares
from .._core.parallel import single_threaded, slices
from .._validation import Rows
from ..kernels import RadialKernel
from ._base import Array, BaseDensity, claim_kernel
from ._batch import BatchDensity, Choice
from ._counting import cell_means
from .shadow import ShadowDensity

WEIGHTS = ("nearest", "means", "quadrature", "operator")
MOST_CENTERS = 12_000  # the Gram matrix for "quadrature" takes 1.2 GB at this size
RIDGE = 1e-8  # added to the diagonal, relative to kappa, to make the weights robust to rounding
_SPAN_ROWS = 2**14


class ReweightedDensity(BatchDensity):
    """The centers of another density, with weights that represent the data better.

    Four kinds of weights are available, each computed in one more pass over the data:

    - ``"nearest"``: each row is counted toward its nearest center, whereas the shadow density
      counts it toward the first center within the radius. Cost: O(n m) distances.
    - ``"means"``: each center moves to the mean of its rows. Cost: O(n d^2), and the centers are no
      longer rows. The mean map of a cell is then correct to first order, but the spread of its
      rows is still lost, which changes the eigenvalues of kernel PCA by a second-order amount and
      usually increases them. ``covariance_`` can correct this; see the notes.
    - ``"quadrature"``: the non-negative weights with sum n and the smallest MMD to the data,
      min_w || sum_j w_j k(c_j, .) - sum_i k(x_i, .) ||_H. Cost: O(n m) kernel values, the m x m
      Gram matrix and a few of its Cholesky factors. Centers without weight are dropped, and the
      radius is unknown, because rows are not assigned to centers.
    - ``"operator"``: the same with the kernel k^2. Its MMD is the Hilbert-Schmidt distance between
      the kernel PCA operators of the reduced set, sum_j w_j psi(c_j) psi(c_j)', and of the data.
      Use these weights for an embedding, and ``"quadrature"`` for a density estimate. The cost is
      the same.

    Parameters
    ----------
    density : density estimator, default=None
        The density that chooses the centers. None means ``ShadowDensity()``.
    weights : {"nearest", "means", "quadrature", "operator"}, default="nearest"
        How the weights are computed; see above.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel, if ``density`` has none. If neither has one, a Gaussian with the median
        bandwidth is used. Omit it inside an embedding, which passes its own kernel.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers and weights; for ``"nearest"`` and ``"means"`` also the radius, which is the
        largest distance between a row and its center. Centers without rows or weight are dropped.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each row or, for ``"means"``, the center that ``density`` assigned;
        -1 for rows with weight 0. The weights for ``"quadrature"`` and ``"operator"`` do not depend
        on it.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance of the rows about their centers, (1/n) sum_i (x_i - c)(x_i - c)'; only for
        ``"means"``.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    For kernel PCA, ``"operator"`` is the most accurate: on german, pendigits and covtype at
    ell = 4, the embedding error is 7 to 13 times smaller than with the shadow density's own
    weights. With ``"quadrature"`` it is 1.6 to 3.2 times larger than with ``"operator"``. On usps,
    whose cells are wide, both reduce the error by less than half. ``python -m benchmarks weights``
    measures this. If you only need an embedding, ``ReducedSetKernelPCA(basis="auto",
    refine="nystrom")`` costs about the same and is more accurate on usps; the result here is a
    weighted set that any method can use.

    Gaussian kernel PCA eigenvalues from cell means can be corrected for the spread within cells::

        model = ReducedSetKernelPCA(5, density=ReweightedDensity(weights="means")).fit(X)
        corrected_eigenvalues(model.eigensystem_, model.reduced_set_, model.density_.covariance_)

    with :func:`rskpca.spectral.corrected_eigenvalues`.

    The MMD is minimized with a ridge of 1e-8 kappa sum_j (w_j / n)^2, which hardly changes it and
    makes the weights unique.

    References
    ----------
    J. Kim, H. Park. Fast nonnegative matrix factorization: an active-set-like method and
    comparisons. SIAM Journal on Scientific Computing 33, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Gaussian, ReweightedDensity, ShadowDensity
    >>> X = np.array([[0.0], [0.95], [1.8], [0.1]])
    >>> shadow = ShadowDensity(Gaussian(4.0), ell=4.0)
    >>> shadow.fit(X).reduced_set_.weights
    array([3., 1.])
    >>> ReweightedDensity(shadow, "nearest").fit(X).reduced_set_.weights
    array([2., 2.])
    >>> ReweightedDensity(shadow, "means").fit(X).reduced_set_.centers.ravel()
    array([0.35, 1.8 ])
    >>> ReweightedDensity(shadow, "quadrature").fit(X).reduced_set_.weights.round(2)
    array([2.42, 1.58])
    """

    covariance_: NDArray[np.float64]

    def __init__(
        self,
        density: BaseDensity | None = None,
        weights: str = "nearest",
        *,
        kernel: RadialKernel | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.density = density
        self.weights = weights
        self.kernel = kernel
        self.random_state = random_state

    @property
    def own_kernel(self) -> RadialKernel | str | None:
        """The kernel passed to this density or to a density inside it; None if there is none."""
        nested = self.density.own_kernel if isinstance(self.density, BaseDensity) else None
        return nested if self.kernel is None else self.kernel

    def _drop_kernel(self) -> Self:
        if self.density is not None:
            self.set_params(density=clone(self.density)._drop_kernel())
        return super()._drop_kernel()

    def _check_parameters(self, n_rows: int) -> None:
        if self.density is not None and not isinstance(self.density, BaseDensity):
            raise TypeError(
                "density must be a density estimator such as ShadowDensity(ell=4.0), "
                f"got {self.density!r}."
            )
        if not isinstance(self.weights, str) or self.weights not in WEIGHTS:
            raise ValueError(
                'weights must be "nearest", "means", "quadrature" or "operator", '
                f"got {self.weights!r}."
            )

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        density = ShadowDensity() if self.density is None else clone(self.density)
        asked = (self.kernel, None, None)
        claim_kernel(density, asked, "ReweightedDensity")
        density.summarize(Rows(X, weights, weighted=True), kernel)
        centers = density.reduced_set_.centers
        if self.weights == "nearest":
            return Choice(centers)
        if self.weights != "means":
            k = kernel if self.weights == "quadrature" else _Squared(kernel)
            return _quadrature(k, centers, X, weights)
        kept, labels = np.unique(density.labels_, return_inverse=True)
        means = cell_means(X, weights, labels, centers[kept])
        return Choice(means.astype(X.dtype), labels=labels)

    def _learn_more(self, X: Array, weights: Array, labels: NDArray[np.intp] | None) -> None:
        self.__dict__.pop("covariance_", None)
        if self.weights == "means" and labels is not None:
            self.covariance_ = _pooled_covariance(X, weights, labels, self.reduced_set_.centers)


class _Squared:
    """The kernel k^2."""

    def __init__(self, kernel: RadialKernel) -> None:
        self.kernel, self.kappa = kernel, kernel.kappa**2
        self.sign, self.smooth, self.scale = kernel.sign, kernel.smooth, kernel.scale

    def evaluate(self, scaled: Array) -> Array:
        """Return the kernel values for signed squared distances in bandwidths."""
        return np.square(self.kernel.evaluate(scaled))


def _quadrature(
    kernel: RadialKernel | _Squared, centers: Array, X: Array, weights: Array
) -> Choice:
    """Return the centers with positive weight, and the weights that minimize the MMD to the rows.

    With shares a = w / n on the simplex and mu the mean map of the rows, the squared MMD is
    a' D a, D_ij = <k(c_i, .) - mu, k(c_j, .) - mu>. For every s > 0, its minimizer is the v >= 0
    that minimizes v' D v + s (sum(v) - 1)^2, divided by its sum: among the multiples of a, the
    smallest value is s a'Da / (s + a'Da), which increases with a'Da. With
    s = 2 kappa - ||mu||^2, the term ||mu||^2, a sum over n^2 pairs, cancels.
    """
    if len(centers) > MOST_CENTERS:
        raise ValueError(
            'weights="quadrature" and weights="operator" require the Gram matrix of the centers, '
            f"but {len(centers):,} centers exceed the limit of {MOST_CENTERS:,}; use fewer "
            'centers, or weights="nearest".'
        )
    mean = _mean_map(kernel, centers, X, weights) / kernel.kappa
    matrix = gram.gram(kernel, centers, centers) / kernel.kappa
    matrix += 2 - mean - mean[:, None]
    matrix[np.diag_indices_from(matrix)] += RIDGE
    try:
        with single_threaded():
            shares = nonnegative_least_squares(matrix, np.ones(len(centers)))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            'weights="quadrature" and weights="operator" require a positive definite kernel, but '
            'this one is not positive definite on the centers; weights="nearest" works with any '
            "kernel."
        ) from error
    kept = shares > 0
    return Choice(centers[kept], shares[kept] * (weights.sum() / shares.sum()))


def _mean_map(kernel: gram.Radial, centers: Array, X: Array, weights: Array) -> Array:
    """Return (1/n) sum_i w_i k(c, x_i) at each center."""
    sums = np.zeros(len(centers))
    for rows in slices(0, len(X), _SPAN_ROWS):
        times = gram.multiplier(weights[rows, None])
        sums += gram.product(kernel, centers, X[rows], times, 1)[:, 0]
    return sums / weights.sum()


def _pooled_covariance(
    X: Array, weights: Array, labels: NDArray[np.intp], centers: Array
) -> NDArray[np.float64]:
    """Return (1/n) sum_i w_i (x_i - c)(x_i - c)', where c is the center of row i."""
    total = np.zeros((X.shape[1], X.shape[1]))
    with single_threaded():
        for rows in slices(0, len(X), 4096):
            differences = X[rows] - centers[labels[rows]].astype(np.float64)
            total += (weights[rows] * differences.T) @ differences
    return total / weights.sum()
