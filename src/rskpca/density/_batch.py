"""What the density estimators that see all of the data at once share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.nearest import nearest, squared_distances_to
from .._core.sampling import sampled_rows
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ._base import Array, BaseDensity
from ._sums import Sums

Labels = NDArray[np.intp]


class Choice(NamedTuple):
    """Centers, and what is known of how they stand for the rows.

    Attributes
    ----------
    centers : ndarray of shape (n_centers, n_features)
        The points.
    weights : ndarray of shape (n_centers,) or None
        What they weigh, where no row belongs to one center. None counts the rows of each.
    labels : ndarray of shape (n_samples,) or None
        The center of each row. None is the nearest.
    """

    centers: Array
    weights: Array | None = None
    labels: Labels | None = None


class BatchDensity(BaseDensity, ABC):
    """A density whose subclass chooses centers for all rows at once.

    A subclass writes ``_choose(X, weights, kernel)``, which returns a :class:`Choice`. The rows
    that it gets have positive weights, and the kernel has a bandwidth.
    """

    def _check_parameters(self, n_rows: int) -> None:
        """Check the subclass's own parameters, for data of ``n_rows`` rows that count."""

    @abstractmethod
    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        """Centers for rows that all have a positive weight."""

    def _learn_more(self, X: Array, weights: Array, labels: Labels) -> None:
        """Learn what goes beyond the reduced set, which is there by now."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the centers of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts. Rows of weight 0 are left out.

        Returns
        -------
        Self
            The fitted estimator.
        """
        checked = check.new_rows(self, X, at_least=2)
        weights = check.sample_weights(sample_weight, len(checked))
        counted = weights > 0
        self._check_parameters(int(np.count_nonzero(counted)))
        kernel = self._resolved_kernel(checked, None if sample_weight is None else weights)
        rows = np.ascontiguousarray(checked if counted.all() else checked[counted])
        choice = self._choose(rows, weights[counted], kernel)
        reduced_set, found = _counted(rows, weights[counted], kernel, choice)
        labels = np.full(len(checked), -1, dtype=np.intp)
        labels[counted] = found
        self.kernel_, self.reduced_set_, self.labels_ = kernel, reduced_set, labels
        self._remember_features(X)
        self._learn_more(rows, weights[counted], found)
        return self


class CountedDensity(BatchDensity):
    """A density of ``n_centers`` centers."""

    n_centers: int

    def _check_parameters(self, n_rows: int) -> None:
        check.positive_integer("n_centers", self.n_centers)
        if self.n_centers > n_rows:
            raise ValueError(
                f"n_centers={self.n_centers} is more than the {n_rows} rows of positive weight; "
                f"give at most {n_rows}."
            )

    def _sample(self, X: Array, weights: Array) -> Array:
        """Random rows, as many as centers are wanted."""
        rng = check_random_state(self.random_state)
        return X[sampled_rows(len(X), weights, self.n_centers, rng)]


def equal_shares(points: Array, total: float) -> Choice:
    """Points that carry the same weight each; equal ones become one center that carries more."""
    _, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(place.ravel())
    order = np.argsort(first)
    return Choice(points[first[order]], counts[order] * (total / len(points)))


def _counted(
    X: Array, weights: Array, kernel: RadialKernel, choice: Choice
) -> tuple[ReducedSet, Labels]:
    """The reduced set of a choice, and the center of each row."""
    centers, labels = choice.centers, choice.labels
    if labels is None:
        labels, squared = nearest(X, centers, kernel.scale)
    else:
        squared = squared_distances_to(X, centers, labels)
    if choice.weights is not None:
        return ReducedSet(centers, choice.weights, n_samples=float(weights.sum())), labels
    kept, labels = np.unique(labels, return_inverse=True)
    sums = Sums(len(kept))
    sums.add(labels, squared, weights)
    return sums.reduced_set(centers[kept], _reach(squared, X.shape[1]), None), labels


def _reach(squared: Array, n_features: int) -> float:
    """The largest distance, rounded up: other orders of summing the features do not exceed it."""
    return float(np.sqrt(squared.max())) * (1 + n_features * np.finfo(np.float64).eps)
