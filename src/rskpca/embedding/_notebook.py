"""HTML representation of fitted models in notebooks."""

from __future__ import annotations

from html import escape

from ..kernels import RadialKernel
from ..model import FittedModel


def fitted_html(model: FittedModel) -> str:
    """Return HTML tables that summarize a fitted model and its certificate."""
    rows = [
        *_points(model),
        ("kernel", repr(model.kernel)),
        ("components", f"{len(model.eigenvalues):,}"),
        ("kernel values per new row", f"{len(model.basis):,}"),
    ]
    ratio = model.explained_variance_ratio
    if ratio is not None:
        rows.append(("explained variance", f"{float(ratio.sum()):.1%}"))
    cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    certificate = "" if model.certificate is None else model.certificate._repr_html_()
    return f"<table><tbody>{cells}</tbody></table>{certificate}"


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
