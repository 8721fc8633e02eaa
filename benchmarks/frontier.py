"""Held-out error vs. fit time and vs. transform time, for rskpca and scikit-learn.

The measurements of each data set are stored in ``results/frontier/<data>.json``; the rows, and the
figure of ``python -m benchmarks.frontier_plot``, are generated from these files. A run measures
only data sets without a file. ``python -m benchmarks.frontier NAME ...`` repeats the measurements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import results
from .frontier_measure import CASES, OURS, PEERS, measure_case
from .rows import Row, Wanted

STORE = results.Store("frontier", lambda name: measure_case(name, quick=False))
EXACT = 1e-5  # smaller errors are treated as equal
TIE = 1.1  # errors within this factor count as equally good; different seeds vary more

Point = dict[str, Any]  # one setting: family, size, times and error
Measurements = dict[str, Any]  # all points of one data set


def run(quick: bool) -> list[Row]:
    found = {name: measure_case(name, True) if quick else STORE.get(name) for name in CASES}
    rows = [row for one in found.values() for row in _compare_envelopes(one)]
    rows += _compare_large_fit(found["covtype"])
    for name, factor in (("usps", 10), ("pendigits", 10), ("covtype-16k", 5)):
        rows += _compare_two_scales(found[name], factor)
    return rows


def title(found: Measurements) -> str:
    """Return the name and the shape of a data set."""
    n, d = found["shape"]
    return f"{found['data'].removesuffix('-16k')} {n:,} x {d}"


def label(point: Point) -> str:
    """Return the family and the size of a setting."""
    return f"{point['family']}, {point['size']}" if point["size"] else point["family"]


def error(point: Point) -> float:
    """Return the error, or ``EXACT`` if the error is smaller."""
    return max(point["error"], EXACT)


def lower_envelope(points: Sequence[Point], cost: str) -> list[Point]:
    """Return the points that no other point beats in both cost and error, by increasing cost."""
    envelope: list[Point] = []
    for point in sorted(points, key=lambda p: (p[cost], error(p))):
        if not envelope or error(point) < error(envelope[-1]):
            envelope.append(point)
    return envelope


def select(found: Measurements, families: Sequence[str]) -> list[Point]:
    """Return the points that belong to the given families."""
    return [p for p in found["points"] if p["family"] in families]


def cheapest(points: Sequence[Point], limit: float, cost: str) -> Point | None:
    """Return the point of lowest cost with an error of at most ``limit``, or None."""
    able = [p for p in points if error(p) <= limit]
    return min(able, key=lambda p: p[cost]) if able else None


def _compare_envelopes(found: Measurements) -> Iterator[Row]:
    """Yield the worst speed-up over scikit-learn's envelope at an equally good error."""
    for cost in ("fit", "transform"):
        peers = lower_envelope(select(found, PEERS), cost)
        for families, name, wanted in ((OURS, "", 1.5), (OURS[:1], " of KernelPCA", None)):
            pairs = [(cheapest(select(found, families), TIE * error(p), cost), p) for p in peers]
            ratios = [p[cost] / ours[cost] if ours else 0.0 for ours, p in pairs]
            worst = min(range(len(pairs)), key=ratios.__getitem__)
            slower = sum(r < (wanted or 1) for r in ratios)
            note = f"{slower} of {len(peers)} points below {wanted or 1}; "
            note += _describe(*pairs[worst], cost)
            target = None if wanted is None else Wanted(">=", wanted)
            yield _row(found, f"{cost}, lower envelope{name}", ratios[worst], target, note)


def _describe(ours: Point | None, peer: Point, cost: str) -> str:
    theirs = f"{label(peer)}: {peer[cost]:.2g} s, {peer['error']:.1g}"
    mine = "none" if ours is None else f"{label(ours)}: {ours[cost]:.2g} s, {ours['error']:.1g}"
    return f"{mine} vs. {theirs}"


def _compare_large_fit(found: Measurements) -> Iterator[Row]:
    """Compare our fastest fit below 1% error with the smallest Nystroem that is as accurate."""
    case = "fit below 1%, compared with Nystroem + PCA"
    ours = cheapest(select(found, OURS), 0.01, "fit")
    peers = select(found, ("Nystroem + PCA",))
    able = [p for p in peers if ours is not None and p["error"] <= ours["error"]]
    if ours is None or not able:
        yield _row(found, case, 0.0, Wanted(">=", 10), "no setting is as accurate")
        return
    theirs = min(able, key=lambda p: p["n_basis"])
    note = _describe(ours, theirs, "fit")
    yield _row(found, case, theirs["fit"] / ours["fit"], Wanted(">=", 10), note)
    note = f"{ours['n_basis']} vs. {theirs['n_basis']}"
    seen = theirs["n_basis"] / ours["n_basis"]
    yield _row(found, f"{case}: basis points", seen, Wanted(">=", 1), note)


def _compare_two_scales(found: Measurements, factor: float) -> Iterator[Row]:
    """Compare ``basis="auto"`` with all centers, at ell = 4."""
    points = {label(p): p for p in found["points"]}
    paper, two = points["paper, ell 4"], points["two scales, ell 4"]
    ratios: dict[str, Callable[[Point], float]] = {
        "points": lambda p: p["n_basis"],
        "transform": lambda p: p["transform"],
    }
    for what, value in ratios.items():
        note = f"{value(two):.3g} vs. {value(paper):.3g}"
        seen = value(paper) / value(two)
        yield _row(found, f"two scales, ell 4: {what}", seen, Wanted(">=", factor), note)
    note = f"{two['error']:.2g} vs. {paper['error']:.2g}"
    seen = two["error"] / paper["error"]
    case = "two scales, ell 4: error relative to the paper's"
    yield _row(found, case, seen, Wanted("<", 1.1), note)


def _row(found: Measurements, what: str, seen: float, wanted: Wanted | None, note: str) -> Row:
    return Row(f"{title(found)}: {what}", seen, "x", wanted, note=note, stand_in=found["stand_in"])


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        STORE.measure(chosen)
