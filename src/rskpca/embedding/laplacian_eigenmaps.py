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

    Coordinates are the eigenfunctions of D^{-1} A with the largest eigenvalues, except the
    constant one; A contains the affinities k(x, y), D their sums. The result is scikit-learn's
    ``SpectralEmbedding(affinity="rbf")`` of the data with each point moved to its center, at
    most sigma / ell away, with ``transform`` for new points.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian, or the kernel of ``density`` if that has one.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian.
        None is the median bandwidth, where ``SpectralEmbedding`` uses 1 / n_features.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is computed. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Parameter of the shadow density if no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row: scikit-learn's answer.
    self_affinity : bool, default=False
        Whether a point's affinity with itself, k(x, x), counts. False is scikit-learn's.
    graph : int, float or None, default=None
        Which centers are neighbors; others have no affinity, and the matrix is sparse. An int is
        a number of nearest centers (either of the two may be the other's neighbor), a float a
        cut-off distance, None all centers. With a small bandwidth this makes 50,000 centers
        practical.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points at which ``transform`` evaluates the kernel. None is all centers. Otherwise a
        number of centers or, as a float below 1, a share of them, chosen greedily; the centers of
        a density that is fitted to the weighted centers; or those of any reduced set. ``"auto"``
        is the smallest number that adds little to the error that the reduced set already has.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is computed from.
    verbose : int, default=0
        1 shows a progress line for fits that take more than a second.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of D^{-1} A, descending, without the trivial 1. Those of the normalized
        Laplacian are 1 - ``eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel.
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
    The scale is scikit-learn's: squares of a coordinate, weighted by the degrees, sum to 1.
    Without self-affinities the last of many components have negative eigenvalues: they change
    sign from a point to its neighbors. The affinities do not define them between centers, so a
    new point has the value of the nearest center or, with a ``basis``, of the nearest basis point.
    Components whose eigenvalue is zero up to rounding are dropped.

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
