"""Density estimates of the data and of the reduced set, as in Figure 1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from .. import _validation as check
from .._core import gram
from .._style import BAND, INK, MARK, PALE, style_axes
from ..kernels import RadialKernel, as_kernel
from ..model import FittedEstimator, unwrap
from ._display import Array, Display, resolve_axes, resolve_choice, sample_rows
from .embedding import diameters

_MARGIN = 0.8  # width of the margin around the data, in bandwidths
_MAX_MARGIN = 0.25  # fraction of the data range, because kernels can be much wider than the data
_TALLEST = 0.35  # height of the heaviest center relative to the largest density


class Estimates(NamedTuple):
    """Two densities on one grid.

    ``grid`` has one array of points per feature, and ``data`` and ``reduced`` have the same shape
    as the grid.
    """

    grid: tuple[Array, ...]
    data: Array
    reduced: Array

    @property
    def distance(self) -> float:
        """Return the total variation distance on the grid: 0 if equal, at most about 1."""
        cell = float(np.prod([axis[1] - axis[0] for axis in self.grid]))
        total = 0.5 * float(self.data.sum() + self.reduced.sum()) * cell
        return 0.5 * float(np.abs(self.data - self.reduced).sum()) * cell / total


def estimates(
    kernel: RadialKernel, rows: Array, centers: Array, weights: Array | None, n_points: int
) -> Estimates:
    """Evaluate both densities on a grid around the rows, with ``n_points`` per feature."""
    wide, span = _MARGIN * kernel.scale, np.ptp(rows, axis=0)
    margin = np.where(span > 0, np.minimum(wide, _MAX_MARGIN * span), wide)
    low, high = rows.min(axis=0) - margin, rows.max(axis=0) + margin
    grid = tuple(np.linspace(*ends, n_points) for ends in zip(low, high, strict=True))
    points = np.stack([axis.ravel() for axis in np.meshgrid(*grid, indexing="ij")], axis=1)
    shape = tuple(map(len, grid))
    data = _density(kernel, points, rows, None).reshape(shape)
    reduced = _density(kernel, points, centers, weights).reshape(shape)
    return Estimates(grid, data, reduced)


def _density(kernel: RadialKernel, points: Array, centers: Array, weights: Array | None) -> Array:
    """Return (1/n) sum_j w_j k(c_j, x), divided by the integral of the kernel if it is known."""
    centers = centers.astype(np.float64)
    weights = np.ones(len(centers)) if weights is None else weights
    shares = (weights / weights.sum())[:, None]
    values = gram.product(kernel, points, centers, lambda block: block @ shares, 1)[:, 0]
    if kernel.log_integral is None:
        return values
    d = centers.shape[1]
    return values / np.exp(kernel.log_integral(d) + d * np.log(kernel.scale))


class DensityDisplay(Display):
    """Density estimates of the rows and of the reduced set.

    They are drawn on the same axes for one feature, and side by side for two features.

    Parameters
    ----------
    estimates : Estimates
        Both densities on a grid over one or two features.
    rows : ndarray of shape (n_rows, 1 or 2)
        Rows of the data.
    centers : ndarray of shape (n_centers, 1 or 2)
        Centers of the reduced set.
    weights : ndarray of shape (n_centers,), default=None
        Weights of the centers.
    names : sequence of str, default=("x", "y")
        Feature names.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One for one feature, two for two features.
    ax_, figure_ : matplotlib axes and figure
        The first axes and the figure.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ShadowDensity
    >>> from rskpca.plotting import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> display = DensityDisplay.from_estimator(ShadowDensity(ell=4.0).fit(X), X)
    >>> display.estimates.distance < 0.05
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
        """Draw the density estimates of the data and of a fitted model's reduced set.

        Parameters
        ----------
        model : density or embedding
            A fitted model, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The rows, from which a sample is drawn.
        features : sequence of one or two int, default=None
            Features to draw, numbered from 0. If None, all features are drawn; there must be
            at most two. With more features, the estimate applies the same kernel to the selected
            features only; for the Gaussian, this is the marginal density.
        n_rows : int, default=2000
            Maximum number of rows to use.
        n_points : int, default=60
            Number of grid points per feature.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib axes, or array of two, default=None
            The axes to draw on: one for a single feature, and two for two features. If None, a new
            figure is created.

        Returns
        -------
        DensityDisplay
            The display.
        """
        fitted = unwrap(model)
        as_kernel(fitted.kernel)  # raises unless it is radial
        check.positive_integer("n_points", n_points)
        count = fitted.n_features
        if features is None and count > 2:
            raise ValueError(
                f"features must be given for data with {count} features; pass one or two, such as "
                "features=(0, 1)."
            )
        wanted = range(count) if features is None else features
        chosen = resolve_choice("features", wanted, count, (1, 2))
        rows = fitted.prepare(sample_rows(X, n_rows, random_state)[0])
        return cls.of_features(fitted, rows, chosen, n_points, fitted.names_of_features()).plot(ax)

    @classmethod
    def of_features(
        cls,
        fitted: FittedEstimator,
        rows: Array,
        features: Sequence[int],
        n_points: int,
        names: Sequence[str],
    ) -> Self:
        """Return a display of one or two features of preprocessed rows without drawing it."""
        columns = list(features)
        some, centers = rows[:, columns], fitted.reduced_set.centers[:, columns]
        found = estimates(fitted.kernel, some, centers, fitted.weights, n_points)
        return cls(found, some, centers, fitted.weights, names=[names[j] for j in columns])

    def _draw(self, ax: Any) -> list[Any]:
        if self.rows.shape[1] == 1:
            axes = resolve_axes(ax, 1, (6.4, 4.0))
            self._draw_line(*axes)
        else:
            axes = resolve_axes(ax, 2, (4.8, 4.2))
            self._draw_plane(*axes)
        return axes

    def _draw_line(self, ax: Any) -> None:
        (x,), data, reduced = self.estimates
        ax.plot(self.rows[:, 0], np.zeros(len(self.rows)), "|", color=PALE, label="rows")
        weights = np.ones(len(self.centers)) if self.weights is None else self.weights
        heights = _TALLEST * data.max() * weights / weights.max()
        ax.vlines(self.centers[:, 0], 0, heights, color=MARK, label="centers, height by weight")
        ax.plot(x, data, color=BAND, linewidth=5, label="density of the rows")
        ax.plot(x, reduced, color=INK, linewidth=1.6, label="density of the reduced set")
        style_axes(ax, self.names[0], "density")
        ax.set_ylim(top=1.3 * max(data.max(), reduced.max()))
        ax.legend(frameon=False, ncols=2, loc="upper center")

    def _draw_plane(self, left: Any, right: Any) -> None:
        both = np.stack(self.estimates[1:])
        levels = np.linspace(both.min(), both.max(), 12)[1:-1]
        titles = f"{len(self.rows):,} rows", f"{len(self.centers):,} centers, area by weight"
        (x, y), *densities = self.estimates
        for ax, values, title in zip((left, right), densities, titles, strict=True):
            ax.contour(x, y, values.T, levels, colors=INK, linewidths=0.9)
            style_axes(ax, self.names[0], self.names[1], title)
            ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
        left.scatter(*self.rows.T, s=4, color=BAND, linewidths=0, zorder=1)
        sizes = diameters(self.weights, len(self.centers)) ** 2
        right.scatter(*self.centers.T, s=sizes, facecolors="none", edgecolors=MARK, linewidths=0.8)
