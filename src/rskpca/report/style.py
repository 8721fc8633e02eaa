"""The light and dark colors of the page, and the style of its figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from .._style import BAND, CATEGORIES, INK, MARK, PALE

# Figures are built in light colors, which the page replaces individually in dark mode.
COLORS = {
    "paper": ("#ffffff", "#161c24"),
    "sheet": ("#f4f6f9", "#0e1319"),
    "text": ("#1c2733", "#e6ebf1"),
    "faint": ("#566372", "#a3b0be"),
    "line": ("#d9e0e8", "#2c3642"),
    "ink": (INK, "#a9d1f5"),
    "band": (BAND, "#4b7fae"),
    "pale": (PALE, "#42505f"),
    "mark": (MARK, "#ff8896"),
    "green": ("#1a7f4b", "#5fd39a"),
    "amber": ("#9a6200", "#f0b64d"),
    "red": ("#b3261e", "#ff8a80"),
    "low": ("#00224e", "#3d6fb5"),
    "middle": ("#7c7b78", "#a39fa0"),
    "high": ("#e3c13b", "#ffe36b"),
}
LIGHT = {name: light for name, (light, _) in COLORS.items()}
DARK = {name: dark for name, (_, dark) in COLORS.items()}
CLEAR = "rgba(0,0,0,0)"
# Paul Tol's light scheme, which is legible on dark backgrounds.
_DARK_CATEGORIES = (
    "#77aadd", "#ee8866", "#eedd88", "#44bb99", "#99ddff",
    "#ffaabb", "#bbcc33", "#aaaa00", "#cc99ff", "#dddddd",
)  # fmt: skip
TO_DARK = dict(COLORS.values()) | dict(zip(CATEGORIES, _DARK_CATEGORIES, strict=True))

_AXIS = {
    "title": {"font": {"size": 14}, "standoff": 8}, "gridcolor": LIGHT["line"], "showline": True,
    "linecolor": LIGHT["faint"], "ticks": "outside", "tickcolor": LIGHT["faint"],
    "zeroline": False, "automargin": True,
}  # fmt: skip
_LAYOUT = {
    "font": {
        "color": LIGHT["text"], "size": 13,
        "family": 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
    },
    "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "hovermode": "closest",
    "margin": {"l": 8, "r": 8, "t": 36, "b": 8}, "xaxis": _AXIS, "yaxis": _AXIS,
    "modebar": {"bgcolor": CLEAR, "color": LIGHT["faint"], "activecolor": LIGHT["ink"]},
    "hoverlabel": {
        "bgcolor": LIGHT["paper"], "bordercolor": LIGHT["line"], "font": {"color": LIGHT["text"]},
        "align": "left",
    },
    "legend": {
        "orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": CLEAR,
        "itemsizing": "constant",
    },
    "coloraxis": {
        "colorscale": [[0, LIGHT["low"]], [0.5, LIGHT["middle"]], [1, LIGHT["high"]]],
        "colorbar": {"thickness": 12, "outlinewidth": 0, "title": {"side": "right"}},
    },
}  # fmt: skip


def new_figure(traces: list[Any], x: str, y: str, **layout: Any) -> go.Figure:
    """Create a figure with labeled axes; plotly interprets HTML in the labels."""
    figure = go.Figure(traces, layout={"template": {"layout": _LAYOUT}, **layout})
    return figure.update_layout(xaxis_title_text=x, yaxis_title_text=y)


def log_axis(low: float, high: float) -> dict[str, Any]:
    """Return a log axis with labels at 1, 2 and 5 per decade, or only at 1 over many decades."""
    ends = [float(np.log10(low)), float(np.log10(high))]
    step = 1 if high > 1e3 * low else "D2"
    return {"type": "log", "dtick": step, "tickformat": ",~g", "range": ends}


def dots(size: float, color: str) -> dict[str, Any]:
    """Return a style for markers with a thin border in the background color."""
    return {"size": size, "color": color, "line": {"color": LIGHT["paper"], "width": 1.5}}
