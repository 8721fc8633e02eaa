"""Nystrom extension as in the paper: from landmarks to all data, and then to new points."""

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
    """Extend the eigenvectors of m weighted landmarks to n points, and from these to new points.

    With equal weights n / m, this is the method of Williams and Seeger: the eigenvectors are
    u = sqrt(m/n) K_nm U / lambda, with eigenvalues (n/m) lambda, where K_mm = U diag(lambda) U'.
    With the weights of a k-means clustering, it is Zhang and Kwok's density-weighted method.

    Parameters
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    landmarks : ReducedSet
        Landmarks with weights that sum to n.
    data : ReducedSet
        All points; they are stored in the result.
    n_components : int
        Number of eigenpairs, r. Fewer are returned if the others are zero up to rounding error.
    center : bool
        Whether to center in feature space, which takes O(n^2) time.

    Returns
    -------
    EigenSystem
        The eigensystem over all points. Evaluating it at a new point takes O(n) time.
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
