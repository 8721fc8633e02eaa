"""``python -m benchmarks [name ...] [--quick] [--output DIR]``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import results
from .registry import BENCHMARKS
from .rows import Row
from .tables import table


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    folder = options.output or (None if options.quick else results.FOLDER)
    met: list[bool] = []
    for name in options.names or BENCHMARKS:
        rows = _run(name, options.quick)
        met += [row.met for row in rows if row.met is not None]
        if folder is not None:
            results.write(name, rows, folder, arguments)
    if options.quick:
        print("quick: small data, so the wanted values, which are for the full size, say nothing")
    else:
        print(f"{sum(met)} of {len(met)} wanted values met")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="small data; nothing is judged")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write the JSON files here")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
        )
    return options


def _run(name: str, quick: bool) -> list[Row]:
    start = time.perf_counter()
    rows = BENCHMARKS[name](quick)
    print(f"{name} ({time.perf_counter() - start:.0f} s)")
    print(table(rows, judged=not quick), end="\n\n", flush=True)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
