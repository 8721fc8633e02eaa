"""Analysis of variance over runs, at 0.05, as the paper compares embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import f_oneway

ALPHA = 0.05
ByEll = Mapping[float, Sequence[float]]
Holds = Callable[[Sequence[float], Sequence[float]], bool]


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


def holds_at(holds: Holds, ours: ByEll, theirs: ByEll) -> dict[float, bool]:
    """Whether it holds, at each ell that both have."""
    return {ell: holds(ours[ell], theirs[ell]) for ell in sorted(set(ours) & set(theirs))}


def holds_from(holds: Holds, ours: ByEll, theirs: ByEll) -> float | None:
    """The smallest ell from which on it holds at every ell; None where it does not at the last."""
    return onset(holds_at(holds, ours, theirs))


def onset(flags: Mapping[float, bool]) -> float | None:
    """The smallest ell from which on all flags are set; None where the last one is not."""
    first = None
    for ell in sorted(flags, reverse=True):
        if not flags[ell]:
            break
        first = ell
    return first


def described(flags: Mapping[float, bool]) -> str:
    """How often something holds, and from where on: "at 18 of 21 ell, from ell = 3.3 on"."""
    first = onset(flags)
    count = f"at {sum(flags.values())} of {len(flags)} ell"
    if first is not None:
        return f"{count}, from ell = {first:g} on"
    return f"{count}, not at the largest" if any(flags.values()) else count
