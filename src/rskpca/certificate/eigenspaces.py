"""Theorem 5.4, on the projections P^D(K_n) and P^D(K-bar_n) onto the leading eigenfunctions.

Let B be the difference between the two operators, and gap = lambda_D - lambda_{D+1} the eigengap of
one of them. Then ||P - P-bar||_HS <= ||B||_HS / delta_D, where delta_D is half the gap, if
||B||_HS < delta_D / 2 (Zwald and Blanchard, Theorem 3). The Davis-Kahan theorem is sharper: the
sines of the angles between the two spaces satisfy ||sin||_F <= ||B||_HS / (gap - ||B||_HS), because
the eigenvalue on the other side of the gap moves by at most ||B||_HS (Weyl). ||P - P-bar||_HS is
sqrt(2) times ||sin||_F.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import Centered, Plain, solve
from . import hilbert_schmidt

Array = NDArray[np.floating]


def bound(
    kernel: RadialKernel, gap: float, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """Return the bound of Theorem 5.4 on ||P^D(K_n) - P^D(K-bar_n)||_HS, from ell or the radius.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    gap : float
        lambda_D - lambda_{D+1} for eigenvalues divided by n; delta_D is half of it.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.

    Returns
    -------
    float or None
        The bound; None if the gap is too small for the theorem's condition, or if no bound on the
        operator error is known.
    """
    error = hilbert_schmidt.bound(kernel, ell, radius=radius)
    return None if error is None else zwald_blanchard(error, gap)


def zwald_blanchard(error: float, gap: float) -> float | None:
    """Return a bound on ||P - P-bar||_HS from ||K_n - K-bar_n||_HS; None unless error < gap / 4."""
    return 2 * error / gap if error < gap / 4 else None


def davis_kahan(error: float, gap: float) -> float | None:
    """Return a bound on ||sin||_F between the eigenspaces; None unless error < gap / 2."""
    return error / (gap - error) if error < gap / 2 else None


def measure(
    kernel: RadialKernel,
    X: Array,
    reduced_set: ReducedSet,
    n_components: int,
    sample_weight: Array | None = None,
    *,
    center: bool = False,
) -> float:
    """Compute ||P^D(K_n) - P^D(K-bar_n)||_HS by solving exact kernel PCA of the data.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    reduced_set : ReducedSet
        The reduced set of the data.
    n_components : int
        The number D of eigenfunctions.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    center : bool, default=False
        If True, compare the centered operators.

    Returns
    -------
    float
        The norm, a number between 0 and sqrt(2 D).
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    operator = Centered() if center else Plain()
    exact = solve(operator, kernel, ReducedSet(X, weights), n_components)
    reduced = solve(operator, kernel, reduced_set, n_components)
    values = reduced.extend(X.astype(np.float64)) * np.sqrt(reduced.eigenvalues)
    if center:
        values -= weights @ values / weights.sum()
    cosines = (exact.coefficients * np.sqrt(exact.eigenvalues)).T @ values
    missing = 0.5 * sum(cosines.shape) - float((cosines**2).sum())
    return math.sqrt(2 * max(missing, 0.0))
