"""Command line: ``python -m experiments [name ... | all]``; see ``--help`` for the options."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import results
from .data import IncompleteError, MissingDataError, WrongDataError
from .experiment import HERE, MODULES, QUICK_RUNS, RUNS, Settings, get_experiment, select_names


def main(arguments: Sequence[str]) -> int:
    """Run the experiments and return the exit code: 1 if data were missing or wrong, else 0."""
    names, settings, force = _parse(arguments)
    if force:
        shutil.rmtree(settings.part("any").parent, ignore_errors=True)
    failed = [name for name in names if not _run(name, settings, force)]
    if failed:
        print(f"Incomplete because of missing data: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def _run(name: str, settings: Settings, force: bool) -> bool:
    """Compute the numbers and draw them; return False if data are missing or wrong."""
    try:
        content = _read_or_compute(name, settings, force)
    except (MissingDataError, WrongDataError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    experiment = get_experiment(name)
    product = settings.output / experiment.product
    experiment.draw(content["numbers"], product)
    print(f"{name}: {experiment.title} -> {product}", flush=True)
    return "missing" not in content["key"]


def _read_or_compute(name: str, settings: Settings, force: bool) -> dict[str, Any]:
    """Return the content of the result file, recomputed if its settings differ."""
    path = settings.result(name)
    recompute = force or get_experiment(name).derived
    found = None if recompute else results.read(path, settings.key)
    if found is None:
        found = _compute(name, settings)
        results.write(path, found)
    return found


def _compute(name: str, settings: Settings) -> dict[str, Any]:
    """Compute the numbers; if data sets are missing, use only those that are available."""
    start, missing = time.perf_counter(), []
    try:
        numbers = get_experiment(name).compute(settings)
    except IncompleteError as error:
        print(f"{name}: {error}", file=sys.stderr)
        numbers, missing = error.numbers, error.missing
    return results.describe_run(name, settings, time.perf_counter() - start, numbers, missing)


def _parse(arguments: Sequence[str]) -> tuple[list[str], Settings, bool]:
    parser = argparse.ArgumentParser(prog="python -m experiments")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(MODULES)} or all")
    parser.add_argument("--quick", action="store_true", help="smoke test: few rows and runs")
    parser.add_argument("--runs", type=_positive, help=f"number of random splits (default {RUNS})")
    parser.add_argument("--jobs", type=_positive, default=2, help="number of worker processes")
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for all output")
    parser.add_argument("--force", action="store_true", help="recompute existing results")
    options = parser.parse_args(arguments)
    try:
        names = select_names(options.names or ["all"])
    except ValueError as error:
        parser.error(str(error))
    settings = Settings(
        quick=options.quick,
        runs=options.runs or (QUICK_RUNS if options.quick else RUNS),
        jobs=options.jobs,
        output=options.output or (HERE / "quick" if options.quick else HERE),
        command=" ".join(["python -m experiments", *arguments]),
    )
    return names, settings, options.force


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
