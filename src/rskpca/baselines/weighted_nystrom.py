"""The density-weighted Nystrom method of Zhang and Kwok."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .._validation import Rows, validate_rows
from ..density import KMeansDensity
from ..embedding import NystromKernelPCA
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import Centered, Plain, solve


class WeightedNystromKernelPCA(NystromKernelPCA):
    """The density-weighted Nystrom method of Zhang and Kwok: k-means landmarks with weights.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    n_centers : int, default=100
        m, the number of clusters.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"data"`` is the published method: eigenvectors are extended to all n points, which are
        kept, and a new point costs O(n). ``"landmarks"`` projects from the landmarks, at a cost of
        O(m) per point: reduced-set kernel PCA on a :class:`~rskpca.KMeansDensity`.
    center : bool, default=True
        True centers in feature space, like scikit-learn; False uses the paper's operator.
    random_state : int, RandomState or None, default=0
        Seed of k-means, and of the sample that the median bandwidth is computed from.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The means of the clusters.
    reduced_set_ : ReducedSet
        The means with their weights.
    n_centers_ : int
        m, their number.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel: landmarks, or all the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Descending, on the scale of ``KernelPCA.eigenvalues_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment).
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import WeightedNystromKernelPCA
    >>> X = load_digits().data
    >>> WeightedNystromKernelPCA(2, n_centers=30).fit(X).basis_.shape
    (30, 64)
    >>> WeightedNystromKernelPCA(2, n_centers=30, extension="data").fit(X).basis_.shape
    (1797, 64)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_centers: int = 100,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        extension: str = "landmarks",
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_centers = n_centers
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.extension = extension
        self.center = center
        self.random_state = random_state

    n_centers: int
    _takes_chunks = False  # the means are computed from all rows

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the data and solve the eigenproblem of the weighted means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        kernel, means = self._choose_landmarks(rows)
        if self.extension == "data":
            model = replace(self._through_data(kernel, means, rows), landmarks=False)
        else:
            model = self._decompose(kernel, means)
        return self._store_landmarks(rows, kernel, means, None, model)

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        """Solve the eigenproblem of the weighted means: Algorithm 1."""
        operator = Centered() if self.center else Plain()
        system = solve(operator, kernel, reduced_set, self._count())
        return self._model(reduced_set, system, reduced_set.n_centers, landmarks=False)

    def _choose_landmarks(self, rows: Rows) -> tuple[RadialKernel, ReducedSet]:
        density = KMeansDensity(self.n_centers, random_state=self.random_state)
        kernel = self._resolve_kernel(rows, density)
        return kernel, density.summarize(rows, kernel).reduced_set_

    def _check_landmarks(self) -> None:
        """Any number of clusters is checked by k-means."""

    @property
    def reduced_set_(self) -> ReducedSet:
        """The means with their weights."""
        check_is_fitted(self)
        return self._landmarks_
