"""Section 5 and Table 2: claims about the theorems and about time and storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..bounds import MAX_ROWS
from ..table02 import PAPER
from .claim import Claim, Finding, ResultsByName, Verdict, format_range

SLACK = 0.2  # margin for measured exponents
SAMPLED = f"at every second ell on each data set (on usps with {MAX_ROWS:,} of its 9,298 rows)"
NAMES = {
    "shadow": "ShDE+RSKPCA",
    "nystrom": "Nystrom",
    "wnystrom": "WNystrom",
    "kmeans": "RSKPCA with k-means",
    "paring": "RSKPCA with KDE paring",
    "herding": "RSKPCA with herding",
    "kpca-dense": "KPCA",
}


def _points(results: ResultsByName, theorem: str) -> Iterator[dict[str, Any]]:
    for one in results["bounds"]["sets"].values():
        yield from (row[theorem] for row in one["rows"])


def _sets(results: ResultsByName) -> str:
    return ", ".join(results["bounds"]["sets"])


def _judge_bound(theorem: str, results: ResultsByName) -> Finding:
    ratios = [point["printed"] / point["measured"] for point in _points(results, theorem)]
    held = sum(ratio >= 1 for ratio in ratios)
    constructed = COUNTEREXAMPLES[theorem]()
    words = (
        f"the bound holds at {held} of {len(ratios)} points on {_sets(results)}; it is "
        f"{format_range(ratios)} times the measured value; on constructed data, "
        f"{constructed:.3g} times (docs/errata.md)"
    )
    if held < len(ratios):
        return Finding(words, Verdict.NOT)
    return Finding(words, Verdict.PARTLY if constructed < 1 else Verdict.REPRODUCED)


def _cosine_kernel() -> float:
    """Return bound / MMD of Theorem 5.1 for a positive-definite kernel with an increasing profile.

    With k(x, y) = cos(x - y) on the line and radius 2 pi, the bound is 0, and a row that moves by
    pi changes the MMD by 2.
    """
    bound = np.sqrt(max(2 * (1 - np.cos(2 * np.pi)), 0.0))
    return float(bound / np.sqrt(2 - 2 * np.cos(np.pi)))


def _two_groups() -> float:
    """Return bound / measured of Theorem 5.2 for two groups that move apart, with sigma = 1."""
    step, distance = 1e-3, np.sqrt(0.5)
    values = [
        np.linalg.eigvalsh([[1.0, np.exp(-(r**2))], [np.exp(-(r**2)), 1.0]]) / 2
        for r in (distance, distance + 2 * step)
    ]
    return float(step / np.linalg.norm(values[0] - values[1]))


def _small_kappa() -> float:
    """Return bound / measured of Theorem 5.3 for one row that moves, with kappa = 1/4."""
    kappa, rho = 0.25, np.exp(-1e-2)
    error = kappa * np.sqrt(2 * (1 - rho**2))
    return float(2 * kappa * np.sqrt(2 * kappa * (1 - rho)) / error)


COUNTEREXAMPLES: dict[str, Callable[[], float]] = {
    "mmd": _cosine_kernel,
    "eigenvalues": _two_groups,
    "operator": _small_kappa,
}


def _theorem(number: str, text: str, key: str, paper: str) -> Claim:
    return Claim(
        "Section 5",
        f"Theorem {number}: {text}",
        paper,
        f"printed bound divided by measured value, {SAMPLED}, and on constructed data that meet "
        "the printed assumptions. Reproduced: never below 1; partly: never below 1 except on the "
        "constructed data",
        ("bounds",),
        partial(_judge_bound, key),
    )


def _judge_eigenspaces(results: ResultsByName) -> Finding:
    points = list(_points(results, "eigenspaces"))
    met = sum(point["printed"] is not None for point in points)
    above = sum(point["unproved"] >= point["measured"] for point in points)
    words = (
        f"its condition is met at {met} of {len(points)} points on {_sets(results)}, and for the "
        "Gaussian never below ell = 11.3 (docs/errata.md); the formula exceeds the measured value "
        f"at {above} points"
    )
    if above < len(points):
        return Finding(words, Verdict.NOT)
    return Finding(words, Verdict.REPRODUCED if met == len(points) else Verdict.PARTLY)


def _judge_cost(method: str, what: str, results: ResultsByName) -> Finding:
    """Compare the measured exponents with those in the paper."""
    exponents, expected = results["table02"]["exponents"][method], _expected(method, what)
    found = {size: values for size in ("n", "m") if (values := exponents[size]) is not None}
    if any(what not in values for values in found.values()):
        return Finding("requires a new run of table02", Verdict.NOT_RUN)
    above = [values[what] - expected[size] for size, values in found.items()]
    words = ", ".join(f"{size}^{values[what]:.2f}" for size, values in found.items())
    if max(above) > SLACK:
        return Finding(words, Verdict.NOT)
    return Finding(words, Verdict.PARTLY if min(above) < -SLACK else Verdict.REPRODUCED)


def _expected(method: str, what: str) -> dict[str, float]:
    """Return the paper's exponents in n and in m."""
    cost = PAPER[method]
    kinds = {"seconds": cost.time_exponents, "stored": cost.space_exponents}
    return dict(zip("nm", kinds.get(what, cost.space_exponents), strict=True))


def _cost(method: str, what: str) -> Claim:
    cost = PAPER[method]
    testing = cost.space.replace("r)", ")")
    where, text, paper = {
        "seconds": ("Table 2", f"trains in {cost.time}", cost.time),
        "stored": ("Table 2", f"stores {cost.space} numbers", cost.space),
        "transform": ("Section 3", f"embeds a new point in {testing}", testing),
    }[what]
    if method not in ("shadow", "nystrom", "wnystrom"):
        where = "Section 6, in the text"
    return Claim(
        where,
        f"{NAMES[method]} {text}",
        paper,
        "slopes on logarithmic axes over the three largest sizes, for growing n at a fixed m and "
        f"for growing m at a fixed n. Reproduced: every slope is within {SLACK:g} of the paper's "
        "largest exponent; partly: no slope is above this range, so that the order holds as an "
        "upper bound, but at least one is below it; not reproduced: a slope is above it",
        ("table02",),
        partial(_judge_cost, method, what),
    )


CLAIMS = (
    _theorem(
        "5.1",
        "the MMD between data and quantized data is at most sqrt(2(kappa - phi(1/ell^p)))",
        "mmd",
        "0.46 to 0.28 for ell 3 to 5",
    ),
    _theorem(
        "5.2",
        "the squared differences of the eigenvalues sum to at most 2C (sigma/ell)^2",
        "eigenvalues",
        "square root 0.33 to 0.2",
    ),
    _theorem(
        "5.3",
        "the operators differ by at most 2 kappa sqrt(2(kappa - phi(1/ell^p)))",
        "operator",
        "0.92 to 0.56",
    ),
    Claim(
        "Section 5",
        "Theorem 5.4: the projections onto the leading D eigenfunctions differ by at most "
        "2 sqrt(2 kappa (kappa - phi(1/ell^p))) / delta_D",
        "a bound for ell in [3, 5]",
        f"D = 1, where the eigengap is largest, {SAMPLED}. Reproduced: the condition is met and "
        "the bound holds at every point; partly: the formula exceeds the measured value, but its "
        "condition is not met everywhere",
        ("bounds",),
        _judge_eigenspaces,
    ),
    *(_cost(method, "seconds") for method in NAMES),
    *(_cost(method, "stored") for method in ("shadow", "nystrom", "wnystrom")),
    *(_cost(method, "transform") for method in ("shadow", "nystrom", "wnystrom")),
)
