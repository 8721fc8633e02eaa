"""Fraction of rows kept, held-out error and fit time on data with and without redundancy.

The error is the relative error of the held-out embedding in the Frobenius norm, after the best
linear alignment with exact kernel PCA, as in the paper. ``KernelPCA`` and ``Nystroem`` + ``PCA``
are timed with their fastest settings on the same rows.
"""

from __future__ import annotations

import numpy as np

from rskpca import ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines.methods import embedding_error

from .datasets import BY_NAME, Data, Floats
from .peers import describe, fit_fastest
from .rows import Row, ratio
from .timing import time_interleaved

N, N_QUICK = 5_000, 1_000
SETS = ("skin", "covtype, 10 columns", "pendigits", "magic", "german", "usps", "mnist")


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    return [_compare(name, BY_NAME[name](n), quick) for name in SETS]


def _compare(name: str, data: Data, quick: bool) -> Row:
    train, test = np.split(data.X, [len(data.X) * 4 // 5])
    model = _fit(train)
    exact = fit_fastest("sklearn-kpca", train, 5, model.kernel_, rounds=1 if quick else 2)
    nystroem = fit_fastest(
        "sklearn-nystroem", train, 5, model.kernel_, model.n_centers_, rounds=1 if quick else 2
    )
    contenders = {"rskpca": lambda: _fit(train), "KernelPCA": exact, "Nystroem + PCA": nystroem}
    timed = time_interleaved(contenders, 1 if quick else 3)
    ours, expected, theirs = (t.result.transform(test) for t in timed.values())
    error, their_error = embedding_error(expected, ours), embedding_error(expected, theirs)
    note = (
        f"retains {model.n_centers_ / len(train):.1%}, error {error:.1%}; Nystroem + PCA with the "
        f"same m: {timed['Nystroem + PCA'].seconds:.2g} s, error {their_error:.1g}; KernelPCA with "
        f"{describe(exact)}"
    )
    case = f"{name} {len(train):,} x {train.shape[1]}"
    return ratio(case, timed, "rskpca", "KernelPCA", note=note, stand_in=data.stand_in)


def _fit(X: Floats) -> ReducedSetKernelPCA:
    """Fit without the certificate's row sample, because the other methods do not have one."""
    return ReducedSetKernelPCA(5, density=ShadowDensity(ell=4.0, sample_size=0)).fit(X)
