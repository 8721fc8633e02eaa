"""Tipping's sparse kernel PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _validation as check
from .._core.parallel import single_threaded_blas
from .._validation import Rows
from ..density import BaseDensity
from ..embedding import KernelEmbedding, ReducedSetKernelPCA
from ..embedding.compressed import Array
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ._likelihood import Likelihood, maximize, sparsest


@dataclass(frozen=True, eq=False)
class SparseModel(FittedModel):
    """Fitted sparse kernel PCA, restricted to the points with nonzero weight.

    Attributes
    ----------
    kept_weights : ndarray of shape (n_points,)
        The weights n u of the points in the eigensystem.
    noise : float
        The noise s.
    """

    kept_weights: Array = None  # type: ignore[assignment]  # always given
    noise: float = 0.0

    def _check(self) -> None:
        super()._check()
        if self.kept_weights.shape != (len(self.system.centers),):
            raise ValueError(
                f"kept_weights must have shape ({len(self.system.centers)},), one weight per "
                f"point, got {self.kept_weights.shape}."
            )


class SparseKernelPCA(ReducedSetKernelPCA):
    """Sparse kernel PCA (Tipping 2000), based on a covariance model with few weighted points.

    In feature space, the data are modeled as Gaussian with covariance
    C = s I + sum_i u_i psi(c_i) psi(c_i)', where the weights u_i >= 0 maximize the likelihood. The
    larger the noise s, the more weights are zero. The principal axes are those of C, which amounts
    to kernel PCA of the points with nonzero weight, with the weights n u_i. As s tends to zero, u_i
    tends to w_i / n, and the result tends to kernel PCA of all points.

    This is an estimator rather than a function of a fitted model, because it does not approximate
    given axes but fits a separate model to the reduced set. ``ell=np.inf`` gives the original
    method, applied to all rows.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    n_centers : int, default=None
        Maximum number of points with nonzero weight. The noise is chosen so that the number of
        points is close to this limit. Cannot be combined with ``noise``.
    noise : float, default=None
        The noise s, on the scale of the kernel. If both ``noise`` and ``n_centers`` are None, it
        is a tenth of the smallest noise at which all weights are zero,
        max_i (1/n) sum_j w_j k(c_i, c_j)^2 / kappa.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the kernel of ``density`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    density : density estimator, default=None
        Estimator that computes the reduced set. None means ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Resolution parameter of the default shadow density; None means 4.0. Cannot be combined
        with ``density``. ``np.inf`` keeps every row.
    center : bool, default=True
        If True, compute the axes about the mean of the remaining weighted points. The weights are
        fitted to the uncentered second moment in either case.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed.
    verbose : int, default=0
        If 1, show a progress line for fits that take more than a second.

    Attributes
    ----------
    basis_ : ndarray of shape (n_centers_, n_features)
        The points with nonzero weight.
    weights_ : ndarray of shape (n_centers_,)
        The weights n u of these points, on the scale of the reduced set's weights.
    noise_ : float
        The noise s.
    n_centers_ : int
        Number of points with nonzero weight.
    reduced_set_ : ReducedSet
        The reduced set to which the model was fitted.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted Gram matrix of the remaining points.
    eigenvectors_ : ndarray of shape (n_centers_, n_components)
        Unit eigenvectors of this matrix.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    density_ : density estimator
        The fitted density; its ``labels_`` are the center indices of the training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Notes
    -----
    Tipping maximizes the likelihood by EM or by a fixed-point iteration. Both require n x n
    matrices in each step, and many steps until a weight approaches zero. This implementation sets
    one weight at a time to its optimal value, which has a closed form and may be zero (Tipping and
    Faul 2003). The likelihood therefore never decreases, most weights are exactly zero, and memory
    use is O(n m). Each point whose weight becomes nonzero at any step requires one product with all
    kernel values of the reduced set.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import SparseKernelPCA
    >>> X = load_digits().data
    >>> model = SparseKernelPCA(n_components=2, n_centers=20, bandwidth=60.0, ell=2.0).fit(X)
    >>> model.n_centers_ <= 20
    True
    >>> model.transform(X).shape
    (1797, 2)
    """

    _takes_any_kernel = False
    _takes_sparse_rows = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_centers: int | None = None,
        noise: float | None = None,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        density: BaseDensity | None = None,
        ell: float | None = None,
        center: bool = True,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_centers = n_centers
        self.noise = noise
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.density = density
        self.ell = ell
        self.center = center
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        KernelEmbedding._check_parameters(self)
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)
        if self.n_centers is not None:
            check.positive_integer("n_centers", self.n_centers)
        if self.noise is not None:
            check.positive_number("noise", self.noise)
        if self.n_centers is not None and self.noise is not None:
            raise ValueError(
                f"n_centers={self.n_centers!r} and noise={self.noise!r} cannot be combined. "
                "Set one of them to None."
            )

    def _new_density(self) -> BaseDensity:
        return KernelEmbedding._new_density(self)

    def _refuse_stream(self, verb: str) -> None:
        """Do nothing, because incremental fitting is supported."""

    def _decompose(
        self, kernel: RadialKernel, reduced_set: ReducedSet, rows: Rows | None = None
    ) -> SparseModel:
        """Choose the points with nonzero weight and solve their eigenproblem."""
        with single_threaded_blas():  # threads would slow down many small products
            noise, u = self._sparsify(kernel, reduced_set)
        kept = np.flatnonzero(u)
        weights = reduced_set.n_samples * u[kept]
        system = self._solve_centers(kernel, ReducedSet(reduced_set.centers[kept], weights))
        scale = np.sqrt(system.eigenvalues)
        return SparseModel(
            kernel, reduced_set, system, system, scale, kept_weights=weights, noise=noise
        )

    def _sparsify(self, kernel: RadialKernel, reduced_set: ReducedSet) -> tuple[float, Array]:
        likelihood, n_centers = Likelihood.of(kernel, reduced_set), self.n_centers
        if n_centers is not None and n_centers > reduced_set.n_centers:
            raise ValueError(
                f"n_centers must be at most {reduced_set.n_centers}, the number of centers of the "
                f"reduced set, got {n_centers}. Decrease n_centers or increase ell."
            )
        if n_centers is not None:
            return sparsest(likelihood, n_centers)
        least, largest = likelihood.least_noise, likelihood.largest_noise
        noise = largest / 10 if self.noise is None else float(self.noise)
        if not least <= noise < largest:
            raise ValueError(
                f"noise must be at least {least:g}, below which rounding errors dominate, and less "
                f"than {largest:g}, at which all weights are zero, got {noise:g}."
            )
        return noise, maximize(likelihood, noise)

    @property
    def weights_(self) -> Array:
        """Weights of the remaining points, on the scale of the reduced set's weights."""
        return self._sparse.kept_weights

    @property
    def noise_(self) -> float:
        """The noise s."""
        return self._sparse.noise

    @property
    def n_centers_(self) -> int:
        """The number of points with nonzero weight."""
        return len(self.basis_)

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the weighted Gram matrix, one row per remaining point."""
        return np.sqrt(self.weights_)[:, None] * self.eigensystem_.functions

    @property
    def _sparse(self) -> SparseModel:
        model = self.model_
        assert isinstance(model, SparseModel)
        return model
