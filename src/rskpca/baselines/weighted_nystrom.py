"""The density-weighted Nystrom method of Zhang and Kwok."""

from __future__ import annotations

from typing import Any, Self

from ..density import KMeansDensity
from ..embedding._base import Array
from ..embedding._landmark import LandmarkKernelPCA, whole
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import solve


class WeightedNystromKernelPCA(LandmarkKernelPCA):
    """The density-weighted Nystrom method of Zhang and Kwok: k-means landmarks with weights.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    n_centers : int, default=100
        m, the number of clusters.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"data"`` is the published method: eigenvectors are extended to all n points, which are
        kept, and a new point costs O(n). ``"landmarks"`` projects from the landmarks, O(m) a
        point: reduced-set kernel PCA on a :class:`KMeansDensity`.
    center : bool, default=True
        True is scikit-learn's kernel PCA, about the mean in feature space; False is the
        paper's operator.
    random_state : int, RandomState or None, default=0
        Seed of k-means, and of the sample that the median bandwidth is taken from.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The means of the clusters.
    reduced_set_ : ReducedSet
        The same with their weights.
    n_centers_ : int
        m, their number.
    basis_ : ndarray of shape (n_basis, n_features)
        The points that ``transform`` evaluates the kernel at: landmarks, or all the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Descending, on the scale of ``KernelPCA.eigenvalues_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment).
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

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

    reduced_set_: ReducedSet

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the data, and solve on the means of the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        WeightedNystromKernelPCA
            Itself.
        """
        rows, weights, kernel, means = self._started(X, sample_weight, at_least=2)
        points = means
        if self.extension == "data":
            points = whole(rows, weights)
            system = self._through_data(kernel, means, points)
        else:
            system = solve(self._operator(), kernel, means, self._count())
            self._check_found(len(system.eigenvalues), means.n_centers)
        self._adopt(X, kernel, means, points)
        self.reduced_set_, self._system_ = means, system
        return self

    def _model_fields(self) -> dict[str, Any]:
        return {"reduced_set": self.reduced_set_, "known": self._points_}

    def _chosen(self, X: Array, weights: Array | None) -> tuple[RadialKernel, ReducedSet]:
        density = KMeansDensity(self.n_centers, random_state=self.random_state)
        kernel, density = self._lent_kernel(density, X, weights)
        return kernel, density.fit(X, sample_weight=weights).reduced_set_
