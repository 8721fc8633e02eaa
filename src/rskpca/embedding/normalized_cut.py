"""Normalized cut on a reduced set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.partition import PARTITIONERS
from .._validation import validate_points
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import NormalizedLaplacian, Operator
from ._base import Array
from ._walk import WalkEmbedding, check_graph


class NormalizedCut(ClusterMixin, WalkEmbedding):
    """Clusters by normalized cut (Shi and Malik, 2000) on a reduced set of the data.

    Weighted centers are clustered in the space of the leading eigenfunctions of D^{-1} A, where
    A contains the affinities k(x, y) and D their sums. A training point belongs to the cluster of
    its center. The result is scikit-learn's ``SpectralClustering(affinity="rbf")`` of the data
    with each point moved to its center, at most sigma / ell away, with ``predict`` for new points.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, and of eigenfunctions, of which the first is constant.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian, or the kernel of ``density`` if that has one.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian.
        None is the median bandwidth, where ``SpectralClustering`` uses 1.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is computed. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Parameter of the shadow density if no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row.
    self_affinity : bool, default=False
        Whether a point's affinity with itself, k(x, x), counts. False is scikit-learn's.
    graph : int, float or None, default=None
        Which centers are neighbors; others have no affinity, and the matrix is sparse. An int is
        a number of nearest centers (either of the two may be the other's neighbor), a float a
        cut-off distance, None all centers. With a small bandwidth this makes 50,000 centers
        practical.
    assign_labels : "kmeans", "discretize" or "cluster_qr", default="kmeans"
        How eigenfunctions become clusters: the best of ten weighted k-means, the nearest
        rotation onto the axes, or pivoted QR, which draws nothing at random.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None is all centers. Otherwise a
        number of centers or, as a float below 1, a share of them, chosen greedily; the centers of
        a density that is fitted to the weighted centers; or those of any reduced set. ``"auto"``
        is the smallest number that adds little to the error that the reduced set already has.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is computed from, and of ``assign_labels``.
    verbose : int, default=0
        1 shows a progress line for fits that take more than a second.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of the last ``fit`` or ``partial_fit``; -1 for rows of weight 0.
        Clusters are numbered in the order of their means: by the first feature, then the second.
    center_labels_ : ndarray of shape (n_centers,)
        The cluster of each center.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of D^{-1} A, descending, starting with the trivial 1.
    eigenvectors_ : ndarray of shape (n_centers, n_clusters)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``predict`` evaluates the kernel.
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
    Without self-affinities the last of many eigenfunctions have negative eigenvalues, in
    particular with few points. For these a new point has the value of the nearest center.

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

    _size_name = "n_clusters"
    _n_constant = 0

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
        check_graph(self.graph)
        check.one_of("assign_labels", self.assign_labels, PARTITIONERS)

    def _operator(self) -> Operator:
        return NormalizedLaplacian(bool(self.self_affinity))

    @property
    def _graph(self) -> float | None:
        return check_graph(self.graph)

    @property
    def _allowed_pieces(self) -> int:
        """Each cluster may be a piece."""
        return self.n_clusters

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        if self.n_clusters > reduced_set.n_centers:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are only {reduced_set.n_centers} centers "
                "to cluster. A larger ell or a smaller bandwidth keeps more centers."
            )
        return super()._decompose(kernel, reduced_set)

    def _complete(self, model: FittedModel, cut_off: Array) -> FittedModel:
        """Add the rule from eigenfunctions to clusters."""
        functions, weights = model.system.functions, model.reduced_set.weights
        rng = check_random_state(self.random_state)
        found = PARTITIONERS[self.assign_labels](functions, weights, self.n_clusters, rng)
        partition = found.renumber(functions, weights, model.reduced_set.centers)
        return replace(model, partition=partition)

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
                "labels_ refers to the rows of the last fit or partial_fit; it is not available "
                "after forget, merge or a fit in blocks. Use predict for the clusters of any rows."
            )
        return np.where(rows < 0, -1, self.center_labels_[rows])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the clusters of new points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points. If the kernel is zero at all centers, the nearest center decides.

        Returns
        -------
        ndarray of shape (n_samples,)
            Integers from 0 to n_clusters - 1.
        """
        return self.model_.labels(validate_points(self, X))
