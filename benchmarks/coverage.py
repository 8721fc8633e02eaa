"""How often the certificate's estimated limits are valid, and how wide they are.

For each data set, models of three kinds, with three values of ell and three numbers of components,
are compared with exact kernel PCA. Random walks are compared with the walk on all rows. A limit
should be valid for at least 94% of the row samples, and not much larger than the true error. The
comparisons are stored in ``results/coverage/<data>.json``; a run measures only data sets without a
file, and ``python -m benchmarks.coverage NAME ...`` repeats the measurements.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, groupby

import numpy as np

from . import results
from .coverage_measure import SETS, TUNED, WALK_SETS, WALKS, Record, measure_set
from .rows import Row, Wanted

STORE = results.Store("coverage", lambda name: measure_set(name, quick=False))
QUICK_SETS = SETS[0], WALK_SETS[-1]
ALL = "all data sets"
COVERED, RANKED = Wanted(">=", 0.94), Wanted(">=", 0.95)
# Targets for the median ratio of limit to true error; those of other quantities are below.
CASES = {
    "embedding": (("plain", "auto"), Wanted("<", 1.5)),
    "refined": (("refined",), Wanted("<", 2)),
    "merged": (("merged",), Wanted("<", 1.5)),
    "walks": (tuple(cls.__name__ for cls in WALKS), None),
}
EIGENVALUE_WIDTH, NORM_WIDTH = Wanted("<", 3), Wanted("<", 1.25)
DIFFERENT = 1.5  # ratio of errors above which limits should rank two models correctly
_ROUNDING = 1e-7  # smaller errors are rounding errors


def run(quick: bool) -> list[Row]:
    if quick:
        found = [measure_set(name, True) for name in QUICK_SETS]
    else:
        found = [STORE.get(name) for name in SETS]
    models = [model | {"data": one["data"]} for one in found for model in one["models"]]
    rows = _summarize(ALL, models, "; ".join(filter(None, (one["stand_in"] for one in found))))
    for one in found:
        name = one["data"] + ("*" if one["data"] in TUNED else "")
        rows += _summarize(name, one["models"], one["stand_in"])
    return rows


def _summarize(title: str, models: Sequence[Record], stand_in: str) -> list[Row]:
    """Return coverage and width of all limits, and how well they rank models."""
    norms = [model for model in models if model["method"] == "norms"]
    embeddings = [model for model in models if model["method"] != "norms"]
    pca = [model for model in embeddings if model["method"] != "walk"]
    rows = [row for case in CASES for row in _embedding_rows(case, title, embeddings)]
    rows += [*_eigenvalue_rows(title, pca), *_norm_rows(title, norms)]
    ranked = list(_rank(pca))
    if ranked:
        note = f"{len(ranked)} pairs"
        rows.append(Row(f"ranking: {title}", float(np.mean(ranked)), "", RANKED, note=note))
    return [replace(row, stand_in=stand_in) for row in rows]


def _embedding_rows(case: str, title: str, models: Sequence[Record]) -> Iterator[Row]:
    """Yield the coverage for row samples of both sizes, and the width for the larger ones."""
    kinds, wanted = CASES[case]
    held: dict[str, list[bool]] = {}
    widths: dict[str, list[float]] = {}
    for model in models:
        kind, true = model["kind"], model["true"]
        if kind in kinds and true > _ROUNDING:
            held.setdefault(kind, []).extend(x >= true for x in model["limits"] + model["small"])
            widths.setdefault(kind, []).extend(x / true for x in model["limits"])
    shares = {kind: float(np.mean(x)) for kind, x in held.items() if x}
    medians = {kind: float(np.median(x)) for kind, x in widths.items() if x}
    if not medians:
        return
    note = f"{sum(map(len, held.values()))} limits"
    yield Row(f"{case}, coverage: {title}", min(shares.values()), "", COVERED, shares, "", note)
    note = f"largest {max(max(x, default=0) for x in widths.values()):.3g}"
    seen = max(medians.values())
    yield Row(f"{case}, limit / error: {title}", seen, "x", wanted, medians, "x", note)


def _eigenvalue_rows(title: str, models: Sequence[Record]) -> Iterator[Row]:
    pairs = [p for m in models for p in m["eigenvalues"] if p[0] > _ROUNDING]
    if not pairs:
        return
    errors, limits = np.array(pairs).T  # invalid limits are negative
    shares, width = float((limits >= 0).mean()), float(np.median(np.abs(limits) / errors))
    yield Row(f"eigenvalues, coverage: {title}", shares, "", COVERED, note=f"{len(pairs)} limits")
    yield Row(f"eigenvalues, limit / error: {title}", width, "x", EIGENVALUE_WIDTH)


def _norm_rows(title: str, models: Sequence[Record]) -> Iterator[Row]:
    """Yield the coverage and the width of the limits on the operator error and the MMD."""
    shares, widths = {}, {}
    for name in ("operator", "mmd"):
        found = [m[name] for m in models if name in m and m[name][0] > _ROUNDING]
        ratios = np.array([limit / true for true, *limits in found for limit in limits])
        if len(ratios):
            shares[name], widths[name] = float((ratios >= 1).mean()), float(np.median(ratios))
    if shares:
        seen = min(shares.values()), max(widths.values())
        yield Row(f"norms, coverage: {title}", seen[0], "", COVERED, shares, "")
        yield Row(f"norms, limit / error: {title}", seen[1], "x", NORM_WIDTH, widths, "x")


def _rank(models: Sequence[Record]) -> Iterator[bool]:
    """Yield True where limits rank two models of the same data and size like the true errors."""

    def problem(model: Record) -> tuple[str, str, int]:
        return model.get("data", ""), model["method"], model["r"]

    for _, alike in groupby(sorted(models, key=problem), problem):
        for pair in combinations(alike, 2):
            low, high = sorted(pair, key=lambda model: float(model["true"]))
            if low["true"] > _ROUNDING and high["true"] > DIFFERENT * low["true"]:
                yield from (a < b for a, b in zip(low["limits"], high["limits"], strict=False))


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        STORE.measure(chosen)
