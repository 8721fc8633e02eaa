"""What is kept, what it costs and what it gains, on data that repeat themselves and that do not.

The error is that of the held-out embedding: relative, in the Frobenius norm, after the best
linear alignment with exact kernel PCA, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA

from rskpca import ReducedSetKernelPCA, ShadowDensity
from rskpca.baselines.methods import embedding_error

from . import datasets
from .datasets import Data, Floats
from .fit import nystroem
from .rows import Row, ratio
from .timing import interleaved

N, N_QUICK = 5_000, 1_000
SETS: dict[str, Callable[[int], Data]] = {
    "skin": datasets.colours,
    "covtype, 10 columns": datasets.forest,
    "pendigits": datasets.strokes,
    "magic": datasets.telescope,
    "german": datasets.credit,
    "usps": datasets.post,
    "mnist": datasets.images,
}


def run(quick: bool) -> list[Row]:
    return [_compared(name, data(N_QUICK if quick else N), quick) for name, data in SETS.items()]


def _compared(name: str, data: Data, quick: bool) -> Row:
    train, test = np.split(data.X, [len(data.X) * 4 // 5])
    model = _fitted(train)
    contenders = {
        "rskpca": lambda: _fitted(train),
        "KernelPCA": lambda: _exact(train, model.kernel_.gamma),
        "Nystroem + PCA": lambda: nystroem(train, model),
    }
    timed = interleaved(contenders, 1 if quick else 3)
    ours, exact, theirs = (t.result.transform(test) for t in timed.values())
    error, their_error = embedding_error(exact, ours), embedding_error(exact, theirs)
    note = (
        f"keeps {model.n_centers_ / len(train):.1%}, error {error:.1%}; Nystroem + "
        f"PCA with as many: {timed['Nystroem + PCA'].seconds:.2g} s, {their_error:.1g}"
    )
    case = f"{name} {len(train):,} x {train.shape[1]}"
    return ratio(case, timed, "rskpca", "KernelPCA", note=note, stand_in=data.stand_in)


def _fitted(X: Floats) -> ReducedSetKernelPCA:
    """Without the sums that a certificate needs, as the others have none."""
    return ReducedSetKernelPCA(5, density=ShadowDensity(ell=4.0, n_frequencies=0)).fit(X)


def _exact(X: Floats, gamma: float) -> Any:
    solver = {"eigen_solver": "randomized", "random_state": 0}  # its fastest
    return KernelPCA(5, kernel="rbf", gamma=gamma, **solver).fit(X)
