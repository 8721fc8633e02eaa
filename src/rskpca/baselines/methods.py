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
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from .._core.parallel import allowed_threads
from ..density import FastParzenDensity, HerdingDensity, KMeansDensity, ParingDensity
from ..embedding import NystromKernelPCA, ReducedSetKernelPCA, select_reduced_set
from ..kernels import Gaussian, RadialKernel
from .construction import construct_reduced_set
from .incomplete_cholesky import IncompleteCholeskyKernelPCA
from .learned_map import learn_map
from .network import compress_map
from .pared import SampledParingDensity
from .randomized import ProjectedKernelPCA, SampledKernelPCA
from .sparse import SparseKernelPCA
from .subsampled import SubsampledKernelPCA
from .weighted_nystrom import WeightedNystromKernelPCA

Setting = Mapping[str, Any]  # parameters of an estimator that change only its speed
MAX_DENSE = 3_000  # rows up to which the dense solver is tried; its time grows as n^3


def _no_settings(n_rows: int) -> Sequence[Setting]:
    return ({},)


@dataclass(frozen=True)
class Method:
    """Method that computes or approximates kernel PCA.

    Attributes
    ----------
    title : str
        Name for display.
    build : callable
        Function of ``(n_components, kernel, size, center, random_state)`` that returns an
        estimator.
    size : {"n_centers", "ell", None}
        The parameter that sets the size of the model, or None if there is no such parameter.
    keeps_data : bool
        True if the kernel between a new point and all of the data is evaluated.
    random : bool
        True if the result depends on ``random_state``.
    gaussian : bool
        True if the method requires a Gaussian kernel.
    always_centered : bool
        True if the method always centers the data in feature space.
    slow : bool
        True if the method takes minutes for a few thousand rows and a few hundred centers.
    settings : callable
        Function of the number of rows that returns settings with the same result up to rounding,
        such as solvers. Comparisons must use the fastest; see :meth:`fastest`.
    """

    title: str
    build: Callable[..., Any]
    size: str | None = "n_centers"
    keeps_data: bool = False
    random: bool = True
    gaussian: bool = False
    always_centered: bool = False
    slow: bool = False
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
        """Return an unfitted estimator.

        Parameters
        ----------
        n_components : int
            Number of components.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.
        size : int or float, default=None
            The number of centers or ell, depending on the method's ``size`` attribute.
        center : bool, default=True
            Whether to center the data in feature space.
        random_state : int, RandomState or None, default=0
            Seed for methods that draw random numbers.

        Returns
        -------
        estimator
            An estimator with ``fit`` and ``transform``.
        """
        if (size is None) != (self.size is None):
            wanted = "must be None" if self.size is None else f"must be a value of {self.size}"
            raise ValueError(f"size {wanted} for {self.title}, got {size!r}.")
        if self.gaussian and not isinstance(kernel, Gaussian):
            raise ValueError(f"{self.title} requires a Gaussian kernel, got {kernel!r}.")
        if self.always_centered and not center:
            raise ValueError(f"center must be True for {self.title}, got {center!r}.")
        return self.build(n_components, kernel, size, center, random_state)

    def fastest(self, n_rows: int, fit: Callable[[Setting], Any], rounds: int = 2) -> Setting:
        """Return the setting with the shortest fit.

        Parameters
        ----------
        n_rows : int
            The number of rows to which the estimator is fitted.
        fit : callable
            Function of a setting that fits an estimator with these parameters.
        rounds : int, default=2
            Number of alternating fits per setting, of which the shortest counts.

        Returns
        -------
        Mapping
            Parameters for ``set_params`` of the estimator; empty if there is only one setting.
        """
        settings = self.settings(n_rows)
        if len(settings) == 1:
            return settings[0]
        seconds = [[_seconds(fit, each) for each in settings] for _ in range(rounds)]
        return settings[int(np.argmin(np.min(seconds, axis=0)))]


