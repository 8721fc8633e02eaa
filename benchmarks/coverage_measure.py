"""True errors of models, and the limits of their certificates for several row samples.

Exact kernel PCA, or the exact walk on all rows, is computed once per data set and kernel. The
constants of the certificate were chosen on the data sets in ``TUNED``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits, make_blobs, make_moons, make_swiss_roll

from rskpca import (
    DiffusionMaps,
    Gaussian,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    merge,
)
from rskpca.baselines.methods import embedding_error
from rskpca.certificate import Certificate, WalkAnalysis, hilbert_schmidt, mmd
from rskpca.certificate.sampled import Analysis, Limits
from rskpca.kernels import RadialKernel
from rskpca.model import FittedModel
from rskpca.row_sample import RowSample

from .datasets import BY_NAME, Data, Floats

ELLS, COMPONENTS = (3.0, 4.0, 5.0), (2, 5, 10)
# Norms are also limited for large radii, because the rows of one-hot data are their own centers
# otherwise. Their limits take little time, so there are many samples.
NORM_ELLS, NORM_SEEDS, NORM_SEEDS_QUICK = (1.5, *ELLS), 40, 2
PARTS = 4  # models that are merged
KINDS: dict[str, dict[str, str]] = {
    "plain": {},
    "auto": {"basis": "auto"},
    "refined": {"basis": "auto", "refine": "nystrom"},
}
WALKS = DiffusionMaps, LaplacianEigenmaps, NormalizedCut
PUBLISHED = ("pendigits", "covtype, 10 columns", "usps", "skin", "magic", "german")
GENERATED: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "digits": lambda n, rng: load_digits().data[:n],
    "blobs": lambda n, rng: make_blobs(n, 8, centers=6, random_state=0)[0],
    "moons": lambda n, rng: make_moons(n, noise=0.05, random_state=0)[0],
    "swiss roll": lambda n, rng: make_swiss_roll(n, random_state=0)[0],
    "normal": lambda n, rng: rng.normal(size=(n, 10)) / np.arange(1, 11),
    "sorted": lambda n, rng: np.sort(rng.normal(size=(n, 1)), axis=0),
    "lattice": lambda n, rng: rng.integers(0, 12, size=(n, 3)).astype(float),
    "one-hot": lambda n, rng: np.eye(6)[rng.integers(0, 6, size=(n, 4))].reshape(n, -1),
    "duplicates": lambda n, rng: rng.normal(size=(n // 10, 5))[rng.integers(0, n // 10, n)],
    "Cauchy": lambda n, rng: rng.standard_t(1.5, size=(n, 4)),
}
SETS = (*PUBLISHED, *GENERATED)
TUNED = ("pendigits", "covtype, 10 columns", "moons", "swiss roll", "sorted", "lattice", "Cauchy")
WALK_SETS = ("pendigits", "covtype, 10 columns", "skin", "blobs", "moons", "swiss roll")
WALK_COMPONENTS = 3
WALK_ROWS, WALK_ROWS_QUICK = 1_500, 400
ROWS, ROWS_QUICK = 2_500, 400
# Shares of the rows in the samples. Samples of 1,000 and 500 out of 2,500 rows have the sampling
# errors of about 1,700 and 600 rows out of many. The search for a basis estimates errors from 600.
SHARES = 0.4, 0.2
SEEDS = 5  # number of samples of each size
CONFIDENCE = 0.95
WIDE = 20  # data with more features are slow and used only with the Gaussian
LAPLACIAN_COMPONENTS = (5,)

Record = dict[str, Any]


def load(name: str, n: int) -> Data:
    """Return the rows of a data set, published or generated."""
    if name in GENERATED:
        return Data(GENERATED[name](n, np.random.default_rng(0)), "")
    return BY_NAME[name](n)


def measure_set(name: str, quick: bool) -> Record:
    """Return the true errors and the limits of all models of a data set."""
    X, stand_in = load(name, ROWS_QUICK if quick else ROWS)
    samples = Samples.of(X, quick)
    records = []
    for family in (Gaussian, Laplacian):
        if family is Gaussian or X.shape[1] <= WIDE:
            records += list(_kernel_pca(X, family().resolve(X), samples))
            records += list(_norms(X, family().resolve(X), samples))
    if name in WALK_SETS:
        X = X[: WALK_ROWS_QUICK if quick else WALK_ROWS]
        records += list(_walks(X, Samples.of(X, quick)))
    return {"data": name, "shape": X.shape, "stand_in": stand_in, "models": records}


@dataclass(frozen=True)
class Samples:
    """Sizes of the row samples, and the number of samples of each size."""

    X: Floats
    sizes: list[int]
    n_seeds: int

    @classmethod
    def of(cls, X: Floats, quick: bool) -> Samples:
        """Return the sample sizes for a data set."""
        return cls(X, [int(share * len(X)) for share in SHARES], 1 if quick else SEEDS)

    def draw(self, labels: Any) -> list[list[RowSample]]:
        """Return one list of row samples per size."""
        weights = np.ones(len(self.X))
        drawn = [RowSample.of(self.X, weights, labels, seed) for seed in range(self.n_seeds)]
        return [[sample.head(size) for sample in drawn] for size in self.sizes]


def _certify(model: FittedModel, samples: list[RowSample]) -> list[Certificate]:
    """Return the certificates of a model for several samples."""
    sets = [replace(model.reduced_set, sample=sample) for sample in samples]
    return [replace(model, reduced_set=s).certificate for s in sets]  # type: ignore[misc]


def _kernel_pca(X: Floats, kernel: RadialKernel, samples: Samples) -> Iterator[Record]:
    exact, values = _exact(X, kernel)
    sizes = COMPONENTS if isinstance(kernel, Gaussian) else LAPLACIAN_COMPONENTS
    for ell in ELLS:
        labels = ShadowDensity(kernel, ell).fit(X).labels_
        for kind, options in KINDS.items():
            for r in sizes:
                model = ReducedSetKernelPCA(r, kernel=kernel, ell=ell, **options).fit(X).model_
                if len(model.eigenvalues) < r:
                    continue
                true = embedding_error(exact[:, :r], model.embed(X))
                assert model.analysis is not None
                wide = replace(model, wider=model.analysis.system)  # solve for more axes only once
                certificates = [_certify(wide, drawn) for drawn in samples.draw(labels)]
                record = {"method": type(kernel).__name__, "kind": kind, "ell": ell, "r": r}
                yield record | _compare(model, certificates, true, values[:r])
        merged = (_merged(X, kernel, ell, exact[:, :r], samples) for r in sizes)
        yield from (record for record in merged if record is not None)


def _merged(
    X: Floats, kernel: RadialKernel, ell: float, exact: Floats, samples: Samples
) -> Record | None:
    """Return the error and its limits for a model merged from models of parts of the rows.

    The result is None if the model has fewer components than requested.
    """
    r, limits = exact.shape[1], []
    for seed in range(samples.n_seeds):
        shadow = ShadowDensity(kernel, ell, sample_size=samples.sizes[0], random_state=seed)
        parts = np.array_split(X, PARTS)
        model = merge(*(ReducedSetKernelPCA(r, density=shadow).fit(part) for part in parts))
        if len(model.eigenvalues_) < r:
            return None
        found = model.certificate_.embedding
        limits += [] if found is None else [_short(found.limit)]
    true = embedding_error(exact, model.transform(X))
    case = {"method": "merged", "kind": "merged", "ell": ell, "r": r, "centers": model.n_centers_}
    return case | {"true": _short(true), "limits": limits, "small": [], "eigenvalues": []}


def _walks(X: Floats, samples: Samples) -> Iterator[Record]:
    kernel = Gaussian(Gaussian().resolve(X).bandwidth / 2)  # half of the median distance
    for cls in WALKS:
        exact = cls(WALK_COMPONENTS, kernel=kernel, ell=np.inf).fit(X)
        points, values = exact.transform(X), exact.eigenvalues_
        for ell in ELLS:
            estimator = cls(WALK_COMPONENTS, kernel=kernel, ell=ell).fit(X)
            true = embedding_error(points, estimator.transform(X))
            record = {"method": "walk", "kind": cls.__name__, "ell": ell, "r": WALK_COMPONENTS}
            drawn = samples.draw(estimator.density_.labels_)
            yield record | _compare_walks(estimator.model_, drawn, true, values)


def _compare_walks(
    model: FittedModel, samples: list[list[RowSample]], true: float, values: Floats
) -> Record:
    """Return the errors of a random walk, with their limits."""
    found = [[x for x in (_walk_limits(model, s) for s in drawn) if x] for drawn in samples]
    large, small = found
    intervals = [zip(*x.eigenvalues.T, model.eigenvalues, values, strict=True) for x in large]
    return {
        "centers": model.n_centers,
        "true": _short(true),
        "estimates": [_short(x.embedding.estimate) for x in large],
        "limits": [_short(x.embedding.limit) for x in large],
        "small": [_short(x.embedding.limit) for x in small],
        "eigenvalues": [_eigenvalue_error(*pair) for pairs in intervals for pair in pairs],
    }


def _walk_limits(model: FittedModel, sample: RowSample) -> Limits | None:
    """Return the limits of a walk for another sample, without solving for its axes again."""
    base = model.analysis
    if not isinstance(base, WalkAnalysis):
        return None
    points = model.reduced_set.centers[sample.labels]
    walk = replace(base.walk, reduced_set=replace(model.reduced_set, sample=sample))
    return replace(base, sample=sample, points=points, walk=walk).limits(CONFIDENCE)


def _exact(X: Floats, kernel: RadialKernel) -> tuple[Floats, Floats]:
    """Return the coordinates and eigenvalues of exact kernel PCA."""
    K = kernel(X)
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    values, vectors = eigsh(K, max(COMPONENTS), v0=np.ones(len(X)) / len(X))
    values, vectors = values[::-1], vectors[:, ::-1]
    return vectors * np.sqrt(values), values


def _compare(
    model: FittedModel, certificates: list[list[Certificate]], true: float, values: Floats
) -> Record:
    """Return the errors of a kernel PCA model, with their limits."""
    large, small = ([c.embedding for c in found if c.embedding] for found in certificates)
    pairs = [pair for c in certificates[0]
             for pair in zip(*c.likely.T, c.eigenvalues, values, strict=True)]  # fmt: skip
    return {
        "centers": model.n_centers,
        "points": len(model.basis),
        "true": _short(true),
        "estimates": [_short(x.estimate) for x in large],
        "limits": [_short(x.limit) for x in large],
        "small": [_short(x.limit) for x in small],
        "better": certificates[0][0].better_components,
        "eigenvalues": [_eigenvalue_error(*pair) for pair in pairs],
    }


def _eigenvalue_error(low: float, high: float, own: float, value: float) -> tuple[float, float]:
    """Return the relative error and its limit, which is negative if it is not valid."""
    limit = max(high - own, own - low) * (1 if low <= value <= high else -1)
    return _short(abs((value - own) / value)), _short(limit / value)


def _norms(X: Floats, kernel: RadialKernel, samples: Samples) -> Iterator[Record]:
    """Yield the norms of the errors of the operator and of the mean, with their limits."""
    many = replace(samples, n_seeds=NORM_SEEDS if samples.n_seeds > 1 else NORM_SEEDS_QUICK)
    for ell in NORM_ELLS:
        estimator = ReducedSetKernelPCA(2, kernel=kernel, ell=ell).fit(X)
        model, s = estimator.model_, estimator.reduced_set_
        true = {
            "operator": hilbert_schmidt.measure(kernel, X, s, center=True),
            "mmd": mmd.measure(kernel, X, s),
        }
        drawn = many.draw(estimator.density_.labels_)[0]
        sets = [replace(s, sample=sample) for sample in drawn]
        found = [Analysis.of(kernel, one, model.system, model.system) for one in sets]
        limits = {
            "operator": [x.operator(CONFIDENCE).limit for x in found if x],
            "mmd": [x.mmd(CONFIDENCE).limit for x in found if x],
        }
        yield {
            "method": "norms", "kind": "norms", "ell": ell, "r": 2, "centers": model.n_centers,
            **{name: [_short(x) for x in (value, *limits[name])] for name, value in true.items()},
        }  # fmt: skip


def _short(value: float) -> float:
    """Round to five digits, which keeps the files small."""
    return float(f"{value:.5g}")
