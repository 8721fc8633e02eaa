"""One model of every kind that can be saved."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    FastParzenDensity,
    Gaussian,
    HerdingDensity,
    KernelPCA,
    KernelPCANovelty,
    KMeansDensity,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ParingDensity,
    ReducedSet,
    ReducedSetKernelPCA,
    ReweightedDensity,
    ShadowDensity,
    WindowDensity,
    merge,
    select_reduced_set,
)
from rskpca.baselines import (
    SparseKernelPCA,
    SubsampledKernelPCA,
    UniformDensity,
    WeightedNystromKernelPCA,
)
from rskpca.kernels import NamedKernel
from tests import datasets

ROWS, NEW = 120, 40


@cache
def data(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Return training rows and new rows."""
    X = datasets.blobs(ROWS + NEW, 3, dtype=dtype)
    return X[:ROWS], X[ROWS:]


def _fit_in_chunks(model: Any, X: np.ndarray) -> Any:
    """Fit three chunks and forget ten rows, which leaves the eigenproblem unsolved."""
    for chunk in np.array_split(X, 3):
        model.partial_fit(chunk)
    return model.forget(X[-20:-10])


def _fit_weighted_chunks(model: Any, X: np.ndarray) -> Any:
    """Fit three chunks, one of them weighted."""
    first, second, third = np.array_split(X, 3)
    model.partial_fit(first).partial_fit(second, sample_weight=np.linspace(0, 3, len(second)))
    return model.partial_fit(third)


def _merge(model: Any, X: np.ndarray) -> Any:
    return merge(*(clone(model).fit(chunk) for chunk in np.array_split(X, 3)))


def _fit(model: Any) -> Callable[[np.ndarray], Any]:
    return lambda X: clone(model).fit(X)


def _stream(model: Any) -> Callable[[np.ndarray], Any]:
    return lambda X: _fit_in_chunks(clone(model), X)


_K = Gaussian(4.0)
_WINDOW = WindowDensity(60, ShadowDensity(_K))
# Centers expire after 16 rows, and the weights are rescaled after 179 rows (256 half-lives).
_FADING = FadingDensity(0.7, ShadowDensity(_K))

