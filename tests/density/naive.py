"""Readable reference stream that adds one row at a time to a dictionary of centers."""

import numpy as np
from rskpca.spectrum import Spectrum


class NaiveStream:
    """Stream that assigns each row to the first existing center within the radius.

    ``window`` limits the number of rows, and the oldest rows expire. ``patience`` is the number of
    consecutive rows without an assignment after which a center expires.
    """

    def __init__(self, radius, *, window=None, half_life=None, patience=None):
        self.radius, self.window = radius, window
        self.half_life, self.patience = half_life, patience
        self.centers = {}  # index of the row that opened the center -> center
        self.rows = {}  # index -> (row, weight, index of its center)
        self.n_rows = 0

    def add(self, X, weights=None):
        weights = np.ones(len(X)) if weights is None else weights
        for x, weight in zip(X, weights, strict=True):
            if weight > 0:
                self._add_row(x, float(weight))
        return self

    def _add_row(self, x, weight):
        number = self.n_rows
        within = (c for c, center in self.centers.items() if self.squared(x, center) < self.limit)
        home = next(within, number)
        self.centers.setdefault(home, x)
        self.rows[number] = x, weight, home
        self.n_rows += 1
        if self.window is not None:
            self.rows.pop(number - self.window, None)
        if self.patience is not None:
            kept = {
                home for n, (_, _, home) in self.rows.items() if n >= number + 1 - self.patience
            }
            self.rows = {n: row for n, row in self.rows.items() if row[2] in kept}
        self._drop()

    def forget(self, X, weights=None):
        weights = np.ones(len(X)) if weights is None else weights
        for x, weight in zip(X, weights, strict=True):
            del self.rows[next(n for n, row in self.rows.items()
                               if np.array_equal(row[0], x) and row[1] == weight)]  # fmt: skip
        self._drop()
        return self

    def _drop(self):
        homes = {home for _, _, home in self.rows.values()}
        self.centers = {home: center for home, center in self.centers.items() if home in homes}

    @property
    def limit(self):
        return self.radius * self.radius

    @staticmethod
    def squared(x, center):
        return float(np.sum((x.astype(float) - center.astype(float)) ** 2))

    def counts(self):
        """Return the current weight of each row."""
        if self.half_life is None:
            return {n: row[1] for n, row in self.rows.items()}
        last = self.n_rows - 1
        return {n: row[1] * 2 ** ((n - last) / self.half_life) for n, row in self.rows.items()}

    def sums(self):
        """Return the weight, displacement and scatter of each center."""
        sums = {home: np.zeros(3) for home in self.centers}
        counts = self.counts()
        for n, (x, _, home) in self.rows.items():
            squared = self.squared(x, self.centers[home])
            sums[home] += counts[n] * np.array([1.0, np.sqrt(squared), squared])
        return np.array(list(sums.values())).T

    def data(self):
        """Return the rows in the stream and their current weights."""
        return np.array([row[0] for row in self.rows.values()]), np.array([*self.counts().values()])


def assert_same(reduced_set, naive, rtol=1e-12):
    """Compare centers and integer weights bitwise, and sums up to rounding error."""
    weights, displacement, scatter = naive.sums()
    np.testing.assert_array_equal(reduced_set.centers, np.array([*naive.centers.values()]))
    np.testing.assert_allclose(reduced_set.weights, weights, rtol=rtol)
    if (weights == np.round(weights)).all():
        np.testing.assert_array_equal(reduced_set.weights, weights)
    if reduced_set.radius is not None:  # otherwise, no bounds are available
        np.testing.assert_allclose(reduced_set.displacement, displacement, rtol=rtol, atol=1e-14)
        np.testing.assert_allclose(reduced_set.scatter, scatter, rtol=rtol, atol=1e-14)
    assert np.isclose(reduced_set.n_samples, weights.sum(), rtol=rtol)


def spectrum_of(naive, spectrum):
    """Return the Fourier sums of the current rows at the same frequencies."""
    nothing = Spectrum(spectrum.turns, spectrum.origin, 0 * spectrum.sums, spectrum.kernel)
    return nothing.add(*naive.data())