def _seconds(fit: Callable[[Setting], Any], setting: Setting) -> float:
    start = time.perf_counter()
    fit(setting)
    return time.perf_counter() - start


def _thread_counts() -> set[int | None]:
    """Return the values of ``n_jobs`` that are worth trying: the default and all threads."""
    return {None, allowed_threads()} - {1}


def _exact_settings(n_rows: int) -> Sequence[Setting]:
    """Return each solver of ``KernelPCA`` with each number of threads for the kernel matrix."""
    solvers = ("arpack", "randomized", "dense")[: 3 if n_rows <= MAX_DENSE else 2]
    return [{"eigen_solver": s, "n_jobs": n} for s in solvers for n in _thread_counts()]


def _nystroem_settings(n_rows: int) -> Sequence[Setting]:
    """Return each solver of ``PCA`` for few components, with each number of threads."""
    return [
        {"pca__svd_solver": solver, "nystroem__n_jobs": n}
        for solver in ("auto", "randomized", "arpack")
        for n in _thread_counts()
    ]


def _fourier_settings(n_rows: int) -> Sequence[Setting]:
    return [{"pca__svd_solver": solver} for solver in ("auto", "randomized", "arpack")]


def _reduced_set(density: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builder for kernel PCA on a density with ``n_centers`` centers."""

    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        made = density(size, random_state=seed)
        return ReducedSetKernelPCA(r, kernel=kernel, density=made, center=center, random_state=seed)

    return build


def _parzen(r: int, kernel: RadialKernel, size: float, center: bool, seed: Any) -> Any:
    density = FastParzenDensity(kernel.scale / size, random_state=seed)
    return ReducedSetKernelPCA(r, kernel=kernel, density=density, center=center, random_state=seed)


def _shadow(**options: Any) -> Callable[..., Any]:
    def build(r: int, kernel: RadialKernel, size: float, center: bool, seed: Any) -> Any:
        return ReducedSetKernelPCA(
            r, kernel=kernel, ell=size, center=center, random_state=seed, **options
        )

    return build


def _nystrom(rule: str, extension: str = "landmarks") -> Callable[..., Any]:
    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        return NystromKernelPCA(
            r, kernel=kernel, landmarks=rule, n_centers=size, extension=extension,
            center=center, random_state=seed,
        )  # fmt: skip

    return build


def _counted(method: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        return method(r, n_centers=size, kernel=kernel, center=center, random_state=seed, **options)

    return build


def _incomplete_cholesky(r: int, kernel: RadialKernel, size: None, center: bool, seed: Any) -> Any:
    return IncompleteCholeskyKernelPCA(r, tol=1e-3, kernel=kernel, center=center, random_state=seed)


def _sampled(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
    return SampledKernelPCA(r, n_entries=size, kernel=kernel, center=center, random_state=seed)


def _projected(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
    return ProjectedKernelPCA(r, n_directions=size, kernel=kernel, center=center, random_state=seed)


class AfterTraining(TransformerMixin, BaseEstimator):
    """Kernel PCA whose fitted model is reduced to fewer centers.

    Parameters
    ----------
    model : estimator
        An unfitted kernel PCA.
    reduce : callable
        Function of the fitted model and a number of centers that returns a transformer.
    n_centers : int
        Number of centers after the reduction.
    """

    def __init__(self, model: Any, reduce: Callable[..., Any], n_centers: int) -> None:
        self.model = model
        self.reduce = reduce
        self.n_centers = n_centers

    def fit(self, X: Any, y: Any = None) -> AfterTraining:
        """Fit the model and reduce it."""
        self.reduced_ = self.reduce(clone(self.model).fit(X), self.n_centers)
        return self

    def transform(self, X: Any) -> Any:
        """Return the coordinates of new points, computed from the remaining centers."""
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


def _after(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def build(r: int, kernel: RadialKernel, size: int, center: bool, seed: Any) -> Any:
        return AfterTraining(_exact(r, kernel, None, center, seed), reduce, size)

    return build


def _exact(r: int, kernel: RadialKernel, size: None, center: bool, seed: Any) -> Any:
    return ReducedSetKernelPCA(r, kernel=kernel, ell=np.inf, center=center, random_state=seed)


def _sklearn_exact(r: int, kernel: Any, size: None, center: bool, seed: Any) -> Any:
    return KernelPCA(r, kernel="rbf", gamma=kernel.gamma, random_state=seed)


def _sklearn_nystroem(r: int, kernel: Any, size: int, center: bool, seed: Any) -> Any:
    features = Nystroem(kernel="rbf", gamma=kernel.gamma, n_components=size, random_state=seed)
    return make_pipeline(features, PCA(r, random_state=seed))


def _fourier(r: int, kernel: Any, size: int, center: bool, seed: Any) -> Any:
    features = RBFSampler(gamma=kernel.gamma, n_components=size, random_state=seed)
    return make_pipeline(features, PCA(r, random_state=seed))


def n_points(model: Any) -> int:
    """Return the number of basis points or random features of a fitted model."""
    if hasattr(model, "basis_"):
        return len(model.basis_)
    if hasattr(model, "X_fit_"):
        return len(model.X_fit_)
    return int(model[0].n_components)


def embedding_error(exact: Any, points: Any) -> float:
    """Return the relative error of coordinates after the best linear alignment.

    Parameters
    ----------
    exact : ndarray of shape (n_samples, n_components)
        Coordinates computed by exact kernel PCA.
    points : ndarray of shape (n_samples, n_components)
        Coordinates of the same rows, computed by another method.

    Returns
    -------
    float
        Relative error in the Frobenius norm, as in section 6 of the paper.
    """
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
    "kmeans": Method("k-means + RSKPCA", _reduced_set(KMeansDensity)),
    "paring": Method("KDE paring + RSKPCA", _reduced_set(ParingDensity)),
    "paring-covering": Method(
        "KDE paring, covering + RSKPCA", _reduced_set(partial(ParingDensity, covering=True))
    ),
    "paring-sampled": Method(
        "KDE paring, as published + RSKPCA", _reduced_set(SampledParingDensity)
    ),
    "parzen": Method("fast Parzen window + RSKPCA", _parzen, "ell", random=False),
    "herding": Method("herding + RSKPCA", _reduced_set(HerdingDensity), random=False),
    "subsampled": Method("subsampled KPCA", _counted(SubsampledKernelPCA)),
    "nystrom": Method("Nystrom", _nystrom("uniform", "data"), keeps_data=True),
    "wnystrom": Method(
        "WNystrom", _counted(WeightedNystromKernelPCA, extension="data"), keeps_data=True
    ),
    "nystrom-landmarks": Method("Nystrom, landmarks kept", _nystrom("uniform")),
    "nystrom-cholesky": Method("Nystrom, pivoted Cholesky", _nystrom("cholesky"), random=False),
    "incomplete-cholesky": Method(
        "incomplete Cholesky, 0.1% of the trace", _incomplete_cholesky, None, random=False
    ),
    "sampled-gram": Method("KPCA, m sampled entries per row", _sampled, keeps_data=True),
    "random-projection": Method("KPCA, m random projections", _projected, keeps_data=True),
    "nystrom-rpcholesky": Method("Nystrom, RPCholesky", _nystrom("rpcholesky")),
    "nystrom-leverage": Method("Nystrom, leverage scores", _nystrom("leverage")),
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
    "sparse": Method("sparse KPCA", _counted(SparseKernelPCA, ell=np.inf), random=False, slow=True),
    "sklearn-nystroem": Method(
        "scikit-learn Nystroem + PCA",
        _sklearn_nystroem,
        gaussian=True,
        always_centered=True,
        settings=_nystroem_settings,
    ),
    "fourier": Method(
        "random Fourier features + PCA",
        _fourier,
        gaussian=True,
        always_centered=True,
        settings=_fourier_settings,
    ),
}
