"""Command line: ``python -m benchmarks [name ...] [--quick] [--output DIR]``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from . import results
from .rows import Row, format_table

# Benchmarks, in the order in which they run.
NAMES = (
    "cover", "transform", "fit", "accuracy", "manifold", "certificate", "coverage", "methods",
    "weights", "means", "means_speed", "autopilot", "defaults", "choices", "frontier", "denoising",
    "novelty", "plan", "report", "window", "memory", "sparse", "scale", "wide", "stream",
    "start", "threads", "dask_scale", "deployment",
)  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Run the benchmarks, print their tables and write their results."""
    options = _parse(arguments)
    folder = options.output or (None if options.quick else results.FOLDER)
    met: list[bool] = []
    for name in options.names or NAMES:
        rows = _run(name, options.quick)
        met += [row.met for row in rows if row.met is not None]
        if folder is not None:
            results.write(name, rows, folder, arguments)
    if options.quick:
        print("Quick run on small data: the targets apply only to full-size runs.")
    else:
        print(f"{sum(met)} of {len(met)} targets met")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="use small data, ignore targets")
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the JSON files")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    return options


def _run(name: str, quick: bool) -> list[Row]:
    module = import_module(f"benchmarks.{name}")
    start = time.perf_counter()
    rows: list[Row] = module.run(quick)
    print(f"{name} ({time.perf_counter() - start:.0f} s)")
    print(format_table(rows, with_targets=not quick), end="\n\n", flush=True)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
