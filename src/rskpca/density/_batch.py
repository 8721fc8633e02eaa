"""Base classes for densities that are fitted to all of the data in one batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.distances import nearest_centers, squared_distances_to
from .._core.sampling import sample_rows
from .._validation import Rows
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample
from ._base import Array, BaseDensity, Labels


class Choice(NamedTuple):
    """Centers, and how the rows are assigned to them.

    Attributes
    ----------
    centers : ndarray of shape (n_centers, n_features)
        The centers.
    weights : ndarray of shape (n_centers,) or None
        Weights of the centers, if rows are not assigned to centers. In this case, the nearest
        center of each row is computed only when ``labels_`` is read. If None, the weight of each
        center is the total weight of its rows.
    labels : ndarray of shape (n_samples,) or None
        The center of each row, used only if ``weights`` is None. If ``labels`` is None, each row
        is assigned to its nearest center.
    """

    centers: Array
    weights: Array | None = None
    labels: Labels | None = None


class BatchDensity(BaseDensity, ABC):
    """Base class for densities that choose their centers from all rows together.

    A subclass implements ``_choose(X, weights, kernel)``, which returns a :class:`Choice`. The
    rows it receives have positive weights, and the kernel has a numeric bandwidth.
    """

    def _check_parameters(self, n_rows: int) -> None:
        """Check the subclass's parameters, given the number of rows with positive weight."""

    @abstractmethod
    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        """Choose centers for rows with positive weight."""

    def _learn_more(self, X: Array, weights: Array, labels: Labels | None) -> None:
        """Compute additional fitted attributes once the reduced set is available.

        ``labels`` is None if the weights do not depend on them.
        """

    def summarize(self, rows: Rows, kernel: RadialKernel) -> Self:
        """Choose centers for validated rows and compute their weights.

        Parameters
        ----------
        rows : Rows
            Validated rows with their weights.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.

        Returns
        -------
        Self
            The fitted estimator.
        """
        X, weights = rows.positive
        self._check_parameters(len(X))
        X = np.ascontiguousarray(X)
        choice = self._choose(X, weights, kernel)
        reduced_set, labels = _count(X, weights, kernel, choice, self.random_state)
        self.kernel_, self.reduced_set_ = kernel, reduced_set
        self._store_labels(rows, labels)
        rows.name_features(self)
        self._learn_more(X, weights, labels)
        return self

    def _store_labels(self, rows: Rows, labels: Labels | None) -> None:
        """Store the labels, or the rows from which they can be computed."""
        for name in ("labels_", "_rows_"):
            self.__dict__.pop(name, None)
        if labels is None:
            self._rows_ = rows
        else:
            self.labels_ = rows.labels(labels)

    @cached_property
    def labels_(self) -> Labels:  # type: ignore[override]
        """The nearest center of each row; computed on first access unless the weights use it."""
        if "_rows_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has no labels_. Call fit first.")
        found, _ = nearest_centers(
            self._rows_.positive[0], self.reduced_set_.centers, self.kernel_.scale
        )
        labels = self._rows_.labels(found)
        del self._rows_
        return labels

    def __copy__(self) -> Self:
        """Return a shallow copy, which shares the rows until their labels are computed."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save, which contains the labels but never the rows."""
        if "_rows_" in self.__dict__:
            self.labels_  # noqa: B018  # computes and caches the labels
        return dict(super().__getstate__())


class CountedDensity(BatchDensity):
    """Base class for batch densities with a given number of centers, ``n_centers``."""

    n_centers: int

    def _check_parameters(self, n_rows: int) -> None:
        check.positive_integer("n_centers", self.n_centers)
        if self.n_centers > n_rows:
            raise ValueError(
                f"n_centers={self.n_centers} exceeds the number of rows with positive weight; "
                f"use at most {n_rows}."
            )

    def _sample(self, X: Array, weights: Array) -> Array:
        """Draw ``n_centers`` random rows."""
        rng = check_random_state(self.random_state)
        return X[sample_rows(len(X), weights, self.n_centers, rng)]


def equal_shares(points: Array, total: float) -> Choice:
    """Return equally weighted points; equal points become one center with their total weight."""
    _, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(place.ravel())
    order = np.argsort(first)
    return Choice(points[first[order]], counts[order] * (total / len(points)))


def _count(
    X: Array, weights: Array, kernel: RadialKernel, choice: Choice, random_state: Any
) -> tuple[ReducedSet, Labels | None]:
    """Return the reduced set for a choice, and row labels unless the choice contains weights."""
    centers, labels = choice.centers, choice.labels
    if choice.weights is not None:
        return ReducedSet(centers, choice.weights, n_samples=float(weights.sum())), None
    if labels is None:
        labels, squared = nearest_centers(X, centers, kernel.scale)
    else:
        squared = squared_distances_to(X, centers, labels)
    kept, labels = np.unique(labels, return_inverse=True)
    statistics = Statistics.zeros(len(kept)).add(labels, squared, weights)
    sample = RowSample.of(X, weights, labels, random_state)
    reach = _reach(squared, X.shape[1])
    return ReducedSet.of(centers[kept], statistics, reach, sample=sample), labels


def _reach(squared: Array, n_features: int) -> float:
    """Return the largest distance, rounded up to be an upper bound for any order of summation."""
    return float(np.sqrt(squared.max())) * (1 + n_features * np.finfo(np.float64).eps)
