"""How much is run, and where it is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 50
SEED = 0
QUICK_RUNS = 2


@dataclass(frozen=True)
class Settings:
    """What a run of the experiments is given.

    ``runs`` is the number of random splits; a cross-validation takes as many of its folds, at
    most all. ``jobs`` processes of one thread each measure side by side. Below ``output`` are
    ``results``, ``pictures`` and, until it is all done, ``partial``.
    """

    quick: bool = False
    runs: int = RUNS
    jobs: int = 2
    output: Path = HERE
    command: str = ""

    @property
    def key(self) -> dict[str, object]:
        """What the numbers depend on: results with another key are made anew."""
        return {"quick": self.quick, "runs": self.runs}

    def result(self, name: str) -> Path:
        """Where the numbers of an experiment are."""
        return self.output / "results" / f"{name}.json"

    def part(self, name: str) -> Path:
        """Where a part of the numbers is, for a run that goes on after an interruption."""
        return self.output / "partial" / f"{name}.json"
