"""Diffusion maps on a reduced set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy.spatial.distance import cdist

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..model import FittedModel
from ..spectral import Diffusion, Operator
from ._base import Array
from ._walk import WalkEmbedding, walk_measure

# t="auto" scales the first dropped component to at most this fraction of the first kept one.
_CUT_OFF = 0.1


class DiffusionMaps(WalkEmbedding):
    """Diffusion maps (Coifman and Lafon, 2006) on a reduced set of the data.

    With q = K w, k_alpha(x, y) = k(x, y) / (q(x) q(y))^alpha and d = k_alpha w, a random walk
    moves from x to y with probability k_alpha(x, y) w(y) / d(x). The coordinates of a point are
    lambda_l^t psi_l(x), where lambda_l and psi_l are the eigenvalues and eigenfunctions of the
    walk. The result is the diffusion map of the data after each point has been moved to its
    center, at most sigma / ell away.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, not counting the constant eigenfunction with eigenvalue 1.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the kernel of ``density`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
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
        with ``density``. ``np.inf`` keeps every row and computes the exact diffusion map.
    alpha : float, default=1.0
        Exponent between 0 and 1 with which the sampling density is divided out. With 1, the map
        reflects the geometry regardless of the density; 0 gives the walk of the normalized
        Laplacian.
    t : float or "auto", default=1
        Diffusion time, non-negative and not necessarily an integer. ``"auto"`` chooses the
        smallest time at which the dropped components are negligible,
        (lambda_{r+1} / lambda_1)^t <= 0.1, or 1 if no components are dropped.
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
        Eigenvalues of the walk in descending order, without the trivial eigenvalue 1.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the symmetric form of the walk on the centers.
    t_ : float
        The diffusion time used.
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
    psi_l has mean 0 and mean square 1 under the stationary distribution, which is proportional
    to w d. The Euclidean distance between the coordinates of two points is therefore their
    diffusion distance.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import DiffusionMaps
    >>> angles = np.random.default_rng(0).vonmises(0.0, 2.0, size=3000)  # 55 times denser at 0
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> model = DiffusionMaps(2, bandwidth=0.3).fit(circle)
    >>> radii = np.linalg.norm(model.transform(circle), axis=1)
    >>> bool(radii.std() < 0.1 * radii.mean())
    True
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
        alpha: float = 1.0,
        t: float | str = 1,
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
        self.alpha = alpha
        self.t = t
        self.basis = basis
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.number_within("alpha", self.alpha, 0, 1, "Use 1 to divide out the sampling density.")
        if not isinstance(self.t, str) or self.t != "auto":
            check.number_within("t", self.t, 0, np.inf, 'Use "auto" to choose t automatically.')

    def _operator(self) -> Operator:
        return Diffusion(float(self.alpha))

    def _complete(self, model: FittedModel, cut_off: Array) -> FittedModel:
        """Scale the coordinates to lambda^t psi(x), where psi has stationary mean square 1."""
        values = model.eigenvalues
        if isinstance(self.t, str):
            time = _smallest_time(values[0], cut_off[0]) if len(cut_off) else 1.0
        else:
            time = float(self.t)
        scale = np.sqrt(walk_measure(model.system).sum()) * values**time
        return replace(model, scale=scale, time=time)

    @property
    def t_(self) -> float:
        """The diffusion time used."""
        return cast(float, self.model_.time)

    def diffusion_distance(self, X: Any, Y: Any = None) -> Array:
        """Return the pairwise diffusion distances between points.

        The diffusion distance measures how much two walks, started at x and y, differ after t
        steps: D_t(x, y)^2 = sum_l lambda_l^{2t} (psi_l(x) - psi_l(y))^2. This equals the squared
        difference between the probabilities of being at z after t steps, divided by the stationary
        distribution at z and summed over z. Only the first n_components terms are used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.
        Y : array-like of shape (n_others, n_features), default=None
            Other points. None means X.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
            The diffusion distances.
        """
        Z = self._embed(X)
        others = Z if Y is None else self._embed(Y)
        return cdist(Z, others).astype(Z.dtype, copy=False)


def _smallest_time(first: float, cut_off: float) -> float:
    """Return the smallest t at which (cut_off / first)^t is at most ``_CUT_OFF``."""
    return float(np.log(_CUT_OFF) / np.log(cut_off / first)) if cut_off < first else 1.0
