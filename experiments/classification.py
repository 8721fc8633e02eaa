"""Figures 4 and 5 (Nystrom methods), 7 and 8 (other reduced sets): accuracy and speed-ups."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.neighbors import KNeighborsClassifier

from . import style, summary
from .experiment import Experiment, Results, Settings
from .protocol import FOLDS, TABLE1, dataset, fold
from .study import Measured, Study, Task

N_NEIGHBORS = 3
TRAIN, TEST = ("fit", "embed"), ("transform",)
SPEEDUPS = {"Training speed-up": TRAIN, "Testing speed-up": TEST, "Total speed-up": TRAIN + TEST}


def _judge(task: Task, method: str, measured: Measured) -> dict[str, float]:
    """Return the accuracy of a nearest-neighbor classifier on the embedding."""
    labels = dataset(task.data, task.quick).y
    train, test = labels[task.split.train], labels[task.split.test]
    model = KNeighborsClassifier(N_NEIGHBORS).fit(measured.train.value, train)
    return {"accuracy": float(model.score(measured.test.value, test))}


STUDY = Study("classification", fold, max_runs=FOLDS, embeds_train=True, judge=_judge)


class Group(NamedTuple):
    """Methods shown in a figure, and the families in which they are measured."""

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
    """Return one row per method, ell and fold."""
    rows = STUDY.rows(settings, data, group.families)
    methods = group.methods + BASELINES
    return {
        **summary.describe_setup(dataset(data, settings.quick), TABLE1[data], settings),
        "methods": list(group.methods),
        "rows": summary.to_columns([row for row in rows if row["method"] in methods]),
    }


def draw(results: Results, path: Path) -> None:
    """Draw the four panels of the paper."""
    table, methods = results["rows"], results["methods"]
    with style.figure(path, 2, 2, size=(4.2, 2.9), sharex=True) as (figure, panels):
        _draw_accuracy(panels[0][0], table, methods)
        for ax, steps in zip(panels.flat[1:], SPEEDUPS.values(), strict=True):
            summary.draw_speedups(ax, table, methods, steps)
        style.add_titles(panels, ["Accuracy", *SPEEDUPS])
        for ax in panels[1]:
            style.label_ell_axis(ax)
        style.add_legend(figure, panels, note=_note(results))


def _draw_accuracy(ax: Any, table: summary.Table, methods: list[str]) -> None:
    for method in (*methods, "sklearn-nystroem"):
        summary.draw_mean(ax, table, method, "accuracy", summary.standard_error, scale=100)
    style.draw_level(ax, "kpca", 100 * summary.overall_mean(table, "kpca", "accuracy"))
    ax.set_ylabel("accuracy of 3-NN, %")


def _note(results: Results) -> str:
    return (
        f"{summary.describe_data(results, 'folds')}. Lines show the mean accuracy and the median "
        "speed-up over folds; bands show one standard error and the quartiles. Training includes "
        "embedding the training rows, but not the neighbor search, which is the same for all "
        "methods."
    )


EXPERIMENTS = {
    name: Experiment(
        f"classification of {data}, compared with {group.title}",
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
