"""The certificate: what it costs, how tight it is, and whether it is ever wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rskpca import Gaussian, Laplacian, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca.certificate import hilbert_schmidt, mmd
from rskpca.kernels import RadialKernel
from rskpca.spectrum import Spectrum, estimate

from . import datasets
from .datasets import Data, Floats
from .fit import N_QUICK, N
from .rows import Row, Wanted
from .timing import interleaved

ROWS, ROWS_QUICK = 3_000, 300
REPETITIONS, REPETITIONS_QUICK = 1_000, 20
SETS: dict[str, Callable[[int], Data]] = {
    "pendigits": datasets.strokes,
    "usps": datasets.post,
    "covtype, 10 columns": datasets.forest,
    "skin": datasets.colours,
    "german": datasets.credit,
    "magic": datasets.telescope,
    "mnist": datasets.images,
    "optdigits": datasets.scanned_digits,
    "yale": datasets.faces,
    "yaleb_ext": datasets.lit_faces,
}
TIGHT = list(SETS)[:4]
COVERED = list(SETS)[:6]
FAMILIES: list[type[RadialKernel]] = [Gaussian, Laplacian]


def run(quick: bool) -> list[Row]:
    n, repetitions = (ROWS_QUICK, REPETITIONS_QUICK) if quick else (ROWS, REPETITIONS)
    data = {name: load(n) for name, load in SETS.items()}
    rows = [_cost(quick)]
    rows += [_tightness(name, SETS[name](3 * n)) for name in TIGHT]
    for family in FAMILIES:
        rows += [_coverage(name, data[name], family, repetitions) for name in COVERED]
        rows += [_never_wrong(name, data[name], family) for name in SETS]
    rows += [_promised(name, data[name]) for name in SETS]
    rows += [_chosen(name, data[name]) for name in COVERED]
    return rows + _bounded(50 if not quick else 1)


def _cost(quick: bool) -> Row:
    X, stand_in = datasets.forest(N_QUICK if quick else N)
    contenders = {
        "with": lambda: _fitted(X, 160),
        "without": lambda: _fitted(X, 0),
    }
    timed = interleaved(contenders, 3 if quick else 9)
    parts = {name: t.seconds for name, t in timed.items()}
    case = f"fit {len(X):,} x {X.shape[1]}, random frequencies"
    seen = parts["with"] / parts["without"]
    return Row(case, seen, "x", Wanted("<", 2), parts, stand_in=stand_in)


def _fitted(X: Floats, n_frequencies: int) -> ReducedSetKernelPCA:
    density = ShadowDensity(ell=5.0, n_frequencies=n_frequencies)
    return ReducedSetKernelPCA(5, density=density).fit(X)


def _tightness(name: str, data: Data) -> Row:
    """The 95% limit over the measured error, the largest of three ell."""
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


def _coverage(name: str, data: Data, family: type[RadialKernel], repetitions: int) -> Row:
    """How often the 95% limits of seeded frequencies hold the measured errors, at ell 4."""
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
    case = f"covered, {name}, {family.__name__}"
    wanted = Wanted(">=", 0.94)
    return Row(case, parts["operator"], "", wanted, parts, "", stand_in=data.stand_in)


def _never_wrong(name: str, data: Data, family: type[RadialKernel]) -> Row:
    """The largest ratio of a measured error to a bound that must hold."""
    kernel = family().resolve(data.X)  # type: ignore[call-arg]
    parts = {}
    for center in (False, True):
        model = ReducedSetKernelPCA(3, kernel=kernel, ell=3.0, center=center).fit(data.X)
        *known, measured = model.certify(data.X).levels
        for level in known[:2]:
            kind = f"{level.name}, {'centered' if center else 'plain'}"
            parts[kind] = max(measured.mmd / level.mmd, measured.operator / level.operator)
    case = f"measured / bound, {name}, {family.__name__}"
    wanted = Wanted("<", 1)
    return Row(case, max(parts.values()), "x", wanted, parts, "x", stand_in=data.stand_in)


def _promised(name: str, data: Data) -> Row:
    """The measured error of a fit with tol=0.05."""
    kernel = Gaussian().resolve(data.X)
    s = ShadowDensity(kernel, tol=0.05).fit(data.X).reduced_set_
    error = hilbert_schmidt.measure(kernel, data.X, s)
    note = f"keeps {s.n_centers / len(data.X):.0%}"
    case = f"tol=0.05, {name}"
    return Row(case, error, "", Wanted("<", 0.05), note=note, stand_in=data.stand_in)


def _chosen(name: str, data: Data) -> Row:
    """Centers of ell="auto" over those of the best ell of a fine grid."""
    X, kernel = data.X, Gaussian().resolve(data.X)
    s = ShadowDensity(kernel, "auto", tol=0.05).fit(X).reduced_set_
    tried = (ShadowDensity(kernel, ell).fit(X).reduced_set_ for ell in np.geomspace(1, 10, 100))
    best = min(t.n_centers for t in tried if _limit(t) <= 0.05)
    error = hilbert_schmidt.measure(kernel, X, s)
    parts = {"auto": s.n_centers, "best": best}
    note = f"measured {error:.3g}, keeps {s.n_centers / len(X):.1%}"
    case = f'ell="auto", tol=0.05, {name}'
    wanted = Wanted("<", 1.5)
    return Row(case, s.n_centers / best, "x", wanted, parts, "", note=note, stand_in=data.stand_in)


def _bounded(n_chunks: int) -> list[Row]:
    """An endless stream on at most 2,000 centers; its error as other frequencies see it."""
    kernel = Gaussian(1.0)
    density = ShadowDensity(kernel, 8.0, max_centers=2_000)
    judge = Spectrum.of(kernel, np.zeros(3), 1_600, 1)
    assert judge is not None
    for index in range(n_chunks):
        X = _drifting(index)
        density.partial_fit(X)
        judge = judge.add(X, np.ones(len(X)))
    s = density.reduced_set_
    seen = estimate(judge.errors(s.centers, s.weights).operator, 0.95).value
    parts = {"error": seen, "limit": _limit(s)}
    stream = f"max_centers=2000, {n_chunks * len(X):,} x 3"
    note = f"mass {s.n_samples:,.0f}, radius {s.radius:.3g}"
    return [
        Row(f"{stream}, centers", s.n_centers, "", Wanted("<", 2_001), note=note),
        Row(f"{stream}, error / limit", seen / parts["limit"], "x", Wanted("<", 1), parts, ""),
    ]


def _drifting(index: int) -> Floats:
    """100,000 points of a stream whose mean wanders off."""
    rng = np.random.default_rng(index)
    return rng.normal([0.1 * index, 0, 0], 1.0, (100_000, 3))
