"""Colors and axes shared by all figures. The colors differ in lightness as well as in hue."""

from __future__ import annotations

from typing import Any

from ._format import missing_package

INK, BAND, MARK, PALE = "#1b3a57", "#8fb3d1", "#d1495b", "#c3ccd6"
SCALE = "cividis"  # also readable in grayscale
MARKERS = "os^Dv<>P*X"
# Paul Tol's "muted" scheme, which is color-blind safe; in grayscale, rely on the markers.
CATEGORIES = (
    "#332288", "#cc6677", "#ddcc77", "#117733", "#88ccee",
    "#882255", "#44aa99", "#999933", "#aa4499", "#9a9a9a",
)  # fmt: skip


def get_axes(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """Return the given axes, or the axes of a new figure."""
    return new_axes(1, size)[0] if ax is None else ax


def new_axes(count: int, size: tuple[float, float], n_columns: int | None = None) -> list[Any]:
    """Create a figure with ``count`` axes in rows of ``n_columns``, each ``size`` inches."""
    plt = import_pyplot()
    columns = min(count, n_columns or count)
    rows = -(-count // columns)
    shape = (size[0] * columns, size[1] * rows)
    figure, grid = plt.subplots(rows, columns, figsize=shape, layout="constrained", squeeze=False)
    for spare in grid.ravel()[count:]:
        figure.delaxes(spare)
    return list(grid.ravel()[:count])


def import_pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or raise an error with installation instructions."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise missing_package("plotting", "matplotlib", "plot") from error
    return plt


def log_axis(axis: Any, lowest: float, highest: float, unit: str = "") -> None:
    """Use a log scale with ticks at 1, 2 and 5 per decade, or only at 1 for a wide range."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    subs = (1.0,) if highest > 1e3 * lowest else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{unit}"))
    axis.set_minor_locator(NullLocator())


def literal(name: str) -> str:
    """Escape a name for matplotlib, which would read text between two $ as a formula."""
    return str(name).replace("$", r"\$")


def style_axes(ax: Any, x: str, y: str, title: str = "") -> None:
    """Set the labels and a left-aligned title, and hide the top and right spines."""
    ax.set_xlabel(literal(x))
    ax.set_ylabel(literal(y))
    if title:
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", color=INK, pad=10)
    ax.spines[["top", "right"]].set_visible(False)
