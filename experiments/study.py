"""Measurements of all methods over splits and values of ell, shown in figures 2 to 8."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import contenders
from .contenders import Clusters
from .data.dataset import Floats
from .experiment import Settings
from .protocol import TABLE1, Rows, Split, Timed, dataset, ells, mean_sizes, time_median, time_once
from .workers import Part, run


class Family(NamedTuple):
    """Methods that are measured together.

    ``sizes`` names the parameter that determines the size of a model: ell, the mean number of
    shadow centers at that ell, or none. Expensive families use every ``every``-th ell, or only
    the first ``runs`` runs.
    """

    methods: tuple[str, ...]
    sizes: str = "n_centers"
    every: int = 1
    runs: int | None = None


FAMILIES = {
    "exact": Family(("kpca", "sklearn-kpca"), sizes=""),
    "dense": Family(("kpca-dense",), sizes="", runs=3),
    "shadow": Family(("shadow",), sizes="ell"),
    "sampled": Family(("subsampled", "nystrom")),
    "clustered": Family(("kmeans", "wnystrom")),
    "paring": Family(("paring",)),
    "herding": Family(("herding",)),
    "today": Family(("sklearn-nystroem",), every=5, runs=3),
}
# On 8,368 rows, k-means with 1,900 clusters takes ten seconds, and computing all eigenvectors takes
# minutes.
REDUCTIONS = {
    ("usps", "dense"): {"runs": 1},
    ("usps", "clustered"): {"every": 4},
    ("usps", "herding"): {"every": 2},
    ("usps", "today"): {"runs": 1},
}


class Task(NamedTuple):
    """One split of a data set, with the training and test rows."""

    data: str
    run: int
    quick: bool
    split: Split
    train: Floats
    test: Floats


class Measured(NamedTuple):
    """A fitted model, its fit time, and its timed embeddings of training and test rows."""

    model: Any
    fit: float
    train: Timed
    test: Timed


@dataclass(frozen=True)
class Study:
    """An experiment from section 6: how the data are split and how models are evaluated."""

    name: str
    split: Callable[[int, int], Split]
    max_runs: int | None
    embeds_train: bool
    judge: Callable[[Task, str, Measured], dict[str, float]]

    def runs(self, settings: Settings, family: Family) -> range:
        """Return the indices of the splits on which a family is measured."""
        limits = (settings.runs, self.max_runs, family.runs)
        return range(min(limit for limit in limits if limit is not None))

    def rows(self, settings: Settings, data: str, families: Iterable[str]) -> Rows:
        """Return one row per method, ell and run.

        The shadow method is measured first, because it determines the sizes of the others.
        """
        dataset(data, settings.quick)  # raises an error for missing data here, not in a worker
        first = self._measure(settings, data, ("exact", "shadow"), {})
        others = [name for name in families if name not in ("exact", "shadow")]
        return first + self._measure(settings, data, others, mean_sizes(first))

    def shadow_rows(self, settings: Settings, data: str) -> Rows:
        """Return the rows of the shadow method alone."""
        dataset(data, settings.quick)
        return self._measure(settings, data, ("shadow",), {})

    def _measure(
        self, settings: Settings, data: str, families: Iterable[str], sizes: dict[float, int]
    ) -> Rows:
        parts = [
            Part(f"{self.name}-{data}-{name}-{i}", _measure_split, (self, data, name, i, sizes))
            for name in families
            for i in self.runs(settings, get_family(name, data))
        ]
        title = f"{self.name}, {data}"
        return [row for rows in run(title, parts, settings) for row in rows]


def get_family(name: str, data: str) -> Family:
    """Return a family, with a reduced number of measurements if the data set is large."""
    return FAMILIES[name]._replace(**REDUCTIONS.get((data, name), {}))


def _measure_split(
    settings: Settings, study: Study, data: str, name: str, run: int, sizes: dict[float, int]
) -> Rows:
    """Return all rows of one family on one split."""
    family = get_family(name, data)
    task = _make_task(study, data, run, settings.quick)
    contenders.warm_up(task.train.shape[1], *family.methods)
    grid = ells(settings, family.every) if family.sizes else (None,)
    return [row for ell in grid for row in _measure_at(study, task, family, ell, sizes)]


def _make_task(study: Study, data: str, run: int, quick: bool) -> Task:
    X = dataset(data, quick).X
    split = study.split(len(X), run)
    return Task(data, run, quick, split, X[split.train], X[split.test])


def _measure_at(
    study: Study, task: Task, family: Family, ell: float | None, sizes: dict[float, int]
) -> Iterator[dict[str, Any]]:
    size = {"ell": ell, "n_centers": sizes.get(ell) if ell else None, "": None}[family.sizes]
    for method, model, earlier in _make_models(task, family, size):
        measured = _fit_and_embed(study, task, model, at_once=method in contenders.CENTERED)
        seconds = {
            "fit": earlier + measured.fit,
            "embed": measured.train.seconds,
            "transform": measured.test.seconds,
        }
        m = _n_centers(measured.model, size, len(task.train))
        yield (
            {"method": method, "ell": ell, "run": task.run, "m": m, "n": len(task.train)}
            | {name: float(f"{value:.4g}") for name, value in seconds.items()}
            | {k: float(f"{v:.8g}") for k, v in study.judge(task, method, measured).items()}
        )


def _make_models(
    task: Task, family: Family, size: float | None
) -> Iterator[tuple[str, Any, float]]:
    """Yield each method, its estimator, and the seconds already spent on it."""
    setup = TABLE1[task.data]
    if "wnystrom" in family.methods:
        clusters, seconds = time_once(
            Clusters(setup.rank, setup.kernel, int(size), task.run).fit, task.train
        )
        yield from ((name, clusters.make(name), seconds) for name in family.methods)
        return
    for name in family.methods:
        order = name, setup.rank, setup.kernel, size, task.run
        yield name, contenders.make_fastest(*order, task.train), 0.0


def _fit_and_embed(study: Study, task: Task, model: Any, at_once: bool) -> Measured:
    """Time a model; ``at_once`` uses ``fit_transform``, which needs only one kernel matrix."""
    if study.embeds_train and at_once:
        embedding, fit = time_once(model.fit_transform, task.train)
        train = Timed(embedding, 0.0)
    else:
        fit = time_once(model.fit, task.train).seconds
        train = time_once(model.transform, task.train) if study.embeds_train else Timed(None, 0.0)
    return Measured(model, fit, train, time_median(model.transform, task.test))


def _n_centers(model: Any, size: float | None, n: int) -> int:
    """Return m, the number of points that represent the data, which is n for exact methods."""
    return n if size is None else int(getattr(model, "n_centers_", size))
