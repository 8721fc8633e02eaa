"""The Nystrom extension as in the paper: from landmarks to all data, from those to new points."""

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
    """Eigenvectors of all n points from m weighted landmarks; new points through all n.

    With equal weights n / m these are Williams and Seeger's u = sqrt(m/n) K_nm U / lambda with
    eigenvalues (n/m) lambda of K_mm = U diag(lambda) U'; with those of a k-means clustering
    they are Zhang and Kwok's density-weighted ones.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    landmarks : ReducedSet
        With weights that sum to n.
    data : ReducedSet
        All points, which the result keeps.
    n_components : int
        r, the eigenpairs wanted; fewer come back where the others are zero to rounding.
    center : bool
        About the mean in feature space, which takes O(n^2) time, or not.

    Returns
    -------
    EigenSystem
        Over all points: O(n) for each new one.
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
