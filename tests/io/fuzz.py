"""``python -m tests.io.fuzz --count 100000``: spoilt files give an error, or a model that works.

A file whose checksum was not made right must be refused, unless nothing changed. One whose
checksum was made right is refused, or is a sound model: it can be saved again, and answers, or says
what is wrong with its numbers in a ValueError or an ArithmeticError.
"""

from __future__ import annotations

import argparse
import random
import resource
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
from tests.io import mutations
from tests.io.cases import CASES, data
from tests.io.equality import differences

ROOM = 2**30  # bytes of memory above what is there before the first file
LONGEST = 20.0  # seconds that a file may take
ANSWERS = ("transform", "predict", "score_samples")
LEARNT = ("eigenvectors_", "labels_", "center_labels_", "certificate_", "offset_", "t_")


@dataclass
class Report:
    """How many files ended how, and the slowest."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    by_mutation: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, mutation: str, outcome: str, seconds: float) -> None:
        self.outcomes[outcome] += 1
        self.by_mutation[mutation, outcome] += 1
        self.slowest = max(self.slowest, seconds)


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory where there is one: the disk is no part of this."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


def seeds(folder: Path) -> dict[str, bytes]:
    """A sound file of each case."""
    found = {}
    for name, make in CASES.items():
        save(make(data()[0]), folder / "seed")
        found[name] = (folder / "seed").read_bytes()
        _answer(load(folder / "seed"))  # compiles what it needs before memory is counted
    return found


def run(count: int, seed: int, folder: Path) -> Report:
    """Spoil ``count`` files one after another, and load them."""
    rng, sound, report = random.Random(seed), seeds(folder), Report()
    names = list(sound)
    with _room(ROOM):
        for number in range(count):
            name, mutation = rng.choice(names), rng.choice(mutations.ALL)
            spoilt = mutation(sound[name], sound[rng.choice(names)], rng)
            start = time.perf_counter()
            outcome = _outcome(spoilt, sound[name], mutation, folder / "spoilt")
            seconds = time.perf_counter() - start
            report.add(mutation.__name__, outcome, seconds)
            if outcome.startswith("FAILED") or seconds > LONGEST:
                report.failures.append(f"{number} {name}, {mutation.__name__}: {outcome}")
    return report


def _outcome(spoilt: bytes, sound: bytes, mutation: Any, path: Path) -> str:
    path.write_bytes(spoilt)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _tried(path, spoilt == sound, mutation in mutations.BYTES)
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error!s:.150}"


def _tried(path: Path, same: bool, must_refuse: bool) -> str:
    try:
        describe(path)
    except ModelFileError:
        must_refuse = must_refuse or not same
    try:
        model = load(path)
    except ModelFileError as error:
        return "FAILED: too much memory" if "no memory" in str(error) else "refused"
    if same:
        return "the same"
    if must_refuse:
        return "FAILED: loaded"
    return _sound(model, path)


def _sound(model: Any, path: Path) -> str:
    """A model of other numbers can be saved; it answers, and takes more rows."""
    save(model, path)
    if differences(load(path), model):
        return "FAILED: saved as another"
    try:
        _answer(model)
    except (ValueError, ArithmeticError):
        return "another model, which says what is wrong when it is used"
    return "another sound model"


def _answer(model: Any) -> None:
    rows = data()[1][:5]
    if hasattr(model, "n_features_in_"):
        for name in ANSWERS:
            if hasattr(model, name):
                getattr(model, name)(rows)
        for name in LEARNT:
            getattr(model, name, None)
        if hasattr(model, "partial_fit"):
            model.partial_fit(rows)
            _solved_again(model, rows)
        if hasattr(model, "forget"):
            with suppress(ValueError):  # merged, or grown
                model.forget(rows)
            _solved_again(model, rows)


def _solved_again(model: Any, rows: Any) -> None:
    """Whatever is asked for first after rows came or went."""
    getattr(model, "labels_", None)
    getattr(model, "reduced_set_", None)
    if hasattr(model, "transform"):
        model.transform(rows)


@contextmanager
def _room(more: int) -> Iterator[None]:
    """No memory beyond what is there now and so much more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.io.fuzz")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    with scratch() as folder:
        report = run(options.count, options.seed, Path(folder))
    for outcome, number in report.outcomes.most_common():
        print(f"{number:8,}  {outcome}")
    for (mutation, outcome), number in sorted(report.by_mutation.items()):
        print(f"{number:8,}  {mutation}: {outcome}")
    for failure in report.failures[:40]:
        print(failure)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = time.perf_counter() - start
    print(
        f"{options.count:,} files in {seconds:.0f} s, the slowest {report.slowest:.2f} s, "
        f"{len(report.failures)} failures, peak {peak} MB"
    )


if __name__ == "__main__":
    main()
