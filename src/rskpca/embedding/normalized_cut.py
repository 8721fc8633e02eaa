"""Normalized cut on a reduced set."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._core.partition import WAYS, Partition
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, NormalizedLaplacian, Operator
from ._base import Array
from ._markov import MarkovEmbedding, neighbours


class NormalizedCut(ClusterMixin, MarkovEmbedding):
    """Clusters by normalized cut (Shi and Malik, 2000) on a reduced set of the data.

    Centers are clustered, by weight, in the space of the leading eigenfunctions of D^{-1} A,
    where A holds the affinities k(x, y) and D their sums. A training point has the cluster of
    its center. scikit-learn's ``SpectralClustering(affinity="rbf")``, on the data with each
    point moved to its center, at most sigma / ell away, and with ``predict`` for new points.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters, and eigenfunctions, of which the first is constant.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian, or the kernel of ``density``.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian. None is
        the median bandwidth, where ``SpectralClustering`` takes 1.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is made. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Of the shadow density, where no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row.
    self_affinity : bool, default=False
        Whether a point's affinity with itself, k(x, x), counts. False is scikit-learn's.
    graph : int, float or None, default=None
        Which centers are neighbours; others have no affinity, and the matrix is sparse. An int
        is a number of nearest centers (either of the other), a float a cut-off distance, None
        all centers. For kernels of small bandwidth, of which 50,000 centers are no trouble.
    assign_labels : "kmeans", "discretize" or "cluster_qr", default="kmeans"
        How eigenfunctions become clusters: the best of ten weighted k-means, the nearest
        rotation onto the axes, or pivoted QR, which draws nothing at random.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points that ``transform`` evaluates the kernel at. None is all centers. A number of
        them, or as a float below 1 a share, chosen greedily; the centers of a density that is
        fitted to the centers, or of any reduced set; ``"auto"`` is the smallest number that adds
        little to the error that the reduced set has already.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from, and of ``assign_labels``.
    verbose : int, default=0
        1 shows a progress line on fits of over a second.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of the last ``fit`` or ``partial_fit``; -1 for rows of weight 0.
        Clusters are numbered as their means come, by the first feature, then by the second.
    center_labels_ : ndarray of shape (n_centers,)
        The cluster of each center.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Of D^{-1} A, descending, from the trivial 1.
    eigenvectors_ : ndarray of shape (n_centers, n_clusters)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    basis_ : ndarray of shape (n_basis, n_features)
        The points that ``predict`` evaluates the kernel at.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    density_ : density estimator
        The fitted density, with ``labels_``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Notes
    -----
    Without self-affinities the last of many eigenfunctions, as of few points, have negative
    eigenvalues. New points have the value of the nearest center there.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import NormalizedCut
    >>> rng = np.random.default_rng(0)
    >>> radii = np.repeat([1.0, 3.0], 500) + 0.1 * rng.normal(size=1000)
    >>> angles = rng.uniform(0, 2 * np.pi, size=1000)
    >>> rings = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    >>> model = NormalizedCut(2, bandwidth=0.5).fit(rings)
    >>> inner, outer = model.predict([[0.0, 1.1], [0.0, -2.9]])
    >>> bool(inner != outer), np.bincount(model.labels_)
    (True, array([500, 500]))
    """

    _wanted_name = "n_clusters"
    _constants = 0

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        density: BaseDensity | None = None,
        ell: float | None = None,
        self_affinity: bool = False,
        graph: float | None = None,
        assign_labels: str = "kmeans",
        basis: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.density = density
        self.ell = ell
        self.self_affinity = self_affinity
        self.graph = graph
        self.assign_labels = assign_labels
        self.basis = basis
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.boolean("self_affinity", self.self_affinity)
        neighbours(self.graph)
        check.one_of("assign_labels", self.assign_labels, WAYS)

    def _operator(self) -> Operator:
        return NormalizedLaplacian(bool(self.self_affinity))

    @property
    def _graph(self) -> float | None:
        return neighbours(self.graph)

    @property
    def _pieces_allowed(self) -> int:
        """As many as clusters: each piece is one."""
        return self.n_clusters

    def _solve(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        if self.n_clusters > reduced_set.n_centers:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {reduced_set.n_centers} centers to "
                "cluster. A larger ell or a smaller bandwidth keeps more centers."
            )
        return super()._solve(kernel, reduced_set)

    def _made(self, shown: EigenSystem, cut_off: Array, reduced_set: ReducedSet) -> Partition:
        """The rule from eigenfunctions to clusters."""
        rng, weights = check_random_state(self.random_state), reduced_set.weights
        found = WAYS[self.assign_labels](shown.functions, weights, self.n_clusters, rng)
        return found.ordered_by(shown.functions, weights, reduced_set.centers)

    def _model_fields(self) -> dict[str, Any]:
        return {**super()._model_fields(), "partition": self._cut}

    @property
    def _cut(self) -> Partition:
        return cast(Partition, self._solved.made)

    @property
    def center_labels_(self) -> NDArray[np.intp]:
        """The cluster of each center."""
        return self.model_.center_labels

    @property
    def labels_(self) -> NDArray[np.intp]:
        """The cluster of each row of the last ``fit`` or ``partial_fit``."""
        check_is_fitted(self)
        rows = getattr(self.density_, "labels_", None)
        if rows is None:
            raise AttributeError(
                "labels_ are of the rows of the last fit or partial_fit; they end with forget, and "
                "merge and a fit in blocks keep none. predict gives the clusters of any rows."
            )
        return np.where(rows < 0, -1, self.center_labels_[rows])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Clusters of new points, from the centers alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points. Where the kernel is zero at all centers the nearest one decides.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0 to n_clusters - 1.
        """
        check_is_fitted(self)
        return self.model_.labels(validate_data(self, X, dtype=check.FLOATS, reset=False))
