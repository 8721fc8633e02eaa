"""Table 2 as measured: training time and stored numbers against n and against m, with exponents.

Each method is fitted with n growing at one m, and with m growing at one n. An exponent is the
slope of the logarithms over the upper points, where fixed costs matter least.
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
from .data import Data, MissingDataError, published
from .data.dataset import Floats
from .protocol import timed
from .registry import Experiment, Results
from .settings import SEED, Settings
from .workers import Part, run

RANK = 5
ROUNDS = 3
UPPER = 3  # points that an exponent is taken from
N_FEATURES = 10  # of covtype, those that are measured quantities


class Cost(NamedTuple):
    """What the paper says: time and space, and their largest exponents in n and in m."""

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
# Rows beyond which a fit takes more than some seconds.
MOST_ROWS = dict.fromkeys(EXACT, 2_000) | dict.fromkeys(("kmeans", "wnystrom", "herding"), 16_000)


class Grid(NamedTuple):
    """Sizes: n growing at ``one_m``, m growing at ``one_n``."""

    ns: tuple[int, ...]
    one_m: int
    ms: tuple[int, ...]
    one_n: int


FULL = Grid(
    tuple(500 * 2**i for i in range(9)), 200, (50, 100, 200, 400, 800, 1_600), 4_000
)  # fmt: skip
QUICK = Grid((200, 400, 800), 20, (10, 20, 40), 400)


def compute(settings: Settings) -> Results:
    """A row a method and size, and the exponents."""
    data, grid = _data(settings.quick), QUICK if settings.quick else FULL
    methods = (*PAPER, *TODAY)
    parts = [Part(f"table02-{name}", measure, (name,)) for name in methods]
    rows = dict(zip(methods, run("table02", parts, settings), strict=True))
    return {
        "data": data.name,
        "note": data.note,
        "n_features": data.X.shape[1],
        "rank": RANK,
        "one_m": grid.one_m,
        "one_n": grid.one_n,
        "threads": f"one thread each, {settings.jobs} processes, median of {ROUNDS}",
        "rows": rows,
        "exponents": {name: exponents(found) for name, found in rows.items()},
    }


@cache
def _data(quick: bool) -> Data:
    """Covtype, shuffled; digits stand in for a quick run where it is missing."""
    try:
        X, y, _ = published("covtype", download=not quick)
        note = f"the first {N_FEATURES} columns, shuffled"
    except MissingDataError:
        if not quick:
            raise
        X, y = load_digits(return_X_y=True)
        note = "covtype is missing; scikit-learn's digits stand in"
    few = np.random.default_rng(SEED).permutation(len(X))[: max(FULL.ns)]
    return Data(X[few, :N_FEATURES].astype(np.float64), y[few], "covtype", note)


def measure(settings: Settings, method: str) -> Results:
    """Rows with n growing and rows with m growing."""
    X, grid = _data(settings.quick).X, QUICK if settings.quick else FULL
    kernel = Gaussian().resolve(X, None, SEED)
    contenders.warm_up(X.shape[1], method)
    exact, most = method in EXACT, MOST_ROWS.get(method, len(X))
    in_n = [(n, None if exact else grid.one_m) for n in grid.ns if n <= most]
    in_m = [] if exact else [(grid.one_n, m) for m in grid.ms]
    rounds = 1 if settings.quick else ROUNDS
    return {
        name: [_row(method, kernel, X[:n], m, rounds) for n, m in sizes]
        for name, sizes in (("n", in_n), ("m", in_m))
    }


def _row(method: str, kernel: Gaussian, X: Floats, m: int | None, rounds: int) -> Results:
    size = ell_for(kernel, X, m) if method == "shadow" and m else m
    fits = [timed(_model(method, kernel, size, len(X)).fit, X) for _ in range(rounds)]
    model = fits[0].value
    return {
        "n": len(X),
        "m": m and int(getattr(model, "n_centers_", m)),
        "seconds": float(f"{np.median([fit.seconds for fit in fits]):.4g}"),
        "stored": stored(model),
    }


def _model(method: str, kernel: Gaussian, size: float | None, n: int) -> Any:
    return contenders.make(method, RANK, kernel, size, SEED, n)


def ell_for(kernel: Gaussian, X: Floats, m: int) -> float:
    """An ell at which the shadow method keeps about m rows, by halving."""
    low, high = 0.1, 200.0
    for _ in range(18):
        middle = float(np.sqrt(low * high))
        found = ShadowDensity(kernel, middle, n_frequencies=0).fit(X).reduced_set_.n_centers
        if found == m:
            break
        low, high = (middle, high) if found < m else (low, middle)
    return middle


def stored(model: Any) -> int:
    """How many numbers ``transform`` needs: points, and what they are multiplied by."""
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


def exponents(rows: Results) -> Results:
    """Slopes of time and of stored numbers, in n and in m; None where m plays no part."""
    return {size: _slopes(found, size) if found else None for size, found in rows.items()}


def _slopes(rows: Sequence[Results], size: str) -> dict[str, float]:
    upper = rows[-UPPER:]
    x = np.log([row[size] for row in upper])
    found = {
        what: float(np.polyfit(x, np.log([row[what] for row in upper]), 1)[0])
        for what in ("seconds", "stored")
    }
    return {what: round(slope, 2) + 0.0 for what, slope in found.items()}


def draw(numbers: Results, path: Path) -> None:
    """Time against n and m, stored numbers against n; and the table beside the picture."""
    with style.figure(path, 1, 3, size=(3.7, 3.4)) as (figure, panels):
        by_n, by_m, space = panels[0]
        for method, rows in numbers["rows"].items():
            _line(by_n, method, rows["n"], "n", "seconds")
            _line(by_m, method, rows["m"], "m", "seconds")
            _line(space, method, rows["n"], "n", "stored")
        by_n.set(xlabel=f"n, rows (m = {numbers['one_m']:,})", ylabel="training time, s")
        by_m.set(xlabel=f"m, centers (n = {numbers['one_n']:,})", ylabel="training time, s")
        space.set(xlabel=f"n, rows (m = {numbers['one_m']:,})", ylabel="numbers stored")
        style.letter(panels, ["Training against n", "Training against m", "Storage against n"])
        style.legend(figure, panels, columns=5, note=_note(numbers))
    path.with_suffix(".md").write_text(markdown(numbers), encoding="utf-8")


def _line(ax: Any, method: str, rows: Sequence[Results], size: str, what: str) -> None:
    if rows:
        x, y = ([row[name] for row in rows] for name in (size, what))
        options = style.stroke(method) | {"markevery": 1}
        ax.loglog(x, y, label=style.LOOKS[method].text, **options)


def _note(numbers: Results) -> str:
    return (
        f"{numbers['data']}, {numbers['note']}: {numbers['n_features']} features, median "
        f"bandwidth, rank {numbers['rank']}; {numbers['threads']}."
    )


HEADER = (
    "method", "time, paper", "exponent in n", "exponent in m",
    "space, paper", "exponent in n", "exponent in m",
)  # fmt: skip


def markdown(numbers: Results) -> str:
    """Table 2, with the exponents as measured."""
    lines = [HEADER, ("---",) * len(HEADER)]
    lines += [_cells(method, found) for method, found in numbers["exponents"].items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(method: str, found: Results) -> tuple[str, ...]:
    paper = PAPER.get(method)
    time, space = ("-", "-") if paper is None else (paper.time, paper.space)
    return (
        style.LOOKS[method].text,
        time, _slope(found, "n", "seconds"), _slope(found, "m", "seconds"),
        space, _slope(found, "n", "stored"), _slope(found, "m", "stored"),
    )  # fmt: skip


def _slope(found: Results, size: str, what: str) -> str:
    return "-" if found[size] is None else f"{found[size][what]:.2f}"


EXPERIMENTS = {
    "table02": Experiment(
        "Table 2: time and storage against n and m", compute, draw, "pictures/table02.png"
    )
}
