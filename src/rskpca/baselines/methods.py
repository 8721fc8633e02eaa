"""Registry of all methods, for tests, experiments, benchmarks and the command line.

Each entry builds an estimator with ``fit`` and ``transform`` that computes or approximates kernel
PCA coordinates, so that methods can be compared with the same number of centers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from .. import embedding
from .._core.parallel import allowed_threads
from ..density import FastParzenDensity, HerdingDensity, KMeansDensity, ParingDensity
from ..embedding import NystromKernelPCA, ReducedSetKernelPCA, select_reduced_set
from ..kernels import Gaussian, RadialKernel
from .construction import construct_reduced_set
from .densities import SampledParingDensity
from .landmarks import IncompleteCholeskyKernelPCA, WeightedNystromKernelPCA
from .map_compression import compress_map, learn_map
from .randomized import ProjectedKernelPCA, SampledKernelPCA
from .sparse import SparseKernelPCA
from .subsampled import SubsampledKernelPCA

Setting = Mapping[str, Any]  # parameters of an estimator that change only its speed
MAX_DENSE = 3_000  # largest number of rows for the dense solver, which takes O(n^3) time


def _no_settings(n_rows: int) -> Sequence[Setting]:
    return ({},)


@dataclass(frozen=True)
class Method:
    """Method that computes or approximates kernel PCA."""

    title: str  # for display
    build: Callable[..., Any]  # takes (n_components, kernel, size, center, random_state)
    size: str | None = "n_centers"  # the kind of size: "n_centers", "ell" or None
    keeps_data: bool = False  # transform evaluates the kernel at all of the data
    random: bool = True  # the result depends on random_state
    gaussian: bool = False  # only Gaussian kernels are supported
    always_centered: bool = False  # the data are always centered in feature space
    slow: bool = False  # takes minutes for a few thousand rows and a few hundred centers
    # Function that takes the number of rows and returns settings, such as solvers, whose results
    # are equal up to rounding. Comparisons must use the fastest setting.
    settings: Callable[[int], Sequence[Setting]] = _no_settings

    def make(
        self,
        n_components: int,
        kernel: RadialKernel,
        size: float | None = None,
        *,
        center: bool = True,
        random_state: Any = 0,
    ) -> Any:
        """Return an unfitted estimator for a kernel with a numeric bandwidth."""
        if (size is None) != (self.size is None):
            wanted = "must be None" if self.size is None else f"must be a value of {self.size}"
            raise ValueError(f"size {wanted} for {self.title}, got {size!r}.")
        if self.gaussian and not isinstance(kernel, Gaussian):
            raise ValueError(f"{self.title} requires a Gaussian kernel, got {kernel!r}.")
        if self.always_centered and not center:
            raise ValueError(f"center must be True for {self.title}, got {center!r}.")
        return self.build(n_components, kernel, size, center, random_state)

    def fastest(self, n_rows: int, fit: Callable[[Setting], Any], rounds: int = 2) -> Setting:
        """Return the setting with the fastest ``fit(setting)``."""
        # All settings are timed in turn, over several rounds.
        settings = self.settings(n_rows)
        if len(settings) == 1:
            return settings[0]
        seconds = [[_seconds(fit, each) for each in settings] for _ in range(rounds)]
        return settings[int(np.argmin(np.min(seconds, axis=0)))]


def _seconds(fit: Callable[[Setting], Any], setting: Setting) -> float:
    start = time.perf_counter()
    fit(setting)
    return time.perf_counter() - start


# ------------------------------------------------------------------ settings


def _thread_counts() -> set[int | None]:
    """Return the values of ``n_jobs`` that are worth trying: the default and all threads."""
    return {None, allowed_threads()} - {1}


def _exact_settings(n_rows: int) -> Sequence[Setting]:
    """Return every combination of a ``KernelPCA`` solver and a number of threads."""
    solvers = ("arpack", "randomized", "dense")[: 3 if n_rows <= MAX_DENSE else 2]
    return [{"eigen_solver": s, "n_jobs": n} for s in solvers for n in _thread_counts()]


def _fourier_settings(n_rows: int) -> Sequence[Setting]:
    """Return the ``PCA`` solvers that are suited to few components."""
    return [{"pca__svd_solver": solver} for solver in ("auto", "randomized", "arpack")]


def _nystroem_settings(n_rows: int) -> Sequence[Setting]:
    """Return every combination of these ``PCA`` solvers and a number of threads."""
    return [
        {**setting, "nystroem__n_jobs": n}
        for setting in _fourier_settings(n_rows)
        for n in _thread_counts()
    ]


# ------------------------------------------------------------------ builders


def _build(method: Callable[..., Any], size_name: str | None = None, **options: Any) -> Any:
    """Return a builder that passes the size as the parameter ``size_name``."""

    def build(r: int, kernel: RadialKernel, size: float | None, center: bool, seed: Any) -> Any:
        sized = {} if size_name is None else {size_name: size}
        return method(r, kernel=kernel, center=center, random_state=seed, **sized, **options)

    return build


_shadow = partial(_build, ReducedSetKernelPCA, "ell")
_nystrom = partial(_build, NystromKernelPCA, "n_centers")
_exact = _build(ReducedSetKernelPCA, ell=np.inf)


def _with_density(density: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builder for kernel PCA on a density with ``n_centers`` centers."""

    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        made = density(size, random_state=seed)
        return ReducedSetKernelPCA(r, kernel=kernel, density=made, center=center, random_state=seed)

    return build


