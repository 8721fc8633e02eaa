"""Figures 2 and 3: how close the embeddings are to kernel PCA, and what they cost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from . import anova, style, summary
from .contenders import CENTERED, eigenvalues
from .protocol import TABLE1, aligned_error, dataset, eigenvalue_error, halves, reference
from .registry import Experiment, Results
from .settings import Settings
from .study import Measured, Study, Task

METHODS = ("shadow", "subsampled", "nystrom", "wnystrom")
FAMILIES = ("exact", "dense", "shadow", "sampled", "clustered", "today")
ERRORS = {"eigenvalue_error": "Eigenvalue deviation", "embedding_error": "Embedding error"}


def _judge(task: Task, method: str, measured: Measured) -> dict[str, float]:
    """Distances to kernel PCA of the whole data set, on the rows to test."""
    wanted = reference(task.data, task.quick, center=method in CENTERED)
    found = eigenvalues(measured.model, len(task.train))
    return {
        "eigenvalue_error": eigenvalue_error(wanted.eigenvalues, found),
        "embedding_error": aligned_error(wanted.embedding[task.split.test], measured.test.value),
    }


STUDY = Study("eigenembedding", halves, most_runs=None, embeds_train=False, judge=_judge)


def compute(data: str, settings: Settings) -> Results:
    """The rows, and from which ell on the shadow method is better or no worse."""
    rows = STUDY.rows(settings, data, FAMILIES)
    drawn = [row for row in rows if row["method"] != "kmeans"]
    return {
        **summary.about(dataset(data, settings.quick), TABLE1[data], settings),
        "anova": _anova(drawn) if settings.runs > 1 else {},
        "rows": summary.columns(drawn),
    }


def _anova(rows: list[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    table = summary.columns(rows)
    errors = {m: summary.by_ell(table, m, "embedding_error") for m in METHODS}
    return {
        other: {
            "better_from": anova.holds_from(anova.better, errors["shadow"], errors[other]),
            "no_worse_from": anova.holds_from(anova.no_worse, errors["shadow"], errors[other]),
        }
        for other in METHODS[1:]
    }


def draw(results: Results, path: Path) -> None:
    """The paper's four panels."""
    table = results["rows"]
    with style.figure(path, 2, 2, size=(4.2, 2.9), sharex=True) as (figure, panels):
        for ax, field in zip(panels[0], ERRORS, strict=True):
            _errors(ax, table, field)
        summary.draw_speedups(panels[1][0], table, METHODS, ("fit",))
        summary.draw_speedups(panels[1][1], table, METHODS, ("transform",))
        titles = [*ERRORS.values(), "Training speed-up", "Testing speed-up"]
        style.letter(panels, titles)
        for ax in panels[1]:
            style.ell_axis(ax)
        style.legend(figure, panels, note=_note(results))


def _errors(ax: Any, table: dict[str, list[Any]], field: str) -> None:
    for method in (*METHODS, "sklearn-nystroem"):
        summary.draw_mean(ax, table, method, field)
    style.level(ax, "kpca", summary.overall(table, "kpca", field))
    unit = "Frobenius norm" if field == "embedding_error" else "norm, eigenvalues / n"
    style.logarithmic(ax)
    ax.set_ylabel(unit)


def _note(results: Results) -> str:
    return (
        f"{summary.described(results, 'runs')}. Lines: mean error, median speed-up over runs; "
        "bands: one standard deviation, quartiles. The error of KPCA: fitted to the same 80%, "
        "against all. scikit-learn's are about the mean, and their errors against kernel PCA about "
        f"the mean. {_verdict(results['rows']) if results['anova'] else ''}"
    )


def _verdict(table: dict[str, list[Any]]) -> str:
    errors = {m: summary.by_ell(table, m, "embedding_error") for m in METHODS}
    better = anova.holds_at(anova.better, errors["shadow"], errors["nystrom"])
    no_worse = anova.holds_at(anova.no_worse, errors["shadow"], errors["wnystrom"])
    return (
        f"ANOVA of (b) at {anova.ALPHA}: ShDE is better than Nyström "
        f"{anova.described(better)}; no worse than WNyström {anova.described(no_worse)}."
    )


EXPERIMENTS = {
    name: Experiment(
        f"embedding of {data} against Nystrom methods",
        partial(compute, data),
        draw,
        f"pictures/{name}.png",
    )
    for name, data in {"fig02": "german", "fig03": "pendigits"}.items()
}
