"""Reduced-set kernel PCA, the paper's method."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..bounds import Certificate, certify
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..spectral import Centered, EigenSystem, Operator, Plain
from ._base import Array, ReducedSetEmbedding


class ReducedSetKernelPCA(ReducedSetEmbedding):
    """Kernel PCA on a reduced set of the data (Algorithm 1 on Algorithm 2).

    One pass over the data leaves m weighted centers; the m x m weighted Gram matrix is
    decomposed; new points are projected from the centers alone. The result is kernel PCA of
    the data with each point moved to its center, at most sigma / ell away.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian, or the kernel of ``density``.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian. None is
        the median bandwidth, where ``KernelPCA`` takes 1 / n_features.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is made. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Of the shadow density, where no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row and is exact kernel PCA.
    center : bool, default=True
        True is scikit-learn's kernel PCA, about the mean in feature space; False is the
        paper's operator.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from.
    verbose : int, default=0
        1 shows a progress line on fits of over a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the weighted Gram matrix, descending: the scale of ``KernelPCA.eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Its unit eigenvectors.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment).
    basis_ : ndarray of shape (n_centers, n_features)
        The points that ``transform`` evaluates the kernel at.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    density_ : density estimator
        The fitted density, with ``labels_``.
    certificate_ : Certificate
        How far the model can be from exact kernel PCA of its data.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=2, bandwidth=60.0).fit(X)
    >>> model.transform(X).shape
    (1797, 2)
    >>> model.n_centers_ < len(X)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.density = density
        self.ell = ell
        self.center = center
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.boolean("center", self.center)

    def _operator(self) -> Operator:
        return Centered() if self.center else Plain()

    def _coordinates(self, system: EigenSystem, functions: Array) -> Array:
        """sqrt(mu) f(x): the projection on the unit-norm principal axis in H."""
        return functions * np.sqrt(system.eigenvalues).astype(functions.dtype)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the variance in feature space that each component holds."""
        return self.eigensystem_.eigenvalues / self.eigensystem_.trace

    @property
    def certificate_(self) -> Certificate:
        """How far the model can be from exact kernel PCA, from what the fit has kept."""
        check_is_fitted(self)
        return self._certificate(0.95)

    def certify(
        self, X: Any = None, sample_weight: Any = None, *, confidence: float = 0.95
    ) -> Certificate:
        """The certificate at another confidence, or with the errors measured.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The fitted data, or a sample of them, to measure the errors on: exact, in O(n^2)
            time and memory of a few blocks.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row of X counts.
        confidence : float, default=0.95
            Of what is not certain, between 0 and 1.

        Returns
        -------
        Certificate
            With a level "measured" where X is given.
        """
        check_is_fitted(self)
        confidence = check.share("confidence", confidence)
        if X is None:
            return self._certificate(confidence)
        checked = validate_data(self, X, dtype=check.FLOATS, reset=False)
        weights = check.sample_weights(sample_weight, len(checked))
        return self._certificate(confidence, X=checked, sample_weight=weights)

    def _certificate(self, confidence: float, **data: Any) -> Certificate:
        return certify(
            self.kernel_,
            self.reduced_set_,
            self.eigensystem_,
            confidence=confidence,
            **data,
        )
