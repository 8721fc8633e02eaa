"""One look a method, in every picture; told apart in grey and by the colour-blind.

Colours after Okabe and Ito. Marker and dashes differ too, so no two methods differ by colour alone.
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
    """How a method is drawn."""

    text: str
    colour: str
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
    """A figure and its panels, as a 2-d array; saved to ``path`` at the end."""
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


def line(ax: Any, method: str, x: ArrayLike, y: ArrayLike, band: ArrayLike | None = None) -> None:
    """A method's line, with a band of y -+ ``band``."""
    look = LOOKS[method]
    every = {"markevery": 1} if np.size(x) < 12 else {}
    ax.plot(x, y, label=look.text, **(stroke(method) | every))
    if band is not None:
        low, high = np.subtract(y, band), np.add(y, band)
        ax.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)


def level(ax: Any, method: str, y: float) -> None:
    """A line across for what does not depend on ell."""
    ax.axhline(y, label=LOOKS[method].text, **(stroke(method) | {"marker": ""}))


def stroke(method: str) -> dict[str, Any]:
    """Colour, marker and dashes of a method, as matplotlib's ``plot`` takes them."""
    look = LOOKS[method]
    return {
        "color": look.colour,
        "marker": look.marker,
        "linestyle": look.dashes,
        "linewidth": 1.3,
        "markersize": 4,
        "markevery": (list(LOOKS).index(method) % 2, 2),  # equal lines show the marks of both
    }


def logarithmic(ax: Any) -> None:
    """A logarithmic axis of values, with plain numbers at 1, 2, 5, 10, ..."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:g}")


def ell_axis(ax: Any) -> None:
    """A labelled axis of ell, with marks every half."""
    from matplotlib.ticker import MultipleLocator

    ax.set_xlabel(ELL)
    ax.xaxis.set_major_locator(MultipleLocator(0.5))


def letter(panels: Any, titles: list[str]) -> None:
    """Titles (a), (b), ... as the paper has them."""
    for ax, mark, title in zip(np.ravel(panels), "abcdefghijkl", titles, strict=False):
        ax.set_title(f"({mark}) {title}", loc="left")


def legend(figure: Any, panels: Any, columns: int = 4, note: str = "") -> None:
    """One legend above all panels, where it hides nothing, and a note below them."""
    entries: dict[str, Any] = {}
    for ax in np.ravel(panels):
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=columns)
    if note:
        wrapped = textwrap.fill(note, width=int(17 * figure.get_figwidth()))
        figure.supxlabel(wrapped, fontsize=7.5, color="0.35")
