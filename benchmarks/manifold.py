"""Normalized cut, diffusion maps and a neighbor graph on data too large for an n x n matrix.

scikit-learn runs at three sizes, with the eigensolver that is faster at the smallest one; the
largest needs several gigabytes. Its time at the full size is extrapolated from these sizes by a
power law.

Clusterings are judged by the objective that both methods minimize: the normalized cut of their
labels on the same rows. Two labelings with the same cut can have a low adjusted Rand index, so the
index between two seeds of scikit-learn is also reported. On moons, circles and blobs, whose
clusters are known, the labels of the default model are compared with the true ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons, make_swiss_roll
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from rskpca import DiffusionMaps, LaplacianEigenmaps, NormalizedCut

from . import datasets
from .datasets import Data, Floats
from .memory import measure_peak
from .rows import Row, Wanted
from .timing import Timed, time_interleaved, time_once

N_CUT, N_ROLL, M_GRAPH = 464_809, 1_000_000, 50_000
SKLEARN_SIZES = 4_000, 8_000, 16_000  # the largest size needs 8 GB
SOLVERS = "arpack", "lobpcg"
N_JUDGED = 4_000  # rows; larger graphs take minutes per seed
N_SHAPES, N_SHAPES_QUICK = (5_000, 500_000), (500, 5_000)
N_TYPES, N_DIGITS = 7, 10  # clusters of covtype, digits and pendigits
MOST_CUT = {4.0: 1.01, 5.0: 1.05}  # targets for the relative cut, by ell; 4 is the default
SMALL_BANDWIDTH, SECONDS = 0.05, 60  # version 0.1.0 took 211 s
CUT = NormalizedCut(N_TYPES)
ROLL = DiffusionMaps(1, bandwidth=2.0, ell=3.0)
GRAPH = LaplacianEigenmaps(2, bandwidth=0.5, ell=np.inf, graph=20)


def run(quick: bool) -> list[Row]:
    shrink, shrink_peers = (20, 10) if quick else (1, 1)
    sizes = tuple(n // shrink_peers for n in SKLEARN_SIZES)
    X, stand_in = datasets.covtype(N_CUT // shrink)
    roll, length = swiss_roll(N_ROLL // shrink)
    n_shapes = N_SHAPES_QUICK if quick else N_SHAPES
    return [
        *_measure_cut(X, sizes, stand_in),
        *_judge_cuts(Data(X[: N_JUDGED // shrink_peers], stand_in)),
        *(row for n in n_shapes for row in _recover_shapes(n)),
        _measure_small_bandwidth(N_SHAPES[-1] // shrink),
        *_measure_diffusion(roll, length, sizes),
        _measure_graph(swiss_roll(M_GRAPH // shrink)[0]),
    ]


def swiss_roll(n: int) -> tuple[Floats, Floats]:
    """Return points on a swiss roll, and their arc lengths along it."""
    X, t = make_swiss_roll(n, random_state=0)
    return X, (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2


class PowerLaw(NamedTuple):
    """Time at one size, and the exponent with which it grows."""

    size: int
    seconds: float
    power: float

    def at(self, n: int) -> float:
        return self.seconds * (n / self.size) ** self.power


def fit_power_law(sizes: tuple[int, ...], call: Callable[[int], Any]) -> tuple[PowerLaw, Any]:
    """Time a call at increasing sizes; return the fitted power law and the last result."""
    seconds = []
    for n in sizes:
        taken, result = time_once(partial(call, n))
        seconds.append(taken)
    power = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return PowerLaw(sizes[-1], seconds[-1], power), result


def with_fastest_solver(peer: BaseEstimator, X: Floats) -> BaseEstimator:
    """Return a copy of a scikit-learn spectral method with the solver that is faster on X."""
    peers = {s: clone(peer).set_params(eigen_solver=s) for s in SOLVERS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LOBPCG may not converge to its tolerance
        timed = time_interleaved({s: partial(p.fit, X) for s, p in peers.items()}, 1)
    return clone(peers[min(timed, key=lambda s: timed[s].seconds)])


def _measure_cut(X: Floats, sizes: tuple[int, ...], stand_in: str) -> list[Row]:
    kernel = clone(CUT).fit(X).kernel_
    model = clone(CUT).set_params(kernel=kernel).fit(X)

    peer = SpectralClustering(CUT.n_clusters, gamma=kernel.gamma, random_state=0)
    peer = with_fastest_solver(peer, X[: sizes[0]])
    theirs, last = fit_power_law(sizes, lambda n: clone(peer).fit(X[:n]))
    agreement = adjusted_rand_score(last.labels_, clone(model).fit_predict(X[: theirs.size]))
    note = f"adjusted Rand index between the two: {agreement:.2f}; solver {peer.eigen_solver}"
    rows = _compare(model, X, theirs, "SpectralClustering", note, stand_in)
    return [*rows, _measure_memory("fit", model, X, stand_in)]


def _judge_cuts(covtype: Data) -> list[Row]:
    """Divide the normalized cut of our labels by that of scikit-learn's labels."""
    n, (X, stand_in) = len(covtype.X), covtype
    standardized = Data((X - X.mean(axis=0)) / X.std(axis=0), stand_in)
    return [
        *_judge_labels("covtype as published", covtype, N_TYPES),
        *_judge_labels("covtype standardized", standardized, N_TYPES),
        *_judge_labels("digits", Data(load_digits().data[:n], ""), N_DIGITS),
        *_judge_labels("pendigits", datasets.pendigits(n), N_DIGITS),
    ]


