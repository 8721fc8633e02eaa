"""Better weights and representatives for the centers of another density."""

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
MOST_CENTERS = 12_000  # whose Gram matrix quadrature keeps: 1.2 GB
RIDGE = 1e-8  # of kappa, on the diagonal: weights that rounding does not move
_SPAN_ROWS = 2**14


class ReweightedDensity(BatchDensity):
    """The centers of another density, with weights that stand for the data better.

    Four ways to spend another pass over the data on the same centers:

    - ``"nearest"``: each row counts for its nearest center, where the shadow density counts it
      for the first within the radius. Price: O(n m) distances.
    - ``"means"``: each center moves to the mean of the rows that it stands for. Price: O(n d^2),
      and the centers are no rows any more. A cell's mean map is then right to first order, but
      the spread of its rows is still lost, which moves the eigenvalues of kernel PCA by a
      second-order amount, as a rule up. ``covariance_`` is what undoes it: see the notes.
    - ``"quadrature"``: the non-negative weights, of sum n, with the smallest MMD to the data,
      min_w || sum_j w_j k(c_j, .) - sum_i k(x_i, .) ||_H. Price: O(n m) kernel values, the m x m
      Gram matrix and a few of its Cholesky factors. Centers that get no weight are dropped, and
      no radius is known, as rows belong to no center.
    - ``"operator"``: the same with the kernel k^2. Its MMD is the Hilbert-Schmidt distance of the
      operators of kernel PCA, sum_j w_j psi(c_j) psi(c_j)' and that of the data: the weights to
      embed with, where ``"quadrature"`` has those of the best density estimate. Same price.

    Parameters
    ----------
    density : density estimator, default=None
        Whose centers are taken. None is ``ShadowDensity()``.
    weights : {"nearest", "means", "quadrature", "operator"}, default="nearest"
        What is done, see above.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the kernel of ``density``, else the Gaussian with the median bandwidth, or the
        kernel of the estimator that this density is given to. A ``density`` without a kernel
        takes this one.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers and weights; for ``"nearest"`` and ``"means"`` also the radius, the largest
        distance of a row to its center. Centers without rows, or without weight, are dropped.
    labels_ : ndarray of shape (n_samples,)
        The center of each row, -1 for rows of weight 0: the nearest, and for ``"means"`` the one
        that ``density`` gave it to. The weights of a quadrature do not count them.
    covariance_ : ndarray of shape (n_features, n_features)
        Of the rows about their centers, (1/n) sum_i (x_i - c)(x_i - c)'; for
        ``"means"`` only.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Notes
    -----
    For kernel PCA ``"operator"`` is the most accurate: on german, pendigits and covtype at ell 4
    the error of the embedding is a seventh to a thirteenth of that on the shadow density's own
    weights, and ``"quadrature"`` leaves 1.6 to 3.2 times as much. On usps, whose cells are wide,
    both gain less than a half. ``python -m benchmarks weights`` measures it. Where all that is
    wanted is an embedding, ``ReducedSetKernelPCA(basis="auto", refine="nystrom")`` costs about as
    much, and gains more on usps; here the result is still a measure, for any method on one.

    Eigenvalues of a Gaussian kernel PCA on means are corrected by the spread within the cells::

        model = ReducedSetKernelPCA(5, density=ReweightedDensity(weights="means")).fit(X)
        corrected_eigenvalues(model.eigensystem_, model.reduced_set_, model.density_.covariance_)

    with :func:`rskpca.spectral.corrected_eigenvalues`.

    The MMD is minimised with a ridge of 1e-8 kappa sum_j (w_j / n)^2, which leaves it as good
    as it was, and the weights determined.

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
        """The kernel that was given to it, or to its density; None where none was."""
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

    def _learn_more(self, X: Array, weights: Array, labels: NDArray[np.intp]) -> None:
        self.__dict__.pop("covariance_", None)
        if self.weights == "means":
            self.covariance_ = _pooled_covariance(X, weights, labels, self.reduced_set_.centers)


class _Squared:
    """The kernel k^2."""

    def __init__(self, kernel: RadialKernel) -> None:
        self.kernel, self.kappa = kernel, kernel.kappa**2
        self.sign, self.smooth, self.scale = kernel.sign, kernel.smooth, kernel.scale

    def evaluate(self, scaled: Array) -> Array:
        """Its values, from signed squared distances in bandwidths."""
        return np.square(self.kernel.evaluate(scaled))


def _quadrature(
    kernel: RadialKernel | _Squared, centers: Array, X: Array, weights: Array
) -> Choice:
    """The centers that have weight where the MMD to the rows is smallest.

    With shares a = w / n on the simplex and mu the mean map of the rows, the squared MMD is
    a' D a, D_ij = <k(c_i, .) - mu, k(c_j, .) - mu>. The a that makes it smallest is the v >= 0
    that makes v' D v + s (sum(v) - 1)^2 smallest, divided by its sum, for every s > 0: of the v in
    one direction the best has s a'Da / (s + a'Da), which grows with a'Da. Here s is
    2 kappa - ||mu||^2, so that ||mu||^2, a sum over n^2 pairs, cancels.
    """
    if len(centers) > MOST_CENTERS:
        raise ValueError(
            f"a quadrature keeps the Gram matrix of the centers, but {len(centers):,} are more "
            f'than {MOST_CENTERS:,}; choose fewer, or weights="nearest".'
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
            "a quadrature needs a positive definite kernel, but this one is not on the centers; "
            'weights="nearest" takes any.'
        ) from error
    kept = shares > 0
    return Choice(centers[kept], shares[kept] * (weights.sum() / shares.sum()))


def _mean_map(kernel: gram.Radial, centers: Array, X: Array, weights: Array) -> Array:
    """(1/n) sum_i w_i k(c, x_i) at each center, a span of rows at a time."""
    sums = np.zeros(len(centers))
    for rows in slices(0, len(X), _SPAN_ROWS):
        times = gram.multiplier(weights[rows, None])
        sums += gram.product(kernel, centers, X[rows], times, 1)[:, 0]
    return sums / weights.sum()


def _pooled_covariance(
    X: Array, weights: Array, labels: NDArray[np.intp], centers: Array
) -> NDArray[np.float64]:
    """(1/n) sum_i w_i (x_i - c)(x_i - c)', c the center of row i, a block at a time."""
    total = np.zeros((X.shape[1], X.shape[1]))
    with single_threaded():
        for rows in slices(0, len(X), 4096):
            differences = X[rows] - centers[labels[rows]].astype(np.float64)
            total += (weights[rows] * differences.T) @ differences
    return total / weights.sum()
