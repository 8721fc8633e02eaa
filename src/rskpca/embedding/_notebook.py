"""A fitted model in a notebook: scikit-learn's diagram, the reduced set, the certificate."""

from __future__ import annotations

from html import escape
from typing import Any


class NotebookTables:
    """A mixin before scikit-learn's ``BaseEstimator``: tables below its diagram, once fitted."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + tables(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def tables(model: Any) -> str:
    """What a fit has left, as HTML; nothing before it."""
    embedding = getattr(model, "embedding_", model)
    if not hasattr(embedding, "kernel_"):
        return ""
    rows = [
        *_reduced_set(embedding),
        ("kernel", repr(embedding.kernel_)),
        *_components(embedding),
    ]
    cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    certificate = embedding.certificate_._repr_html_() if hasattr(embedding, "certify") else ""
    return f"<table><tbody>{cells}</tbody></table>{certificate}"


def _reduced_set(embedding: Any) -> list[tuple[str, str]]:
    if not hasattr(embedding, "reduced_set_"):
        return [("landmarks", f"{embedding.n_centers_:,}")]
    found = embedding.reduced_set_
    share = found.n_centers / found.n_samples
    rows = [("centers", f"{found.n_centers:,} for {found.n_samples:,.10g} rows ({share:.2%})")]
    if found.radius is not None:
        scale = embedding.kernel_.scale
        ell = f" (ell {scale / found.radius:.3g})" if found.radius else ""
        rows.append(("radius", f"{found.radius:.4g}{ell}"))
    return rows


def _components(embedding: Any) -> list[tuple[str, str]]:
    values = embedding.eigenvalues_
    rows = [
        ("components", f"{len(values):,}"),
        ("kernel evaluated at", f"{len(embedding.basis_):,} points"),
    ]
    if hasattr(embedding, "explained_variance_ratio_"):
        held = float(embedding.explained_variance_ratio_.sum())
        rows.append(("variance held", f"{held:.1%}"))
    return rows
