"""Figures 2 and 3: distance of the embeddings from kernel PCA, and speed-ups."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from rskpca import ReducedSetKernelPCA

from . import anova, style, summary
from .contenders import CENTERED, eigenvalues
from .experiment import Experiment, Results, Settings
from .protocol import (
    TABLE1,
    Reference,
    aligned_error,
    dataset,
    eigenvalue_error,
    random_split,
    reference,
)
from .study import Measured, Study, Task

METHODS = ("shadow", "subsampled", "nystrom", "wnystrom")
FAMILIES = ("exact", "dense", "shadow", "sampled", "clustered", "today")
ERRORS = {"eigenvalue_error": "Eigenvalue deviation", "embedding_error": "Embedding error"}


def _judge(task: Task, method: str, measured: Measured) -> dict[str, float]:
    """Return the errors relative to kernel PCA of the whole data set, and of the same rows."""
    center = method in CENTERED
    expected = reference(task.data, task.quick, center=center)
    same = _split_reference(task.data, task.run, task.quick, center)
    found, embedding = eigenvalues(measured.model, len(task.train)), measured.test.value
    return {
        "eigenvalue_error": eigenvalue_error(expected.eigenvalues, found),
        "embedding_error": aligned_error(expected.embedding[task.split.test], embedding),
        # For exact methods these are rounding errors, which depend on the solver.
        "same_rows_eigenvalue_error": round(eigenvalue_error(same.eigenvalues, found), 6),
        "same_rows_error": round(aligned_error(same.embedding, embedding), 6),
    }


@lru_cache(maxsize=2)
def _split_reference(data: str, run: int, quick: bool, center: bool) -> Reference:
    """Return exact kernel PCA of the training rows of a split, evaluated at its test rows."""
    X, setup = dataset(data, quick).X, TABLE1[data]
    train, test = random_split(len(X), run)
    model = ReducedSetKernelPCA(setup.rank, kernel=setup.kernel, ell=np.inf, center=center)
    model.fit(X[train])
    return Reference(model.transform(X[test]), eigenvalues(model, len(train)))


STUDY = Study("eigenembedding", random_split, max_runs=None, embeds_train=False, judge=_judge)


def compute(data: str, settings: Settings) -> Results:
    """Return the rows, and the smallest ell from which the shadow method is better, or no worse.

    The two cases are reported separately for each of the other methods.
    """
    rows = STUDY.rows(settings, data, FAMILIES)
    table = summary.to_columns([row for row in rows if row["method"] != "kmeans"])
    return {
        **summary.describe_setup(dataset(data, settings.quick), TABLE1[data], settings),
        "anova": _onsets(table) if settings.runs > 1 else {},
        "rows": table,
    }


def _onsets(table: summary.Table) -> dict[str, dict[str, float | None]]:
    return {
        other: {
            "better_from": anova.onset(_compare(table, anova.better, other)),
            "no_worse_from": anova.onset(_compare(table, anova.no_worse, other)),
        }
        for other in METHODS[1:]
    }


def _compare(table: summary.Table, comparison: anova.Comparison, other: str) -> dict[float, bool]:
    """Compare the embedding errors of the shadow method with those of another method."""
    ours, theirs = (summary.by_ell(table, m, "embedding_error") for m in ("shadow", other))
    return anova.compare(comparison, ours, theirs)


def draw(results: Results, path: Path) -> None:
    """Draw the four panels of the paper."""
    table = results["rows"]
    with style.figure(path, 2, 2, size=(4.2, 2.9), sharex=True) as (figure, panels):
        for ax, field in zip(panels[0], ERRORS, strict=True):
            _draw_errors(ax, table, field)
        summary.draw_speedups(panels[1][0], table, METHODS, ("fit",))
        summary.draw_speedups(panels[1][1], table, METHODS, ("transform",))
        style.add_titles(panels, [*ERRORS.values(), "Training speed-up", "Testing speed-up"])
        for ax in panels[1]:
            style.label_ell_axis(ax)
        style.add_legend(figure, panels, note=_note(results))


def _draw_errors(ax: Any, table: summary.Table, field: str) -> None:
    for method in (*METHODS, "sklearn-nystroem"):
        summary.draw_mean(ax, table, method, field)
    style.draw_level(ax, "kpca", summary.overall_mean(table, "kpca", field))
    style.use_log_scale(ax)
    ax.set_ylabel("Frobenius norm" if field == "embedding_error" else "norm, eigenvalues / n")


def _note(results: Results) -> str:
    return (
        f"{summary.describe_data(results, 'runs')}. Lines show the mean error and the median "
        "speed-up over runs; bands show one standard deviation and the quartiles. KPCA is fitted "
        "to the same 80% of the rows and compared with KPCA of all rows. scikit-learn's methods "
        "are centered in feature space and compared with centered KPCA. "
        f"{_verdict(results['rows']) if results['anova'] else ''}"
    )


def _verdict(table: summary.Table) -> str:
    better = _compare(table, anova.better, "nystrom")
    no_worse = _compare(table, anova.no_worse, "wnystrom")
    return (
        f"ANOVA of (b) at {anova.ALPHA}: ShDE is better than Nyström "
        f"{anova.describe(better)}; no worse than WNyström {anova.describe(no_worse)}."
    )


EXPERIMENTS = {
    name: Experiment(
        f"embedding of {data}, compared with Nystrom methods",
        partial(compute, data),
        draw,
        f"pictures/{name}.png",
    )
    for name, data in {"fig02": "german", "fig03": "pendigits"}.items()
}
