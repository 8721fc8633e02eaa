"""Fitting covtype, compared with scikit-learn's ``Nystroem`` + ``PCA`` at the same m."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from rskpca import ReducedSetKernelPCA

from . import datasets
from .datasets import Floats
from .rows import Row, ratio
from .timing import time_interleaved

N, N_QUICK = 464_809, 20_000  # four fifths of covtype


def run(quick: bool) -> list[Row]:
    X, stand_in = datasets.covtype(N_QUICK if quick else N)
    model = fit_reduced(X)
    contenders = {
        "rskpca": lambda: fit_reduced(X),
        "Nystroem + PCA": lambda: fit_nystroem(X, model),
    }
    timed = time_interleaved(contenders, 1 if quick else 3, warm=False)
    ours, theirs = (t.result for t in timed.values())
    eigenvalues = theirs[-1].explained_variance_ * (len(X) - 1)
    difference = np.abs(ours.eigenvalues_ / eigenvalues - 1).max()
    note = f"eigenvalues differ by at most {difference:.1%}"
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    return [ratio(case, timed, *contenders, at_least=30, note=note, stand_in=stand_in)]


def fit_reduced(X: Floats) -> ReducedSetKernelPCA:
    return ReducedSetKernelPCA(5, ell=5.0, center=True).fit(X)


def fit_nystroem(X: Floats, model: ReducedSetKernelPCA) -> Any:
    """Fit scikit-learn's method with the kernel and the number of centers of a fitted model."""
    features = Nystroem(
        kernel="rbf", gamma=model.kernel_.gamma, n_components=model.n_centers_, random_state=0
    )
    return make_pipeline(features, PCA(5, random_state=0)).fit(X)
