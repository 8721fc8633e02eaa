"""Figure style: one line style per method, readable in grayscale and by color-blind readers.

Colors follow Okabe and Ito. Markers and dashes also differ, so that no two methods are
distinguished by color alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

ELL = r"$\ell$ (bandwidth / radius)"


class Look(NamedTuple):
    """Label and line style of a method."""

    label: str
    color: str
    marker: str
    dashes: Any = "-"


LOOKS = {
    "shadow": Look("ShDE + RSKPCA", "#0072B2", "o"),
    "kpca": Look("KPCA", "#000000", "", (0, (6, 2))),
    "subsampled": Look("subsampled KPCA", "#999999", "x", (0, (1, 1))),
    "nystrom": Look("Nyström", "#D55E00", "s", (0, (5, 1.5))),
    "wnystrom": Look("WNyström", "#009E73", "^", (0, (4, 1, 1, 1))),
    "kmeans": Look("k-means + RSKPCA", "#CC79A7", "v", (0, (5, 1.5))),
    "paring": Look("KDE paring + RSKPCA", "#E69F00", "D", (0, (4, 1, 1, 1))),
    "herding": Look("herding + RSKPCA", "#56B4E9", "P", (0, (2, 1))),
    "kpca-dense": Look("KPCA, all eigenvectors", "#000000", "", (0, (1, 2))),
    "sklearn-kpca": Look("scikit-learn KernelPCA", "#7A4B9A", "", (0, (3, 1, 1, 1, 1, 1))),
    "sklearn-nystroem": Look("scikit-learn Nystroem + PCA", "#7A4B9A", "*", (0, (1, 1.5))),
}


@contextmanager
def figure(
    path: Path, rows: int, columns: int, *, size: tuple[float, float] = (3.4, 2.6), **options: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and a 2-d array of its panels, and save the figure to ``path`` on exit."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    look = {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "0.92",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 8,
    }
    with plt.rc_context(look):
        shape = (size[0] * columns, size[1] * rows)
        figure, panels = plt.subplots(
            rows, columns, figsize=shape, squeeze=False, layout="constrained", **options
        )
        yield figure, panels
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150, metadata={"Software": None})
        plt.close(figure)


def draw_line(
    ax: Any, method: str, x: ArrayLike, y: ArrayLike, band: tuple[ArrayLike, ArrayLike] | None
) -> None:
    """Draw the line for a method, with an optional band between a lower and an upper curve."""
    look = LOOKS[method]
    every = {"markevery": 1} if np.size(x) < 12 else {}
    ax.plot(x, y, label=look.label, **(line_style(method) | every))
    if band is not None:
        ax.fill_between(x, *band, color=look.color, alpha=0.18, linewidth=0)


def draw_level(ax: Any, method: str, y: float) -> None:
    """Draw a horizontal line for a method that does not depend on ell."""
    ax.axhline(y, label=LOOKS[method].label, **(line_style(method) | {"marker": ""}))


def line_style(method: str) -> dict[str, Any]:
    """Return the color, marker and dashes of a method as keyword arguments for ``plot``."""
    look = LOOKS[method]
    return {
        "color": look.color,
        "marker": look.marker,
        "linestyle": look.dashes,
        "linewidth": 1.3,
        "markersize": 4,
        "markevery": (list(LOOKS).index(method) % 2, 2),  # shows both markers if lines coincide
    }


def use_log_scale(ax: Any) -> None:
    """Make the y axis logarithmic, with plain numbers at 1, 2, 5, 10, ..."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:g}")


def label_ell_axis(ax: Any) -> None:
    """Label the x axis as ell, with a tick every 0.5."""
    from matplotlib.ticker import MultipleLocator

    ax.set_xlabel(ELL)
    ax.xaxis.set_major_locator(MultipleLocator(0.5))


def add_titles(panels: Any, titles: list[str]) -> None:
    """Title the panels (a), (b), ... as in the paper."""
    for ax, letter, title in zip(np.ravel(panels), "abcdefghijkl", titles, strict=False):
        ax.set_title(f"({letter}) {title}", loc="left")


def add_legend(figure: Any, panels: Any, columns: int = 4, note: str = "") -> None:
    """Add one legend above all panels, and a note below them."""
    entries: dict[str, Any] = {}
    for ax in np.ravel(panels):
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=columns)
    if note:
        add_note(figure, note)


def add_note(figure: Any, note: str) -> None:
    """Add small text below all panels."""
    wrapped = textwrap.fill(note, width=int(17 * figure.get_figwidth()))
    figure.supxlabel(wrapped, fontsize=7.5, color="0.35")
