"""HTML representation of fitted models in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..kernels import RadialKernel
from ..model import FittedModel

_MAX_POINTS = 1000
_WIDTH, _HEIGHT, _MARGIN = 260, 180, 8  # pixels


class FittedDisplay:
    """Mixin that adds plots and a notebook display to estimators with a fitted model."""

    def plot(self, X: Any = None, *, color: Any = None, components: Any = (0, 1)) -> Any:
        """Plot the rows and the centers in the coordinates of the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The rows; a sample of them is plotted. If None, rows sampled during the fit are plotted.
        color : array-like of shape (n_samples,), default=None
            Numbers or categories that determine the colors of the rows of X.
        components : sequence of int, default=(0, 1)
            Components to draw, numbered from 0, with one plot per pair.

        Returns
        -------
        EmbeddingDisplay
            The plot, with its matplotlib objects; see :class:`rskpca.plotting.EmbeddingDisplay`.
        """
        from ..plotting import EmbeddingDisplay

        return EmbeddingDisplay.from_estimator(self, X, color=color, components=components)

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram, followed by a summary of the fitted model."""
        model = getattr(self, "model_", None)  # None before the fit
        diagram = str(super()._repr_html_inner())  # type: ignore[misc]
        return diagram + ("" if model is None else fitted_html(model))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast(dict[str, str], super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def fitted_html(model: FittedModel) -> str:
    """Return HTML with a summary sentence, a small plot, a table and the full certificate."""
    certificate = model.certificate
    sentence = "" if certificate is None else f"<p><b>{escape(certificate.summary)}</b></p>"
    table = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in _facts(model))
    details = (
        ""
        if certificate is None
        else f"<details><summary>Certificate</summary>{certificate._repr_html_()}</details>"
    )
    return (
        f'{sentence}<div style="display: flex; gap: 1em; align-items: center">{_picture(model)}'
        f"<table><tbody>{table}</tbody></table></div>{details}"
    )


def _facts(model: FittedModel) -> list[tuple[str, str]]:
    rows = [
        *_points(model),
        ("kernel", repr(model.kernel)),
        ("components", f"{len(model.eigenvalues):,}"),
        ("kernel values per new row", f"{len(model.basis):,}"),
    ]
    ratio = model.explained_variance_ratio
    if ratio is not None:
        rows.append(("explained variance", f"{float(ratio.sum()):.1%}"))
    return rows


def _points(model: FittedModel) -> list[tuple[str, str]]:
    """Return table rows with the number of landmarks, or the number of centers and the radius."""
    if model.landmarks:
        return [("landmarks", f"{model.n_centers:,}")]
    points = model.reduced_set
    share = points.n_centers / points.n_samples
    rows = [("centers", f"{points.n_centers:,} for {points.n_samples:,.10g} rows ({share:.2%})")]
    if points.radius is not None:
        known = points.radius and isinstance(model.kernel, RadialKernel)
        ell = f" (ell {model.kernel.scale / points.radius:.3g})" if known else ""
        rows.append(("radius", f"{points.radius:.4g}{ell}"))
    return rows


def _picture(model: FittedModel) -> str:
    """Return the first two components of the sampled rows as an SVG image."""
    places = _places(model.embed(model.known_rows[:_MAX_POINTS]))
    dots = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in places)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="Embedding">'
        f'<path d="{dots}" stroke="currentColor" stroke-width="3" stroke-linecap="round" '
        'stroke-opacity="0.45" fill="none"/></svg>'
    )


def _places(coordinates: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the first two columns that vary, scaled to the size of the picture."""
    spread = np.ptp(coordinates, axis=0)
    varies = spread > 1e-6 * np.abs(coordinates).max(initial=1e-300)
    first = np.argsort(~varies, kind="stable")[:2]
    columns = coordinates[:, first] if len(first) == 2 else np.repeat(coordinates, 2, axis=1)
    low, size = columns.min(axis=0), np.maximum(np.ptp(columns, axis=0), 1e-300)
    inner = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    shares = (columns - low) / size
    shares[:, 1] = 1 - shares[:, 1]  # y points down in SVG
    return _MARGIN + inner * shares
