"""Kernel PCA of a uniform random subset of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _validation as check
from .._validation import Rows
from ..density import BaseDensity
from ..embedding import ReducedSetKernelPCA
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from .densities import UniformDensity


class SubsampledKernelPCA(ReducedSetKernelPCA):
    """Kernel PCA of rows drawn uniformly at random, the simplest baseline.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    n_centers : int, default=100
        Number of rows to draw, m.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    center : bool, default=True
        If True, center the data in feature space, as scikit-learn does. If False, use the
        uncentered operator of the paper.
    random_state : int, RandomState or None, default=0
        Seed for the draw and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        The drawn rows, each with weight n / m.
    n_centers_ : int
        Number of distinct drawn rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, scaled like ``KernelPCA.eigenvalues_`` of all the data.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the Gram matrix of the drawn rows.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the feature-space variance explained by each component (with
        ``center=False``, of the second moment).
    basis_ : ndarray of shape (n_centers, n_features)
        The points at which ``transform`` evaluates the kernel.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    density_ : UniformDensity
        The fitted density.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import SubsampledKernelPCA
    >>> SubsampledKernelPCA(2, n_centers=50).fit(load_digits().data).n_centers_
    50
    """

    _takes_any_kernel = False
    _takes_sparse_rows = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_centers: int = 100,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_centers = n_centers
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.center = center
        self.random_state = random_state

    def _new_density(self) -> BaseDensity:
        return UniformDensity(self.n_centers, random_state=self.random_state)

    def _decompose(
        self, kernel: RadialKernel, reduced_set: ReducedSet, rows: Rows | None = None
    ) -> FittedModel:
        """Solve the eigenproblem of the drawn rows, without an error certificate."""
        system = self._solve_centers(kernel, reduced_set)
        return FittedModel(kernel, reduced_set, system, system, np.sqrt(system.eigenvalues))

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)

    def _refuse_stream(self, verb: str) -> None:
        raise AttributeError(
            f"{type(self).__name__} does not support {verb}. Use ReducedSetKernelPCA with a "
            "ShadowDensity."
        )
