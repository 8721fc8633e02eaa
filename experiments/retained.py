"""Figure 6: the fraction of the data that the shadow method retains."""

from __future__ import annotations

from pathlib import Path

from . import classification, eigenembedding, style, summary
from .experiment import Experiment, Results, Settings
from .protocol import TABLE1, compute_available, dataset

STUDIES = {
    "german": eigenembedding.STUDY,
    "pendigits": eigenembedding.STUDY,
    "usps": classification.STUDY,
    "yale": classification.STUDY,
}


def compute(settings: Settings) -> Results:
    """Return the number of centers for each available data set, ell and run."""
    return compute_available(
        STUDIES,
        settings.quick,
        lambda names: {name: _count_centers(name, settings) for name in names},
    )


def _count_centers(name: str, settings: Settings) -> Results:
    fields = ("method", "ell", "run", "m", "n")
    rows = [
        {field: row[field] for field in fields} for row in STUDIES[name].shadow_rows(settings, name)
    ]
    setup = summary.describe_setup(dataset(name, settings.quick), TABLE1[name], settings)
    return {**setup, "rows": summary.to_columns(rows)}


def draw(results: Results, path: Path) -> None:
    """Draw one panel per data set."""
    with style.figure(path, 1, len(results), size=(2.5, 2.9), sharey=True) as (figure, panels):
        for ax, found in zip(panels[0], results.values(), strict=True):
            scale = 100 / found["rows"]["n"][0]
            summary.draw_mean(ax, found["rows"], "shadow", "m", scale=scale)
            ax.axhline(10, color="0.5", linewidth=0.8, linestyle=":", label="10%")
            style.label_ell_axis(ax)
        panels[0][0].set(ylabel="rows retained, %", ylim=(0, None))
        style.add_titles(panels, list(results))
        style.add_legend(figure, panels, note=_note(results))


def _note(results: Results) -> str:
    sizes = ", ".join(f"{name} {found['rows']['n'][0]:,}" for name, found in results.items())
    lines = "Lines show the mean over runs; bands show one standard deviation."
    return f"Training rows: {sizes}. {lines}"


EXPERIMENTS = {
    "fig06": Experiment("fraction of the data retained", compute, draw, "pictures/fig06.png")
}
