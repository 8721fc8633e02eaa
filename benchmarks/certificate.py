"""Cost and guaranteed bounds of the certificate; see ``coverage`` for its estimates."""

from __future__ import annotations

import numpy as np

from rskpca import Gaussian, Laplacian, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca.certificate import hilbert_schmidt
from rskpca.kernels import RadialKernel
from rskpca.pairs import FeaturePairs

from . import datasets
from .datasets import BY_NAME, Data, Floats
from .fit import N_QUICK, N
from .rows import Row, Wanted
from .timing import time_interleaved

ROWS, ROWS_QUICK = 3_000, 300
SETS = (
    "pendigits", "usps", "covtype, 10 columns", "skin", "german", "magic",
    "mnist", "optdigits", "yale", "yaleb_ext",
)  # fmt: skip
AUTO_SETS = SETS[:6]


def run(quick: bool) -> list[Row]:
    n = ROWS_QUICK if quick else ROWS
    data = {name: BY_NAME[name](n) for name in SETS}
    rows = _measure_cost(quick)
    for family in (Gaussian, Laplacian):
        rows += [_check_bounds(name, data[name], family) for name in SETS]
    rows += [_check_tolerance(name, data[name]) for name in SETS]
    rows += [_check_auto_ell(name, data[name]) for name in AUTO_SETS]
    return rows + _check_bounded_stream(50 if not quick else 1)


def _measure_cost(quick: bool) -> list[Row]:
    """Compare fits with and without a row sample; the certificate itself is computed on demand."""
    shrink = 20 if quick else 1
    rng = np.random.default_rng(0)
    covtype = datasets.covtype(N_QUICK if quick else N)
    cases = {
        "covtype": (covtype, 5.0),
        "clusters": (Data(_clusters(100_000 // shrink, 16, rng), ""), 4.0),
        "normal": (Data(rng.normal(size=(200_000 // shrink, 3)), ""), 8.0),
    }
    rows = []
    for name, ((X, stand_in), ell) in cases.items():
        kernel = Gaussian().resolve(X)
        timed = time_interleaved(
            {
                "with": lambda X=X, k=kernel, ell=ell: _fit(X, k, ell, 2000),
                "without": lambda X=X, k=kernel, ell=ell: _fit(X, k, ell, 0),
            },
            3 if quick else 15,
        )
        parts = {label: t.seconds for label, t in timed.items()}
        case = f"fit {name} {len(X):,} x {X.shape[1]} with a row sample"
        seen = parts["with"] / parts["without"]
        rows.append(Row(case, seen, "x", Wanted("<", 1.1), parts, stand_in=stand_in))
    return rows


def _clusters(n: int, d: int, rng: np.random.Generator) -> Floats:
    return rng.normal(size=(50, d))[rng.integers(0, 50, n)] + 0.1 * rng.normal(size=(n, d))


def _fit(X: Floats, kernel: RadialKernel, ell: float, size: int) -> ReducedSetKernelPCA:
    density = ShadowDensity(ell=ell, sample_size=size)
    return ReducedSetKernelPCA(5, kernel=kernel, density=density).fit(X)


def _check_bounds(name: str, data: Data, family: type[RadialKernel]) -> Row:
    """Return the largest ratio of a measured error to a guaranteed bound."""
    kernel = family().resolve(data.X)  # type: ignore[call-arg]
    parts = {}
    for center in (False, True):
        model = ReducedSetKernelPCA(3, kernel=kernel, ell=3.0, center=center).fit(data.X)
        *known, measured = model.certify(data.X).levels
        for level in known[:2]:
            kind = f"{level.name}, {'centered' if center else 'plain'}"
            pairs = (measured.mmd, level.mmd), (measured.operator, level.operator)
            parts[kind] = max(
                value / bound if bound else (float("inf") if value > 0 else 0.0)
                for value, bound in pairs
            )
    case = f"measured / bound, {name}, {family.__name__}"
    wanted = Wanted("<", 1)
    return Row(case, max(parts.values()), "x", wanted, parts, "x", stand_in=data.stand_in)


def _check_tolerance(name: str, data: Data) -> Row:
    """Return the measured error of a fit with tol=0.05."""
    kernel = Gaussian().resolve(data.X)
    s = ShadowDensity(kernel, tol=0.05).fit(data.X).reduced_set_
    error = hilbert_schmidt.measure(kernel, data.X, s)
    note = f"retains {s.n_centers / len(data.X):.0%}"
    case = f"tol=0.05, {name}"
    return Row(case, error, "", Wanted("<", 0.05), note=note, stand_in=data.stand_in)


def _check_auto_ell(name: str, data: Data) -> Row:
    """Divide the number of centers for ell="auto" by that for the best ell on a grid."""
    X, kernel = data.X, Gaussian().resolve(data.X)
    s = ShadowDensity(kernel, "auto", tol=0.05).fit(X).reduced_set_
    tried = (ShadowDensity(kernel, ell).fit(X).reduced_set_ for ell in np.geomspace(1, 10, 100))
    best = min(t.n_centers for t in tried if _limit(kernel, t) <= 0.05)
    error = hilbert_schmidt.measure(kernel, X, s)
    parts = {"auto": s.n_centers, "best": best}
    note = f"measured {error:.3g}, retains {s.n_centers / len(X):.1%}"
    case = f'ell="auto", tol=0.05, {name}'
    wanted = Wanted("<", 1.5)
    return Row(case, s.n_centers / best, "x", wanted, parts, "", note=note, stand_in=data.stand_in)


def _limit(kernel: RadialKernel, s: ReducedSet) -> float:
    assert s.sample is not None
    points = s.centers[s.sample.labels].astype(float)
    pairs = FeaturePairs.of(kernel, s.sample, None, points, s.n_samples)
    return pairs.operator(0.95, center=False).limit


def _check_bounded_stream(n_chunks: int) -> list[Row]:
    """Fit a stream with at most 2,000 centers, and compare with a larger, independent sample."""
    kernel = Gaussian(1.0)
    density = ShadowDensity(kernel, 8.0, max_centers=2_000)
    other = ShadowDensity(kernel, 8.0, max_centers=2_000, sample_size=8_000, random_state=1)
    for index in range(n_chunks):
        X = _drifting_chunk(index)
        density.partial_fit(X)
        other.partial_fit(X)
    s, t = density.reduced_set_, other.reduced_set_
    assert t.sample is not None
    points = t.centers[t.sample.labels]
    pairs = FeaturePairs.of(kernel, t.sample, None, points, t.n_samples)
    parts = {"error": pairs.operator(0.95, center=False).estimate, "limit": _limit(kernel, s)}
    stream = f"max_centers=2000, {n_chunks * len(X):,} x 3"
    note = f"total weight {s.n_samples:,.0f}, radius {s.radius:.3g}"
    seen = parts["error"] / parts["limit"]
    return [
        Row(f"{stream}, centers", s.n_centers, "", Wanted("<", 2_001), note=note),
        Row(f"{stream}, error / limit", seen, "x", Wanted("<", 1), parts, ""),
    ]


def _drifting_chunk(index: int) -> Floats:
    """Return 100,000 points from a stream with a drifting mean."""
    rng = np.random.default_rng(index)
    return rng.normal([0.1 * index, 0, 0], 1.0, (100_000, 3))
