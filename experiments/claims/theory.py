"""Section 5 and Table 2: every theorem, and every cost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..bounds import MOST_ROWS
from ..table02 import PAPER
from .claim import NOT, PARTLY, REPRODUCED, Claim, Finding, Found, graded

SLACK = 0.2
SAMPLED = f"at every second ell of each data set, of usps on {MOST_ROWS:,} of its 9,298 rows"
NAMES = {
    "shadow": "ShDE+RSKPCA",
    "nystrom": "Nystrom",
    "wnystrom": "WNystrom",
    "kmeans": "RSKPCA with k-means",
    "paring": "RSKPCA with KDE paring",
    "herding": "RSKPCA with herding",
    "kpca-dense": "KPCA",
}


def _points(found: Found, theorem: str) -> Iterator[dict[str, Any]]:
    for one in found["bounds"]["sets"].values():
        yield from (row[theorem] for row in one["rows"])


def _sets(found: Found) -> str:
    return ", ".join(found["bounds"]["sets"])


def _bounded(theorem: str, refuted: bool, found: Found) -> Finding:
    points = list(_points(found, theorem))
    ratios = [point["printed"] / point["measured"] for point in points]
    held = sum(ratio >= 1 for ratio in ratios)
    words = (
        f"held at {held} of {len(points)} points of {_sets(found)}; the bound is "
        f"{min(ratios):.3g} to {max(ratios):.3g} times the measured value"
    )
    if refuted:
        words += "; with the printed constant it fails on constructed data (docs/errata.md)"
    verdict = NOT if held < len(points) else PARTLY if refuted else REPRODUCED
    return Finding(words, verdict)


def _theorem(number: str, text: str, key: str, paper: str, refuted: bool = False) -> Claim:
    return Claim(
        "Section 5",
        f"Theorem {number}: {text}",
        paper,
        f"the printed bound over the measured value, {SAMPLED}. Reproduced: never below 1; "
        "partly: so, but constructed data break it as printed",
        ("bounds",),
        partial(_bounded, key, refuted),
    )


def _eigenspaces(found: Found) -> Finding:
    points = list(_points(found, "eigenspaces"))
    met = sum(point["printed"] is not None for point in points)
    above = sum(point["unproved"] >= point["measured"] for point in points)
    words = (
        f"its condition is met at {met} of {len(points)} points of {_sets(found)}, and for "
        "the Gaussian nowhere below ell = 11.3 (docs/errata.md); the formula is above the measured "
        f"value at {above}"
    )
    if above < len(points):
        return Finding(words, NOT)
    return Finding(words, REPRODUCED if met == len(points) else PARTLY)


def _costs(method: str, what: str, found: Found) -> Finding:
    """Exponents as measured against the largest ones of the paper."""
    exponents, cost = found["table02"]["exponents"][method], PAPER[method]
    limits = cost.time_exponents if what == "seconds" else cost.space_exponents
    seen = {size: exponents[size][what] for size in ("n", "m") if exponents[size] is not None}
    words = ", ".join(f"{size}^{value:.2f}" for size, value in seen.items())
    most = dict(zip("nm", limits, strict=True))
    flags = [value <= most[size] + SLACK for size, value in seen.items()]
    return Finding(words, graded(flags))


def _cost(method: str, what: str) -> Claim:
    cost = PAPER[method]
    stands = method in ("shadow", "nystrom", "wnystrom")
    text, order = ("trains in", cost.time) if what == "seconds" else ("stores", cost.space)
    return Claim(
        "Table 2" if stands else "Section 6, in the text",
        f"{NAMES[method]} {text} {order}",
        order,
        "slopes of the logarithms, n growing at one m and m growing at one n. An order is an upper "
        "bound, and only that is tested: a smaller slope will do. Reproduced: none more than "
        f"{SLACK:g} above the paper's largest exponent; partly: one of two",
        ("table02",),
        partial(_costs, method, what),
    )


CLAIMS = (
    _theorem(
        "5.1",
        "the MMD of data and quantized data is at most sqrt(2(kappa - phi(1/ell^p)))",
        "mmd",
        "0.46 to 0.28 for ell 3 to 5",
    ),
    _theorem(
        "5.2",
        "the eigenvalues differ by at most 2C (sigma/ell)^2, squared and summed",
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
        "a bound over ell in [3, 5]",
        f"D = 1, where the gap is largest, {SAMPLED}. Reproduced: the condition is met and the "
        "bound holds at every point; partly: the formula is above the measured value, but its "
        "condition is not met everywhere",
        ("bounds",),
        _eigenspaces,
    ),
    *(_cost(method, "seconds") for method in NAMES),
    *(_cost(method, "stored") for method in ("shadow", "nystrom", "wnystrom")),
)
