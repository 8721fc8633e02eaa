"""``python -m benchmarks.frontier_plot``: draw the figure and write the table for ``frontier``.

The figures are written to ``docs/images`` and the tables to ``docs/comparison.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from experiments.results import markdown_table

from .frontier import (
    EXACT,
    STORE,
    Measurements,
    Point,
    cheapest,
    error,
    label,
    lower_envelope,
    select,
    title,
)
from .frontier_measure import CASES, OURS, PEERS

DOCS = Path(__file__).parents[1] / "docs"
COSTS = {"fit": "fit time", "transform": "transform time per 1,000 rows"}
GRAY = "0.45"
RECOMMENDED = "KernelPCA, max_error 1%"


class Look(NamedTuple):
    """Label, color (after Okabe and Ito) and marker of a family; rskpca markers are filled."""

    label: str
    color: str
    marker: str


LOOKS = {
    "KernelPCA": Look("KernelPCA(max_error=...)", "#D55E00", "o"),
    "means": Look("NystromKernelPCA, means", "#E69F00", "v"),
    "Nystrom": Look("NystromKernelPCA, uniform rows", "#CC79A7", "^"),
    "paper": Look("ReducedSetKernelPCA (the paper)", "#0072B2", "s"),
    "two scales": Look('the same with basis="auto"', "#56B4E9", "D"),
    "refined": Look('and refine="nystrom"', "#009E73", "p"),
    "exact": Look("KernelPCA, exact", "#000000", "*"),
    "sklearn KernelPCA": Look("scikit-learn KernelPCA", GRAY, "P"),
    "Nystroem + PCA": Look("scikit-learn Nystroem + PCA", GRAY, "o"),
    "Fourier + PCA": Look("scikit-learn RBFSampler + PCA", GRAY, "X"),
}


def draw(sets: list[Measurements], path: Path) -> None:
    """Draw one row per data set: error vs. fit time, and error vs. transform time."""
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(
        len(sets), 2, figsize=(9.5, 2.5 * len(sets) + 0.9), sharey="row", squeeze=False
    )
    for found, pair in zip(sets, axes, strict=True):
        for ax, cost in zip(pair, COSTS, strict=True):
            _draw_panel(ax, found, cost)
        pair[0].set_ylabel("held-out error")
        pair[0].set_title(title(found), loc="left", fontsize=10, fontweight="bold")
    for ax, text in zip(axes[-1], COSTS.values(), strict=True):
        ax.set_xlabel(text)
    _add_legend(figure)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.9 / figure.get_figheight()), h_pad=1.2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def draw_fit_times(sets: list[Measurements], path: Path) -> None:
    """Draw error vs. fit time, with one panel per data set."""
    figure, axes = plt.subplots(2, 4, figsize=(12, 6.2))
    for ax, found in zip(axes.flat, sets, strict=False):
        _draw_panel(ax, {**found, "reference": {}}, "fit")
        ax.set_title(title(found), loc="left", fontsize=10, fontweight="bold")
        ax.tick_params(labelsize=8)
    for ax in axes.flat[len(sets) :]:
        ax.axis("off")
    figure.supxlabel("fit time")
    figure.supylabel("held-out error")
    _add_legend(figure)
    figure.tight_layout(rect=(0, 0, 1, 0.87))
    figure.savefig(path, dpi=110)


def _draw_panel(ax: Any, found: Measurements, cost: str) -> None:
    points = found["points"]
    _draw_envelope(ax, lower_envelope(points, cost), cost)
    for family in reversed(LOOKS):
        own = [p for p in points if p["family"] == family]
        if own:
            xs, ys = [p[cost] for p in own], [error(p) for p in own]
            ax.plot(xs, ys, zorder=2 + (family in OURS), **_marker(family))
    disagreement = found["reference"].get("disagreement")
    if disagreement:
        ax.axhline(disagreement, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        text = "difference of two samples of 20,000 rows"
        position = {
            "transform": ax.get_yaxis_transform(),
            "ha": "right",
            "va": "bottom",
            "zorder": 0,
        }
        ax.text(0.995, disagreement, text, fontsize=7, color="0.4", **position)
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=EXACT / 2 if min(map(error, points)) <= EXACT else None)
    ax.xaxis.set_major_formatter(lambda x, _: format_seconds(x))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)


def _draw_envelope(ax: Any, envelope: list[Point], cost: str) -> None:
    """Draw the smallest error as a step function of the cost."""
    xs = [p[cost] for p in envelope]
    ys = [error(p) for p in envelope]
    ax.step(xs, ys, where="post", color="0.82", linewidth=5, zorder=1, solid_joinstyle="round")


def _marker(family: str) -> dict[str, Any]:
    look, ours = LOOKS[family], family in OURS
    return {
        "color": look.color,
        "marker": look.marker,
        "linestyle": "none",
        "markersize": 8 if look.marker == "*" else 5.5,
        "markerfacecolor": look.color if ours else "white",
        "markeredgecolor": "white" if ours else look.color,
        "markeredgewidth": 0.5 if ours else 1.2,
    }


def _add_legend(figure: Any) -> None:
    handles = [Line2D([], [], label=look.label, **_marker(f)) for f, look in LOOKS.items()]
    envelope = Line2D([], [], color="0.82", linewidth=5, label="lower envelope")
    blank = Line2D([], [], linestyle="none", label=" ")
    columns = [*handles, envelope, *[blank] * (-(len(handles) + 1) % 4)]
    options = {"loc": "upper center", "frameon": False, "fontsize": 8.5}
    figure.legend(handles=columns, ncol=4, title="filled: rskpca; open: scikit-learn", **options)


ERRORS = (0.1, 0.03, 0.01, 0.003, 0.001)
HEADER = (
    "data", "error at most", "rskpca, fit", "scikit-learn, fit", "speed-up",
    "rskpca, transform 1,000", "scikit-learn, transform 1,000", "speed-up",
)  # fmt: skip


def make_table(sets: Sequence[Measurements]) -> str:
    """Return one row per data set and error that at least one package reaches."""
    return markdown_table(HEADER, [row for found in sets for row in _table_rows(found)])


def _table_rows(found: Measurements) -> Iterator[tuple[str, ...]]:
    name = title(found)
    for limit in ERRORS:
        cells = _cells(found, limit, "fit"), _cells(found, limit, "transform")
        if any(cell != "-" for cell in cells[0]):
            yield name, f"{limit:.1%}", *cells[0], *cells[1]
            name = ""


def _cells(found: Measurements, limit: float, cost: str) -> tuple[str, str, str]:
    """Return the fastest setting of each package, and our speed-up, in bold if it is below 1."""
    ours, theirs = (cheapest(select(found, families), limit, cost) for families in (OURS, PEERS))
    if ours is None or theirs is None:
        return _cell(ours, cost), _cell(theirs, cost), "-"
    speedup = _format_speedup(theirs[cost] / ours[cost])
    return _cell(ours, cost), _cell(theirs, cost), speedup


RECOMMENDED_HEADER = (
    "data", "error of rskpca", "rskpca, fit", "fastest peer with at most this error, fit",
    "speed-up", "rskpca, transform 1,000",
    "fastest peer with at most this error, transform 1,000", "speed-up",
)  # fmt: skip


def make_recommended_table(sets: Sequence[Measurements]) -> str:
    """Return one row per data set: one setting of rskpca, and the best setting of any peer."""
    return markdown_table(RECOMMENDED_HEADER, [_recommended_row(found) for found in sets])


def _recommended_row(found: Measurements) -> tuple[str, ...]:
    (ours,) = [p for p in found["points"] if label(p) == RECOMMENDED]
    cells = [title(found), f"{ours['error']:.2g}"]
    for cost in ("fit", "transform"):
        theirs = cheapest(select(found, PEERS), error(ours), cost)
        times = float("inf") if theirs is None else theirs[cost] / ours[cost]
        peer = "none" if theirs is None else _cell(theirs, cost)
        cells += [format_seconds(ours[cost]), peer, _format_speedup(times)]
    return tuple(cells)


def _format_speedup(times: float) -> str:
    """Return a speed-up, in bold if it is below 1."""
    if times == float("inf"):
        return "-"
    return f"**{times:.2g}**" if times < 1 else f"{times:.2g}"


def _cell(point: Point | None, cost: str) -> str:
    return "-" if point is None else f"{format_seconds(point[cost])} ({label(point)})"


def format_seconds(value: float) -> str:
    """Format a time with two significant digits and a unit."""
    number, unit = (value, "s") if value >= 1 else (value * 1e3, "ms")
    return f"{float(f'{number:.2g}'):g} {unit}"


def main() -> None:
    sets = [found for found in map(STORE.read, CASES) if found is not None]
    if not sets:
        raise SystemExit("There are no measurements. Run python -m benchmarks frontier first.")
    draw(sets, DOCS / "images" / "frontier.png")
    draw_fit_times(sets, DOCS / "images" / "error_time.png")
    _insert(DOCS / "comparison.md", "frontier", make_table(sets))
    _insert(DOCS / "comparison.md", "recommended", make_recommended_table(sets))


def _insert(page: Path, name: str, table: str) -> None:
    """Insert the table between the markers with this name."""
    marks = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, start, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (start and end):
        raise SystemExit(f"{page.name} must contain the table markers {' and '.join(marks)}.")
    page.write_text(f"{before}{start}\n\n{table}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
