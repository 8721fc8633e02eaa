"""The look of every picture: few colours, which differ in lightness too."""

from __future__ import annotations

from typing import Any

INK, BAND, MARK, PALE = "#1b3a57", "#8fb3d1", "#d1495b", "#c3ccd6"
SCALE = "cividis"  # reads in grey as it does in colour
MARKERS = "os^Dv<>P*X"
# Paul Tol's muted scheme: told apart by the colour-blind too. In grey the markers tell.
CATEGORIES = (
    "#332288", "#cc6677", "#ddcc77", "#117733", "#88ccee",
    "#882255", "#44aa99", "#999933", "#aa4499", "#9a9a9a",
)  # fmt: skip


def axes(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes given, or those of a new figure."""
    return new_axes(1, size)[0] if ax is None else ax


def new_axes(count: int, size: tuple[float, float], n_columns: int | None = None) -> list[Any]:
    """Axes of a new figure, in rows of ``n_columns``, each of this size in inches."""
    plt = pyplot()
    columns = min(count, n_columns or count)
    rows = -(-count // columns)
    shape = (size[0] * columns, size[1] * rows)
    figure, made = plt.subplots(rows, columns, figsize=shape, layout="constrained", squeeze=False)
    for spare in made.ravel()[count:]:
        figure.delaxes(spare)
    return list(made.ravel()[:count])


def pyplot() -> Any:
    """matplotlib's, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "rskpca[plot]".') from error
    return plt


def log_axis(axis: Any, lowest: float, highest: float, unit: str = "") -> None:
    """Logs with labels at 1, 2 and 5 within each decade, or at 1 alone where there are many."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    subs = (1.0,) if highest > 1e3 * lowest else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{unit}"))
    axis.set_minor_locator(NullLocator())


def dress(ax: Any, x: str, y: str, title: str = "") -> None:
    """Labels, a title at the left, and no more lines than are read."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(title, loc="left", fontsize="medium", fontweight="bold", color=INK, pad=10)
    ax.spines[["top", "right"]].set_visible(False)
