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
from .._core.partition import PARTITIONERS, gap_candidates, rate_ratios
from .._validation import Rows, validate_points
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, NormalizedLaplacian, Operator, solve
from ._base import Array
from ._walk import WalkEmbedding, check_graph

_MOST_CLUSTERS = 20  # largest number that n_clusters="auto" considers


class NormalizedCut(ClusterMixin, WalkEmbedding):
    """Normalized-cut clustering (Shi and Malik, 2000) on a reduced set of the data.

    The weighted centers are clustered in the space of the leading eigenfunctions of D^{-1} A,
    where A contains the affinities k(x, y) and D their row sums. The result corresponds to
    ``SpectralClustering(affinity="rbf")`` in scikit-learn, applied after each point has been moved
    to its center, at most sigma / ell away. Unlike ``SpectralClustering``, it can predict the
    clusters of new points.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters, and of eigenfunctions, including the constant one. ``"auto"`` chooses
        between 2 and 20 clusters by the largest eigengap that the row sample confirms, and raises
        an error if there is none; see Notes.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the kernel of ``density`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``. None means that ``bandwidth`` is used; the default in
        ``SpectralClustering`` is 1.
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default=None
        sigma, for a kernel given by name, or a rule that computes it from a sample of the rows (see
        :class:`Gaussian`).
        None means ``"neighbors"``, 0.8 times the distance within which 95% of the sampled rows
        have five other distinct rows. The bandwidth must be smaller than the distance between
        clusters or between the layers of a curved sheet; ``"median"``, the median pairwise
        distance, rarely is.
    density : density estimator, default=None
        Estimator that computes the reduced set. None means ``ShadowDensity(ell=ell)``. If
        ``ell`` is also None and more than 5,000 centers are expected, it means
        ``KMeansDensity(2000, max_iter=3)``, and ``method_`` says so.
    ell : float, default=None
        Resolution parameter of the default shadow density; None means 4.0. Cannot be combined
        with ``density``. ``np.inf`` keeps every row.
    self_affinity : bool, default=False
        Whether to include each point's affinity with itself, k(x, x). False matches
        scikit-learn.
    graph : int, float or None, default=None
        Restrict affinities to neighboring centers, which makes the matrix sparse. An int
        connects two centers if either is among the other's ``graph`` nearest centers, a float is
        a cutoff distance, and None keeps all affinities. With a small bandwidth, a sparse matrix
        makes 50,000 centers practical.
    assign_labels : "kmeans", "discretize" or "cluster_qr", default="kmeans"
        How clusters are derived from the eigenfunctions: the best of ten weighted k-means runs,
        the nearest rotation onto the axes, or pivoted QR, which is deterministic.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None means all centers. An int is
        a number of centers and a float a fraction of them, chosen greedily; ``"auto"`` chooses
        the smallest number that adds little to the error of the reduced set. A density is fitted
        to the weighted centers, and its centers are used. The centers of a ReducedSet are used
        directly.
    random_state : int, RandomState or None, default=0
        Seed for ``assign_labels`` and for the sample from which the bandwidth is computed.
    verbose : int, default=0
        If 1, show a progress line for fits that take more than a second.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster label of each row of the last ``fit`` or ``partial_fit``; -1 for rows with
        weight 0. After ``fit``, the labels are those of ``predict``; after ``partial_fit``, they
        are the labels of the rows' centers. Clusters are numbered in lexicographic order
        of their means.
    center_labels_ : ndarray of shape (n_centers,)
        Cluster label of each center.
    n_clusters_ : int
        Number of clusters.
    eigenvalues_ : ndarray of shape (n_clusters,)
        Eigenvalues of D^{-1} A in descending order, including the trivial eigenvalue 1.
    eigenvectors_ : ndarray of shape (n_centers, n_clusters)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        The weighted centers that represent the data.
    n_centers_ : int
        Number of centers, m.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``predict`` evaluates the kernel.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    certificate_ : Certificate
        Bounds on the difference between the coordinates and those of the exact method on all
        rows, estimated from a row sample.
    density_ : density estimator
        The fitted density; its ``labels_`` are the center indices of the training rows.
    method_ : str
        A sentence that says which points represent the data, and why.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Notes
    -----
    With ``n_clusters="auto"``, the eigengap after k clusters is the ratio of 1 - lambda_{k+1} to
    1 - lambda_k, the rates at which the eigenfunctions decay under the walk. It must exceed 4, the
    largest ratio for points on a line without clusters. The same must hold for the walk on the row
    sample, in which no row is moved to a center. If several ratios exceed 100, because the
    clusters form groups, the last one determines the number of clusters.

    Without self-affinities, trailing eigenfunctions may have negative eigenvalues, especially if
    there are few points. At a new point, such an eigenfunction takes its value at the nearest
    center.

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
    _row_labels_: NDArray[np.intp]

    def __init__(
        self,
        n_clusters: int | str = 8,
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
        if isinstance(self.n_clusters, str) and self.n_clusters != "auto":
            raise ValueError(
                f'n_clusters must be an integer of at least 1, or "auto", got {self.n_clusters!r}.'
            )
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
    def _size(self) -> int:
        return _MOST_CLUSTERS if isinstance(self.n_clusters, str) else self.n_clusters

    @property
    def _required(self) -> int | None:
        return None if isinstance(self.n_clusters, str) else self.n_clusters

    @property
    def _allowed_pieces(self) -> int:
        """The number of clusters; each may be a disconnected piece."""
        return self._size

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        if self._required is not None and self._required > reduced_set.n_centers:
            raise ValueError(
                f"n_clusters must be at most {reduced_set.n_centers}, the number of centers, "
                f"got {self.n_clusters}. Use a larger ell or a smaller bandwidth to keep more "
                "centers."
            )
        return super()._decompose(kernel, reduced_set)

    def _choose_size(self, whole: EigenSystem, reduced_set: ReducedSet) -> int:
        """Return the requested number of clusters, or the one with the largest eigengap."""
        if self._required is not None:
            return self._required
        candidates = gap_candidates(whole.eigenvalues)
        confirmed = self._sampled_candidates(whole, reduced_set) if candidates else []
        count = next((k for k in candidates if k in confirmed), None)
        if count is None:
            raise ValueError(_describe_missing_gap(whole.eigenvalues, candidates))
        return count

    def _sampled_candidates(self, whole: EigenSystem, reduced_set: ReducedSet) -> list[int]:
        """Return the cluster counts at which the walk on the sampled rows has an eigengap."""
        # Both walks have the gap if it is due neither to the quantization nor to a few rows. The
        # certificate's intervals are too wide for this test: at a local bandwidth, the eigenvalues
        # of functions within the clusters are nearly tied.
        rows = None if reduced_set.radius == 0 else _sampled_rows(reduced_set)
        if rows is None:  # the eigenvalues are exact, or cannot be compared
            return gap_candidates(whole.eigenvalues) if reduced_set.radius == 0 else []
        system = solve(self._operator(), whole.kernel, rows, len(whole.eigenvalues))
        return gap_candidates(system.eigenvalues)

    def _complete(self, model: FittedModel, cut_off: Array) -> FittedModel:
        """Add the partition, which maps eigenfunction values to clusters."""
        functions, weights = model.system.functions, model.reduced_set.weights
        rng = check_random_state(self.random_state)
        count = self._required or functions.shape[1]
        found = PARTITIONERS[self.assign_labels](functions, weights, count, rng)
        partition = found.renumber(functions, weights, model.reduced_set.centers)
        return replace(model, partition=partition)

    def _label(self, rows: Rows) -> None:
        """Store the labels of the rows; eigenfunctions are evaluated only near cluster borders."""
        self._row_labels_ = self.model_.row_labels(rows.X, self.density_.labels_)

    def _replace_density(self, density: BaseDensity) -> None:
        super()._replace_density(density)
        self.__dict__.pop("_row_labels_", None)

    @property
    def n_clusters_(self) -> int:
        """The number of clusters."""
        return len(self.model_.partition.offsets)  # type: ignore[union-attr]

    @property
    def center_labels_(self) -> NDArray[np.intp]:
        """Cluster label of each center."""
        return self.model_.center_labels

    @property
    def labels_(self) -> NDArray[np.intp]:
        """Cluster label of each row of the last ``fit`` or ``partial_fit``."""
        check_is_fitted(self)
        if "_row_labels_" in self.__dict__:
            return self._row_labels_
        rows = getattr(self.density_, "labels_", None)
        if rows is None:
            raise AttributeError(
                "labels_ refers to the rows of the last fit or partial_fit, and is not available "
                "after forget, merge or a fit in blocks. Use predict to assign rows to clusters."
            )
        return np.where(rows < 0, -1, self.center_labels_[rows])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster labels of new points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points. A point at which all eigenfunctions are zero gets the label of its nearest
            center.

        Returns
        -------
        ndarray of shape (n_samples,)
            Integers from 0 to n_clusters - 1.
        """
        return self.model_.labels(validate_points(self, X))


def _sampled_rows(reduced_set: ReducedSet) -> ReducedSet | None:
    """Return the sampled rows themselves as a weighted set, or None if there is no sample."""
    sample = reduced_set.sample
    if sample is None or len(sample) == 0:
        return None
    weights = sample.weights / sample.probabilities
    return ReducedSet(sample.rows, weights * (sample.weights.sum() / weights.sum()))


def _describe_missing_gap(eigenvalues: Array, candidates: list[int]) -> str:
    """Return the error message for data without an eigengap."""
    if candidates:
        return (
            f'n_clusters="auto" requires an eigengap that the row sample confirms, but the gap at '
            f"{candidates[0]} clusters does not occur in the sample. Set "
            f"n_clusters={candidates[0]}, or use a larger bandwidth or ell."
        )
    ratios = rate_ratios(eigenvalues)
    largest = f" (the largest factor is {ratios.max():.2g})" if len(ratios) else ""
    return (
        'n_clusters="auto" requires an eigengap, but no two consecutive values of 1 - eigenvalue '
        f"differ by more than a factor of 4{largest}. Set n_clusters to a number, or use another "
        "bandwidth."
    )