CASES: dict[str, Callable[[np.ndarray], Any]] = {
    "gaussian": lambda X: Gaussian(1.5),
    "laplacian, median": lambda X: Laplacian(),
    "reduced set": lambda X: ReducedSet(X, np.arange(1.0, len(X) + 1)),
    "shadow set": lambda X: ShadowDensity(_K).fit(X).reduced_set_,
    "eigensystem": lambda X: ReducedSetKernelPCA(2, kernel=_K).fit(X).eigensystem_,
    "certificate": lambda X: ReducedSetKernelPCA(2, kernel=_K).fit(X).certificate_,
    "certificate, measured": lambda X: ReducedSetKernelPCA(2, kernel=_K).fit(X).certify(X),
    "certificate, refined": lambda X: (
        ReducedSetKernelPCA(2, kernel=_K, refine="nystrom").fit(X).certificate_
    ),
    "row sample": lambda X: ShadowDensity(_K, sample_size=50).fit(X).reduced_set_.sample,
    "shadow": _fit(ShadowDensity(_K)),
    "shadow, unfitted": lambda X: ShadowDensity("laplacian", ell=np.inf, tol=np.float64(0.5)),
    "shadow, every row": _fit(ShadowDensity(ell=np.inf)),
    "shadow, stream": _stream(ShadowDensity(_K)),
    "shadow, small sample": _fit(ShadowDensity(_K, sample_size=np.int64(50))),
    "shadow, no sample, stream": _stream(ShadowDensity(_K, sample_size=0)),
    "shadow, small sample, stream": _stream(ShadowDensity(_K, sample_size=50)),
    "shadow, bounded": _fit(ShadowDensity(_K, ell=9.0, max_centers=12)),
    "shadow, weights": lambda X: ShadowDensity(_K).fit(X, sample_weight=np.linspace(0, 1, len(X))),
    "shadow, merged": lambda X: _merge(ShadowDensity(_K), X),
    "shadow, warm": lambda X: ShadowDensity(_K, warm_start=True).fit(X[:60]).fit(X[60:]),
    "window": _fit(WindowDensity(60, ShadowDensity(_K))),
    "window, unfitted": lambda X: WindowDensity(7, kernel=_K),
    "window, stream": _stream(WindowDensity(60, ShadowDensity(_K, ell=6.0))),
    "window, not full, stream": _stream(WindowDensity(500, ShadowDensity(_K))),
    "window, every row": _fit(WindowDensity(60, ShadowDensity(_K, ell=np.inf))),
    "window, weights": lambda X: _fit_weighted_chunks(WindowDensity(70, ShadowDensity(_K)), X),
    "fading": _fit(FadingDensity(30.0, ShadowDensity(_K))),
    "fading, stream": lambda X: _fit_weighted_chunks(clone(_FADING), X),
    "fading, small sample, stream": lambda X: _fit_weighted_chunks(
        FadingDensity(0.7, ShadowDensity(_K, sample_size=30)), X
    ),
    "fading, every row, stream": lambda X: _fit_weighted_chunks(
        FadingDensity(0.3, ShadowDensity(_K, ell=np.inf, sample_size=0)), X
    ),
    "kmeans": _fit(KMeansDensity(9)),
    "uniform": _fit(UniformDensity(9)),
    "paring": _fit(ParingDensity(9, covering=True)),
    "herding": _fit(HerdingDensity(9)),
    "parzen": _fit(FastParzenDensity(2.0, covariance="full")),
    "reweighted": _fit(ReweightedDensity(ShadowDensity(_K), "means")),
    "kernel pca": _fit(ReducedSetKernelPCA(2, kernel=_K)),
    "kernel pca, unfitted": lambda X: ReducedSetKernelPCA(3, density=KMeansDensity(4), ell=None),
    "kernel pca, plain": _fit(ReducedSetKernelPCA(2, kernel="laplacian", center=False)),
    "kernel pca, stream": _stream(ReducedSetKernelPCA(2, kernel=_K)),
    "kernel pca, two scales": _fit(ReducedSetKernelPCA(2, kernel=_K, ell=8.0, basis=9)),
    "kernel pca, refined": _fit(ReducedSetKernelPCA(2, kernel=_K, refine="nystrom")),
    "kernel pca, a basis": lambda X: ReducedSetKernelPCA(
        2, kernel=_K, basis=ReducedSet(X[:9], np.ones(9))
    ).fit(X),
    "kernel pca, merged": lambda X: _merge(ReducedSetKernelPCA(2, kernel=_K), X),
    "kernel pca, window": _fit(ReducedSetKernelPCA(2, density=_WINDOW)),
    "kernel pca, window, stream": _stream(ReducedSetKernelPCA(2, density=_WINDOW)),
    "kernel pca, fading": _fit(ReducedSetKernelPCA(2, density=FadingDensity(30.0, kernel=_K))),
    "nystrom": _fit(NystromKernelPCA(2, kernel=_K, landmarks="rpcholesky", n_centers=9)),
    "nystrom, polynomial": _fit(NystromKernelPCA(2, kernel=NamedKernel("poly"), landmarks=9)),
    "nystrom, means": _fit(NystromKernelPCA(2, kernel=_K, landmarks="means", n_centers=9)),
    "nystrom, stream": _stream(NystromKernelPCA(2, kernel=_K, landmarks="means", n_centers=9)),
    "nystrom, shared": lambda X: _merge(
        NystromKernelPCA(
            2,
            kernel=_K,
            landmarks=NystromKernelPCA(2, kernel=_K, landmarks="means", n_centers=9, n_axes=2)
            .fit(X)
            .shared_landmarks_,
        ),
        X,
    ),
    "nystrom, data": _fit(NystromKernelPCA(2, kernel=_K, landmarks=9, extension="data")),
    "nystrom, given": lambda X: NystromKernelPCA(2, kernel=_K, landmarks=X[:9]).partial_fit(X),
    "weighted nystrom": _fit(WeightedNystromKernelPCA(2, kernel=_K, n_centers=9)),
    "drop-in, exact": _fit(KernelPCA(2, kernel=_K, fit_inverse_transform=True)),
    "drop-in, linear": _fit(KernelPCA(2)),
    "drop-in, a part": lambda X: KernelPCA(2, kernel="rbf").partial_fit(X),
    "drop-in, precomputed": lambda X: KernelPCA(2, kernel="precomputed").fit(X[:3] @ X[:3].T),
    "subsampled": _fit(SubsampledKernelPCA(2, kernel=_K, n_centers=9)),
    "sparse": _fit(SparseKernelPCA(2, kernel=_K, n_centers=9)),
    "compressed": lambda X: select_reduced_set(ReducedSetKernelPCA(2, kernel=_K).fit(X), 9),
    "diffusion maps": _fit(DiffusionMaps(2, kernel=_K, t="auto")),
    "diffusion maps, stream": _stream(DiffusionMaps(2, kernel=_K)),
    "diffusion maps, basis": _fit(DiffusionMaps(2, kernel=_K, ell=8.0, basis=9)),
    "diffusion maps, window, stream": _stream(DiffusionMaps(2, density=_WINDOW)),
    "laplacian eigenmaps": _fit(LaplacianEigenmaps(2, kernel=_K)),
    "laplacian eigenmaps, nearest": _fit(LaplacianEigenmaps(2, kernel=_K, ell=8.0, graph=30)),
    "laplacian eigenmaps, cut-off": _fit(LaplacianEigenmaps(2, kernel=_K, ell=8.0, graph=30.0)),
    "normalized cut": _fit(NormalizedCut(3, kernel=_K)),
    "normalized cut, pivots": _fit(NormalizedCut(3, kernel=_K, assign_labels="cluster_qr")),
    "novelty": _fit(KernelPCANovelty()),
    "novelty, stream": _stream(KernelPCANovelty(ReducedSetKernelPCA(2, kernel=_K))),
    "novelty, window, stream": _stream(KernelPCANovelty(ReducedSetKernelPCA(2, density=_WINDOW))),
    "novelty, merged": lambda X: _merge(KernelPCANovelty(ReducedSetKernelPCA(2, kernel=_K)), X),
    "scaler": _fit(StandardScaler()),
    "pipeline": _fit(make_pipeline(StandardScaler(), ReducedSetKernelPCA(2, bandwidth=2.0))),
}
