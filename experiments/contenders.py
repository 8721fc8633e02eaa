"""Methods that the paper compares, and today's alternatives from scikit-learn.

As in the paper, the methods do not center the data in feature space, except for those from
scikit-learn, which always do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline

from rskpca import Gaussian, KMeansDensity, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines import WeightedNystromKernelPCA
from rskpca.baselines.methods import METHODS

from .data.dataset import Floats

CENTERED = ("sklearn-kpca", "sklearn-nystroem")


def make(name: str, rank: int, kernel: Gaussian, size: float | None, seed: int) -> Any:
    """Return an unfitted estimator; ``size`` is ell, a number of centers, or None."""
    if name == "kpca-dense":
        return DenseKernelPCA(rank, kernel)
    if name == "shadow":  # without the sums for a certificate, which the paper does not have
        density = ShadowDensity(ell=size, sample_size=0)
        return ReducedSetKernelPCA(rank, kernel=kernel, density=density, center=False)
    return METHODS[name].make(rank, kernel, size, center=name in CENTERED, random_state=seed)


def make_fastest(
    name: str, rank: int, kernel: Gaussian, size: float | None, seed: int, X: Floats
) -> Any:
    """Return an unfitted estimator with the solver that fits these rows in the shortest time."""
    model = make(name, rank, kernel, size, seed)
    if name not in CENTERED:
        return model
    fit = lambda setting: clone(model).set_params(**setting).fit(X)  # noqa: E731
    return model.set_params(**METHODS[name].fastest(len(X), fit, 1))


class DenseKernelPCA:
    """Kernel PCA from all eigenvectors of the kernel matrix, in O(n^3) as the paper assumes.

    Parameters
    ----------
    rank : int
        Number of components to keep, r.
    kernel : Gaussian
        Kernel with a numeric bandwidth.
    """

    def __init__(self, rank: int, kernel: Gaussian) -> None:
        self.rank, self.kernel = rank, kernel

    def fit(self, X: Floats) -> Self:
        """Decompose k(X, X)."""
        gram = rbf_kernel(X, gamma=self.kernel.gamma)
        values, vectors = eigh(gram, overwrite_a=True, check_finite=False)
        self.X_ = X
        self.eigenvalues_ = values[: -self.rank - 1 : -1]
        self.coefficients_ = vectors[:, : -self.rank - 1 : -1] / np.sqrt(self.eigenvalues_)
        return self

    def transform(self, X: Floats) -> Floats:
        """Project rows onto the components."""
        return rbf_kernel(X, self.X_, gamma=self.kernel.gamma) @ self.coefficients_


class _PreclusteredNystrom(WeightedNystromKernelPCA):
    """Weighted Nystrom method for given clusters."""

    means: ReducedSet

    def _choose_means(self, rows: Any) -> tuple[Any, ReducedSet]:
        return self.kernel, self.means


class Clusters:
    """One k-means clustering for both methods that need it; its time counts for both.

    Parameters
    ----------
    rank : int
        Number of components, r.
    kernel : Gaussian
        Kernel with a numeric bandwidth.
    n_centers : int
        Number of clusters, m.
    seed : int
        Random seed for k-means.
    """

    EXTENSIONS: Mapping[str, str] = MappingProxyType({"kmeans": "landmarks", "wnystrom": "data"})

    def __init__(self, rank: int, kernel: Gaussian, n_centers: int, seed: int) -> None:
        self.rank, self.kernel = rank, kernel
        self.density = KMeansDensity(n_centers, kernel=kernel, random_state=seed)

    def fit(self, X: Floats) -> Self:
        """Cluster the rows."""
        self.density.fit(X)
        return self

    def make(self, name: str) -> Any:
        """Return an unfitted RSKPCA or WNystrom estimator on the cluster means."""
        model = _PreclusteredNystrom(
            self.rank, kernel=self.kernel, extension=self.EXTENSIONS[name], center=False
        )
        model.means = self.density.reduced_set_
        return model


def eigenvalues(model: Any, n_samples: int) -> Floats:
    """Return the eigenvalues of the operator, which are those of the Gram matrix divided by n."""
    if isinstance(model, Pipeline):  # PCA of the features divides by n - 1
        return model[-1].explained_variance_ * (n_samples - 1) / n_samples
    return np.asarray(model.eigenvalues_) / n_samples


@cache
def warm_up(n_features: int, *names: str) -> None:
    """Run each method once, so that no compilation or import is timed."""
    rows = np.random.default_rng(0).normal(size=(300, n_features))
    for name in names:
        size = {"shadow": 3.0, "kpca-dense": None}.get(name, 20)
        if name in METHODS and METHODS[name].size is None:
            size = None
        make(name, 3, Gaussian(2.0 * n_features**0.5), size, 0).fit(rows).transform(rows)
