"""The numbers behind the pictures, as JSON; large arrays as base64 of float32."""

from __future__ import annotations

import base64
from itertools import combinations
from typing import Any

import numpy as np

from ..planning.retention import Retention
from ..plotting import DensityDisplay, SpectrumDisplay
from ..plotting.embedding import Colors, diameters
from ..plotting.models import Array, embedded, points_of
from .subject import Subject

MOST_CENTERS = 1000  # the heaviest
MOST_COMPONENTS = 12
MOST_FEATURES = 4  # of the density: every pair of them
_FEW = 0.02  # of the rows: where the curve of a wider kernel is of no interest
_DOTS = 800  # rows of the density
_LINE, _PLANE = 200, 48  # points of a grid


def payload(subject: Subject) -> dict[str, Any]:
    """All that the scripts of the page draw."""
    return {
        "retention": _retention(subject.retention, subject),
        "spectrum": _spectrum(subject),
        "embedding": _embedding(subject),
        "density": _density(subject),
        "levels": _levels(subject),
    }


def _retention(curve: Retention, subject: Subject) -> dict[str, Any]:
    ells = np.array(curve.ells)
    shown = (curve.n_centers >= _FEW * curve.n_samples) | (ells >= 0.5 * (curve.ell or 0))
    return {
        "n": curve.n_samples,
        "ells": ells[shown].tolist(),
        "centers": plain(curve.n_centers[shown]),
        "low": plain(curve.low[shown]),
        "high": plain(curve.high[shown]),
        "ell": curve.ell,
        "kept": subject.n_centers,
        "covered": len(subject.covered),
        "given": subject.n_given,
    }


def _spectrum(subject: Subject) -> dict[str, Any]:
    certificate = subject.certificate
    if certificate is None:
        display = SpectrumDisplay.of(subject.embedding, subject.n_rows)
    else:
        display = SpectrumDisplay.of_certificate(certificate)
    return {
        "values": plain(display.eigenvalues),
        "likely": None if display.likely is None else plain(display.likely),
        "certain": None if display.certain is None else plain(display.certain),
        "confidence": display.confidence,
        "walk": display.walk,
        "label": "eigenvalue / n" if display.divided else "eigenvalue",
    }


def _levels(subject: Subject) -> list[dict[str, Any]] | None:
    if subject.certificate is None:
        return None
    keys = ("name", "mmd", "operator", "eigenvalue", "confidence")
    levels = subject.certificate.to_dict()["levels"]
    return [{key: level[key] for key in keys} for level in levels]


def _embedding(subject: Subject) -> dict[str, Any]:
    points, weights = _heaviest(subject)
    rows, centers = _with_features(subject, subject.drawn), _with_features(subject, points)
    return {
        "axes": [*_component_names(subject), *(subject.names[j] for j in _widest(subject))],
        "start": _start(rows),
        "rows": packed(rows),
        "centers": packed(centers),
        "sizes": packed(diameters(weights, len(points))),
        "weights": None if weights is None else packed(weights),
        "colors": [_color(name, colors) for name, colors in subject.colors.items()],
    }


def _heaviest(subject: Subject) -> tuple[Array, Array | None]:
    centers, weights = points_of(subject.embedding)
    if weights is None:
        return centers[:MOST_CENTERS], None
    order = np.argsort(-weights, kind="stable")[:MOST_CENTERS]
    return centers[order], weights[order]


def _widest(subject: Subject) -> list[int]:
    """The few features of the largest spread."""
    spread = subject.rows.std(axis=0)
    return [int(j) for j in np.argsort(-spread, kind="stable")[:MOST_FEATURES]]


def _with_features(subject: Subject, points: Array) -> Array:
    """Coordinates, and beside them a few features to draw them against."""
    coordinates = embedded(subject.embedding, points)[:, :MOST_COMPONENTS]
    return np.hstack([coordinates, points[:, _widest(subject)]])


def _start(columns: Array) -> list[int]:
    """The first two columns that tell rows apart; those of a normalized cut may be constant."""
    varied = columns.std(axis=0) > 1e-6 * np.abs(columns).max(axis=0)
    order = np.argsort(~varied, kind="stable")
    return [int(k) for k in order[:2]]


def _component_names(subject: Subject) -> list[str]:
    ratio = getattr(subject.embedding, "explained_variance_ratio_", None)
    count = len(subject.embedding.eigenvalues_)
    names = [f"component {k + 1}" for k in range(min(count, MOST_COMPONENTS))]
    if ratio is None:
        return names
    return [f"{name} ({100 * ratio[k]:.1f}%)" for k, name in enumerate(names)]


def _color(name: str, colors: Colors) -> dict[str, Any]:
    return {"name": name, "names": colors.names, "values": packed(colors.values)}


def _density(subject: Subject) -> dict[str, Any]:
    """Every pair of the few features of the largest spread; one feature by itself."""
    rows = subject.drawn
    pairs = [tuple(sorted(pair)) for pair in combinations(_widest(subject), 2)]
    sets = pairs or [(0,)]
    n_points = _LINE if rows.shape[1] == 1 else _PLANE
    displays = [
        DensityDisplay.of_features(subject.embedding, rows, pair, n_points, subject.names)
        for pair in sets
    ]
    return {
        "rows": len(rows),
        "centers": subject.n_centers,
        "views": [_view(display) for display in displays],
    }


def _view(display: DensityDisplay) -> dict[str, Any]:
    heaviest = slice(None)
    if display.weights is not None:
        heaviest = np.argsort(-display.weights, kind="stable")[:MOST_CENTERS]  # type: ignore[assignment]
    return {
        "names": list(display.names),
        "grid": [plain(axis) for axis in display.estimates.grid],
        "data": packed(display.estimates.data),
        "reduced": packed(display.estimates.reduced),
        "apart": display.estimates.apart,
        "dots": packed(display.rows[:_DOTS]),
        "centers": packed(display.centers[heaviest]),
        "sizes": packed(diameters(display.weights, len(display.centers))[heaviest]),
    }


def plain(values: Any) -> Any:
    """Numbers that JSON can hold, to seven digits; None for those that are not finite."""
    if isinstance(values, np.ndarray):
        return [plain(value) for value in values]
    number = float(values)
    return float(f"{number:.7g}") if np.isfinite(number) else None


def packed(values: Any) -> dict[str, Any]:
    """An array as base64 of its float32, row by row, with its shape."""
    array = np.ascontiguousarray(values, dtype="<f4")
    return {"shape": list(array.shape), "f4": base64.b64encode(array.tobytes()).decode("ascii")}
