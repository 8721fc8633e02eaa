"""Analysis of variance over runs, which the paper uses to compare embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import f_oneway

ALPHA = 0.05
ByEll = Mapping[float, Sequence[float]]
Comparison = Callable[[Sequence[float], Sequence[float]], bool]


def p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the p-value of a one-way ANOVA, or 1 if all values are equal."""
    if np.ptp([*ours, *theirs]) == 0:
        return 1.0
    if min(len(ours), len(theirs)) < 2:
        raise ValueError("An analysis of variance needs at least two runs per method.")
    if np.ptp(ours) == 0 and np.ptp(theirs) == 0:
        return 0.0
    return float(f_oneway(ours, theirs).pvalue)


def better(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Return True if our mean error is significantly smaller."""
    return bool(np.mean(ours) < np.mean(theirs) and p_value(ours, theirs) < ALPHA)


def no_worse(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Return True if our mean error is not significantly larger."""
    return not better(theirs, ours)


def compare(comparison: Comparison, ours: ByEll, theirs: ByEll) -> dict[float, bool]:
    """Return the outcome of a comparison at each ell at which both methods were run."""
    return {ell: comparison(ours[ell], theirs[ell]) for ell in sorted(set(ours) & set(theirs))}


def onset(flags: Mapping[float, bool]) -> float | None:
    """Return the smallest ell from which all flags are set; None if the last flag is not set."""
    first = None
    for ell in sorted(flags, reverse=True):
        if not flags[ell]:
            break
        first = ell
    return first


def describe(flags: Mapping[float, bool]) -> str:
    """Return text such as "at 18 of 21 values of ell, from ell = 3.3 onward"."""
    first = onset(flags)
    count = f"at {sum(flags.values())} of {len(flags)} values of ell"
    if first is not None:
        return f"{count}, from ell = {first:g} onward"
    return f"{count}, not at the largest" if any(flags.values()) else count