def _judge_labels(name: str, data: Data, n_clusters: int) -> Iterator[Row]:
    X, stand_in = data
    models = {ell: NormalizedCut(n_clusters, ell=ell).fit(X) for ell in MOST_CUT}
    gamma = models[min(models)].kernel_.gamma  # the bandwidth does not depend on ell
    theirs, other_seed = (
        SpectralClustering(n_clusters, gamma=gamma, random_state=seed).fit_predict(X)
        for seed in (0, 1)
    )
    W = rbf_kernel(X, gamma=gamma)
    seeds = f"between two seeds of SpectralClustering {adjusted_rand_score(theirs, other_seed):.2f}"
    for ell, model in models.items():
        labels = {"rskpca": model.labels_, "SpectralClustering": theirs}
        cuts = {method: normalized_cut(W, found) for method, found in labels.items()}
        note = f"adjusted Rand index {adjusted_rand_score(*labels.values()):.2f}; {seeds}"
        case = f"NormalizedCut, {name}, {len(X):,} x {X.shape[1]}, ell {ell:g}: normalized cut"
        times = cuts["rskpca"] / cuts["SpectralClustering"]
        yield Row(case, times, "x", Wanted("<", MOST_CUT[ell]), cuts, "", note, stand_in)


def normalized_cut(W: Floats, labels: NDArray[np.integer]) -> float:
    """Return the sum over clusters of the weight of cut edges divided by the cluster's volume."""
    degrees = W.sum(axis=1)
    inside = [W[np.ix_(labels == c, labels == c)].sum() for c in np.unique(labels)]
    volumes = [degrees[labels == c].sum() for c in np.unique(labels)]
    return float(sum(1 - i / v for i, v in zip(inside, volumes, strict=True)))


def _recover_shapes(n: int) -> Iterator[Row]:
    """Compare the labels of the default model with the shapes from which the rows were drawn."""
    shapes = {
        "moons": make_moons(n, noise=0.05, random_state=0),
        "circles": make_circles(n, noise=0.05, factor=0.5, random_state=0),
        "blobs": make_blobs(n, 4, centers=4, cluster_std=0.5, random_state=5),
    }
    for name, (X, y) in shapes.items():
        found = _time_fit(NormalizedCut(len(np.unique(y))), X)
        index = adjusted_rand_score(y, found.result.labels_)
        case = f"default NormalizedCut, {name} {n:,} x {X.shape[1]}: adjusted Rand index"
        parts, note = {"fit": found.seconds}, f"m {found.result.n_centers_:,}"
        yield Row(case, index, "", Wanted(">=", 0.99), parts, note=note)


