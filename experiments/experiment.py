"""Run settings, and the list of experiments in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RUNS = 50
QUICK_RUNS = 2
SEED = 0

Results = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Size of a run and location of its output.

    ``runs`` is the number of random splits; a cross-validation uses at most its number of folds.
    ``jobs`` processes with one thread each run in parallel. The folder ``output`` contains
    ``results``, ``pictures`` and ``partial``, which stores intermediate results.
    """

    quick: bool = False
    runs: int = RUNS
    jobs: int = 2
    output: Path = HERE
    command: str = ""

    @property
    def key(self) -> dict[str, object]:
        """Settings that affect the numbers; results with a different key are recomputed."""
        return {"quick": self.quick, "runs": self.runs}

    def result(self, name: str) -> Path:
        """Return the result file of an experiment."""
        return self.output / "results" / f"{name}.json"

    def part(self, name: str) -> Path:
        """Return the file of an intermediate result, from which an interrupted run resumes."""
        return self.output / "partial" / f"{name}.json"


@dataclass(frozen=True)
class Experiment:
    """A computation, and the figure or page generated from its results.

    ``compute`` returns JSON-serializable numbers; ``draw`` creates the file ``product`` in the
    output folder from these numbers alone. A ``derived`` experiment only reads the results of other
    experiments and is therefore always recomputed.
    """

    title: str
    compute: Callable[[Settings], Results]
    draw: Callable[[Results, Path], None]
    product: str
    derived: bool = False


MODULES = {
    "fig01": "fig01",
    "fig02": "eigenembedding",
    "fig03": "eigenembedding",
    "fig04": "classification",
    "fig05": "classification",
    "fig06": "retained",
    "fig07": "classification",
    "fig08": "classification",
    "table02": "table02",
    "bounds": "bounds",
    "generic": "generic",
    "claims": "claims",
}


def get_experiment(name: str) -> Experiment:
    """Import the module that defines an experiment, and return the experiment."""
    found: Experiment = import_module(f"experiments.{MODULES[name]}").EXPERIMENTS[name]
    return found


def select_names(names: list[str]) -> list[str]:
    """Return the names in the order in which they run; "all" selects every experiment."""
    for name in names:
        if name not in MODULES and name != "all":
            raise ValueError(unknown_name("experiment", name, MODULES))
    return list(MODULES) if "all" in names else [name for name in MODULES if name in names]


def unknown_name(kind: str, name: str, names: Iterable[str]) -> str:
    """Return an error message that suggests the closest of the known names."""
    known = list(names)
    close = get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"Unknown {kind} {name!r}.{hint} Choose from {', '.join(known)}."
