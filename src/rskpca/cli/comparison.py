"""Compare rskpca with scikit-learn: time, memory, size and error on the same rows.

``python -m rskpca.cli.comparison JSON`` prints the peak memory of one fit in megabytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from .._format import percent, seconds_in_words
from .._style import BAND, INK, import_pyplot, literal, style_axes
from ..baselines.methods import METHODS, Setting, embedding_error, n_points
from ..kernels import Gaussian

Array = NDArray[np.floating]
Announce = Callable[[str], object]

SAMPLE, HELD_OUT = 4000, 1000  # rows that exact kernel PCA handles in seconds
ROUNDS = 3
MAX_LANDMARKS = 2000  # with more, the singular value decomposition takes minutes
_DEFAULT_LANDMARKS = 100  # scikit-learn's default
_MAX_SECONDS = 10.0  # slower methods are fitted only once
_EMBEDDED_ROWS = 5000  # number of rows in a timed transform
_ROUNDING = 1e-9


class Task(NamedTuple):
    """Settings shared by all compared methods."""

    n_components: int
    kernel: Gaussian


@dataclass
class Entry:
    """A registered method at one size, with its measurements."""

    title: str
    method: str
    size: float | None  # ell or number of landmarks
    ours: bool = False
    n_rows: int = 0
    points: int = 0  # kernel evaluations per new row
    fits: list[float] = field(default_factory=list)  # seconds
    embeds: list[float] = field(default_factory=list)  # seconds per 1,000 rows
    errors: list[float] = field(default_factory=list)  # relative to exact kernel PCA
    megabytes: float | None = None  # peak during a fit, in addition to the data
    setting: Setting = field(default_factory=dict)  # solver and number of threads

    def fit(self, task: Task, rows: Array, seed: int = 0) -> Any:
        """Return a fitted estimator."""
        make = METHODS[self.method].make
        model = make(task.n_components, task.kernel, self.size, random_state=seed)
        return model.set_params(**self.setting).fit(rows)

    def warm_up(self, task: Task, rows: Array) -> None:
        """Fit the method to a few rows, so that imports and compilation are not timed."""
        counted = METHODS[self.method].size == "n_centers"
        size = 2 * task.n_components + 10 if counted else self.size
        Entry("", self.method, size).fit(task, rows[:500]).transform(rows[:10])

    def tune(self, task: Task, rows: Array) -> None:
        """Choose the solver and number of threads with the fastest fit on a subset of the rows."""
        rows = rows[:SAMPLE]
        size = min(self.size, len(rows)) if self.size is not None else None
        self.setting = METHODS[self.method].fastest(
            len(rows),
            lambda setting: Entry("", self.method, size, setting=setting).fit(task, rows),
            rounds=1,
        )

    def measure(self, task: Task, rows: Array, test: Array, exact: Array | None, seed: int) -> None:
        """Fit and embed once, and compare with the exact coordinates of the test rows, if given."""
        many = np.resize(test, (_EMBEDDED_ROWS, test.shape[1]))
        start = time.perf_counter()
        model = self.fit(task, rows, seed)
        fitted = time.perf_counter()
        model.transform(many)
        self.embeds.append(1000 * (time.perf_counter() - fitted) / len(many))
        self.fits.append(fitted - start)
        self.n_rows, self.points = len(rows), n_points(model)
        if exact is not None:
            self.errors.append(embedding_error(exact, model.transform(test)))

    def to_dict(self) -> dict[str, Any]:
        """Return the median measurements as JSON-serializable data."""
        measured = {column.key: column.value(self) for column in COLUMNS}
        return {"method": self.title, "rows": self.n_rows, **measured}


@dataclass(frozen=True)
class Comparison:
    """Measurements of all methods on a sample, and of scalable methods on all rows."""

    task: Task
    n_held_out: int
    sampled: list[Entry]
    complete: list[Entry]  # empty if the sample contains all rows

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as JSON-serializable data."""
        return {
            "components": self.task.n_components,
            "bandwidth": self.task.kernel.scale,
            "held_out_rows": self.n_held_out,
            "sample": [entry.to_dict() for entry in self.sampled],
            "all": [entry.to_dict() for entry in self.complete],
        }


