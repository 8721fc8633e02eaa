"""Fraction of rows kept, held-out error and fit time on data with and without redundancy.

The error is the relative error of the held-out embedding in the Frobenius norm, after the best
linear alignment with exact kernel PCA, as in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

from rskpca import ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines.methods import embedding_error

from .datasets import BY_NAME, Data, Floats
from .fit import fit_nystroem
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
    contenders = {
        "rskpca": lambda: _fit(train),
        "KernelPCA": lambda: _fit_exact(train, model.kernel_.gamma),
        "Nystroem + PCA": lambda: fit_nystroem(train, model),
    }
    timed = time_interleaved(contenders, 1 if quick else 3)
    ours, exact, theirs = (t.result.transform(test) for t in timed.values())
    error, their_error = embedding_error(exact, ours), embedding_error(exact, theirs)
    note = (
        f"retains {model.n_centers_ / len(train):.1%}, error {error:.1%}; Nystroem + PCA with the "
        f"same m: {timed['Nystroem + PCA'].seconds:.2g} s, error {their_error:.1g}"
    )
    case = f"{name} {len(train):,} x {train.shape[1]}"
    return ratio(case, timed, "rskpca", "KernelPCA", note=note, stand_in=data.stand_in)


def _fit(X: Floats) -> ReducedSetKernelPCA:
    """Fit without the certificate's row sample, because the other methods do not have one."""
    return ReducedSetKernelPCA(5, density=ShadowDensity(ell=4.0, sample_size=0)).fit(X)


def _fit_exact(X: Floats, gamma: float) -> Any:
    solver = {"eigen_solver": "randomized", "random_state": 0}  # the fastest solver
    return KernelPCA(5, kernel="rbf", gamma=gamma, **solver).fit(X)
