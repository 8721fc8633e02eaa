"""Held-out error against fit time and against transform time, for every setting and its peers.

Each data set is measured once and kept in ``results/frontier/<data>.json``; the rows, and the
picture that ``python -m benchmarks.frontier_plot`` draws, are made from those files. A run
measures what is missing. ``python -m benchmarks.frontier NAME ...`` measures again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import results
from .frontier_measure import CASES, measured
from .frontier_settings import OURS, PEERS
from .rows import Row, Wanted

FOLDER = results.FOLDER / "frontier"
EXACT = 1e-5  # errors below this are equal
TIE = 1.1  # as good is an error of at most this many times the other's: seeds differ by more

Point = dict[str, Any]
Unit = dict[str, Any]


def run(quick: bool) -> list[Row]:
    units = {name: measured(name, True) if quick else _kept(name) for name in CASES}
    rows = [row for unit in units.values() for row in _envelope(unit)]
    rows += _large(units["covtype"])
    for name, factor in (("usps", 10), ("pendigits", 10), ("covtype-16k", 5)):
        rows += _two_scales(units[name], factor)
    for name in ("german", "pendigits", "yale", "covtype-16k", "covtype", "skin"):
        rows += _refined(units[name])
    return rows


def read(name: str) -> Unit | None:
    """What was measured on one data set, or None."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def measure(name: str) -> Unit:
    """Measure one data set, and keep the result."""
    start = time.perf_counter()
    unit = measured(name, quick=False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    unfinished = FOLDER / f"{name}.tmp"
    unfinished.write_text(json.dumps(unit, indent=1) + "\n")
    unfinished.replace(FOLDER / f"{name}.json")
    print(f"frontier, {name}: {time.perf_counter() - start:.0f} s", flush=True)
    return unit


def title(unit: Unit) -> str:
    """Name and rows."""
    n, d = unit["shape"]
    return f"{unit['data'].removesuffix('-16k')} {n:,} x {d}"


def label(point: Point) -> str:
    """Family and size."""
    return f"{point['family']}, {point['size']}" if point["size"] else point["family"]


def error(point: Point) -> float:
    """Its error, or the smallest that is told from zero."""
    return max(point["error"], EXACT)


def lower_envelope(points: Sequence[Point], cost: str) -> list[Point]:
    """Those that no other beats in both cost and error, cheapest first."""
    envelope: list[Point] = []
    for point in sorted(points, key=lambda p: (p[cost], error(p))):
        if not envelope or error(point) < error(envelope[-1]):
            envelope.append(point)
    return envelope


def _kept(name: str) -> Unit:
    unit = read(name)
    return measure(name) if unit is None else unit


def of(unit: Unit, families: Sequence[str]) -> list[Point]:
    """Its points of some families."""
    return [p for p in unit["points"] if p["family"] in families]


def _named(unit: Unit, name: str) -> Point | None:
    return next((p for p in unit["points"] if label(p) == name), None)


def cheapest(points: Sequence[Point], limit: float, cost: str) -> Point | None:
    """The cheapest with an error of at most ``limit``, or None."""
    able = [p for p in points if error(p) <= limit]
    return min(able, key=lambda p: p[cost]) if able else None


def _envelope(unit: Unit) -> Iterator[Row]:
    """How many times the cost of the cheapest of ours is that of a peer as good, at the worst."""
    for cost in ("fit", "transform"):
        peers = lower_envelope(of(unit, PEERS), cost)
        pairs = [(cheapest(of(unit, OURS), TIE * error(p), cost), p) for p in peers]
        ratios = [p[cost] / ours[cost] if ours else 0.0 for ours, p in pairs]
        worst = min(range(len(pairs)), key=ratios.__getitem__)
        lost = sum(r < 1 for r in ratios)
        note = f"{lost} of {len(peers)} lost; {_against(*pairs[worst], cost)}"
        yield _row(unit, f"{cost}, lower envelope", ratios[worst], Wanted(">=", 1), note)


def _against(ours: Point | None, peer: Point, cost: str) -> str:
    theirs = f"{label(peer)}: {peer[cost]:.2g} s, {peer['error']:.1g}"
    mine = "none" if ours is None else f"{label(ours)}: {ours[cost]:.2g} s, {ours['error']:.1g}"
    return f"{mine} against {theirs}"


def _large(unit: Unit) -> Iterator[Row]:
    """The quickest fit of ours below 1% against the fewest landmarks that are as good."""
    case = "fit below 1%, against Nystroem + PCA"
    ours = cheapest(of(unit, OURS), 0.01, "fit")
    peers = of(unit, ("Nystroem + PCA",))
    able = [p for p in peers if ours is not None and p["error"] <= ours["error"]]
    if ours is None or not able:
        yield _row(unit, case, 0.0, Wanted(">=", 10), "none is as good")
        return
    theirs = min(able, key=lambda p: p["n_basis"])
    note = _against(ours, theirs, "fit")
    yield _row(unit, case, theirs["fit"] / ours["fit"], Wanted(">=", 10), note)
    note = f"{ours['n_basis']} against {theirs['n_basis']}"
    seen = theirs["n_basis"] / ours["n_basis"]
    yield _row(unit, f"{case}: basis points", seen, Wanted(">=", 1), note)


def _two_scales(unit: Unit, factor: float) -> Iterator[Row]:
    """``basis="auto"`` against all centers, at ell 4."""
    points = {label(p): p for p in unit["points"]}
    paper, two = points["paper, ell 4"], points["two scales, ell 4"]
    ratios: dict[str, Callable[[Point], float]] = {
        "points": lambda p: p["n_basis"],
        "transform": lambda p: p["transform"],
    }
    for what, value in ratios.items():
        note = f"{value(two):.3g} against {value(paper):.3g}"
        seen = value(paper) / value(two)
        yield _row(unit, f"two scales, ell 4: {what}", seen, Wanted(">=", factor), note)
    note = f"{two['error']:.2g} against {paper['error']:.2g}"
    seen = two["error"] / paper["error"]
    yield _row(unit, "two scales, ell 4: error, of the paper's", seen, Wanted("<", 1.1), note)


def _refined(unit: Unit) -> Iterator[Row]:
    """``refine="nystrom"`` on all centers against Nystroem + PCA with as many."""
    for ell in ("3", "4"):
        ours = _named(unit, f"refined, ell {ell}")
        theirs = _named(unit, f"Nystroem + PCA, {unit['centers'][ell]}")
        if ours is None or theirs is None:
            continue
        case = f"refined, ell {ell}, m {unit['centers'][ell]:,}"
        note = _against(ours, theirs, "fit")
        seen = theirs["fit"] / ours["fit"]
        yield _row(unit, f"{case}: fit", seen, Wanted(">=", 1.8), note)
        seen = error(ours) / error(theirs)
        yield _row(unit, f"{case}: error, of Nystroem + PCA's", seen, Wanted("<", 1.0 + EXACT), "")


def _row(unit: Unit, what: str, seen: float, wanted: Wanted, note: str) -> Row:
    return Row(f"{title(unit)}: {what}", seen, "x", wanted, note=note, stand_in=unit["stand_in"])


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        measure(chosen)