def _measure_small_bandwidth(n: int) -> Row:
    """Time a fit to moons with a bandwidth at which a cover would have many centers."""
    X, y = make_moons(n, noise=0.05, random_state=0)
    found = _time_fit(NormalizedCut(2, bandwidth=SMALL_BANDWIDTH), X)
    case = f"NormalizedCut, moons {n:,} x 2, bandwidth {SMALL_BANDWIDTH}: fit"
    index = adjusted_rand_score(y, found.result.labels_)
    note = f"adjusted Rand index {index:.2f}; m {found.result.n_centers_:,}"
    return Row(case, found.seconds, "s", Wanted("<", SECONDS), note=note)


def _measure_diffusion(X: Floats, length: Floats, sizes: tuple[int, ...]) -> list[Row]:
    model = clone(ROLL).fit(X)

    peer = SpectralEmbedding(1, affinity="rbf", gamma=model.kernel_.gamma, random_state=0)
    peer = with_fastest_solver(peer, X[: sizes[0]])
    theirs, _ = fit_power_law(sizes, lambda n: clone(peer).fit(X[:n]))
    rows = _compare(model, X, theirs, "SpectralEmbedding", f"solver {peer.eigen_solver}")
    memories = [_measure_memory("fit", model, X), _measure_memory("transform", model, X)]
    return [*rows, *memories, _correlate(model, X, length)]


def _compare(
    model: BaseEstimator, X: Floats, theirs: PowerLaw, name: str, note: str = "", stand_in: str = ""
) -> list[Row]:
    """Return the speed-up at scikit-learn's largest size and, by extrapolation, at full size."""
    extrapolated = f"{name} extrapolated as n^{theirs.power:.1f}"
    rows = []
    for n, seconds, text in (
        (theirs.size, theirs.seconds, note),
        (len(X), theirs.at(len(X)), extrapolated),
    ):
        ours = _time_fit(model, X[:n])
        parts = {"rskpca": ours.seconds, name: seconds}
        case = f"{_name(model)} {n:,} x {X.shape[1]}, m {ours.result.n_centers_:,}"
        times = seconds / ours.seconds
        rows.append(Row(case, times, "x", Wanted(">=", 50), parts, note=text, stand_in=stand_in))
    return rows


def _time_fit(model: BaseEstimator, X: Floats) -> Timed:
    """Return the median time of three fits, and the last fitted model."""
    return time_interleaved({"fit": partial(clone(model).fit, X)}, 3, warm=False)["fit"]


def _measure_memory(method: str, model: BaseEstimator, X: Floats, stand_in: str = "") -> Row:
    peak = measure_peak(method, clone(model) if method == "fit" else model, X)
    case = f"{_name(model)}.{method} {len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    parts = {"data": X.nbytes / 1e6}
    return Row(case, peak, "MB", Wanted("<", 500), parts, "MB", stand_in=stand_in)


def _correlate(model: DiffusionMaps, X: Floats, length: Floats) -> Row:
    first = model.transform(X)[:, 0]
    linear = abs(float(np.corrcoef(first, length)[0, 1]))
    ranks = abs(float(spearmanr(first, length).statistic))
    case = f"swiss roll {len(X):,}, correlation of the first coordinate with the arc length"
    note = f"Pearson; Spearman {ranks:.6f}"
    return Row(case, linear, "", Wanted(">=", 0.99), note=note)


def _measure_graph(X: Floats) -> Row:
    """Fit a neighbor graph in which every row is a center."""
    ours = time_interleaved({"ours": lambda: clone(GRAPH).fit(X)}, 1, warm=False)["ours"]
    case = f"LaplacianEigenmaps.fit, {GRAPH.graph} nearest neighbors, m {len(X):,}"
    peak = measure_peak("fit", clone(GRAPH), X)
    full = {"full kernel matrix": 8e-6 * len(X) ** 2}
    return Row(case, peak, "MB", None, full, "MB", note=f"{ours.seconds:.2g} s")


def _name(model: BaseEstimator) -> str:
    return type(model).__name__
