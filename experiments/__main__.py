"""``python -m experiments [name ... | all]``, with ``--help`` for the options."""

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
from .registry import MODULES, chosen, experiment
from .settings import HERE, QUICK_RUNS, RUNS, Settings


def main(arguments: Sequence[str]) -> int:
    """Run the experiments; 0, or 1 where data were missing or wrong."""
    names, settings, force = _options(arguments)
    if force:
        shutil.rmtree(settings.part("any").parent, ignore_errors=True)
    refused = [name for name in names if not _run(name, settings, force)]
    if refused:
        print(f"not run, or not all of it, for want of data: {', '.join(refused)}", file=sys.stderr)
    return int(bool(refused))


def _run(name: str, settings: Settings, force: bool) -> bool:
    """Compute, write, draw; False where data are missing or wrong."""
    try:
        content = _computed(name, settings, force)
    except (MissingDataError, WrongDataError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    found = experiment(name)
    found.draw(content["numbers"], settings.output / found.product)
    print(f"{name}: {found.title} -> {settings.output / found.product}", flush=True)
    return "missing" not in content["key"]


def _computed(name: str, settings: Settings, force: bool) -> dict[str, Any]:
    """The content of the result file; made anew unless it is of the same settings."""
    path, wanted = settings.result(name), experiment(name)
    found = None if force or wanted.derived else results.read(path, settings.key)
    if found is None:
        found = _made(name, settings)
        results.write(path, found)
    return found


def _made(name: str, settings: Settings) -> dict[str, Any]:
    """All numbers, or those of the data sets that are there."""
    start, missing = time.perf_counter(), []
    try:
        numbers = experiment(name).compute(settings)
    except IncompleteError as error:
        print(f"{name}: {error}", file=sys.stderr)
        numbers, missing = error.numbers, error.missing
    return results.finished(name, settings, time.perf_counter() - start, numbers, missing)


def _options(arguments: Sequence[str]) -> tuple[list[str], Settings, bool]:
    parser = argparse.ArgumentParser(prog="python -m experiments")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(MODULES)} or all")
    parser.add_argument("--quick", action="store_true", help="few rows, few runs; says nothing")
    parser.add_argument("--runs", type=_count, help=f"random splits, {RUNS} in the paper")
    parser.add_argument("--jobs", type=_count, default=2, help="processes of one thread each")
    parser.add_argument("--output", type=Path, metavar="DIR", help="results and pictures go here")
    parser.add_argument("--force", action="store_true", help="compute what is there already anew")
    options = parser.parse_args(arguments)
    try:
        names = chosen(options.names or ["all"])
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


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
