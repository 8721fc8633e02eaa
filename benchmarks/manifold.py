"""Normalized cut, diffusion maps and a neighbour graph at sizes beyond n x n.

scikit-learn runs at three sizes, up to the largest of some gigabytes of memory. Its time at
the full size is that of the largest, times the growth that the three show.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics import adjusted_rand_score

from rskpca import DiffusionMaps, LaplacianEigenmaps, NormalizedCut

from . import datasets, memory
from .datasets import Floats
from .rows import Row, Wanted
from .timing import interleaved

N_CUT, N_ROLL, M_GRAPH = 464_809, 1_000_000, 50_000
THEIR_SIZES = 4_000, 8_000, 16_000  # the last takes 8 GB
CUT = NormalizedCut(7)
ROLL = DiffusionMaps(1, bandwidth=2.0, ell=3.0)
GRAPH = LaplacianEigenmaps(2, bandwidth=0.5, ell=np.inf, graph=20)


def run(quick: bool) -> list[Row]:
    shrink = 20 if quick else 1
    sizes = tuple(n // (10 if quick else 1) for n in THEIR_SIZES)
    forest, stand_in = datasets.forest(N_CUT // shrink)
    sheet, length = roll(N_ROLL // shrink)
    return [
        *_cut(forest, sizes, stand_in),
        *_diffusion(sheet, length, sizes),
        _graph(roll(M_GRAPH // shrink)[0]),
    ]


def roll(n: int) -> tuple[Floats, Floats]:
    """A swiss roll, and how far along the sheet each point lies."""
    X, t = make_swiss_roll(n, random_state=0)
    return X, (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2


class Growth(NamedTuple):
    """Seconds at a size, and the power of the size that they grow with."""

    size: int
    seconds: float
    power: float

    def at(self, n: int) -> float:
        return self.seconds * (n / self.size) ** self.power


def growth(sizes: tuple[int, ...], call: Callable[[int], Any]) -> tuple[Growth, Any]:
    """What calls at these sizes, smallest first, cost; and what the last returned."""
    seconds = []
    for n in sizes:
        start = time.perf_counter()
        result = call(n)
        seconds.append(time.perf_counter() - start)
    power = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return Growth(sizes[-1], seconds[-1], power), result


def _cut(X: Floats, sizes: tuple[int, ...], stand_in: str) -> list[Row]:
    kernel = clone(CUT).fit(X).kernel_
    model = clone(CUT).set_params(kernel=kernel).fit(X)

    def cluster(n: int) -> Any:
        theirs = SpectralClustering(CUT.n_clusters, gamma=kernel.gamma, random_state=0)
        return theirs.fit(X[:n])

    theirs, last = growth(sizes, cluster)
    agreement = adjusted_rand_score(last.labels_, clone(model).fit_predict(X[: theirs.size]))
    note = f"adjusted Rand index of the two {agreement:.2f}"
    rows = _against(model, X, theirs, "SpectralClustering", note, stand_in)
    return [*rows, _memory("fit", model, X, stand_in)]


def _diffusion(X: Floats, length: Floats, sizes: tuple[int, ...]) -> list[Row]:
    model = clone(ROLL).fit(X)

    def embed(n: int) -> Any:
        theirs = SpectralEmbedding(1, affinity="rbf", gamma=model.kernel_.gamma, random_state=0)
        return theirs.fit(X[:n])

    theirs, _ = growth(sizes, embed)
    rows = _against(model, X, theirs, "SpectralEmbedding")
    memories = [_memory("fit", model, X), _memory("transform", model, X)]
    return [*rows, *memories, _along_the_roll(model, X, length)]


def _against(
    model: BaseEstimator, X: Floats, theirs: Growth, name: str, note: str = "", stand_in: str = ""
) -> list[Row]:
    """How many times faster: at their largest size, and at the full size by their growth."""
    by_growth = f"theirs by growth n^{theirs.power:.1f}"
    rows = []
    for n, seconds, says in (
        (theirs.size, theirs.seconds, note),
        (len(X), theirs.at(len(X)), by_growth),
    ):
        ours = interleaved({"rskpca": partial(clone(model).fit, X[:n])}, 3, warm=False)["rskpca"]
        parts = {"rskpca": ours.seconds, name: seconds}
        case = f"{_name(model)} {n:,} x {X.shape[1]}, m {ours.result.n_centers_:,}"
        times = seconds / ours.seconds
        rows.append(Row(case, times, "x", Wanted(">=", 50), parts, note=says, stand_in=stand_in))
    return rows


def _memory(verb: str, model: BaseEstimator, X: Floats, stand_in: str = "") -> Row:
    peak = memory.peak(verb, clone(model) if verb == "fit" else model, X)
    case = f"{_name(model)}.{verb} {len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    parts = {"data": X.nbytes / 1e6}
    return Row(case, peak, "MB", Wanted("<", 500), parts, "MB", stand_in=stand_in)


def _along_the_roll(model: DiffusionMaps, X: Floats, length: Floats) -> Row:
    first = model.transform(X)[:, 0]
    linear = abs(float(np.corrcoef(first, length)[0, 1]))
    ranks = abs(float(spearmanr(first, length).statistic))
    case = f"swiss roll {len(X):,}, first coordinate with the arc length"
    note = f"Pearson's; Spearman's of the ranks is {ranks:.6f}"
    return Row(case, linear, "", Wanted(">=", 0.99), note=note)


def _graph(X: Floats) -> Row:
    """As many centers as rows."""
    ours = interleaved({"ours": lambda: clone(GRAPH).fit(X)}, 1, warm=False)["ours"]
    case = f"LaplacianEigenmaps.fit, graph of {GRAPH.graph} nearest, m {len(X):,}"
    peak = memory.peak("fit", clone(GRAPH), X)
    full = {"the full kernel": 8e-6 * len(X) ** 2}
    return Row(case, peak, "MB", None, full, "MB", note=f"{ours.seconds:.2g} s")


def _name(model: BaseEstimator) -> str:
    return type(model).__name__
