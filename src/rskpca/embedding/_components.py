"""The ``n_components`` parameter of KernelPCA: a number, a share of the variance, or a gap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ._autopilot import Found

Array = NDArray[np.floating]

ALL_UP_TO_ROWS = 2_000  # with more rows, computing all components would take minutes
MOST = 100  # limit for larger data, unless n_components is an integer
_FIRST = 10  # number of components tried first for a share of the variance
_EQUAL = 1e-6  # eigenvalues with a smaller relative difference are considered equal
_GAP_AMONG = 20  # number of leading eigenvalues that are searched for a gap


def check_n_components(value: Any) -> None:
    """Check that the value is None, "auto", a share or a positive integer."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return
    if isinstance(value, Integral) or not isinstance(value, float | np.floating):
        if isinstance(value, str):
            raise ValueError(
                'n_components must be a positive integer, a share of the variance, "auto" or '
                f"None, got {value!r}."
            )
        check.positive_integer("n_components", value)
    else:
        check.share("n_components", value)


def count_components(requested: Any, n_rows: int) -> int:
    """Return the number of components to compute first."""
    if requested is None:
        return n_rows if n_rows <= ALL_UP_TO_ROWS else MOST
    if isinstance(requested, str):
        return min(_GAP_AMONG, n_rows)
    if isinstance(requested, float | np.floating):
        return min(_FIRST, n_rows)
    return min(int(requested), n_rows)


def fit_components(requested: Any, n_rows: int, fit: Callable[[int], Found]) -> Found:
    """Fit the requested components with ``fit``, which computes a given number of them."""
    found = fit(count_components(requested, n_rows))
    if isinstance(requested, str):
        return truncate(found, largest_gap(*_intervals(found)))
    if isinstance(requested, float | np.floating):
        return _fit_share(float(requested), n_rows, fit, found)
    if requested is None and len(found.embedding.eigenvalues_) == MOST < n_rows:
        check.warn(
            f"n_components=None computes only the first {MOST} components of {n_rows:,} rows. Set "
            "n_components to the number that you need, or to a share of the variance such as 0.95."
        )
    return found


def cut(requested: Any, eigenvalues: Array, trace: float) -> int:
    """Return the requested number of components.

    It is the number that explains the requested share of the variance or, for a string, the number
    that precedes the largest eigenvalue gap.
    """
    if isinstance(requested, str):
        return largest_gap(eigenvalues[:_GAP_AMONG], eigenvalues[:_GAP_AMONG])
    return int(np.searchsorted(np.cumsum(eigenvalues) / trace, float(requested))) + 1


def _fit_share(share: float, n_rows: int, fit: Callable[[int], Found], found: Found) -> Found:
    """Add components until they explain the requested share of the variance."""
    asked = count_components(share, n_rows)
    while True:
        explained = np.cumsum(found.embedding.explained_variance_ratio_)
        count = len(explained)
        if explained[-1] >= share:
            return truncate(found, int(np.searchsorted(explained, share)) + 1)
        if count >= min(MOST, n_rows - 1) or count < asked:
            check.warn(
                f"n_components={share:g} was not reached: the first {count} components explain "
                f"{explained[-1]:.3g} of the variance, and no more are computed. Use a smaller "
                "share or a smaller gamma, or set n_components to an integer."
            )
            return found
        asked = min(2 * count, MOST, n_rows)
        found = fit(asked)


def _intervals(found: Found) -> tuple[Array, Array]:
    """Return lower and upper limits of the eigenvalues."""
    if found.error.limit == 0:
        return found.embedding.eigenvalues_, found.embedding.eigenvalues_
    low, high = found.embedding.certificate_.likely.T
    return low, high


def largest_gap(low: Array, high: Array) -> int:
    """Return the number of components before the largest gap that is certain to exist."""
    if len(low) == 1:
        return 1
    with np.errstate(divide="ignore"):
        ratios = np.where(high[1:] > 0, low[:-1] / high[1:], math.inf)
    if not ratios.max(initial=0) > 1 + _EQUAL:
        raise ValueError(_describe_missing_gap(len(low), exact=np.array_equal(low, high)))
    return int(np.argmax(ratios)) + 1


def _describe_missing_gap(count: int, *, exact: bool) -> str:
    """Return the error message for eigenvalues without a gap."""
    if exact:  # a smaller max_error would not help
        reason, fix = f"the first {count} eigenvalues are equal", ""
    else:
        reason = f"the intervals for the first {count} eigenvalues overlap"
        fix = ", or decrease max_error"
    return (
        f'n_components="auto" requires a gap between eigenvalues, but {reason}. Set n_components '
        f"to an integer{fix}."
    )


def truncate(found: Found, count: int) -> Found:
    """Return the result with only the first ``count`` components."""
    embedding: Any = found.embedding
    if count < len(embedding.eigenvalues_):
        model = embedding.model_.leading(count)
        embedding.set_params(n_components=count)
        embedding.model_ = model
    return replace(found, embedding=embedding)
