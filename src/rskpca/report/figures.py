"""The figures of a report, built for wide screens and light mode; the page adapts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from .._format import percent
from ..pairs import Estimate
from ..planning.verdict import AMBER, GREEN
from ..plotting import SpectrumDisplay
from ..plotting.embedding import diameters
from .style import LIGHT, dots, log_axis, new_figure
from .subject import MAX_COMPONENTS, Subject
from .table import to_base64

Array = NDArray[np.floating]

_FEW = 0.02  # fraction of rows below which small ells are omitted from the retention curve
_WIDE_RANGE = 20  # ratio of the largest to the smallest count above which the axis is logarithmic
_VISIBLE = 0.01  # smaller relative errors of eigenvalues are hidden by the dots
_MAX_CENTER_VALUES = 200_000  # with more values, the features of the centers are left out
_ZONES = (  # the upper end and the color of each zone, and the meaning of the errors in it
    (GREEN, "green", "points move by<br>less than a marker"),
    (AMBER, "amber", "groups reliable,<br>single rows less so"),
    (2.0, "red", "not reliable"),
)
_SMALLEST, _LARGEST = 1e-4, 1.0  # ends of the error axis


def build(subject: Subject) -> dict[str, Any]:
    """Return the figures and the data of the embedding, in the form the page script expects."""
    built = {
        "retention": retention(subject),
        "spectrum": spectrum(subject),
        "embedding": embedding(subject),
        "certificate": certificate(subject),
    }
    return {name: picture for name, picture in built.items() if picture is not None}


def retention(subject: Subject) -> go.Figure | None:
    """Plot the number of centers as a function of ell, with the model marked."""
    curve, m = subject.retention, subject.model.n_centers
    if curve is None or curve.ell is None:  # the latter for exact models and landmarks
        return None
    ells = np.array(curve.ells)
    shown = (curve.n_centers >= _FEW * curve.n_samples) | (ells >= 0.5 * curve.ell)
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
    """Return the table of the drawn rows, the centers, and a figure without traces."""
    columns = subject.columns
    names = [column.name for column in columns]
    others = [k for k, column in enumerate(columns) if column.kind != "component"]
    first = names.index(subject.color) if subject.color in names else (others or [0])[0]
    return {
        "ids": subject.ids,
        "id_name": subject.id_name,
        "ids_are_rows": subject.ids_are_rows,
        "columns": [column.to_dict() for column in columns],
        "axes": _first_axes(subject),
        "color": first,
        "centers": _centers(subject),
        "figure": new_figure([], "", "").update_xaxes(showgrid=False).update_yaxes(showgrid=False),
    }


def _first_axes(subject: Subject) -> list[int]:
    """Return the first two columns that vary; normalized cuts can have constant columns."""
    numbers = [k for k, column in enumerate(subject.columns) if not column.categorical]
    values = [subject.columns[k].values for k in numbers]
    varies = [np.std(v) > 1e-6 * np.abs(v).max() for v in values]
    order = sorted(range(len(numbers)), key=lambda k: not varies[k])
    return [numbers[k] for k in (order * 2)[:2]]


def _centers(subject: Subject) -> dict[str, Any]:
    """Return the centers in the coordinates of the model, in order of decreasing weight."""
    model, weights = subject.model, subject.model.weights
    centers = model.reduced_set.centers
    order = np.arange(len(centers)) if weights is None else np.argsort(-weights, kind="stable")
    columns = dict(enumerate(model.embed(centers[order])[:, :MAX_COMPONENTS].T))
    if subject.fitted.preprocessing is None and centers.size <= _MAX_CENTER_VALUES:
        features = {name: j for j, name in enumerate(subject.names)}
        for k, column in enumerate(subject.columns):
            if column.kind == "feature":
                columns[k] = centers[order, features[column.name]]
    return {
        "name": "landmarks" if model.landmarks else "centers",
        "weights": None if weights is None else to_base64(weights[order].astype(np.float64)),
        "sizes": to_base64(1.5 * diameters(weights, len(centers))[order].astype(np.float32)),
        "columns": {k: to_base64(v.astype(np.float32)) for k, v in columns.items()},
    }


def certificate(subject: Subject) -> go.Figure | None:
    """Plot the error of the coordinates or, if it is unknown, the intervals of the eigenvalues."""
    if subject.error is not None:
        return _error_scale(subject.error)
    return spectrum(subject) if subject.spectrum.intervals() else None


def _error_scale(error: Estimate) -> go.Figure:
    """Plot the error and its limit on a logarithmic scale with green, amber and red zones."""
    value, limit = np.clip(error, _SMALLEST, _LARGEST)
    text = f"<b>{error_label(error.estimate)}</b>"
    if limit > value:
        text += f", at most {error_label(error.limit)}"
    bar = go.Scatter(
        x=[value, limit], y=[0, 0], mode="lines", line={"color": LIGHT["text"], "width": 5},
        hoverinfo="skip",
    )  # fmt: skip
    dot = go.Scatter(
        x=[value], y=[0], mode="markers+text", marker=dots(17, LIGHT["text"]), text=[text],
        textposition="top left" if value > GREEN else "top right",
        textfont={"size": 16}, hoverinfo="skip",
    )  # fmt: skip
    figure = new_figure([bar, dot], "error of the coordinates", "", showlegend=False)
    ticks = [1e-4, 1e-3, 1e-2, GREEN, AMBER, 1.0]
    figure.update_xaxes(
        type="log", range=[np.log10(_SMALLEST) - 0.1, 0.1], tickvals=ticks, showgrid=False,
        ticktext=[f"{100 * tick:g}%" for tick in ticks], fixedrange=True,
    )  # fmt: skip
    figure.update_yaxes(visible=False, range=[-1.6, 1.6], fixedrange=True)
    return _add_zones(figure)


def _add_zones(figure: go.Figure) -> go.Figure:
    start = _SMALLEST / 10
    for end, color, meaning in _ZONES:
        figure.add_shape(
            type="rect", x0=start, x1=end, y0=-1.6, y1=1.6, line={"width": 0}, layer="below",
            fillcolor=LIGHT[color], opacity=0.16,
        )  # fmt: skip
        figure.add_annotation(
            x=np.log10(np.sqrt(max(start, _SMALLEST) * min(end, _LARGEST))), y=-0.95, text=meaning,
            showarrow=False, font={"size": 12, "color": LIGHT["faint"]},
        )  # fmt: skip
        start = end
    return figure


def error_label(error: float) -> str:
    """Format an error as a percentage, or as "< 0.01%" if it is smaller."""
    return f"< {percent(_SMALLEST)}" if error < _SMALLEST else percent(error)
