"""Fitting covtype, compared with scikit-learn's ``Nystroem`` + ``PCA`` at the same m.

The solver of ``PCA`` and the number of threads of ``Nystroem`` are those with the shortest fit. At
the same m, ``Nystroem`` is more accurate; :mod:`benchmarks.frontier` compares at equal errors.
"""

from __future__ import annotations

import numpy as np

from rskpca import ReducedSetKernelPCA

from . import datasets
from .datasets import Floats
from .peers import describe, fit_fastest
from .rows import Row, ratio
from .timing import time_interleaved

N, N_QUICK = 464_809, 20_000  # four fifths of covtype


def run(quick: bool) -> list[Row]:
    X, stand_in = datasets.covtype(N_QUICK if quick else N)
    model = fit_reduced(X)
    theirs = fit_fastest(
        "sklearn-nystroem", X, 5, model.kernel_, model.n_centers_, rounds=1 if quick else 2
    )
    contenders = {"rskpca": lambda: fit_reduced(X), "Nystroem + PCA": theirs}
    timed = time_interleaved(contenders, 1 if quick else 3, warm=False)
    eigenvalues = timed["Nystroem + PCA"].result[-1].explained_variance_ * (len(X) - 1)
    difference = np.abs(model.eigenvalues_ / eigenvalues - 1).max()
    note = f"eigenvalues differ by at most {difference:.1%}; Nystroem + PCA with {describe(theirs)}"
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    return [ratio(case, timed, *contenders, at_least=30, note=note, stand_in=stand_in)]


def fit_reduced(X: Floats) -> ReducedSetKernelPCA:
    return ReducedSetKernelPCA(5, ell=5.0, center=True).fit(X)
