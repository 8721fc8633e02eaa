"""A fitted model in a notebook."""

from __future__ import annotations

from html import escape

from ..model import FittedModel


def fitted_html(model: FittedModel) -> str:
    """Return a summary of a fitted model as HTML."""
    found = model.reduced_set
    rows = [("landmarks", f"{model.n_centers:,}")]
    if not model.landmarks:
        share = found.n_centers / found.n_samples
        rows = [("centers", f"{found.n_centers:,} for {found.n_samples:,.10g} rows ({share:.2%})")]
        if found.radius is not None:
            ell = f" (ell {model.kernel.scale / found.radius:.3g})" if found.radius else ""
            rows.append(("radius", f"{found.radius:.4g}{ell}"))
    rows += [
        ("kernel", repr(model.kernel)),
        ("components", f"{len(model.eigenvalues):,}"),
        ("kernel evaluated at", f"{len(model.basis):,} points"),
    ]
    ratio = model.explained_variance_ratio
    if ratio is not None:
        rows.append(("variance held", f"{float(ratio.sum()):.1%}"))
    cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    certificate = "" if model.certificate is None else model.certificate._repr_html_()
    return f"<table><tbody>{cells}</tbody></table>{certificate}"
