"""Figures 4 and 5 (Nystrom methods), 7 and 8 (other reduced sets): accuracy, and what it costs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from . import style, summary
from .classify import accuracy
from .protocol import FOLDS, TABLE1, dataset, fold
from .registry import Experiment, Results
from .settings import Settings
from .study import Measured, Study, Task

TRAIN, TEST = ("fit", "embed"), ("transform",)
SPEEDUPS = {"Training speed-up": TRAIN, "Testing speed-up": TEST, "Total speed-up": TRAIN + TEST}


def _judge(task: Task, method: str, measured: Measured) -> dict[str, float]:
    labels = dataset(task.data, task.quick).y
    train, test = labels[task.split.train], labels[task.split.test]
    return {"accuracy": accuracy(measured.train.value, train, measured.test.value, test)}


STUDY = Study("classification", fold, most_runs=FOLDS, embeds_train=True, judge=_judge)


class Group(NamedTuple):
    """The methods of a figure, and the families that they are measured in."""

    title: str
    methods: tuple[str, ...]
    families: tuple[str, ...]


NYSTROM = Group(
    "Nystrom methods",
    ("shadow", "subsampled", "nystrom", "wnystrom"),
    ("exact", "dense", "shadow", "sampled", "clustered", "today"),
)
REDUCED_SETS = Group(
    "other reduced sets",
    ("shadow", "kmeans", "paring", "herding"),
    ("exact", "dense", "shadow", "clustered", "paring", "herding", "today"),
)
BASELINES = ("kpca", "kpca-dense", "sklearn-kpca", "sklearn-nystroem")


def compute(data: str, group: Group, settings: Settings) -> Results:
    """A row a method, ell and fold."""
    rows = STUDY.rows(settings, data, group.families)
    wanted = group.methods + BASELINES
    return {
        **summary.about(dataset(data, settings.quick), TABLE1[data], settings),
        "methods": list(group.methods),
        "rows": summary.columns([row for row in rows if row["method"] in wanted]),
    }


def draw(results: Results, path: Path) -> None:
    """The paper's four panels."""
    table, methods = results["rows"], results["methods"]
    with style.figure(path, 2, 2, size=(4.2, 2.9), sharex=True) as (figure, panels):
        _accuracy(panels[0][0], table, methods)
        for ax, steps in zip(panels.flat[1:], SPEEDUPS.values(), strict=True):
            summary.draw_speedups(ax, table, methods, steps)
        style.letter(panels, ["Accuracy", *SPEEDUPS])
        for ax in panels[1]:
            style.ell_axis(ax)
        style.legend(figure, panels, note=_note(results))


def _accuracy(ax: Any, table: dict[str, list[Any]], methods: list[str]) -> None:
    for method in (*methods, "sklearn-nystroem"):
        summary.draw_mean(ax, table, method, "accuracy", summary.standard_error, scale=100)
    style.level(ax, "kpca", 100 * summary.overall(table, "kpca", "accuracy"))
    ax.set_ylabel("correct, % (3-nn)")


def _note(results: Results) -> str:
    return (
        f"{summary.described(results, 'folds')}. Lines: mean accuracy, median speed-up over "
        "folds; bands: one standard error, quartiles. Training takes in the embedding of the "
        "training rows, not the neighbour search, which is the same for all."
    )


EXPERIMENTS = {
    name: Experiment(
        f"classification of {data} against {group.title}",
        partial(compute, data, group),
        draw,
        f"pictures/{name}.png",
    )
    for name, data, group in (
        ("fig04", "usps", NYSTROM),
        ("fig05", "yale", NYSTROM),
        ("fig07", "usps", REDUCED_SETS),
        ("fig08", "yale", REDUCED_SETS),
    )
}
