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
from ..embedding._axes import Array
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ._likelihood import Likelihood, maximize, sparsest


@dataclass(frozen=True, eq=False)
class SparseModel(FittedModel):
    """A fitted model restricted to the points with nonzero weight, with the noise.

    Attributes
    ----------
    kept_weights : ndarray of shape (n_points,)
        n u, the weights of the points of the eigensystem.
    noise : float
        s.
    """

    kept_weights: Array = None  # type: ignore[assignment]  # always given
    noise: float = 0.0

    def _check(self) -> None:
        super()._check()
        if self.kept_weights.shape != (len(self.system.centers),):
            raise ValueError(
                f"kept_weights must have one number per point, {len(self.system.centers)}, "
                f"got shape {self.kept_weights.shape}."
            )


class SparseKernelPCA(ReducedSetKernelPCA):
    """Sparse kernel PCA (Tipping 2000): kernel PCA of a covariance that few points carry.

    In feature space the data are modeled as Gaussian with the covariance
    C = s I + sum_i u_i psi(c_i) psi(c_i)', where the weights u_i >= 0 maximize the likelihood. The
    larger the noise s, the more of them are zero. The principal axes are those of C: kernel PCA of
    the remaining points with the weights n u_i. As s goes to zero, u_i tends to w_i / n and the
    result to kernel PCA of all points.

    This is an estimator rather than a function of a fitted model, because it does not approximate
    axes but fits its own model to the reduced set. ``ell=np.inf`` is the original method, on all
    rows.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    n_centers : int, default=None
        Largest number of points with a weight; the noise is chosen so that there are nearly that
        many. Cannot be combined with ``noise``.
    noise : float, default=None
        s, on the scale of the kernel. None, without ``n_centers``, is a tenth of the smallest noise
        at which no point has a weight, max_i (1/n) sum_j w_j k(c_i, c_j)^2 / kappa.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian, or the kernel of ``density`` if that has one.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is computed. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Parameter of the shadow density if no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row.
    center : bool, default=True
        True computes the axes about the mean of the remaining weighted points. The weights
        belong to the second moment in both cases.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is computed from.
    verbose : int, default=0
        1 shows a progress line for fits that take more than a second.

    Attributes
    ----------
    basis_ : ndarray of shape (n_centers_, n_features)
        The points with a weight.
    weights_ : ndarray of shape (n_centers_,)
        n u of each, on the scale of the weights of the reduced set.
    noise_ : float
        s.
    n_centers_ : int
        Number of points with a weight.
    reduced_set_ : ReducedSet
        The reduced set that the model was fitted to.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted Gram matrix of the remaining points.
    eigenvectors_ : ndarray of shape (n_centers_, n_components)
        Its unit eigenvectors.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    density_ : density estimator
        The fitted density, with ``labels_``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    Tipping maximizes the likelihood by EM, or by a fixed-point iteration: both need n x n matrices
    in each of the many steps in which a weight approaches zero. Here one weight at a time is set
    to its maximum in closed form, which may be zero (Tipping and Faul 2003). So the likelihood
    never decreases, most weights are exactly zero, and memory is O(n m). Each point that is ever
    given a weight costs a product with all kernel values of the reduced set.

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
                f"give n_centers or noise, not both: got {self.n_centers!r} and {self.noise!r}."
            )

    def _new_density(self) -> BaseDensity:
        return KernelEmbedding._new_density(self)

    def _refuse_stream(self, verb: str) -> None:
        """Accept rows in chunks."""

    def _decompose(
        self, kernel: RadialKernel, reduced_set: ReducedSet, rows: Rows | None = None
    ) -> SparseModel:
        """Choose the points that keep a weight and solve their eigenproblem."""
        with single_threaded_blas():  # many small products
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
                f"n_centers={n_centers} exceeds the {reduced_set.n_centers} centers of the reduced "
                "set; use fewer, or a larger ell."
            )
        if n_centers is not None:
            return sparsest(likelihood, n_centers)
        least, largest = likelihood.least_noise, likelihood.largest_noise
        noise = largest / 10 if self.noise is None else float(self.noise)
        if not least <= noise < largest:
            raise ValueError(
                f"noise={noise:g} is out of range: at {largest:g} or above every weight is "
                f"zero, and below {least:g} rounding errors dominate."
            )
        return noise, maximize(likelihood, noise)

    @property
    def weights_(self) -> Array:
        """Weights of the remaining points, on the scale of those of the reduced set."""
        return self._sparse.kept_weights

    @property
    def noise_(self) -> float:
        """The noise s."""
        return self._sparse.noise

    @property
    def n_centers_(self) -> int:
        """The number of points with a weight."""
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