def _parzen(r: int, kernel: RadialKernel, size: float, center: bool, seed: Any) -> Any:
    density = FastParzenDensity(kernel.scale / size, random_state=seed)
    return ReducedSetKernelPCA(r, kernel=kernel, density=density, center=center, random_state=seed)


def _after(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        return AfterTraining(_exact(r, kernel, None, center, seed), reduce, size)

    return build


class AfterTraining(TransformerMixin, BaseEstimator):  # numpydoc ignore=PR01
    """Kernel PCA whose fitted ``model`` is reduced to ``n_centers`` points by ``reduce``."""

    def __init__(self, model: Any, reduce: Callable[..., Any], n_centers: int) -> None:
        self.model = model
        self.reduce = reduce
        self.n_centers = n_centers

    def fit(self, X: Any, y: Any = None) -> AfterTraining:
        """Fit the model and reduce it."""
        self.reduced_ = self.reduce(clone(self.model).fit(X), self.n_centers)
        return self

    def transform(self, X: Any) -> Any:
        """Return the coordinates of new points, computed from the remaining points."""
        check_is_fitted(self)
        return self.reduced_.transform(X)

    @property
    def basis_(self) -> Any:
        """The remaining points."""
        return self.reduced_.basis_

    @property
    def center(self) -> bool:
        """True if the model is centered in feature space."""
        return self.model.center


def _sklearn_exact(r: int, kernel: Any, size: None, center: bool, seed: Any) -> Any:
    return KernelPCA(r, kernel="rbf", gamma=kernel.gamma, random_state=seed)


def _on_features(features: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builder for PCA on ``size`` features computed by scikit-learn."""

    def build(r: int, kernel: Any, size: int, center: bool, seed: Any) -> Any:
        first = features(gamma=kernel.gamma, n_components=size, random_state=seed)
        return make_pipeline(first, PCA(r, random_state=seed))

    return build


# ------------------------------------------------------------------ measurements


def n_points(model: Any) -> int:
    """Return the number of basis points or random features of a fitted model."""
    if isinstance(model, KernelPCA | embedding.KernelPCA):
        return len(model.X_fit_)
    return int(model[0].n_components) if isinstance(model, Pipeline) else len(model.basis_)


def embedding_error(exact: Any, points: Any) -> float:
    """Return the relative error in the Frobenius norm, after the best linear alignment."""
    aligned = points @ np.linalg.lstsq(points, exact, rcond=None)[0]
    return float(np.linalg.norm(aligned - exact) / np.linalg.norm(exact))


METHODS: dict[str, Method] = {
    "kpca": Method("exact kernel PCA", _exact, None, keeps_data=True, random=False),
    "sklearn-kpca": Method(
        "scikit-learn KernelPCA",
        _sklearn_exact,
        None,
        keeps_data=True,
        random=False,
        gaussian=True,
        always_centered=True,
        settings=_exact_settings,
    ),
    "shadow": Method("ShDE + RSKPCA", _shadow(), "ell", random=False),
    "shadow-two-scales": Method(
        "ShDE + RSKPCA, two scales", _shadow(basis="auto"), "ell", random=False
    ),
    "shadow-refined": Method(
        "ShDE, Ritz on the data", _shadow(refine="nystrom"), "ell", random=False
    ),
    "shadow-two-scales-refined": Method(
        "ShDE, small basis, Ritz on the data",
        _shadow(basis="auto", refine="nystrom"),
        "ell",
        random=False,
    ),
    "kmeans": Method("k-means + RSKPCA", _with_density(KMeansDensity)),
    "paring": Method("KDE paring + RSKPCA", _with_density(ParingDensity)),
    "paring-covering": Method(
        "KDE paring, covering + RSKPCA", _with_density(partial(ParingDensity, covering=True))
    ),
    "paring-sampled": Method(
        "KDE paring, as published + RSKPCA", _with_density(SampledParingDensity)
    ),
    "parzen": Method("fast Parzen window + RSKPCA", _parzen, "ell", random=False),
    "herding": Method("herding + RSKPCA", _with_density(HerdingDensity), random=False),
    "subsampled": Method("subsampled KPCA", _build(SubsampledKernelPCA, "n_centers")),
    "nystrom": Method("Nystrom", _nystrom(landmarks="uniform", extension="data"), keeps_data=True),
    "wnystrom": Method(
        "WNystrom", _build(WeightedNystromKernelPCA, "n_centers", extension="data"), keeps_data=True
    ),
    "nystrom-landmarks": Method("Nystrom, landmarks kept", _nystrom(landmarks="uniform")),
    "nystrom-cholesky": Method(
        "Nystrom, pivoted Cholesky", _nystrom(landmarks="cholesky"), random=False
    ),
    "incomplete-cholesky": Method(
        "incomplete Cholesky, 0.1% of the trace",
        _build(IncompleteCholeskyKernelPCA, tol=1e-3),
        None,
        random=False,
    ),
    "sampled-gram": Method(
        "KPCA, m sampled entries per row", _build(SampledKernelPCA, "n_entries"), keeps_data=True
    ),
    "random-projection": Method(
        "KPCA, m random projections", _build(ProjectedKernelPCA, "n_directions"), keeps_data=True
    ),
    "nystrom-rpcholesky": Method("Nystrom, RPCholesky", _nystrom(landmarks="rpcholesky")),
    "nystrom-means": Method("Nystrom, means", _nystrom(landmarks="means")),
    "nystrom-leverage": Method("Nystrom, leverage scores", _nystrom(landmarks="leverage")),
    "selection": Method("KPCA, reduced-set selection", _after(select_reduced_set), random=False),
    "construction": Method(
        "KPCA, reduced-set construction",
        _after(construct_reduced_set),
        random=False,
        gaussian=True,
        slow=True,
    ),
    "map-compression": Method(
        "KPCA, kernel map compression",
        _after(compress_map),
        random=False,
        gaussian=True,
        slow=True,
    ),
    "learned-map": Method(
        "KPCA, map compression, learned bandwidths",
        _after(learn_map),
        random=False,
        gaussian=True,
        slow=True,
    ),
    "sparse": Method(
        "sparse KPCA", _build(SparseKernelPCA, "n_centers", ell=np.inf), random=False, slow=True
    ),
    "sklearn-nystroem": Method(
        "scikit-learn Nystroem + PCA",
        _on_features(partial(Nystroem, "rbf")),
        gaussian=True,
        always_centered=True,
        settings=_nystroem_settings,
    ),
    "fourier": Method(
        "random Fourier features + PCA",
        _on_features(RBFSampler),
        gaussian=True,
        always_centered=True,
        settings=_fourier_settings,
    ),
}