def compare(rows: Array, task: Task, ell: float, announce: Announce) -> Comparison:
    """Measure all methods on a sample, and the scalable ones on all rows."""
    rows = np.random.default_rng(0).permutation(rows)
    n_held_out = min(HELD_OUT, len(rows) // 5)
    test, train = rows[:n_held_out], rows[n_held_out:][:SAMPLE]
    announce("fitting exact kernel PCA to a sample")
    exact = Entry("", "kpca", None).fit(task, train).transform(test)
    sampled = enter(task, ell, train, exact=True)
    measure(sampled, task, train, test, exact, announce)
    complete = []
    if len(rows) > len(train) + len(test):
        announce("fitting all rows")
        complete = enter(task, ell, rows, exact=False)
        measure(complete, task, rows, test, None, announce)
    return Comparison(task, n_held_out, sampled, complete)


def enter(task: Task, ell: float, rows: Array, *, exact: bool) -> list[Entry]:
    """Return the entries to compare: rskpca, Nystroem and, if ``exact`` is True, KernelPCA."""
    # Nystroem is entered with the same numbers of points as rskpca, and with its default number.
    ours = [
        Entry("rskpca", "shadow", ell, ours=True),
        Entry("rskpca --small --refine", "shadow-two-scales-refined", ell, ours=True),
    ]
    sizes = {_DEFAULT_LANDMARKS, *(n_points(entry.fit(task, rows)) for entry in ours)}
    most = min(MAX_LANDMARKS, len(rows))
    landmarks = sorted({int(np.clip(m, task.n_components, most)) for m in sizes}, reverse=True)
    theirs = [Entry(f"Nystroem + PCA, {m:,}", "sklearn-nystroem", m) for m in landmarks]
    return [*ours, *theirs, *([Entry("KernelPCA", "sklearn-kpca", None)] if exact else [])]


def measure(
    entries: Sequence[Entry],
    task: Task,
    rows: Array,
    test: Array,
    exact: Array | None,
    announce: Announce,
) -> None:
    """Time all methods in turn over several warm rounds, and then measure their memory."""
    for entry in entries:
        announce(entry.title)
        entry.warm_up(task, rows)
        entry.tune(task, rows)
    for seed in range(ROUNDS):
        for entry in entries:
            if sum(entry.fits) < _MAX_SECONDS:
                announce(entry.title)
                entry.measure(task, rows, test, exact, seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        for entry in entries:
            announce(f"measuring the memory of {entry.title}")
            entry.megabytes = peak_memory(entry, task, file)


def peak_memory(entry: Entry, task: Task, file: Path) -> float:
    """Return the megabytes that a fit uses in addition to the data, measured in a new process."""
    order = (
        entry.method, entry.size, dict(entry.setting), task.n_components, task.kernel.scale,
        str(file),
    )  # fmt: skip
    command = [sys.executable, "-m", __name__, json.dumps(order)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise MemoryError(
            f"{entry.title} could not be fitted in a separate process (exit code "
            f"{process.returncode}); use fewer --rows. {process.stderr[-200:]}"
        )
    return float(process.stdout.splitlines()[-1])


def _measure_memory(
    method: str,
    size: float | None,
    setting: Setting,
    n_components: int,
    bandwidth: float,
    file: str,
) -> float:
    entry = Entry("", method, size, setting=setting)
    task, rows = Task(n_components, Gaussian(bandwidth)), np.load(file)
    entry.warm_up(task, rows)
    before = _megabytes_of_process("VmRSS")
    entry.fit(task, rows)
    return _megabytes_of_process("VmHWM") - before


def _megabytes_of_process(field: str) -> float:
    """Return the current (``VmRSS``) or peak (``VmHWM``) memory use of this process."""
    status = Path("/proc/self/status")
    if not status.exists():  # on Linux, ru_maxrss starts from the peak of the parent process
        import resource

        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    line = next(x for x in status.read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6


class Column(NamedTuple):
    """A measured quantity and how to format it."""

    title: str
    key: str
    value: Callable[[Entry], float | None]
    write: Callable[[float], str]


def _megabytes(value: float) -> str:
    return f"{value:,.0f} MB" if value < 9950 else f"{value / 1000:,.1f} GB"


def _error(value: float) -> str:
    return percent(value) if value > _ROUNDING else "exact"


COLUMNS = (
    Column("points", "points", lambda entry: entry.points, "{:,.0f}".format),
    Column("error", "error", lambda entry: median(entry.errors) if entry.errors else None, _error),
    Column("fit", "fit_seconds", lambda entry: median(entry.fits), seconds_in_words),
    Column(
        "embed 1,000 rows", "embed_1000_rows_seconds", lambda entry: median(entry.embeds),
        seconds_in_words,
    ),
    Column("memory", "megabytes", lambda entry: entry.megabytes, _megabytes),
)  # fmt: skip


def show(name: str, result: Comparison) -> list[RenderableType]:
    """Return the tables, and notes on how the numbers were measured."""
    parts: list[RenderableType] = []
    for entries in filter(None, (result.sampled, result.complete)):
        parts += [_table(f"{name}: {entries[0].n_rows:,} rows", entries), ""]
    return [*parts, *(f"• {remark}" for remark in remarks(result)), ""]


def _table(title: str, entries: Sequence[Entry]) -> Table:
    """Return a table with one row per method and the best value of each column in green."""
    columns = [column for column in COLUMNS if column.value(entries[0]) is not None]
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None)
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column.title, justify="right")
    values = [[column.value(entry) or 0.0 for column in columns] for entry in entries]
    best = [min(column) for column in zip(*values, strict=True)]
    for entry, row in zip(entries, values, strict=True):
        cells = [
            Text(column.write(value), "bold green" if value == least else "")
            for column, value, least in zip(columns, row, best, strict=True)
        ]
        table.add_row(Text(entry.title, "bold" if entry.ours else ""), *cells)
    return table


def remarks(result: Comparison) -> list[str]:
    """Return notes on how the numbers were measured and which methods were omitted."""
    task = result.task
    sentences = [
        f"All methods use the same rows, {task.n_components} components and the same Gaussian "
        f"kernel (bandwidth {task.kernel.scale:.4g}), centered in feature space, and may use the "
        "same number of threads.",
        f"Errors are measured on {result.n_held_out:,} held-out rows against exact kernel PCA, "
        "after the best linear alignment; for Nystroem, the median over random landmarks.",
        "Times are medians of warm runs, with the methods timed in turn; scikit-learn uses the "
        f"solver and number of threads that are fastest on the first {SAMPLE:,} rows. Memory is "
        "the peak of a fit in addition to the data, measured in a separate process.",
    ]
    points = max(e.points for e in (*result.sampled, *result.complete) if e.ours)
    if points > MAX_LANDMARKS:
        sentences.append(
            f"Nystroem was limited to {MAX_LANDMARKS:,} points where rskpca has {points:,} "
            "centers, because its cost grows with the cube of the number of points."
        )
    if result.complete:
        n = result.complete[0].n_rows
        size = _megabytes(8 * n**2 / 1e6)
        sentences.append(
            f"KernelPCA was not run on {n:,} rows: its kernel matrix would require {size}."
        )
    return sentences


def draw(name: str, result: Comparison, path: Path) -> None:
    """Save a figure with one column of panels per measurement and one row per data size."""
    groups = [entries for entries in (result.sampled, result.complete) if entries]
    sizes = [len(entries) for entries in groups]
    figure, panels = import_pyplot().subplots(
        len(groups), len(COLUMNS), figsize=(14.0, 0.42 * sum(sizes) + 1.1 * len(groups)),
        height_ratios=sizes, sharey="row", squeeze=False, layout="constrained",
    )  # fmt: skip
    for entries, axes in zip(groups, panels, strict=True):
        for ax, column in zip(axes, COLUMNS, strict=True):
            _draw_panel(ax, column, entries)
        axes[0].invert_yaxis()
        axes[0].set_ylabel(f"{entries[0].n_rows:,} rows", fontweight="bold", color=INK)
    title = f"{literal(name)}: rskpca (dark) and scikit-learn; logarithmic scales, left is better"
    figure.suptitle(title, fontweight="bold", color=INK)
    figure.savefig(path, dpi=150)
    import_pyplot().close(figure)


def _draw_panel(ax: Any, column: Column, entries: Sequence[Entry]) -> None:
    style_axes(ax, "", "", column.title)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.xaxis.set_visible(False)
    ax.set_xscale("log")
    values = [value for entry in entries if (value := column.value(entry)) is not None]
    least = min((value for value in values if value > _ROUNDING), default=1.0)
    for entry, value in zip(entries, values, strict=False):  # no errors without exact PCA
        place = max(value, least / 4), entry.title  # a logarithmic scale cannot show zero
        ax.scatter(*place, color=INK if entry.ours else BAND, s=64)
        label = {"textcoords": "offset points", "ha": "center", "fontsize": "small", "color": INK}
        ax.annotate(column.write(value), place, (0, 7), **label)
    ax.margins(x=0.2, y=0.12)


if __name__ == "__main__":
    print(_measure_memory(*json.loads(sys.argv[1])))
