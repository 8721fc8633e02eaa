"""Held-out error of means, pivoted rows and uniform rows as landmarks, at equal sizes.

The reference is exact kernel PCA. The error is defined as in :mod:`benchmarks.accuracy`; see
:mod:`benchmarks.means_speed` for times at equal error.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np

from rskpca import Gaussian, NystromKernelPCA
from rskpca.baselines.methods import METHODS, embedding_error

from .datasets import BY_NAME
from .rows import Row

N, N_QUICK = 4_000, 400
SETS = ("mnist", "usps", "pendigits", "covtype, 10 columns", "yale")
COMPONENTS, SIZES = (5, 10), (25, 50, 100, 200)
SEEDS = 3
RULES = {"uniform rows": "uniform", "RPCholesky": "rpcholesky", "means": "means"}


def run(quick: bool) -> list[Row]:
    sets = SETS[:2] if quick else SETS
    return [row for name in sets for r in COMPONENTS for row in _compare(name, r, quick)]


def _compare(name: str, r: int, quick: bool) -> Iterator[Row]:
    """Yield one row per size: the smaller error of the row-based rules divided by that of means."""
    data = BY_NAME[name](N_QUICK if quick else N)
    train, test = np.split(data.X, [len(data.X) * 4 // 5])
    kernel = Gaussian().resolve(train, None, 0)
    exact = METHODS["kpca"].make(r, kernel).fit(train).transform(test)

    def error(rule: str, size: int, seed: int) -> float:
        options = {"landmarks": rule, "n_centers": size, "random_state": seed}
        model = NystromKernelPCA(r, kernel=kernel, **options).fit(train)
        return embedding_error(exact, model.transform(test))

    for size in SIZES[:1] if quick else SIZES:
        seeds = range(1 if quick else SEEDS)
        errors = {
            title: median(error(rule, size, seed) for seed in seeds)
            for title, rule in RULES.items()
        }
        gain = min(errors["uniform rows"], errors["RPCholesky"]) / errors["means"]
        case = f"{size} points: {name} {len(train):,} x {train.shape[1]}, r {r}"
        yield Row(case, gain, "x", parts=errors, parts_unit="", stand_in=data.stand_in)
