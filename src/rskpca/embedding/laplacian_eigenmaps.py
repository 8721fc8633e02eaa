"""Laplacian eigenmaps on a reduced set."""

from __future__ import annotations

from typing import Any

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..spectral import NormalizedLaplacian, Operator
from ._markov import MarkovEmbedding, neighbours


class LaplacianEigenmaps(MarkovEmbedding):
    """Laplacian eigenmaps (Belkin and Niyogi, 2003) on a reduced set of the data.

    Coordinates are the eigenfunctions of D^{-1} A of the largest eigenvalues, without the
    constant one; A holds the affinities k(x, y), D their sums. scikit-learn's
    ``SpectralEmbedding(affinity="rbf")``, on the data with each point moved to its center, at
    most sigma / ell away, and with ``transform`` for new points.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian, or the kernel of ``density``.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian. None is
        the median bandwidth, where ``SpectralEmbedding`` takes 1 / n_features.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    density : density estimator, default=None
        How the reduced set is made. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Of the shadow density, where no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row: scikit-learn's answer.
    self_affinity : bool, default=False
        Whether a point's affinity with itself, k(x, x), counts. False is scikit-learn's.
    graph : int, float or None, default=None
        Which centers are neighbours; others have no affinity, and the matrix is sparse. An int
        is a number of nearest centers (either of the other), a float a cut-off distance, None
        all centers. For kernels of small bandwidth, of which 50,000 centers are no trouble.
    basis : None, "auto", float, int, density estimator or ReducedSet, default=None
        The points that ``transform`` evaluates the kernel at. None is all centers. A number of
        them, or as a float below 1 a share, chosen greedily; the centers of a density that is
        fitted to the centers, or of any reduced set; ``"auto"`` is the smallest number that adds
        little to the error that the reduced set has already.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from.
    verbose : int, default=0
        1 shows a progress line on fits of over a second.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of D^{-1} A, descending, without the trivial 1. Those of the normalized Laplacian are
        1 - ``eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the symmetric form D^{-1/2} A D^{-1/2} on the centers.
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    n_centers_ : int
        m, the number of centers.
    basis_ : ndarray of shape (n_basis, n_features)
        The points that ``transform`` evaluates the kernel at.
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
    The scale is scikit-learn's: squares of a coordinate, weighted by the degrees, sum to 1.
    Without self-affinities the last of many components have negative eigenvalues: they change
    sign from a point to its neighbours. The affinities have no value for them between centers,
    and a new point has that of the nearest center; through a ``basis``, of its nearest point.
    Components whose eigenvalue is zero to rounding are not given.

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
        neighbours(self.graph)

    def _operator(self) -> Operator:
        return NormalizedLaplacian(bool(self.self_affinity))

    @property
    def _graph(self) -> float | None:
        return neighbours(self.graph)
