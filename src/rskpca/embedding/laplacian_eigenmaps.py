"""Laplacian eigenmaps on a reduced set."""

from __future__ import annotations

from typing import Any

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..spectral import NormalizedLaplacian, Operator
from ._walk import WalkEmbedding, check_graph


class LaplacianEigenmaps(WalkEmbedding):
    """Laplacian eigenmaps (Belkin and Niyogi, 2003) on a reduced set of the data.

    The coordinates are the non-constant eigenfunctions of D^{-1} A with the largest eigenvalues,
    where A contains the affinities k(x, y) and D their row sums. The result equals scikit-learn's
    ``SpectralEmbedding(affinity="rbf")`` of the data after each point has been moved to its
    center, at most sigma / ell away. Unlike ``SpectralEmbedding``, it can transform new points.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the kernel of ``density`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``. None means that ``bandwidth`` is used, unlike in
        ``SpectralEmbedding``, where it means 1 / n_features.
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
        with ``density``. ``np.inf`` keeps every row and reproduces scikit-learn's result.
    self_affinity : bool, default=False
        Whether to include each point's affinity with itself, k(x, x). False matches
        scikit-learn.
    graph : int, float or None, default=None
        Restrict affinities to neighboring centers, which makes the matrix sparse. An int
        connects two centers if either is among the other's ``graph`` nearest centers, a float is
        a cutoff distance, and None keeps all affinities. With a small bandwidth, a sparse matrix
        makes 50,000 centers practical.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None means all centers. An int is
        a number of centers and a float a fraction of them, chosen greedily; ``"auto"`` chooses
        the smallest number that adds little to the error of the reduced set. A density is fitted
        to the weighted centers, and its centers are used. The centers of a ReducedSet are used
        directly.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the bandwidth is computed.
    verbose : int, default=0
        If 1, show a progress line for fits that take more than a second.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of D^{-1} A in descending order, without the trivial eigenvalue 1. The
        eigenvalues of the normalized Laplacian are 1 - ``eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        The weighted centers that represent the data.
    n_centers_ : int
        Number of centers, m.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel.
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
    Coordinates are scaled as in scikit-learn: the squares of each coordinate, weighted by the
    degrees, sum to 1.

    Without self-affinities, trailing components may have negative eigenvalues. They change sign
    between neighboring points, and the affinities do not determine their values between centers.
    A new point therefore gets the value of the nearest center or, with a ``basis``, of the nearest
    basis point. Components whose eigenvalue is zero up to rounding error are dropped.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> model = LaplacianEigenmaps(n_components=2, bandwidth=30.0).fit(X[:1500])
    >>> model.transform(X[1500:]).shape
    (297, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        density: BaseDensity | None = None,
        ell: float | None = None,
        self_affinity: bool = False,
        graph: float | None = None,
        basis: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.density = density
        self.ell = ell
        self.self_affinity = self_affinity
        self.graph = graph
        self.basis = basis
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.boolean("self_affinity", self.self_affinity)
        check_graph(self.graph)

    def _operator(self) -> Operator:
        return NormalizedLaplacian(bool(self.self_affinity))

    @property
    def _graph(self) -> float | None:
        return check_graph(self.graph)
