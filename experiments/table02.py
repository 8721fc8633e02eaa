"""Table 2: measured growth of training time and storage with n and with m.

Each method is fitted with growing n at a fixed m, and with growing m at a fixed n. An exponent is
the slope on logarithmic axes over the largest sizes, where fixed costs matter least.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import Pipeline

from rskpca import Gaussian, ShadowDensity

from . import contenders, style
from .data import Data, MissingDataError, load_published
from .data.dataset import Floats
from .experiment import SEED, Experiment, Results, Settings
from .protocol import time_median, time_once
from .results import markdown_table
from .workers import Part, run

RANK = 5
ROUNDS = 3
N_LARGEST = 3  # number of sizes from which an exponent is computed
N_EMBEDDED = 2_000  # number of rows in a timed transform
N_FEATURES = 10  # quantitative columns of covtype; the others are indicators


class Cost(NamedTuple):
    """Time and space according to the paper, with their largest exponents in n and in m."""

    time: str
    space: str
    time_exponents: tuple[float, float]
    space_exponents: tuple[float, float]


LANDMARKS = Cost("O(mn + m^3)", "O(nr)", (1, 3), (1, 0))
PAPER = {
    "shadow": Cost("O(mn + m^3)", "O(mr)", (1, 3), (0, 1)),
    "nystrom": LANDMARKS,
    "wnystrom": LANDMARKS,
    "subsampled": Cost("O(m^3)", "O(mr)", (0, 3), (0, 1)),
    "kmeans": Cost("O(mn) + O(m^3)", "O(mr)", (1, 3), (0, 1)),
    "paring": Cost("O(m) + O(m^3)", "O(mr)", (0, 3), (0, 1)),
    "herding": Cost("O(n^2 m) + O(m^3)", "O(mr)", (2, 3), (0, 1)),
    "kpca-dense": Cost("O(n^3)", "O(nr)", (3, 0), (1, 0)),
}
TODAY = ("sklearn-kpca", "sklearn-nystroem")
EXACT = ("kpca-dense", "sklearn-kpca")
# Beyond these numbers of rows, a fit takes more than a few seconds.
MAX_ROWS = dict.fromkeys(EXACT, 2_000) | dict.fromkeys(("kmeans", "wnystrom", "herding"), 16_000)


class Grid(NamedTuple):
    """Sizes for growing n at a fixed m, and for growing m at a fixed n."""

    ns: tuple[int, ...]
    fixed_m: int
    ms: tuple[int, ...]
    fixed_n: int


FULL = Grid(tuple(500 * 2**i for i in range(9)), 200, (50, 100, 200, 400, 800, 1_600), 4_000)
QUICK = Grid((200, 400, 800), 20, (10, 20, 40), 400)


def compute(settings: Settings) -> Results:
    """Return one row per method and size, and the exponents."""
    data, grid = _load_data(settings.quick), QUICK if settings.quick else FULL
    methods = (*PAPER, *TODAY)
    parts = [Part(f"table02-{name}", measure, (name,)) for name in methods]
    rows = dict(zip(methods, run("table02", parts, settings), strict=True))
    return {
        "data": data.name,
        "note": data.note,
        "n_features": data.X.shape[1],
        "rank": RANK,
        "one_m": grid.fixed_m,
        "one_n": grid.fixed_n,
        "threads": f"one thread each, {settings.jobs} processes, median of {ROUNDS}",
        "rows": rows,
        "exponents": {name: fit_exponents(found) for name, found in rows.items()},
    }


@cache
def _load_data(quick: bool) -> Data:
    """Return shuffled rows of covtype; a quick run uses digits if covtype is missing."""
    try:
        X, y, _ = load_published("covtype", download=not quick)
        note = f"the first {N_FEATURES} columns, shuffled"
    except MissingDataError:
        if not quick:
            raise
        X, y = load_digits(return_X_y=True)
        note = "covtype is missing and was replaced by scikit-learn's digits"
    few = np.random.default_rng(SEED).permutation(len(X))[: max(FULL.ns)]
    return Data(X[few, :N_FEATURES].astype(np.float64), y[few], "covtype", note)


def measure(settings: Settings, method: str) -> Results:
    """Return the rows of one method, with growing n and with growing m."""
    X, grid = _load_data(settings.quick).X, QUICK if settings.quick else FULL
    kernel = Gaussian().resolve(X, None, SEED)
    contenders.warm_up(X.shape[1], method)
    exact, max_rows = method in EXACT, MAX_ROWS.get(method, len(X))
    growing_n = [(n, None if exact else grid.fixed_m) for n in grid.ns if n <= max_rows]
    growing_m = [] if exact else [(grid.fixed_n, m) for m in grid.ms]
    rounds = 1 if settings.quick else ROUNDS
    return {
        name: [_measure_at(method, kernel, X[:n], m, rounds) for n, m in sizes]
        for name, sizes in (("n", growing_n), ("m", growing_m))
    }


def _measure_at(method: str, kernel: Gaussian, X: Floats, m: int | None, rounds: int) -> Results:
    size = find_ell(kernel, X, m) if method == "shadow" and m else m
    fits = [time_once(_make(method, kernel, size, X).fit, X) for _ in range(rounds)]
    model = fits[0].value
    return {
        "n": len(X),
        "m": m and int(getattr(model, "n_centers_", m)),
        "seconds": float(f"{np.median([fit.seconds for fit in fits]):.4g}"),
        "transform": float(f"{_time_transform(model, X):.4g}"),
        "stored": count_stored(model),
    }


def _time_transform(model: Any, X: Floats) -> float:
    """Return the seconds for embedding a fixed number of rows."""
    return time_median(model.transform, np.resize(X, (N_EMBEDDED, X.shape[1]))).seconds


def _make(method: str, kernel: Gaussian, size: float | None, X: Floats) -> Any:
    return contenders.make_fastest(method, RANK, kernel, size, SEED, X)


def find_ell(kernel: Gaussian, X: Floats, m: int) -> float:
    """Find an ell at which the shadow method retains about m rows, by bisection."""
    low, high = 0.1, 200.0
    for _ in range(18):
        middle = float(np.sqrt(low * high))
        found = ShadowDensity(kernel, middle, sample_size=0).fit(X).reduced_set_.n_centers
        if found == m:
            break
        low, high = (middle, high) if found < m else (low, middle)
    return middle


def count_stored(model: Any) -> int:
    """Return the number of stored values that ``transform`` needs: points and coefficients."""
    if isinstance(model, Pipeline):
        features, pca = model
        parts: tuple[Any, ...] = (
            features.components_,
            features.normalization_,
            pca.components_,
            pca.mean_,
        )
    elif hasattr(model, "X_"):
        parts = (model.X_, model.coefficients_)
    elif hasattr(model, "X_fit_"):
        parts = (model.X_fit_, model.eigenvectors_, model._centerer.K_fit_rows_)
    else:
        parts = (model.basis_, np.empty((len(model.basis_), len(model.eigenvalues_))))
    return sum(part.size for part in parts)


def fit_exponents(rows: Results) -> Results:
    """Return the exponents of time and storage in n and in m, or None if there is no m."""
    return {size: _fit_slopes(found, size) if found else None for size, found in rows.items()}


def _fit_slopes(rows: Sequence[Results], size: str) -> dict[str, float]:
    largest = rows[-N_LARGEST:]
    x = np.log([row[size] for row in largest])
    found = {
        what: float(np.polyfit(x, np.log([row[what] for row in largest]), 1)[0])
        for what in ("seconds", "transform", "stored")
    }
    return {what: round(slope, 2) + 0.0 for what, slope in found.items()}


def draw(numbers: Results, path: Path) -> None:
    """Draw time vs. n and m and storage vs. n, and write the table next to the figure."""
    with style.figure(path, 1, 3, size=(3.7, 3.4)) as (figure, panels):
        by_n, by_m, space = panels[0]
        for method, rows in numbers["rows"].items():
            _draw_line(by_n, method, rows["n"], "n", "seconds")
            _draw_line(by_m, method, rows["m"], "m", "seconds")
            _draw_line(space, method, rows["n"], "n", "stored")
        by_n.set(xlabel=f"n, rows (m = {numbers['one_m']:,})", ylabel="training time, s")
        by_m.set(xlabel=f"m, centers (n = {numbers['one_n']:,})", ylabel="training time, s")
        space.set(xlabel=f"n, rows (m = {numbers['one_m']:,})", ylabel="stored numbers")
        style.add_titles(panels, ["Training time vs. n", "Training time vs. m", "Storage vs. n"])
        style.add_legend(figure, panels, columns=5, note=_note(numbers))
    path.with_suffix(".md").write_text(markdown(numbers), encoding="utf-8")


def _draw_line(ax: Any, method: str, rows: Sequence[Results], size: str, what: str) -> None:
    if rows:
        x, y = ([row[name] for row in rows] for name in (size, what))
        options = style.line_style(method) | {"markevery": 1}
        ax.loglog(x, y, label=style.LOOKS[method].label, **options)


def _note(numbers: Results) -> str:
    return (
        f"{numbers['data']}, {numbers['note']}: {numbers['n_features']} features, median "
        f"bandwidth, rank {numbers['rank']}; {numbers['threads']}."
    )


HEADER = (
    "method", "time (paper)", "exponent in n", "exponent in m",
    "space (paper)", "exponent in n", "exponent in m",
    "testing: exponent in n", "exponent in m",
)  # fmt: skip


def markdown(numbers: Results) -> str:
    """Return Table 2 with the measured exponents."""
    rows = [_cells(method, found) for method, found in numbers["exponents"].items()]
    return markdown_table(HEADER, rows)


def _cells(method: str, found: Results) -> tuple[str, ...]:
    paper = PAPER.get(method)
    time, space = ("-", "-") if paper is None else (paper.time, paper.space)
    return (
        style.LOOKS[method].label,
        time, *(_format_slope(found, size, "seconds") for size in "nm"),
        space, *(_format_slope(found, size, "stored") for size in "nm"),
        *(_format_slope(found, size, "transform") for size in "nm"),
    )  # fmt: skip


def _format_slope(found: Results, size: str, what: str) -> str:
    return "-" if found[size] is None else f"{found[size][what]:.2f}"


EXPERIMENTS = {
    "table02": Experiment(
        "growth of time and storage with n and m", compute, draw, "pictures/table02.png"
    )
}
