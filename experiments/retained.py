"""Figure 6: the share of the data that the shadow method keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import classification, eigenembedding, style, summary
from .protocol import TABLE1, dataset, of_those_there
from .registry import Experiment, Results
from .settings import Settings

STUDIES = {
    "german": eigenembedding.STUDY,
    "pendigits": eigenembedding.STUDY,
    "usps": classification.STUDY,
    "yale": classification.STUDY,
}


def compute(settings: Settings) -> Results:
    """Numbers of centers for each data set that is there, ell and run."""
    return of_those_there(
        STUDIES, settings.quick, lambda names: {name: _kept(name, settings) for name in names}
    )


def _kept(name: str, settings: Settings) -> Results:
    rows = STUDIES[name].shadow_rows(settings, name)
    kept = [{field: row[field] for field in ("method", "ell", "run", "m", "n")} for row in rows]
    about = summary.about(dataset(name, settings.quick), TABLE1[name], settings)
    return {**about, "rows": summary.columns(kept)}


def draw(results: Results, path: Path) -> None:
    """A panel a data set."""
    with style.figure(path, 1, len(results), size=(2.5, 2.9), sharey=True) as (figure, panels):
        for ax, found in zip(panels[0], results.values(), strict=True):
            kept = summary.by_ell(found["rows"], "shadow", "m")
            share = 100 * np.array(list(kept.values())) / found["rows"]["n"][0]
            style.line(ax, "shadow", list(kept), share.mean(axis=1), share.std(axis=1))
            ax.axhline(10, color="0.5", linewidth=0.8, linestyle=":", label="10%")
            style.ell_axis(ax)
        panels[0][0].set(ylabel="rows kept, %", ylim=(0, None))
        style.letter(panels, list(results))
        style.legend(figure, panels, note=_note(results))


def _note(results: Results) -> str:
    sizes = ", ".join(f"{name} {found['rows']['n'][0]:,}" for name, found in results.items())
    return f"Rows to fit: {sizes}. Lines: mean over runs; bands: one standard deviation."


EXPERIMENTS = {"fig06": Experiment("share of data kept", compute, draw, "pictures/fig06.png")}
