"""The figures of a report, built for wide light screens; the page adapts them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from .._format import percent
from .._style import CATEGORIES
from ..plotting import DensityDisplay, SpectrumDisplay
from ..plotting.certificate import BOUNDS, numbers
from ..plotting.embedding import Colors, diameters
from .style import LIGHT, dots, label, log_axis, new_figure, rings
from .subject import Subject

Array = NDArray[np.floating]

MAX_CENTERS = 1000  # only the heaviest centers are drawn
MAX_COMPONENTS = 12  # in the embedding menus
_MAX_FEATURES = 4  # in the embedding menus and the density pairs
_FEW = 0.02  # fraction of rows below which small ells are omitted from the retention curve
_WIDE_RANGE = 20  # ratio of center numbers above which the axis is logarithmic
_LINE, _PLANE = 200, 48  # grid points per feature
_ROWS_IN_PLANE = 800
_CONTOURS = 12
_VISIBLE = 0.01  # relative errors of eigenvalues that are smaller are hidden by the dots
_SYMBOLS = {"o": "circle", "D": "diamond", "v": "triangle-down"}


def build(subject: Subject) -> dict[str, Any]:
    """Return all figures by name, in the form the page scripts expect."""
    figures: dict[str, Any] = {
        "retention": retention(subject),
        "spectrum": spectrum(subject),
        "embedding": embedding(subject),
        "density": list(densities(subject)),
    }
    return figures | ({} if subject.model.certificate is None else {"levels": levels(subject)})


def retention(subject: Subject) -> go.Figure:
    """Plot the number of centers as a function of ell, with the model marked."""
    curve, m = subject.retention, subject.model.n_centers
    ells = np.array(curve.ells)
    shown = (curve.n_centers >= _FEW * curve.n_samples) | (ells >= 0.5 * (curve.ell or 0))
    points = np.stack([ells, curve.n_centers, curve.low, curve.high], axis=1)[shown]
    counted = np.array_equal(curve.low, curve.high)
    texts = [
        f"ell {ell:.3g}<br><b>{value:,.0f} centers</b>, {percent(value / curve.n_samples)}"
        + ("" if low == high else f"<br>95% interval: {low:,.0f} to {high:,.0f}")
        for ell, value, low, high in points
    ]
    line = go.Scatter(
        x=points[:, 0], y=points[:, 1], mode="lines+markers", hovertext=texts, hoverinfo="text",
        line={"color": LIGHT["ink"], "width": 2.5}, marker={"size": 7},
        name="counted" if counted else "predicted",
    )  # fmt: skip
    low, high = points[:, 2].min(), points[:, 3].max()
    figure = new_figure(
        [line] if counted else [_range(points), line], "ell (bandwidth / radius)", "centers"
    )
    wide = bool(high > _WIDE_RANGE * low)
    linear = {"range": [0, high * 1.08], "tickformat": ",~g"}
    figure.update_yaxes(log_axis(low / 1.3, high * 1.3) if wide else linear)
    if curve.ell is None:
        return figure
    figure.add_scatter(
        x=[curve.ell], y=[m], mode="markers", marker=dots(15, LIGHT["mark"]), name="this model",
        hovertext=f"this model: ell {curve.ell:.3g}<br><b>{m:,} centers</b>", hoverinfo="text",
    )  # fmt: skip
    return figure.add_annotation(
        x=curve.ell, y=float(np.log10(m)) if wide else m, text=f"<b>{m:,}</b> centers",
        xanchor="left", yanchor="top", xshift=10, yshift=-8, showarrow=False, opacity=0.9,
        font={"color": LIGHT["mark"], "size": 14}, bgcolor=LIGHT["paper"],
    )  # fmt: skip


def _range(points: Array) -> go.Scatter:
    """Return the band between the interval bounds."""
    ells, low, high = points[:, 0], points[:, 2], points[:, 3]
    return go.Scatter(
        x=[*ells, *ells[::-1]], y=[*high, *low[::-1]], mode="lines", line={"width": 0},
        fill="toself", fillcolor=LIGHT["band"], opacity=0.35, hoverinfo="skip", name="95% interval",
    )  # fmt: skip


def spectrum(subject: Subject) -> go.Figure:
    """Plot the eigenvalues, with their intervals where these are wider than a dot."""
    display = subject.spectrum
    values, intervals = display.eigenvalues, display.intervals()
    components = np.arange(1, len(values) + 1)
    texts = [f"component {k}<br><b>{v:.3g}</b>" for k, v in zip(components, values, strict=True)]
    for name, ends in intervals:
        spans = [f"<br>{name}: {low:.3g} to {high:.3g}" for low, high in ends]
        texts = [text + span for text, span in zip(texts, spans, strict=True)]
    dot = go.Scatter(
        x=components, y=values, mode="markers", marker=dots(10, LIGHT["ink"]), hovertext=texts,
        hoverinfo="text", name="this model",
    )  # fmt: skip
    traces = [*_bars(display, components), dot]
    figure = new_figure(traces, "component", display.label, barmode="overlay", showlegend=True)
    figure.update_xaxes(dtick=max(1, round(len(values) / 12)), range=[0.4, len(values) + 0.6])
    if not display.walk:
        highest = max([values.max(), *(ends.max() for _, ends in intervals)])
        figure.update_yaxes(log_axis(display.floor, highest * 1.3))
    return figure


def has_visible_intervals(display: SpectrumDisplay) -> bool:
    """Return True if any interval at the confidence level reaches beyond its dot."""
    if display.likely is None:
        return False
    values = display.eigenvalues[:, None]
    return bool((np.abs(display.likely - values) > _VISIBLE * values).any())


def _bars(display: SpectrumDisplay, components: NDArray[Any]) -> Iterator[go.Bar]:
    if not has_visible_intervals(display):
        return
    styles = [(LIGHT["pale"], 0.08), (LIGHT["band"], 0.34)]
    intervals = display.intervals()
    for (name, ends), (color, width) in zip(intervals, styles[-len(intervals) :], strict=True):
        low = np.maximum(ends[:, 0], display.floor)
        line = {"color": color, "width": 1.5}  # keeps narrow intervals visible
        yield go.Bar(
            x=components, base=low, y=ends[:, 1] - low, width=width,
            marker={"color": color, "line": line}, hoverinfo="skip", name=name,
        )  # fmt: skip


def embedding(subject: Subject) -> dict[str, Any]:
    """Return the columns for both axes, the centers, and the rows in each coloring."""
    points, weights = _heaviest(subject)
    rows, centers = _with_features(subject, subject.drawn), _with_features(subject, points)
    columns = [
        {"name": name, "label": label(name), "rows": _rounded(row), "centers": _rounded(center)}
        for name, row, center in zip(_column_names(subject), rows.T, centers.T, strict=True)
    ]
    return {
        "columns": columns,
        "first": _first_columns(rows),
        "centers": _centers(weights, len(points)),
        "colors": [
            new_figure(
                list(_colored(name, colors)), "", "", meta=name,
                coloraxis={"colorbar": {"title": {"text": label(name, 40)}}},
            )
            for name, colors in subject.colors.items()
        ],
    }  # fmt: skip


def _colored(name: str, colors: Colors) -> Iterator[go.Scatter]:
    """Yield one trace per category, the largest first, or a single trace for numbers."""
    place = "<br>%{xaxis.title.text}: %{x:.3~g}<br>%{yaxis.title.text}: %{y:.3~g}<extra></extra>"
    if colors.names is None:
        values = colors.values.astype(np.float32)
        yield go.Scatter(
            mode="markers", name=label(name, 200), showlegend=False,
            marker={"size": 5, "color": values, "opacity": 0.75, "coloraxis": "coloraxis"},
            hovertemplate=f"<b>%{{fullData.name}}: %{{marker.color:.3~g}}</b>{place}",
        )  # fmt: skip
        return
    # The page fills in the coordinates of the rows listed in customdata.
    members = [np.flatnonzero(colors.values == k).tolist() for k in range(len(colors.names))]
    for rank, k in enumerate(sorted(range(len(members)), key=lambda k: -len(members[k]))):
        yield go.Scatter(
            mode="markers", name=label(colors.names[k]), legendrank=k, customdata=members[k],
            marker={"size": 6, "color": CATEGORIES[rank], "opacity": 0.65}, meta=label(name, 200),
            hovertemplate=f"<b>%{{meta}}: %{{fullData.name}}</b>{place}",
        )  # fmt: skip


def _centers(weights: Array | None, count: int) -> go.Scatter:
    number = "" if weights is None else " of <b>%{customdata:,.0f}</b> rows"
    sizes = _rounded(1.5 * diameters(weights, count))
    return go.Scatter(
        mode="markers", name="centers", legendrank=1000,
        customdata=None if weights is None else _rounded(weights),
        marker=rings(sizes, LIGHT["text"], opacity=0.8),
        hovertemplate=f"center{number}<extra></extra>",
    )  # fmt: skip


def _heaviest(subject: Subject) -> tuple[Array, Array | None]:
    centers, weights = subject.model.reduced_set.centers, subject.model.weights
    if weights is None:
        return centers[:MAX_CENTERS], None
    order = np.argsort(-weights, kind="stable")[:MAX_CENTERS]
    return centers[order], weights[order]


def _widest(subject: Subject) -> list[int]:
    """Return the few features with the largest standard deviations."""
    spread = subject.rows.std(axis=0)
    return [int(j) for j in np.argsort(-spread, kind="stable")[:_MAX_FEATURES]]


def _with_features(subject: Subject, points: Array) -> Array:
    """Append a few features to the coordinates as additional columns to plot."""
    coordinates = subject.model.embed(points)[:, :MAX_COMPONENTS]
    return np.hstack([coordinates, points[:, _widest(subject)]])


def _column_names(subject: Subject) -> list[str]:
    count = min(len(subject.model.eigenvalues), MAX_COMPONENTS)
    names = [f"component {k + 1}" for k in range(count)]
    ratio = subject.model.explained_variance_ratio
    if ratio is not None:
        names = [f"{name} ({100 * ratio[k]:.1f}%)" for k, name in enumerate(names)]
    return [*names, *(subject.names[j] for j in _widest(subject))]


def _first_columns(columns: Array) -> list[int]:
    """Return the first two columns that vary; normalized cuts can have constant columns."""
    varies = columns.std(axis=0) > 1e-6 * np.abs(columns).max(axis=0)
    order = np.argsort(~varies, kind="stable")
    return [int(k) for k in order[:2]]


def _rounded(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def densities(subject: Subject) -> Iterator[go.Figure]:
    """Yield one figure per pair of the most variable features, or one for a single feature."""
    pairs = [tuple(sorted(pair)) for pair in combinations(_widest(subject), 2)]
    size = _PLANE if pairs else _LINE
    for features in pairs or [(0,)]:
        display = DensityDisplay.of_features(
            subject.fitted, subject.drawn, features, size, subject.names
        )
        figure = _plane(display) if pairs else _line(display)
        caption = _density_caption(subject, display)
        yield figure.update_layout(meta={"name": " and ".join(display.names), "caption": caption})


def _density_caption(subject: Subject, display: DensityDisplay) -> str:
    both = np.stack(display.estimates[1:])
    how = ", in these two features and with the kernel of the model"
    flat = " Both are nearly flat: the kernel is wider than these features."
    return (
        f"The two estimates share {percent(1 - display.estimates.distance)} of their mass on this "
        f"grid. The estimate of the data uses {subject.describe(len(display.rows))}"
        f"{how if len(display.names) == 2 else ''}."
        f"{flat if both.min() > 0.5 * both.max() else ''}"
    )


def _line(display: DensityDisplay) -> go.Figure:
    (x,), data, reduced = display.estimates
    areas = diameters(display.weights, len(display.centers)) ** 2
    heights = 0.35 * data.max() * areas / areas.max()
    line = {"mode": "lines", "x": x}
    traces = [
        go.Bar(
            x=display.centers[:, 0], y=heights, width=(x[-1] - x[0]) / 400, name="centers",
            marker={"color": LIGHT["mark"]}, hoverinfo="skip",
        ),
        go.Scatter(y=data, line={"color": LIGHT["band"], "width": 7}, name="rows", **line),
        go.Scatter(y=reduced, line={"color": LIGHT["ink"], "width": 2}, name="reduced set", **line),
    ]  # fmt: skip
    figure = new_figure(traces, display.names[0], "density")
    return figure.update_yaxes(rangemode="tozero")


def _plane(display: DensityDisplay) -> go.Figure:
    """Plot the densities of the rows (left) and of the reduced set (right)."""
    figure = new_figure(list(_plane_traces(display)), *display.names, margin={"t": 30})
    figure.update_layout(
        xaxis={"domain": [0, 0.46]},
        xaxis2={
            "domain": [0.54, 1], "anchor": "y2", "matches": "x", "title": figure.layout.xaxis.title,
        },
        yaxis2={"anchor": "x2", "matches": "y"},
    )  # fmt: skip
    counts = f"{len(display.rows):,} rows", f"{len(display.centers):,} centers"
    for text, x in zip(counts, (0, 0.54), strict=True):
        figure.add_annotation(
            text=f"<b>{text}</b>", font={"size": 14, "color": LIGHT["ink"]}, showarrow=False,
            x=x, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom",
        )  # fmt: skip
    return figure


def _plane_traces(display: DensityDisplay) -> Iterator[Any]:
    (x, y), *both = display.estimates
    low, high = float(np.min(both)), float(np.max(both))
    step = (high - low) / _CONTOURS
    sizes = 1.2 * diameters(display.weights, len(display.centers))
    heaviest = np.argsort(-sizes, kind="stable")[:MAX_CENTERS]
    small = {"size": 3, "color": LIGHT["ink"], "opacity": 0.55}
    points = [
        (display.rows[:_ROWS_IN_PLANE], small),
        (display.centers[heaviest], rings(sizes[heaviest], LIGHT["mark"])),
    ]
    for k, (density, (xy, marker)) in enumerate(zip(both, points, strict=True)):
        side = {"xaxis": ("x", "x2")[k], "yaxis": ("y", "y2")[k]}
        hidden = {"hoverinfo": "skip", "showlegend": False, **side}
        yield go.Contour(
            x=x, y=y, z=density.T.astype(np.float32), zmin=low, zmax=high, showscale=False,
            contours={"start": low + step, "end": high, "size": step},
            line={"color": LIGHT["ink"], "width": 0.6},
            colorscale=[[0, LIGHT["paper"]], [1, LIGHT["band"]]], **hidden,
        )  # fmt: skip
        yield go.Scatter(x=xy[:, 0], y=xy[:, 1], mode="markers", marker=marker, **hidden)


def levels(subject: Subject) -> go.Figure:
    """Plot the bounds for all levels of the certificate on a logarithmic axis."""
    found = subject.model.certificate.levels  # type: ignore[union-attr]
    names = [
        level.name + (f", at {percent(level.confidence)}" if level.confidence < 1 else "")
        for level in found
    ]
    table = [numbers(level) for level in found]
    traces = []
    for k, bound in enumerate(BOUNDS):
        shown = [(i, row[k]) for i, row in enumerate(table) if row[k]]
        texts = [f"{names[i]}<br>{bound.label}: at most <b>{value:.3g}</b>" for i, value in shown]
        traces.append(
            go.Scatter(
                x=[value for _, value in shown], y=[i + 0.18 * (k - 1) for i, _ in shown],
                mode="markers", marker=dots(13, bound.color, symbol=_SYMBOLS[bound.marker]),
                hovertext=texts, hoverinfo="text", name=bound.label,
            )
        )  # fmt: skip
    figure = new_figure(traces, "upper bound on the error", "")
    positive = [value for row in table for value in row if value] or [0.2, 0.5]
    figure.update_xaxes(log_axis(min(positive) / 2, max(positive) * 2))
    ticks = {"tickvals": list(range(len(names))), "ticktext": names}
    figure.update_yaxes(**ticks, range=[len(names) - 0.5, -0.5])
    for i in (i for i, row in enumerate(table) if not any(row)):
        text = "no bound" if found[i].operator is None else "no error"
        figure.add_annotation(
            x=0.01, xref="paper", xanchor="left", y=i, text=text, showarrow=False,
            font={"color": LIGHT["faint"]}, bgcolor=LIGHT["paper"],
        )  # fmt: skip
    return figure
