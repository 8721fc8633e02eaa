"""Section 5 and Table 2: claims about the theorems and about time and storage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..bounds import MAX_ROWS
from ..table02 import PAPER
from .claim import Claim, Finding, ResultsByName, Verdict, format_range, grade

SLACK = 0.2  # margin by which a measured exponent may exceed the paper's
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


def _judge_bound(theorem: str, refuted: bool, results: ResultsByName) -> Finding:
    ratios = [point["printed"] / point["measured"] for point in _points(results, theorem)]
    held = sum(ratio >= 1 for ratio in ratios)
    words = (
        f"holds at {held} of {len(ratios)} points on {_sets(results)}; the bound is "
        f"{format_range(ratios)} times the measured value"
    )
    if refuted:
        words += "; the printed constant fails on constructed data (docs/errata.md)"
    if held < len(ratios):
        return Finding(words, Verdict.NOT)
    return Finding(words, Verdict.PARTLY if refuted else Verdict.REPRODUCED)


def _theorem(number: str, text: str, key: str, paper: str, refuted: bool = False) -> Claim:
    return Claim(
        "Section 5",
        f"Theorem {number}: {text}",
        paper,
        f"printed bound divided by measured value, {SAMPLED}. Reproduced: never below 1; partly: "
        "never below 1, but constructed data violate the printed bound",
        ("bounds",),
        partial(_judge_bound, key, refuted),
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
    """Compare the measured exponents with the largest exponents in the paper."""
    exponents, cost = results["table02"]["exponents"][method], PAPER[method]
    limits = cost.time_exponents if what == "seconds" else cost.space_exponents
    found = {size: exponents[size][what] for size in ("n", "m") if exponents[size] is not None}
    words = ", ".join(f"{size}^{value:.2f}" for size, value in found.items())
    limit = dict(zip("nm", limits, strict=True))
    return Finding(words, grade(value <= limit[size] + SLACK for size, value in found.items()))


def _cost(method: str, what: str) -> Claim:
    cost = PAPER[method]
    in_table = method in ("shadow", "nystrom", "wnystrom")
    text = f"trains in {cost.time}" if what == "seconds" else f"stores {cost.space} numbers"
    return Claim(
        "Table 2" if in_table else "Section 6, in the text",
        f"{NAMES[method]} {text}",
        cost.time if what == "seconds" else cost.space,
        "slopes on logarithmic axes, for growing n at a fixed m and for growing m at a fixed n. An "
        "order is an upper bound, so smaller slopes are accepted. Reproduced: no slope is more "
        f"than {SLACK:g} above the paper's largest exponent; partly: one of the two slopes is",
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
        "root 0.33 to 0.2",
        refuted=True,
    ),
    _theorem(
        "5.3",
        "the operators differ by at most 2 kappa sqrt(2(kappa - phi(1/ell^p)))",
        "operator",
        "0.92 to 0.56",
    ),
    Claim(
        "Section 5",
        "Theorem 5.4: the projections on the leading D eigenfunctions differ by at most "
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
)
