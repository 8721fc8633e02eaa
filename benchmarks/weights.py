"""The centers of the shadow density with other weights, or moved: held-out error, and price.

The error is that of :mod:`benchmarks.accuracy`, at the bandwidths of :mod:`benchmarks.methods`.
Means of cells also give eigenvalues, as they are and corrected by the spread within the cells.
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
from .timing import interleaved

N = 5_000
OWN, REFINED = "as they are", 'refine="nystrom", basis="auto"'
WEIGHTS = ("nearest", "means", "quadrature", "operator")


def run(quick: bool) -> list[Row]:
    names = QUICK_CASES if quick else CASES
    return [row for name in names for row in _compared(name, quick)]


def _compared(name: str, quick: bool) -> list[Row]:
    case = CASES[name]
    X, stand_in = case.data(min(case.n, QUICK_ROWS if quick else N))
    train, test = np.split(X, [len(X) * 4 // 5])
    kernel = case.kernel.resolve(train)
    timed = interleaved(_contenders(kernel, train), 1 if quick else 3)
    models = {title: t.result for title, t in timed.items()}
    exact = METHODS["kpca"].make(R, kernel).fit(train)
    Z = exact.transform(test)
    errors = {title: embedding_error(Z, model.transform(test)) for title, model in models.items()}
    n, d = train.shape
    where = f"{name} {n:,} x {d}, m {models[OWN].n_centers_:,}"
    rows = [
        Row(
            f"{where}: {title}",
            error,
            "",
            Wanted("<", errors[OWN]) if title == "operator" else None,
            {"fit": timed[title].seconds},
            stand_in=stand_in,
        )
        for title, error in errors.items()
    ]
    return [*rows, _eigenvalues(where, models["means"], exact.eigenvalues_, stand_in)]


def _contenders(kernel: RadialKernel, X: Floats) -> dict[str, Callable[[], ReducedSetKernelPCA]]:
    """Without the sums that a certificate needs, which are the same for all."""
    shadow = ShadowDensity(ell=ELL, n_frequencies=0)
    densities = {OWN: shadow} | {w: ReweightedDensity(shadow, w) for w in WEIGHTS}
    models = {
        title: ReducedSetKernelPCA(R, kernel=kernel, density=density)
        for title, density in densities.items()
    }
    models[REFINED] = ReducedSetKernelPCA(
        R, kernel=kernel, density=shadow, basis="auto", refine="nystrom"
    )
    return {title: lambda model=model: model.fit(X) for title, model in models.items()}


def _eigenvalues(where: str, means: ReducedSetKernelPCA, exact: Floats, stand_in: str) -> Row:
    """Mean relative error of the eigenvalues on means, corrected over as they are."""
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
        {"as they are": before, "corrected": after},
        "relative error",
        stand_in=stand_in,
    )
