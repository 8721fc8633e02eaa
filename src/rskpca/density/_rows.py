"""Rows that a reduced set takes in, and lets go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.cover import Cover
from ..reduced_set import ReducedSet
from ._base import Array
from ._sums import Sums

# A rest is rounding below the first share of what a center held, a row above the second.
ROUNDING, KNOWN = 1e-20, 1e-18
# Of a rest below this share the sums of distances may have lost their digits.
FEW = 1e-3


def counted_rows(X: Array, weights: Array) -> tuple[Array, Array]:
    """The rows that have weight, and their weights."""
    counted = weights > 0
    return (X, weights) if counted.all() else (X[counted], weights[counted])


def located(cover: Cover, X: Array, weights: Array) -> tuple[NDArray[np.intp], Array]:
    """The center that each row was counted in; an error where there is none."""
    if not cover.radius:
        raise ValueError(
            "forget needs a positive radius, but ell=inf made every row its own center; "
            "fit again without the rows."
        )
    labels, squared = cover.assign(X)
    lost = np.flatnonzero((labels < 0) & (weights > 0))
    if len(lost):
        raise ValueError(
            f"forget: {len(lost)} of {len(X)} rows lie in no shadow, the first is row "
            f"{lost[0]}; only rows that were fitted can be forgotten. Nothing was changed."
        )
    return labels, squared


def extended(
    previous: ReducedSet | None, cover: Cover, rows: Array, weights: Array, line: Any
) -> tuple[ReducedSet, NDArray[np.intp]]:
    """The reduced set with these rows more, and their centers."""
    before = rows[:0] if previous is None else previous.centers
    if cover.radius > 0:
        warm = previous is None and cover.n_centers > 0
        labels, squared = cover.extend(rows, line)
        centers = cover.centers.astype(np.result_type(before, rows))
        if warm:  # centers of another fit, which may have no rows
            used = np.bincount(labels, minlength=len(centers)) > 0
            centers, labels = centers[used], np.cumsum(used)[labels] - 1
    else:  # every row is a center, as its own distance is not below 0
        labels, squared = len(before) + np.arange(len(rows)), np.zeros(len(rows))
        centers = np.concatenate([before, rows])
    return with_rows(previous, centers, labels, squared, weights, cover.radius), labels


def with_rows(
    previous: ReducedSet | None,
    centers: Array,
    labels: NDArray[np.intp],
    squared: Array,
    weights: Array,
    radius: float,
) -> ReducedSet:
    """The reduced set, which has these centers now, and these rows more."""
    sums = Sums(len(centers), previous)
    sums.add(labels, squared, weights)
    reach = radius if previous is None else max(radius, previous.radius)  # type: ignore[type-var]
    return sums.reduced_set(centers, reach, radius)


def without_rows(
    previous: ReducedSet, labels: NDArray[np.intp], squared: Array, weights: Array
) -> ReducedSet:
    """The reduced set less these rows; an error where it does not hold them."""
    counted = weights > 0
    sums = Sums(previous.n_centers, previous)
    sums.add(labels[counted], squared[counted], -weights[counted])
    held, left = previous.weights, sums.weights + sums.residue
    exact = _whole(held) & _whole(previous.residue) & bool(_whole(weights).all())
    short = np.flatnonzero(left < np.where(exact, 0.0, -1e-9 * held))
    if len(short):
        first = short[0]
        raise ValueError(
            f"forget: center {first} holds a weight of {held[first]:g}, but "
            f"{held[first] - left[first]:g} would be taken from it ({len(short)} such centers). "
            "Nothing was changed."
        )
    kept = left > np.where(exact, 0.0, KNOWN * held)
    _check_known(held, left, ~kept & (left > ROUNDING * held))
    if not kept.any():
        raise ValueError(
            "forget: nothing would be left; make a new estimator instead. Nothing was changed."
        )
    sums.residue -= left - sums.weights  # the weights take up what they can hold of it
    sums.weights = left
    _bound_few(sums, left < FEW * held, previous.radius)  # type: ignore[arg-type]
    left_over = sums.reduced_set(previous.centers, previous.radius, previous.spacing, kept)
    return replace(left_over, spectrum=previous.spectrum)


def _whole(values: Array) -> NDArray[np.bool_]:
    return values == np.round(values)


def _check_known(held: Array, left: Array, doubtful: NDArray[np.bool_]) -> None:
    if doubtful.any():
        first = int(np.argmax(doubtful))
        raise ValueError(
            f"forget: center {first} holds a weight of {held[first]:g}, of which {left[first]:g} "
            "would be left: a row of so little weight cannot be told from rounding. Fit again "
            "without the rows. Nothing was changed."
        )


def _bound_few(sums: Sums, few: NDArray[np.bool_], radius: float) -> None:
    """Sums of distances from above, each row at the radius, for some centers."""
    sums.displacement[few] = radius * sums.weights[few]
    sums.scatter[few] = radius * sums.displacement[few]
