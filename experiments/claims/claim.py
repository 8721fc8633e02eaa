"""Claims of the paper, the rules for judging them, and the statistics behind the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from .. import summary

ResultsByName = Mapping[str, Any]  # results of the experiments that were run
Table = Mapping[str, list[Any]]


class Verdict(StrEnum):
    """Outcome of judging a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT = "not reproduced"
    NOT_RUN = "not run"


class Finding(NamedTuple):
    """Our results in words, and the verdict."""

    ours: str
    verdict: Verdict


Judge = Callable[[ResultsByName], Finding]


@dataclass(frozen=True)
class Claim:
    """A claim made in the paper.

    ``judge`` compares with the paper's own baselines (a), and ``judge_today`` with today's best
    alternative (b). All experiments in ``needs`` must have been run, or at least one of them if
    ``any_suffices`` is set.
    """

    where: str
    text: str
    paper: str
    rule: str
    needs: tuple[str, ...]
    judge: Judge
    judge_today: Judge | None = None
    any_suffices: bool = False

    def missing(self, results: ResultsByName) -> tuple[str, ...]:
        """Return the experiments that must be run before the claim can be judged."""
        missing = tuple(name for name in self.needs if name not in results)
        return () if self.any_suffices and len(missing) < len(self.needs) else missing

    def find(self, results: ResultsByName, *, today: bool = False) -> Finding | None:
        """Return finding (a), or (b) if ``today`` is set; None if the claim has no finding (b)."""
        judge = self.judge_today if today else self.judge
        if judge is None:
            return None
        missing = self.missing(results)
        if missing:
            return Finding(f"requires the results of {', '.join(missing)}", Verdict.NOT_RUN)
        return judge(results)


PARTLY_FROM = "half of them or more"


def grade(flags: Iterable[bool]) -> Verdict:
    """Return REPRODUCED if all flags are set, PARTLY if at least half of them are, else NOT."""
    outcomes = list(flags)
    if all(outcomes):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if 2 * sum(outcomes) >= len(outcomes) else Verdict.NOT


def grade_groups(groups: Mapping[str, Sequence[bool]]) -> Verdict:
    """Grade the flags of all groups together."""
    return grade(flag for flags in groups.values() for flag in flags)


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """Return REPRODUCED if all verdicts are, NOT if none of them is, else PARTLY."""
    reproduced = [verdict == Verdict.REPRODUCED for verdict in verdicts]
    if all(reproduced):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if any(reproduced) else Verdict.NOT


def count_groups(groups: Mapping[str, Sequence[bool]]) -> str:
    """Return text such as "20 of 21 (german), 21 of 21 (pendigits) values of ell"."""
    counts = (f"{sum(flags)} of {len(flags)} ({name})" for name, flags in groups.items())
    return f"{', '.join(counts)} values of ell"


class Pair(NamedTuple):
    """Values for the shadow method and for another method, over their shared runs."""

    ours: list[float]
    theirs: list[float]


def pair_runs(table: Table, other: str, *fields: str) -> dict[float, Pair]:
    """Return the paired values at each ell at which both methods were run."""
    ours, theirs = (summary.by_run(table, method, *fields) for method in ("shadow", other))
    shared = {ell: sorted(runs.keys() & theirs.get(ell, {}).keys()) for ell, runs in ours.items()}
    return {
        ell: Pair(*([each[ell][run] for run in runs] for each in (ours, theirs)))
        for ell, runs in shared.items()
        if runs
    }


def count_runs(pairs: Iterable[Pair]) -> str:
    """Return the number of shared runs as text, such as "3 runs"."""
    counts = {len(pair.ours) for pair in pairs}
    low, high = min(counts), max(counts)
    return f"{low} to {high} runs" if low < high else f"{low} run{'s' * (low > 1)}"


def means(table: Table, method: str, field: str) -> dict[float, float]:
    """Return the mean over runs at each ell."""
    return {ell: float(np.mean(v)) for ell, v in summary.by_ell(table, method, field).items()}


def medians(table: Table, method: str, steps: Sequence[str]) -> dict[float, float]:
    """Return the median seconds over runs at each ell."""
    return {ell: float(np.median(v)) for ell, v in summary.by_ell(table, method, *steps).items()}


def speedups(
    table: Table, steps: Sequence[str], baseline: str, baseline_steps: Sequence[str] | None = None
) -> dict[float, float]:
    """Return the median speed-up of the shadow method over a baseline at each ell."""
    found = summary.speedups(table, "shadow", steps, baseline, baseline_steps)
    return {ell: float(np.median(v)) for ell, v in found.items()}


def format_number(value: float) -> str:
    """Format with three significant digits and no exponent, such as "0.0558" or "1,700"."""
    return f"{float(f'{value:.3g}'):,g}"


def format_range(values: Iterable[float]) -> str:
    """Return the smallest and largest value, such as "2.1 to 9.8"."""
    sequence = list(values)
    low, high = format_number(min(sequence)), format_number(max(sequence))
    return low if low == high else f"{low} to {high}"
