"""The Nystrom extension of the paper: from landmarks to all data, and from these to new points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .eigensystem import EigenSystem, solve
from .matrices import ProductMatrix
from .operators import Centered, FittedOperator, Plain

Array = NDArray[np.floating]


def nystrom(
    kernel: RadialKernel,
    landmarks: ReducedSet,
    data: ReducedSet,
    n_components: int,
    *,
    center: bool,
) -> EigenSystem:
    """Extend eigenvectors of m weighted landmarks to all n points, and through these to others.

    With equal weights n / m these are Williams and Seeger's u = sqrt(m/n) K_nm U / lambda with
    eigenvalues (n/m) lambda of K_mm = U diag(lambda) U'; with those of a k-means clustering
    they are Zhang and Kwok's density-weighted ones.

    Parameters
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    landmarks : ReducedSet
        Landmarks with weights that sum to n.
    data : ReducedSet
        All points; the result keeps them.
    n_components : int
        r, the number of eigenpairs; fewer are returned if the others are zero up to rounding.
    center : bool
        Whether to center in feature space, which takes O(n^2) time.

    Returns
    -------
    EigenSystem
        The eigensystem over all points; each new point costs O(n).
    """
    X, weights = data.centers.astype(np.float64), data.weights
    few = solve(Centered() if center else Plain(), kernel, landmarks, n_components)
    functions = few.extend(X)
    fitted: FittedOperator = Plain()
    if center:
        fitted = Centered().fit(ProductMatrix(kernel, X), weights)
    coefficients = weights[:, None] * functions / few.eigenvalues
    return EigenSystem(
        kernel, fitted, data.centers, coefficients, few.eigenvalues, functions, few.trace
    )
