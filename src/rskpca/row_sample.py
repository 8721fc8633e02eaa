"""Uniform samples of the rows with their centers, from which errors are estimated.

Each row has an exponential key, -log(u) / weight, where u is a hash of its row number. The rows
with the smallest keys form the sample. Rows with larger weights are more likely to be kept. The
sample depends neither on the chunks in which rows arrive nor on the number of threads. Given the
smallest key that was left out, tau, rows were kept independently with probability
1 - exp(-weight tau). Weighted by the inverse probabilities, sums over the sample are unbiased
estimates of the sums over all rows. The same is true for sums over pairs of different rows (Cohen
and Kaplan, Tighter estimation using bottom k sketches, 2008).
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from . import _validation as check
from ._core.sparse import densify, freeze, is_sparse, same_rows, select, stack

Array = NDArray[np.floating]
Labels = NDArray[np.intp]

SIZE = 2_000
_MOST_VALUES = 2**24  # limits the memory used by samples with very many features
_FEWEST = 200  # smallest sample size, regardless of the number of features
_STEP = 4_096  # rows hashed first; each later step is as long as all previous steps together
# If there are more than _MANY times as many rows as the sample can hold, a threshold is guessed.
# The expected number of keys below it is _MARGIN times the number that the sample can hold.
_MANY, _MARGIN = 2, 1.3
_DEVIATIONS = 6  # standard deviations; larger differences are not due to chance
_ENDS = 16  # rows at either end of a block that identify it
_ROUNDING = 1e-9  # relative rounding error of sums of weights


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows with the smallest keys, in ascending order of the keys. Arrays are read-only.

    Attributes
    ----------
    rows : ndarray or CSR array of shape (n_rows, n_features)
        The sampled rows, sparse if the data are sparse.
    weights : ndarray of shape (n_rows,)
        Their sample weights.
    labels : ndarray of shape (n_rows,)
        Their centers in the reduced set.
    keys : ndarray of shape (n_rows,)
        Their keys, ascending.
    threshold : float
        The smallest key that was left out; infinite if every row is in the sample.
    size : int
        Maximum number of rows in the sample.
    salt : int
        Seed of the hash.
    position : int
        Row number of the next row to be added.
    removed, expected : float
        Number of sampled rows that were removed, and the expected value of this number.
    """

    rows: Array
    weights: Array
    labels: Labels
    keys: Array
    threshold: float
    size: int
    salt: int
    position: int
    removed: float = 0.0
    expected: float = 0.0

    def __post_init__(self) -> None:
        check.shapes(self, rows="nd", weights="n", labels="n", keys="n")
        if not (np.diff(self.keys) >= 0).all() or not (self.keys < self.threshold).all():
            raise ValueError("keys must be ascending and below the threshold.")
        for array in self._arrays:
            freeze(array)

    @classmethod
    def empty(cls, like: Array, size: int, salt: int) -> RowSample | None:
        """Return an empty sample for rows such as ``like``, or None if ``size`` is 0."""
        if size == 0:
            return None
        if not is_sparse(like):
            size = min(int(size), max(_MOST_VALUES // like.shape[1], _FEWEST))
        no_labels = np.empty(0, dtype=np.intp)
        return cls(like[:0].copy(), np.empty(0), no_labels, np.empty(0), math.inf, size, salt, 0)

    @classmethod
    def of(
        cls,
        X: Array,
        weights: Array,
        labels: Labels | None = None,
        random_state: Any = 0,
        size: int = SIZE,
    ) -> RowSample:
        """Return a sample drawn from all rows; without labels, all rows are labeled 0."""
        empty = cls.empty(X, size, salt_of(X[:1], random_state))
        assert empty is not None
        labels = np.zeros(X.shape[0], dtype=np.intp) if labels is None else labels
        return empty.add(X, weights, labels)

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        """Return True if both contain the same rows, bit for bit."""
        if not isinstance(other, RowSample):
            return NotImplemented
        same = all(same_rows(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))
        return same and self.threshold == other.threshold and self.size == other.size

    __hash__ = None  # type: ignore[assignment]

    @property
    def probabilities(self) -> Array:
        """The probability with which each row was kept."""
        return -np.expm1(-self.weights * self.threshold)

    def add(self, X: Array, weights: Array, labels: Labels) -> RowSample:
        """Return the sample with rows added; rows with weight 0 only advance ``position``."""
        found, keys, threshold = self._find(weights)
        position = self.position + X.shape[0]
        if len(found) == 0:
            return replace(self, position=position)
        order = np.argsort(keys, kind="stable")
        found, keys = found[order], keys[order]
        entered = X[found], weights[found], labels[found], keys
        if len(self) == self.position == 0:
            return self._with_rows(*entered, threshold=threshold, position=position)
        return replace(self._join(*entered, threshold), position=position)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self.rows, self.weights, self.labels, self.keys

    def _with_rows(
        self, rows: Any, weights: Any, labels: Any, keys: Any, **fields: Any
    ) -> RowSample:
        return replace(self, rows=rows, weights=weights, labels=labels, keys=keys, **fields)

    def _find(self, weights: Array) -> tuple[Labels, Array, float]:
        """Return the rows that enter the sample, their keys, and the new threshold."""
        if len(self) == 0 and len(weights) > _MANY * self.size:
            # A threshold below which slightly too many keys are expected rules out most rows.
            with np.errstate(over="ignore", divide="ignore"):
                guess = float(_MARGIN * self.size / weights.sum())
            found = self._search(weights, min(guess, self.threshold))
            if found[2] < guess:  # there were enough
                return found
        return self._search(weights, self.threshold)

    def _search(self, weights: Array, threshold: float) -> tuple[Labels, Array, float]:
        """Return the result of :meth:`_find`, if the new threshold is at most ``threshold``."""
        from ._core.compiled_sample import find_small_keys

        salt = np.uint64(self.salt)
        indices, keys = np.empty(0, dtype=np.intp), np.empty(0)
        start, step = 0, _STEP
        while start < len(weights):
            rows = slice(start, min(start + step, len(weights)))
            n = rows.stop - start
            near, near_keys = np.empty(n, dtype=np.intp), np.empty(n)
            first = self.position + start
            count = find_small_keys(salt, first, weights[rows], threshold, near, near_keys)
            if count:
                indices = np.concatenate([indices, start + near[:count]])
                keys = np.concatenate([keys, near_keys[:count]])
                threshold = self._new_threshold(keys, threshold)
                entered = keys < threshold
                indices, keys = indices[entered], keys[entered]
            start, step = rows.stop, max(step, rows.stop)
        return indices, keys, threshold

    def _new_threshold(self, keys: Array, threshold: float) -> float:
        """Return the smallest key that does not fit into the sample, or the current threshold."""
        both = np.concatenate([self.keys, keys])
        if len(both) <= self.size:
            return threshold
        return min(threshold, float(np.partition(both, self.size)[self.size]))

    def _join(
        self, rows: Array, weights: Array, labels: Labels, keys: Array, threshold: float
    ) -> RowSample:
        """Return the sample with these rows, limited to keys below the threshold."""
        keys = np.concatenate([self.keys, keys])
        order = np.argsort(keys, kind="stable")
        order = order[keys[order] < threshold]
        return self._with_rows(
            select(self.rows, rows, order),
            np.concatenate([self.weights, weights])[order],
            np.concatenate([self.labels, labels])[order],
            keys[order],
            threshold=threshold,
        )

    def merge(self, other: RowSample | None, labels: Labels) -> RowSample | None:
        """Return a sample of both data sets, given new labels for the centers of ``other``."""
        # The two samples were hashed with different salts unless both start with the same row.
        if other is None:
            return None
        smaller = replace(
            self,
            size=min(self.size, other.size),
            removed=self.removed + other.removed,
            expected=self.expected + other.expected,
        )
        threshold = smaller._new_threshold(other.keys, min(self.threshold, other.threshold))
        return smaller._join(other.rows, other.weights, labels[other.labels], other.keys, threshold)

    def remove(self, X: Array, weights: Array, total: float) -> RowSample | None:
        """Return the sample without these rows, or None if it is no longer uniform."""
        # Rows are recognized by their values and weights. If the data contain copies of a row, it
        # is unknown which of them was sampled, and far more rows are found in the sample than
        # expected by chance; far fewer are found if the values were rounded differently. Both
        # numbers are summed over all removals, so that removing rows in small steps is equivalent.
        # ``total`` is the weight of the remaining rows, which the sample must represent.
        found = stack(self.rows[:0], X)  # sparse if the sampled rows are sparse
        wanted, own = Counter(row_contents(found, weights)), row_contents(self.rows, self.weights)
        copies = Counter(own)
        if any(copies[content] > 1 for content in wanted) and math.isfinite(self.threshold):
            return None
        kept = np.ones(len(self), dtype=bool)
        for i, content in enumerate(own):
            if wanted[content] > 0:
                wanted[content] -= 1
                kept[i] = False
        removed = self.removed + np.count_nonzero(~kept)
        expected = self.expected - float(np.expm1(-weights * self.threshold).sum())
        slack = _DEVIATIONS * (math.sqrt(expected) + 1) if math.isfinite(self.threshold) else 0.0
        if abs(removed - expected) > slack:
            return None
        left = replace(self._take(kept), removed=removed, expected=expected)
        return left if left._represents(total) else None

    def _represents(self, total: float) -> bool:
        """Return True if the estimated total weight differs from the actual one only by chance."""
        kept, light = self.probabilities, 1 / self.threshold  # a light row represents this weight
        variance = float((self.weights / kept) ** 2 @ (1 - kept))
        slack = _DEVIATIONS * (math.sqrt(variance) + light) + _ROUNDING * total
        return abs(float((self.weights / kept).sum()) - total) <= slack

    def relabel(self, labels: Labels) -> RowSample:
        """Return the sample with new labels; rows whose new label is -1 are dropped."""
        return replace(self, labels=labels[self.labels])._take(labels[self.labels] >= 0)

    def head(self, size: int) -> RowSample:
        """Return a sample of at most ``size`` rows."""
        if len(self) <= size:
            return self
        threshold = self.keys[size]
        stop = int(np.searchsorted(self.keys, threshold))  # less than ``size`` if keys are equal
        arrays = (array[:stop].copy() for array in self._arrays)
        return self._with_rows(*arrays, threshold=float(threshold), size=size)

    @property
    def complete(self) -> bool:
        """True if the sample contains every row."""
        return math.isinf(self.threshold)

    def scale(self, factor: float) -> RowSample:
        """Multiply all weights by a factor, which does not affect which rows are sampled."""
        # Rows whose weight becomes 0 are dropped.
        with np.errstate(all="ignore"):
            weights, keys = self.weights * factor, self.keys / factor
            threshold = float(np.float64(self.threshold) / factor)
        held = (weights > 0) & np.isfinite(keys)
        return replace(
            self._take(held), weights=weights[held], keys=keys[held], threshold=threshold
        )

    def _take(self, kept: NDArray[np.bool_]) -> RowSample:
        if kept.all():
            return self
        return self._with_rows(*(array[kept] for array in self._arrays))


def salt_of(X: Array, random_state: Any) -> int:
    """Return a seed for the hash that differs between data sets with different rows."""
    seed = check_random_state(random_state).randint(2**31 - 1)
    content = np.ascontiguousarray(densify(X), dtype=np.float64) + 0.0
    digest = hashlib.blake2b(content.tobytes(), digest_size=8, key=int(seed).to_bytes(8, "little"))
    return int.from_bytes(digest.digest(), "little")


def block_salt(rows: Array, random_state: Any) -> int:
    """Return a seed for the hash that differs between blocks with different first or last rows."""
    return salt_of(stack(rows[:_ENDS], rows[-_ENDS:]), random_state)


def row_contents(X: Any, weights: Array) -> list[bytes]:
    """Return the bytes of each row and its weight; -0.0 becomes 0.0."""
    if is_sparse(X):
        ends = zip(X.indptr[:-1], X.indptr[1:], weights, strict=True)
        values = X.data.astype(np.float64)
        return [
            X.indices[a:b].tobytes() + values[a:b].tobytes() + np.float64(w).tobytes()
            for a, b, w in ends
        ]
    return [row.tobytes() for row in np.column_stack([X, weights]).astype(np.float64) + 0.0]
