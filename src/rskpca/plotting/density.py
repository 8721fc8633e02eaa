"""The density estimate of the data beside that of the reduced set: Figure 1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from .. import _validation as check
from .._core import gram
from .._style import BAND, INK, MARK, PALE, style_axes
from ..kernels import RadialKernel
from ._display import Display, taken
from .embedding import diameters
from .models import Array, feature_names, kernel_of, numbers, points_of, some_rows, split

_MARGIN = 0.8  # bandwidths beyond the data,
_MOST_MARGIN = 0.25  # at most this share of their range: kernels may be far wider than a feature
_TALLEST = 0.35  # of the axes, for the weights along a line


class Estimates(NamedTuple):
    """Two densities on one grid.

    ``grid`` has an axis of points for each feature; ``data`` and ``reduced`` have its shape.
    """

    grid: tuple[Array, ...]
    data: Array
    reduced: Array

    @property
    def apart(self) -> float:
        """Half the integral of the difference over the grid: 0 for equal ones, at most about 1."""
        cell = float(np.prod([axis[1] - axis[0] for axis in self.grid]))
        total = 0.5 * float(self.data.sum() + self.reduced.sum()) * cell
        return 0.5 * float(np.abs(self.data - self.reduced).sum()) * cell / total


def estimates(
    kernel: RadialKernel, rows: Array, centers: Array, weights: Array | None, n_points: int
) -> Estimates:
    """Both estimates, on a grid about the rows.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    rows : ndarray of shape (n_rows, 1 or 2)
        Of the data.
    centers : ndarray of shape (n_centers, 1 or 2)
        In the same features.
    weights : ndarray of shape (n_centers,) or None
        None counts them alike.
    n_points : int
        Points of the grid, along each feature.

    Returns
    -------
    Estimates
        That integrate to one where the kernel knows its integral.
    """
    wide, span = _MARGIN * kernel.scale, np.ptp(rows, axis=0)
    margin = np.where(span > 0, np.minimum(wide, _MOST_MARGIN * span), wide)
    low, high = rows.min(axis=0) - margin, rows.max(axis=0) + margin
    grid = tuple(np.linspace(*ends, n_points) for ends in zip(low, high, strict=True))
    places = np.stack([axis.ravel() for axis in np.meshgrid(*grid, indexing="ij")], axis=1)
    shape = tuple(map(len, grid))
    shares = np.ones(len(centers)) if weights is None else weights
    data = _density(kernel, places, rows, np.ones(len(rows)))
    return Estimates(
        grid, data.reshape(shape), _density(kernel, places, centers, shares).reshape(shape)
    )


def _density(kernel: RadialKernel, places: Array, points: Array, weights: Array) -> Array:
    """(1/n) sum_j w_j k(c_j, x), over the integral of the kernel where that is known."""
    points = points.astype(np.float64)
    shares = (weights / weights.sum())[:, None]
    values = gram.product(kernel, places, points, lambda block: block @ shares, 1)[:, 0]
    if kernel.log_integral is None:
        return values
    d = points.shape[1]
    return values / np.exp(kernel.log_integral(d) + d * np.log(kernel.scale))


class DensityDisplay(Display):
    """Data with their kernel density estimate, beside centers with that of the reduced set.

    Parameters
    ----------
    estimates : Estimates
        On a grid of one or two features.
    rows : ndarray of shape (n_rows, 1 or 2)
        Of the data.
    centers : ndarray of shape (n_centers, 1 or 2)
        Of the reduced set.
    weights : ndarray of shape (n_centers,), default=None
        Of the centers.
    names : sequence of str, default=("x", "y")
        Of the features.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One for one feature; two for two.
    ax_, figure_ : matplotlib axes and figure
        The first of them, and where all are.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ShadowDensity
    >>> from rskpca.plotting import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> display = DensityDisplay.from_estimator(ShadowDensity(ell=4.0).fit(X), X)
    >>> display.estimates.apart < 0.05
    True
    """

    def __init__(
        self,
        estimates: Estimates,
        rows: Array,
        centers: Array,
        weights: Array | None = None,
        *,
        names: Sequence[str] = ("x", "y"),
    ) -> None:
        self.estimates = estimates
        self.rows = rows
        self.centers = centers
        self.weights = weights
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        features: Sequence[int] | None = None,
        n_rows: int = 2000,
        n_points: int = 60,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Compare the two estimates of a fitted density, or of a fitted embedding.

        Parameters
        ----------
        model : density or embedding
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Rows; the estimate of the data is that of a sample of them.
        features : sequence of one or two int, default=None
            Counted from 0. None is all, of at most two. Of more features it is the estimate
            with the same kernel on these alone: for the Gaussian, the marginal density.
        n_rows : int, default=2000
            Rows at most.
        n_points : int, default=60
            Points of the grid, along each feature.
        random_state : int, RandomState or None, default=0
            Seed of the sample.
        ax : matplotlib axes, or array of two, default=None
            Where to draw: one for one feature, two for two. None makes a figure.

        Returns
        -------
        DensityDisplay
            Drawn.
        """
        before, embedding = split(model)
        check.positive_integer("n_points", n_points)
        names = feature_names(embedding)
        chosen = _checked(features, len(names))
        rows = numbers(before, some_rows(X, n_rows, random_state)[0])
        display = cls.of_features(embedding, rows, chosen, n_points, names)
        return display.plot(ax)

    @classmethod
    def of_features(
        cls,
        embedding: Any,
        rows: Array,
        features: Sequence[int],
        n_points: int,
        names: Sequence[str],
    ) -> Self:
        """The two estimates in some features, not drawn yet.

        Parameters
        ----------
        embedding : density or embedding
            Fitted.
        rows : ndarray of shape (n_rows, n_features)
            Rows as it sees them.
        features : sequence of one or two int
            Which.
        n_points : int
            Points of the grid, along each.
        names : sequence of str
            Of all features.

        Returns
        -------
        DensityDisplay
            With its estimates.
        """
        points, columns = points_of(embedding), list(features)
        some, centers = rows[:, columns], points.centers[:, columns]
        found = estimates(kernel_of(embedding), some, centers, points.weights, n_points)
        return cls(found, some, centers, points.weights, names=[names[j] for j in columns])

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, or array of two, default=None
            Where to draw: one for one feature, two for two. None makes a figure.

        Returns
        -------
        DensityDisplay
            Itself.
        """
        if self.rows.shape[1] == 1:
            drawn = taken(ax, 1, (6.4, 4.0))
            self._draw_line(drawn[0])
        else:
            drawn = taken(ax, 2, (4.8, 4.2))
            self._draw_plane(*drawn)
        self._drawn_on(drawn)
        return self

    def _draw_line(self, ax: Any) -> None:
        (x,), data, reduced = self.estimates
        ax.plot(self.rows[:, 0], np.zeros(len(self.rows)), "|", color=PALE, label="rows")
        weights = np.ones(len(self.centers)) if self.weights is None else self.weights
        heights = _TALLEST * data.max() * weights / weights.max()
        ax.vlines(self.centers[:, 0], 0, heights, color=MARK, label="centers, height by weight")
        ax.plot(x, data, color=BAND, linewidth=5, label="of the rows")
        ax.plot(x, reduced, color=INK, linewidth=1.6, label="of the reduced set")
        style_axes(ax, self.names[0], "density")
        ax.set_ylim(top=1.3 * max(data.max(), reduced.max()))
        ax.legend(frameon=False, ncols=2, loc="upper center")

    def _draw_plane(self, left: Any, right: Any) -> None:
        seen = np.stack(self.estimates[1:])
        levels = np.linspace(seen.min(), seen.max(), 12)[1:-1]
        for ax, values, title in (
            (left, self.estimates.data, f"{len(self.rows):,} rows"),
            (right, self.estimates.reduced, f"{len(self.centers):,} centers, area by weight"),
        ):
            ax.contour(*self.estimates.grid, values.T, levels, colors=INK, linewidths=0.9)
            style_axes(ax, self.names[0], self.names[1], title)
        left.scatter(*self.rows.T, s=4, color=BAND, linewidths=0, zorder=1)
        sizes = diameters(self.weights, len(self.centers)) ** 2
        right.scatter(*self.centers.T, s=sizes, facecolors="none", edgecolors=MARK, linewidths=0.8)
        for ends, axis in zip(self.estimates.grid, ("xlim", "ylim"), strict=True):
            left.set(**{axis: (ends[0], ends[-1])})
            right.set(**{axis: (ends[0], ends[-1])})


def _checked(features: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if features is None and count > 2:
        raise ValueError(
            f"there are {count} features; say which one or two to look at: features=(0, 1)."
        )
    chosen = tuple(range(count)) if features is None else tuple(features)
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen):
        raise ValueError(f"features must be one or two different numbers, got {features!r}.")
    if not all(0 <= j < count for j in chosen):
        raise ValueError(f"features={features!r}, but there are {count}, counted from 0.")
    return chosen
