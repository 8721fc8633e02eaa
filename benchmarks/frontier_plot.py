"""``python -m benchmarks.frontier_plot``: picture and table of what ``frontier`` has measured.

Both go to ``docs``: the picture to ``images/frontier.png``, the table into ``accuracy.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from .frontier import EXACT, Point, Unit, error, lower_envelope, read, title
from .frontier_measure import CASES
from .frontier_settings import OURS
from .frontier_table import markdown, seconds

DOCS = Path(__file__).parents[1] / "docs"
COSTS = {"fit": "time to fit", "transform": "time to transform 1,000 rows"}
GREY = "0.45"
MARKS = "<!-- frontier -->", "<!-- /frontier -->"


class Look(NamedTuple):
    """How a family is drawn; those of rskpca are filled. Colours after Okabe and Ito."""

    text: str
    colour: str
    marker: str


LOOKS = {
    "paper": Look("the paper", "#0072B2", "o"),
    "two scales": Look('basis="auto"', "#56B4E9", "D"),
    "refined": Look('refine="nystrom"', "#D55E00", "s"),
    "Nystrom": Look("NystromKernelPCA, uniform", "#E69F00", "v"),
    "RPCholesky": Look("NystromKernelPCA, rpcholesky", "#CC79A7", "^"),
    "ell=inf": Look("ell=np.inf (exact)", "#000000", "*"),
    "KernelPCA": Look("scikit-learn KernelPCA", GREY, "P"),
    "Nystroem + PCA": Look("scikit-learn Nystroem + PCA", GREY, "o"),
    "Fourier + PCA": Look("scikit-learn RBFSampler + PCA", GREY, "X"),
}


def draw(units: list[Unit], path: Path) -> None:
    """One row a data set: error against fit time, and against transform time."""
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(
        len(units), 2, figsize=(9.5, 2.5 * len(units) + 0.9), sharey="row", squeeze=False
    )
    for unit, pair in zip(units, axes, strict=True):
        for ax, cost in zip(pair, COSTS, strict=True):
            _panel(ax, unit, cost)
        pair[0].set_ylabel("held-out error")
        pair[0].set_title(title(unit), loc="left", fontsize=10, fontweight="bold")
    for ax, text in zip(axes[-1], COSTS.values(), strict=True):
        ax.set_xlabel(text)
    _legend(figure)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.9 / figure.get_figheight()), h_pad=1.2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _panel(ax: Any, unit: Unit, cost: str) -> None:
    points = unit["points"]
    _step(ax, lower_envelope(points, cost), cost)
    for family in reversed(LOOKS):
        own = [p for p in points if p["family"] == family]
        if own:
            xs, ys = [p[cost] for p in own], [error(p) for p in own]
            ax.plot(xs, ys, zorder=2 + (family in OURS), **_style(family))
    floor = unit["reference"].get("disagreement")
    if floor:
        ax.axhline(floor, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        text = "two samples of 20,000 rows differ by this"
        place = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "bottom", "zorder": 0}
        ax.text(0.995, floor, text, fontsize=7, color="0.4", **place)
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=EXACT / 2 if min(map(error, points)) <= EXACT else None)
    ax.xaxis.set_major_formatter(lambda x, _: seconds(x))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)


def _step(ax: Any, envelope: list[Point], cost: str) -> None:
    """The smallest error for at most that cost."""
    xs = [p[cost] for p in envelope]
    ys = [error(p) for p in envelope]
    ax.step(xs, ys, where="post", color="0.82", linewidth=5, zorder=1, solid_joinstyle="round")


def _style(family: str) -> dict[str, Any]:
    look, ours = LOOKS[family], family in OURS
    return {
        "color": look.colour,
        "marker": look.marker,
        "linestyle": "none",
        "markersize": 8 if look.marker == "*" else 5.5,
        "markerfacecolor": look.colour if ours else "white",
        "markeredgecolor": "white" if ours else look.colour,
        "markeredgewidth": 0.5 if ours else 1.2,
    }


def _legend(figure: Any) -> None:
    handles = [Line2D([], [], label=look.text, **_style(f)) for f, look in LOOKS.items()]
    envelope = Line2D([], [], color="0.82", linewidth=5, label="lower envelope of all")
    blank = Line2D([], [], linestyle="none", label=" ")
    columns = [*handles[:3], *handles[3:6], *handles[6:], envelope, blank, blank]
    options = {"loc": "upper center", "frameon": False, "fontsize": 8.5}
    figure.legend(handles=columns, ncol=4, title="filled: rskpca; open: scikit-learn", **options)


def main() -> None:
    found = [unit for unit in map(read, CASES) if unit is not None]
    if not found:
        raise SystemExit("nothing is measured yet: run python -m benchmarks frontier first")
    draw(found, DOCS / "images" / "frontier.png")
    _fill(DOCS / "accuracy.md", markdown(found))


def _fill(page: Path, table: str) -> None:
    """Put the table between the marks on the page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not (start and end):
        raise SystemExit(f"{page.name} has no place for the table: {' ... '.join(MARKS)}")
    page.write_text(f"{before}{start}\n\n{table}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
