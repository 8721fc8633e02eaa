"""Corrupt model files at random and load them: ``python -m tests.io.fuzz --count 100000``.

A changed file with a wrong checksum must be rejected. A changed file with a corrected checksum must
either be rejected or contain a valid model. Such a model can be saved again, and using it either
works or raises a ValueError or an ArithmeticError.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rskpca import load, save
from rskpca.io import ModelFileError, describe
from tests.io import golden, mutations
from tests.io.cases import CASES, data
from tests.io.equality import differences

MEMORY = 2**30  # bytes, in addition to the memory in use before the first file
MAX_SECONDS = 20.0  # per file
ANSWERS = ("transform", "predict", "score_samples")
ATTRIBUTES = ("eigenvectors_", "labels_", "center_labels_", "certificate_", "offset_", "t_")


@dataclass
class Report:
    """The number of files per outcome, and the time for the slowest file."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    by_mutation: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, mutation: str, outcome: str, seconds: float) -> None:
        self.outcomes[outcome] += 1
        self.by_mutation[mutation, outcome] += 1
        self.slowest = max(self.slowest, seconds)


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder, which is in memory if possible."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


def save_cases(folder: Path) -> dict[str, bytes]:
    """Return a valid file for each case."""
    found = {}
    for name, make in CASES.items():
        save(make(data()[0]), folder / "seed")
        found[name] = (folder / "seed").read_bytes()
        _answer(load(folder / "seed"))  # compiles functions before memory is limited
    for path in (golden.FIRST, golden.VERSION_1, golden.VERSION_2):
        found[path.name] = path.read_bytes()
    return found


def run(count: int, seed: int, folder: Path) -> Report:
    """Corrupt and load ``count`` files."""
    rng, valid, report = random.Random(seed), save_cases(folder), Report()
    names = list(valid)
    with _limited_memory(MEMORY):
        for number in range(count):
            name, mutation = rng.choice(names), rng.choice(mutations.ALL)
            corrupted = mutation(valid[name], valid[rng.choice(names)], rng)
            start = time.perf_counter()
            outcome = _outcome(corrupted, valid[name], mutation, folder / "corrupted")
            seconds = time.perf_counter() - start
            report.add(mutation.__name__, outcome, seconds)
            if outcome.startswith("FAILED") or seconds > MAX_SECONDS:
                report.failures.append(f"{number} {name}, {mutation.__name__}: {outcome}")
    return report


def _outcome(corrupted: bytes, valid: bytes, mutation: Any, path: Path) -> str:
    path.write_bytes(corrupted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _load(path, corrupted == valid, mutation in mutations.BYTES)
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error!s:.150}"


def _load(path: Path, same: bool, must_refuse: bool) -> str:
    try:
        describe(path)
    except ModelFileError:
        must_refuse = must_refuse or not same
    try:
        model = load(path)
    except ModelFileError as error:
        return "FAILED: too much memory" if "not enough memory" in str(error) else "rejected"
    if same:
        return "unchanged"
    if must_refuse:
        return "FAILED: loaded"
    return _use(model, path)


def _use(model: Any, path: Path) -> str:
    """Save a model again, use it and return the outcome."""
    save(model, path)
    if differences(load(path), model):
        return "FAILED: saved differently"
    try:
        _answer(model)
    except (ValueError, ArithmeticError):
        return "a model that raises an error when it is used"
    return "a different valid model"


def _answer(model: Any) -> None:
    """Call all methods of a fitted model, read its attributes and update its data."""
    if isinstance(model, dict | tuple):
        for part in model.values() if isinstance(model, dict) else model:
            _answer(part)
    rows = data()[1][:5]
    if hasattr(model, "n_features_in_"):
        for name in ANSWERS:
            if hasattr(model, name):
                getattr(model, name)(rows)
        for name in ATTRIBUTES:
            getattr(model, name, None)
        if hasattr(model, "partial_fit"):
            model.partial_fit(rows)
            _solve_again(model, rows)
        if hasattr(model, "forget"):
            with suppress(ValueError):  # after a merge, or after the radius has grown
                model.forget(rows)
            _solve_again(model, rows)


def _solve_again(model: Any, rows: Any) -> None:
    """Compute all results that depend on the data."""
    getattr(model, "labels_", None)
    getattr(model, "reduced_set_", None)
    if hasattr(model, "transform"):
        model.transform(rows)


@contextmanager
def _limited_memory(more: int) -> Iterator[None]:
    """Limit the memory of the process to its current size plus ``more`` bytes, on Linux only."""
    if sys.platform != "linux":  # the current size is read from /proc
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _peak_memory() -> str:
    """Return a note on the peak memory of the process, or an empty string if it is unknown."""
    if sys.platform != "linux":
        return ""
    import resource

    return f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.io.fuzz")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    with scratch_folder() as folder:
        report = run(options.count, options.seed, Path(folder))
    for outcome, number in report.outcomes.most_common():
        print(f"{number:8,}  {outcome}")
    for (mutation, outcome), number in sorted(report.by_mutation.items()):
        print(f"{number:8,}  {mutation}: {outcome}")
    for failure in report.failures[:40]:
        print(failure)
    seconds = time.perf_counter() - start
    print(
        f"{options.count:,} files in {seconds:.0f} s (slowest file: {report.slowest:.2f} s), "
        f"{len(report.failures)} failures{_peak_memory()}"
    )


if __name__ == "__main__":
    main()
