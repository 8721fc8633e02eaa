"""A claim of the paper, the rule by which it is judged, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import summary

REPRODUCED, PARTLY, NOT, NOT_RUN = "reproduced", "partly", "not reproduced", "not run"

Found = Mapping[str, Any]  # the numbers of each experiment that was run, by its name
Table = Mapping[str, list[Any]]


class Finding(NamedTuple):
    """What was seen, in words and numbers, and the verdict."""

    ours: str
    verdict: str


Judge = Callable[[Found], Finding]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    ``judge`` compares with the paper's own baselines (a), ``today`` with the best alternative of
    today (b). All of ``needs`` must have been run; with ``any_will_do`` one of them.
    """

    where: str
    text: str
    paper: str
    rule: str
    needs: tuple[str, ...]
    judge: Judge
    today: Judge | None = None
    any_will_do: bool = False

    def missing(self, found: Found) -> tuple[str, ...]:
        """The experiments that are still to be run before it can be judged."""
        missing = tuple(name for name in self.needs if name not in found)
        return () if self.any_will_do and len(missing) < len(self.needs) else missing


def judged(judge: Judge | None, claim: Claim, found: Found) -> Finding | None:
    """A finding; None where nothing is to be judged."""
    if judge is None:
        return None
    missing = claim.missing(found)
    return Finding(f"needs {', '.join(missing)}", NOT_RUN) if missing else judge(found)


def graded(flags: Sequence[bool]) -> str:
    """Reproduced where all hold, partly where some do."""
    return REPRODUCED if all(flags) else PARTLY if any(flags) else NOT


def counted(flags: Mapping[str, Sequence[bool]]) -> str:
    """How often each holds: "german 20 of 21"."""
    return ", ".join(f"{name} {sum(own)} of {len(own)}" for name, own in flags.items())


class Pair(NamedTuple):
    """Values of the shadow method and of another one, on the runs that both have."""

    ours: list[float]
    theirs: list[float]


def paired(table: Table, other: str, *fields: str) -> dict[float, Pair]:
    """For each ell that both have; a method that was run less often is compared on its runs."""
    ours, theirs = (summary.by_run(table, method, *fields) for method in ("shadow", other))
    shared = {ell: sorted(runs.keys() & theirs.get(ell, {}).keys()) for ell, runs in ours.items()}
    return {
        ell: Pair(*([each[ell][run] for run in runs] for each in (ours, theirs)))
        for ell, runs in shared.items()
        if runs
    }


def over_runs(pairs: Iterable[Pair]) -> str:
    """On how many runs they were compared: "over 3 runs"."""
    counts = {len(pair.ours) for pair in pairs}
    low, high = min(counts), max(counts)
    return f"over {low} to {high} runs" if low < high else f"over {low} run{'s' * (low > 1)}"


def means(table: Table, method: str, field: str) -> dict[float, float]:
    """The mean over runs for each ell."""
    return {ell: float(np.mean(v)) for ell, v in summary.by_ell(table, method, field).items()}


def medians(table: Table, method: str, steps: Sequence[str]) -> dict[float, float]:
    """The median seconds over runs for each ell."""
    return {ell: float(np.median(v)) for ell, v in summary.by_ell(table, method, *steps).items()}


def speedups(
    table: Table, steps: Sequence[str], baseline: str, baseline_steps: Sequence[str] | None = None
) -> dict[float, float]:
    """How many times faster the shadow method is: the median over runs for each ell."""
    found = summary.speedups(table, "shadow", steps, baseline, baseline_steps)
    return {ell: float(np.median(v)) for ell, v in found.items()}


def over(values: Mapping[float, float]) -> str:
    """The smallest and the largest: "2.1 to 9.8"."""
    low, high = min(values.values()), max(values.values())
    return f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"
