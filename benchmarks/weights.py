"""Held-out error and fit time with reweighted or moved shadow centers.

The error is defined as in :mod:`benchmarks.accuracy`, and the bandwidths are those of
:mod:`benchmarks.methods`.
The eigenvalues from cell means are compared before and after their correction for the spread
within the cells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rskpca import RadialKernel, ReducedSetKernelPCA, ReweightedDensity, ShadowDensity
from rskpca.baselines.methods import METHODS, embedding_error
from rskpca.spectral import corrected_eigenvalues

from .datasets import Floats
from .methods import CASES, ELL, QUICK_CASES, QUICK_ROWS, R
from .rows import Row, Wanted
from .timing import time_interleaved

N = 5_000
UNCHANGED, REFINED = "unchanged", 'refine="nystrom", basis="auto"'
WEIGHTS = ("nearest", "means", "quadrature", "operator")


def run(quick: bool) -> list[Row]:
    names = QUICK_CASES if quick else CASES
    return [row for name in names for row in _compare(name, quick)]


def _compare(name: str, quick: bool) -> list[Row]:
    case = CASES[name]
    X, stand_in = case.data(min(case.n, QUICK_ROWS if quick else N))
    train, test = np.split(X, [len(X) * 4 // 5])
    kernel = case.kernel.resolve(train)
    timed = time_interleaved(_contenders(kernel, train), 1 if quick else 3)
    models = {title: t.result for title, t in timed.items()}
    exact = METHODS["kpca"].make(R, kernel).fit(train)
    Z = exact.transform(test)
    errors = {title: embedding_error(Z, model.transform(test)) for title, model in models.items()}
    n, d = train.shape
    where = f"{name} {n:,} x {d}, m {models[UNCHANGED].n_centers_:,}"
    rows = [
        Row(
            f"{where}: {title}",
            error,
            "",
            Wanted("<", errors[UNCHANGED]) if title == "operator" else None,
            {"fit": timed[title].seconds},
            stand_in=stand_in,
        )
        for title, error in errors.items()
    ]
    return [*rows, _compare_eigenvalues(where, models["means"], exact.eigenvalues_, stand_in)]


def _contenders(kernel: RadialKernel, X: Floats) -> dict[str, Callable[[], ReducedSetKernelPCA]]:
    """Return fits without the certificate's sums, which take the same time for every method."""
    shadow = ShadowDensity(ell=ELL, sample_size=0)
    densities = {UNCHANGED: shadow} | {w: ReweightedDensity(shadow, w) for w in WEIGHTS}
    models = {
        title: ReducedSetKernelPCA(R, kernel=kernel, density=density)
        for title, density in densities.items()
    }
    models[REFINED] = ReducedSetKernelPCA(
        R, kernel=kernel, density=shadow, basis="auto", refine="nystrom"
    )
    return {title: lambda model=model: model.fit(X) for title, model in models.items()}


def _compare_eigenvalues(
    where: str, means: ReducedSetKernelPCA, exact: Floats, stand_in: str
) -> Row:
    """Divide the mean relative error of the corrected eigenvalues by that of the original ones."""
    corrected = corrected_eigenvalues(
        means.eigensystem_, means.reduced_set_, means.density_.covariance_
    )
    before, after = (
        float(np.abs(values / exact - 1).mean()) for values in (means.eigenvalues_, corrected)
    )
    return Row(
        f"{where}: eigenvalues on means",
        after / before,
        "x",
        Wanted("<", 1),
        {UNCHANGED: before, "corrected": after},
        "relative error",
        stand_in=stand_in,
    )
