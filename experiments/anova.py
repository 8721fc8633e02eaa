"""Analysis of variance over runs, at 0.05, as the paper compares embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import f_oneway

ALPHA = 0.05
ByEll = Mapping[float, Sequence[float]]


def p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How likely means as far apart are by chance; 1 where nothing varies and nothing differs."""
    if np.ptp([*ours, *theirs]) == 0:
        return 1.0
    if min(len(ours), len(theirs)) < 2:
        raise ValueError("an analysis of variance needs two runs of each method at least.")
    if np.ptp(ours) == 0 and np.ptp(theirs) == 0:
        return 0.0
    return float(f_oneway(ours, theirs).pvalue)


def better(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Whether our mean error is smaller, and not by chance."""
    return bool(np.mean(ours) < np.mean(theirs) and p_value(ours, theirs) < ALPHA)


def no_worse(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Whether our mean error is not larger, or only by chance."""
    return not better(theirs, ours)


def holds_from(
    holds: Callable[[Sequence[float], Sequence[float]], bool], ours: ByEll, theirs: ByEll
) -> float | None:
    """The smallest ell from which on it holds at every ell; None where it does not at the last."""
    first = None
    for ell in sorted(set(ours) & set(theirs), reverse=True):
        if not holds(ours[ell], theirs[ell]):
            break
        first = ell
    return first
