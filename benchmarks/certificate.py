"""Cost, tightness and coverage of the certificate."""

from __future__ import annotations

import numpy as np

from rskpca import Gaussian, Laplacian, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca.certificate import hilbert_schmidt, mmd
from rskpca.kernels import RadialKernel
from rskpca.spectrum import Spectrum, estimate

from . import datasets
from .datasets import BY_NAME, Data, Floats
from .fit import N_QUICK, N
from .rows import Row, Wanted
from .timing import time_interleaved

ROWS, ROWS_QUICK = 3_000, 300
REPETITIONS, REPETITIONS_QUICK = 1_000, 20
SETS = (
    "pendigits", "usps", "covtype, 10 columns", "skin", "german", "magic",
    "mnist", "optdigits", "yale", "yaleb_ext",
)  # fmt: skip
TIGHTNESS_SETS, COVERAGE_SETS = SETS[:4], SETS[:6]
FAMILIES: list[type[RadialKernel]] = [Gaussian, Laplacian]


def run(quick: bool) -> list[Row]:
    n, repetitions = (ROWS_QUICK, REPETITIONS_QUICK) if quick else (ROWS, REPETITIONS)
    data = {name: BY_NAME[name](n) for name in SETS}
    rows = [_measure_cost(quick)]
    rows += [_measure_tightness(name, BY_NAME[name](3 * n)) for name in TIGHTNESS_SETS]
    for family in FAMILIES:
        rows += [_measure_coverage(name, data[name], family, repetitions) for name in COVERAGE_SETS]
        rows += [_check_bounds(name, data[name], family) for name in SETS]
    rows += [_check_tolerance(name, data[name]) for name in SETS]
    rows += [_check_auto_ell(name, data[name]) for name in COVERAGE_SETS]
    return rows + _check_bounded_stream(50 if not quick else 1)


def _measure_cost(quick: bool) -> Row:
    X, stand_in = datasets.covtype(N_QUICK if quick else N)
    contenders = {
        "with": lambda: _fit(X, 160),
        "without": lambda: _fit(X, 0),
    }
    timed = time_interleaved(contenders, 3 if quick else 9)
    parts = {name: t.seconds for name, t in timed.items()}
    case = f"fit {len(X):,} x {X.shape[1]}, random frequencies"
    seen = parts["with"] / parts["without"]
    return Row(case, seen, "x", Wanted("<", 2), parts, stand_in=stand_in)


def _fit(X: Floats, n_frequencies: int) -> ReducedSetKernelPCA:
    density = ShadowDensity(ell=5.0, n_frequencies=n_frequencies)
    return ReducedSetKernelPCA(5, density=density).fit(X)


def _measure_tightness(name: str, data: Data) -> Row:
    """Return the largest ratio of the 95% limit to the measured error over three values of ell."""
    kernel = Gaussian().resolve(data.X)
    parts = {}
    for ell in (3.0, 4.0, 5.0):
        s = ShadowDensity(kernel, ell).fit(data.X).reduced_set_
        parts[f"ell {ell:g}"] = _limit(s) / hilbert_schmidt.measure(kernel, data.X, s)
    case = f"limit / measured, {name} {len(data.X):,}"
    wanted = Wanted("<", 1.25)
    return Row(case, max(parts.values()), "x", wanted, parts, "x", stand_in=data.stand_in)


def _limit(s: ReducedSet) -> float:
    assert s.spectrum is not None
    return estimate(s.spectrum.errors(s.centers, s.weights).operator, 0.95).limit


def _measure_coverage(name: str, data: Data, family: type[RadialKernel], repetitions: int) -> Row:
    """Return the fraction of seeds for which the 95% limits exceed the errors, at ell = 4."""
    X, kernel = data.X, family().resolve(data.X)  # type: ignore[call-arg]
    s = ShadowDensity(kernel, 4.0).fit(X).reduced_set_
    true = np.array(
        [
            mmd.measure(kernel, X, s),
            hilbert_schmidt.measure(kernel, X, s),
            hilbert_schmidt.measure(kernel, X, s, center=True),
        ]
    )
    ones = np.ones(len(X))
    held = np.zeros(3)
    for seed in range(repetitions):
        spectrum = Spectrum.of(kernel, X[0], 160, seed)
        assert spectrum is not None
        errors = spectrum.add(X, ones).errors(s.centers, s.weights)
        held += true <= [estimate(squares, 0.95).limit for squares in errors]
    parts = dict(zip(("mmd", "operator", "centered"), held / repetitions, strict=True))
    case = f"coverage, {name}, {family.__name__}"
    wanted = Wanted(">=", 0.94)
    return Row(case, parts["operator"], "", wanted, parts, "", stand_in=data.stand_in)


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
    best = min(t.n_centers for t in tried if _limit(t) <= 0.05)
    error = hilbert_schmidt.measure(kernel, X, s)
    parts = {"auto": s.n_centers, "best": best}
    note = f"measured {error:.3g}, retains {s.n_centers / len(X):.1%}"
    case = f'ell="auto", tol=0.05, {name}'
    wanted = Wanted("<", 1.5)
    return Row(case, s.n_centers / best, "x", wanted, parts, "", note=note, stand_in=data.stand_in)


def _check_bounded_stream(n_chunks: int) -> list[Row]:
    """Fit a stream with at most 2,000 centers and estimate its error from other frequencies."""
    kernel = Gaussian(1.0)
    density = ShadowDensity(kernel, 8.0, max_centers=2_000)
    independent = Spectrum.of(kernel, np.zeros(3), 1_600, 1)
    assert independent is not None
    for index in range(n_chunks):
        X = _drifting_chunk(index)
        density.partial_fit(X)
        independent = independent.add(X, np.ones(len(X)))
    s = density.reduced_set_
    error = estimate(independent.errors(s.centers, s.weights).operator, 0.95).value
    parts = {"error": error, "limit": _limit(s)}
    stream = f"max_centers=2000, {n_chunks * len(X):,} x 3"
    note = f"total weight {s.n_samples:,.0f}, radius {s.radius:.3g}"
    return [
        Row(f"{stream}, centers", s.n_centers, "", Wanted("<", 2_001), note=note),
        Row(f"{stream}, error / limit", error / parts["limit"], "x", Wanted("<", 1), parts, ""),
    ]


def _drifting_chunk(index: int) -> Floats:
    """Return 100,000 points from a stream with a drifting mean."""
    rng = np.random.default_rng(index)
    return rng.normal([0.1 * index, 0, 0], 1.0, (100_000, 3))
