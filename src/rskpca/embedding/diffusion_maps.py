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

# t="auto": the first component that is cut off counts at most this, relative to the first kept.
_CUT_OFF = 0.1


class DiffusionMaps(WalkEmbedding):
    """Diffusion maps (Coifman and Lafon, 2006) on a reduced set of the data.

    With q = K w, k_alpha(x, y) = k(x, y) / (q(x) q(y))^alpha and d = k_alpha w, a random walk
    goes from x to y with probability k_alpha(x, y) w(y) / d(x). A point's coordinates are
    lambda_l^t psi_l(x), with the walk's eigenvalues lambda_l and eigenfunctions psi_l. The result
    is the diffusion map of the data with each point moved to its center, at most sigma / ell away.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates; the constant function of eigenvalue 1 is left out.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None means the Gaussian, or the kernel of ``density`` if that has one.
    gamma : float, default=None
        scikit-learn's parameter for a kernel given by name: 1 / bandwidth^2 for the Gaussian.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance of a sample,
        which is wide; a curved sheet needs a bandwidth below the distance between its layers.
    density : density estimator, default=None
        How the reduced set is computed. None is ``ShadowDensity(ell=ell)``.
    ell : float, default=None
        Parameter of the shadow density if no ``density`` is given; None is 4.0. ``np.inf`` keeps
        every row and is the exact diffusion map.
    alpha : float, default=1.0
        From 0 to 1, how much of the sampling density is divided out. 1 shows the geometry
        independently of the density, 0 is the walk of the normalized Laplacian.
    t : float or "auto", default=1
        Time, not negative, not necessarily an integer. ``"auto"`` is the smallest time at which
        the components that are cut off count little, (lambda_{r+1} / lambda_1)^t <= 0.1, and 1 if
        none are cut off.
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
        Eigenvalues of the walk, descending, without the trivial 1.
    eigenvectors_ : ndarray of shape (n_centers, n_components)
        Unit eigenvectors of the symmetric form of the walk on the centers.
    t_ : float
        The time as a number.
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
    psi_l has mean 0 and mean square 1 under the stationary distribution, which is proportional
    to w d. So the Euclidean distance of two points' coordinates is their diffusion distance.

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
        check.number_within("alpha", self.alpha, 0, 1, "1 divides the sampling density out.")
        if not isinstance(self.t, str) or self.t != "auto":
            check.number_within("t", self.t, 0, np.inf, 'Or give "auto".')

    def _operator(self) -> Operator:
        return Diffusion(float(self.alpha))

    def _complete(self, model: FittedModel, cut_off: Array) -> FittedModel:
        """Scale to lambda^t psi(x), with psi of mean square 1 in the stationary distribution."""
        values = model.eigenvalues
        if isinstance(self.t, str):
            time = _smallest_time(values[0], cut_off[0]) if len(cut_off) else 1.0
        else:
            time = float(self.t)
        scale = np.sqrt(walk_measure(model.system).sum()) * values**time
        return replace(model, scale=scale, time=time)

    @property
    def t_(self) -> float:
        """The time as a number."""
        return cast(float, self.model_.time)

    def diffusion_distance(self, X: Any, Y: Any = None) -> Array:
        """Return the diffusion distances between points: how far apart walks are after t steps.

        D_t(x, y)^2 = sum_l lambda_l^{2t} (psi_l(x) - psi_l(y))^2, which is the squared
        difference of the probabilities of being at z after t steps, divided by the stationary
        distribution at z and summed over z. The first n_components terms are used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        Y : array-like of shape (n_others, n_features), default=None
            Other points; None is X.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
            Distances.
        """
        Z = self._embed(X)
        others = Z if Y is None else self._embed(Y)
        return cdist(Z, others).astype(Z.dtype, copy=False)


def _smallest_time(first: float, cut_off: float) -> float:
    """Return the smallest t at which the eigenvalue that is cut off counts little."""
    return float(np.log(_CUT_OFF) / np.log(cut_off / first)) if cut_off < first else 1.0
