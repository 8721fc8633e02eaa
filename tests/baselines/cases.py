"""Models fitted to real data, and their axes computed with dense linear algebra."""

from functools import cache

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA
from tests import datasets, dense

BANDWIDTHS = {"german": 30.0, "digits": 60.0}


@cache
def case(name, center=False, n_components=4):
    """Return training rows, new rows, and an exact kernel PCA model of the training rows."""
    X = datasets.load(name, step={"german": 4, "digits": 9}[name])
    model = ReducedSetKernelPCA(
        n_components, kernel=Gaussian(BANDWIDTHS[name]), ell=np.inf, center=center
    )
    cut = int(0.8 * len(X))
    return X[:cut], X[cut:], model.fit(X[:cut])


def kernel(name, X, Y):
    return np.exp(dense.log_kernel(Gaussian(BANDWIDTHS[name]), X, Y))


def dense_axes(name, center, n_components=4):
    """Return the coefficients of the unit axes on all training rows, signed as in the model."""
    X, _, model = case(name, center, n_components)
    n = len(X)
    centering = np.eye(n) - 1 / n if center else np.eye(n)
    values, vectors = np.linalg.eigh(centering @ kernel(name, X, X) @ centering)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    V = centering @ vectors / np.sqrt(values)
    return V * np.sign(np.sum(vectors * model.eigensystem_.functions, axis=0))


def project_densely(name, center, Z, points):
    """Return coordinates with respect to the exact axes projected onto the span of Z."""
    X, _, _ = case(name, center)
    A = np.linalg.lstsq(
        kernel(name, Z, Z), kernel(name, Z, X) @ dense_axes(name, center), rcond=None
    )[0]
    mean = kernel(name, X, Z).mean(axis=0) if center else 0
    return (kernel(name, points, Z) - mean) @ A


each = pytest.mark.parametrize("name", BANDWIDTHS)
centered_or_not = pytest.mark.parametrize("center", [False, True])
