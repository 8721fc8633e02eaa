"""Methods measured over splits and ell: what figures 2 to 8 are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import contenders
from .contenders import Clusters
from .data.dataset import Floats
from .protocol import TABLE1, Rows, Split, Timed, dataset, ells, mean_sizes, often_timed, timed
from .settings import Settings
from .workers import Part, run


class Family(NamedTuple):
    """Methods that are measured together.

    Costly ones take every so manyth ell, or the first so many runs alone. ``sizes`` says what
    makes them large or small: ell itself, the mean number of centers at that ell, or nothing.
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
# On 8,368 rows k-means of 1,900 clusters takes ten seconds, all eigenvectors some minutes.
THRIFT = {
    ("usps", "dense"): {"runs": 1},
    ("usps", "clustered"): {"every": 4},
    ("usps", "herding"): {"every": 2},
    ("usps", "today"): {"runs": 1},
}


class Task(NamedTuple):
    """A method is fitted to ``train`` and embeds ``test``; labels are for who needs them."""

    data: str
    run: int
    quick: bool
    split: Split
    train: Floats
    test: Floats


class Measured(NamedTuple):
    """A fitted model, its embeddings, and the seconds that they took."""

    model: Any
    fit: float
    train: Timed
    test: Timed


@dataclass(frozen=True)
class Study:
    """An experiment of section 6: how data are split, and what a model is judged by."""

    name: str
    split: Callable[[int, int], Split]
    most_runs: int | None
    embeds_train: bool
    judge: Callable[[Task, str, Measured], dict[str, float]]

    def runs(self, settings: Settings, family: Family) -> range:
        """Numbers of the splits on which a family is measured."""
        limits = (settings.runs, self.most_runs, family.runs)
        return range(min(limit for limit in limits if limit is not None))

    def rows(self, settings: Settings, data: str, families: Iterable[str]) -> Rows:
        """A row a method, ell and run. Shadow and baselines come first: they give the sizes."""
        dataset(data, settings.quick)  # missing data are found here, not in a worker
        first = self._measured(settings, data, ("exact", "shadow"), {})
        others = [name for name in families if name not in ("exact", "shadow")]
        return first + self._measured(settings, data, others, mean_sizes(first))

    def shadow_rows(self, settings: Settings, data: str) -> Rows:
        """The rows of the shadow method alone."""
        dataset(data, settings.quick)
        return self._measured(settings, data, ("shadow",), {})

    def _measured(
        self, settings: Settings, data: str, families: Iterable[str], sizes: dict[float, int]
    ) -> Rows:
        parts = [
            Part(f"{self.name}-{data}-{name}-{i}", _part, (self, data, name, i, sizes))
            for name in families
            for i in self.runs(settings, family_of(name, data))
        ]
        title = f"{self.name}, {data}"
        return [row for rows in run(title, parts, settings) for row in rows]


def family_of(name: str, data: str) -> Family:
    """A family, as sparing as the data set asks for."""
    return FAMILIES[name]._replace(**THRIFT.get((data, name), {}))


def _part(
    settings: Settings, study: Study, data: str, name: str, run: int, sizes: dict[float, int]
) -> Rows:
    """All rows of one family on one split."""
    family = family_of(name, data)
    task = _task(study, data, run, settings.quick)
    contenders.warm_up(task.train.shape[1], *family.methods)
    grid = ells(settings, family.every) if family.sizes else (None,)
    return [row for ell in grid for row in _at(study, task, family, ell, sizes)]


def _task(study: Study, data: str, run: int, quick: bool) -> Task:
    X = dataset(data, quick).X
    split = study.split(len(X), run)
    return Task(data, run, quick, split, X[split.train], X[split.test])


def _at(
    study: Study, task: Task, family: Family, ell: float | None, sizes: dict[float, int]
) -> Iterator[dict[str, Any]]:
    size = {"ell": ell, "n_centers": sizes.get(ell) if ell else None, "": None}[family.sizes]
    for method, model, earlier in _models(task, family, size):
        measured = _measure(study, task, model, at_once=method in contenders.CENTERED)
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


def _models(task: Task, family: Family, size: float | None) -> Iterator[tuple[str, Any, float]]:
    """Each method, its estimator, and the seconds that were spent on it before."""
    setup = TABLE1[task.data]
    if "wnystrom" in family.methods:
        clusters, seconds = timed(
            Clusters(setup.rank, setup.kernel, int(size), task.run).fit, task.train
        )
        yield from ((name, clusters.make(name), seconds) for name in family.methods)
        return
    for name in family.methods:
        n = len(task.train)
        yield name, contenders.make(name, setup.rank, setup.kernel, size, task.run, n), 0.0


def _measure(study: Study, task: Task, model: Any, at_once: bool) -> Measured:
    """``at_once``: by ``fit_transform``, which makes no kernel matrix twice; it counts as fit."""
    if study.embeds_train and at_once:
        embedding, fit = timed(model.fit_transform, task.train)
        train = Timed(embedding, 0.0)
    else:
        fit = timed(model.fit, task.train).seconds
        train = timed(model.transform, task.train) if study.embeds_train else Timed(None, 0.0)
    return Measured(model, fit, train, often_timed(model.transform, task.test))


def _n_centers(model: Any, size: float | None, n: int) -> int:
    """m: the points that stand for the data; all of them where nothing was reduced."""
    return n if size is None else int(getattr(model, "n_centers_", size))
