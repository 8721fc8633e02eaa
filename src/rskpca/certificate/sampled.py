"""Error limits for a fitted model, and errors of single rows, estimated from a row sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from .._core.gram import gram, transposed_product
from .._core.parallel import single_threaded_blas
from .._core.sparse import same_rows
from ..kernels import RadialKernel
from ..pairs import FEWEST, Estimate, FeaturePairs, PairValues, ProjectedPairs
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import Centered, EigenSystem, Moments, Plain, Shifted, ritz, solve
from ..spectral.eigensystem import STORED_CENTERS
from ..spectral.operators import FittedCentered
from .lanczos import Solution
from .perturbation import ImageSums, SampledSums, SampleOperator, Sums, measure

Array = NDArray[np.floating]

FURTHER_AXES = 15  # additional axes, beyond those of the model, used to express the exact axes
MOST_COMPONENTS = 100  # embeddings with more components are not analyzed
# Factor that allows for later steps of the Lanczos method, which are not taken.
_TRUNCATED = 1.03
_RESOLVED = 0.2  # largest accepted relative standard error of the mean distance from the span
_ROUNDING = 1e-10  # smaller relative squared distances are rounding errors
_CHANCE = 5.0  # standard errors; a larger difference between sample and data is not due to chance
_SOLVED = 1.001  # allowance for measured errors: only the eigensolver is inexact
_BLOCK = 4096  # rows whose errors are estimated at a time
_WORK = 2e10  # most multiplications to project rows onto a basis; a larger basis uses fewer rows
_HOPELESS = 0.9  # larger errors are reported as 1, because nothing is known about the coordinates
# An error above _TIE is due to a tie if another number of components is _BETTER times better.
_TIE, _BETTER = 0.05, 3.0


class RowErrors(NamedTuple):
    """Estimated errors of each row's coordinates and of its representation.

    Attributes
    ----------
    coordinates : ndarray of shape (n_samples,)
        Distance between the coordinates of the model and those of exact kernel PCA, after the
        best linear alignment of the two embeddings.
    residual : ndarray of shape (n_samples,)
        Squared distance in feature space between a row and its projection onto the components. It
        is large for rows that the embedding does not represent well.
    """

    coordinates: Array
    residual: Array


class Limits(NamedTuple):
    """Estimates and limits for each component.

    Attributes
    ----------
    embedding : Estimate
        Relative error of the coordinates.
    eigenvalues : ndarray of shape (n_components, 2)
        Intervals for the eigenvalues, divided by n.
    angles : ndarray of shape (n_components,)
        Limits in degrees for the leading eigenspaces; NaN for those that were not analyzed.
    better : int or None
        An alternative number of components, if the last component is nearly tied with the next
        one, so that the choice between them is arbitrary.
    """

    embedding: Estimate
    eigenvalues: Array
    angles: Array
    better: int | None


class AxisImages:
    """Images of a model's axes under the operator of the data, at sampled rows.

    Parameters
    ----------
    system : EigenSystem
        The axes of the model, and a few additional ones.
    X : array or sparse array of shape (n_samples, n_features)
        The rows that the model was fitted to.
    weights : ndarray of shape (n_samples,) or None
        The weights of the rows.
    """

    def __init__(self, system: EigenSystem, X: Any, weights: Array | None) -> None:
        self.system, self.X, self.weights = system, X, weights
        self._known: Array = np.empty((0, len(system.eigenvalues)))

    def at(self, rows: Any) -> Array:
        """Return the images at sampled rows, computing only those that are not known.

        Parameters
        ----------
        rows : array of shape (n_rows, n_features)
            The rows, starting with those of the previous call.

        Returns
        -------
        ndarray of shape (n_rows, n_axes)
            The images, up to a constant per axis if the operator is centered.
        """
        known = len(self._known)
        if rows.shape[0] > known:
            new = transposed_product(self.system.kernel, self.X, rows[known:], self._columns)
            self._known = np.concatenate([self._known, new])
        return self._known[: rows.shape[0]]

    @cached_property
    def _columns(self) -> Array:
        """The coordinates of all rows, multiplied by their shares of the total weight."""
        weights = self.weights
        total = self.X.shape[0] if weights is None else float(weights.sum())
        columns = self.system.extend(self.X).astype(np.float64, copy=False)
        columns *= np.sqrt(self.system.eigenvalues) / total
        if weights is not None:
            columns *= weights[:, None]
        return columns


@dataclass(frozen=True, eq=False)
class Analysis:
    """A comparison of a model with the data in its row sample.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    sample : RowSample
        The sampled rows.
    points : ndarray of shape (n_rows, n_features)
        The points that represent the sampled rows: their centers, or the rows themselves.
    system : EigenSystem
        The axes of the model, and a few additional ones.
    represent : callable or None
        Function that returns coordinates in the span of the basis, if the model has a basis.
    n_components : int
        Number of components of the model.
    total : float
        Sum of the weights of all rows, n.
    values : PairValues or None
        Kernel values of the sampled rows, if they are shared with other models.
    images : AxisImages or None
        Exact images of the axes, which make the estimate of the embedding error more accurate. The
        model must be the projection of the data operator onto the span of a basis.
    """

    kernel: RadialKernel
    sample: RowSample
    points: Array
    system: EigenSystem
    represent: Callable[[Array], Array] | None
    n_components: int
    total: float
    values: PairValues | None = field(default=None, kw_only=True)
    images: AxisImages | None = field(default=None, kw_only=True)
    _truncated = _TRUNCATED

    @classmethod
    def of(
        cls,
        kernel: RadialKernel,
        reduced_set: ReducedSet,
        system: EigenSystem,
        wider: EigenSystem | None = None,
        size: int | None = None,
        *,
        values: PairValues | None = None,
        span: Moments | None = None,
        images: AxisImages | None = None,
    ) -> Analysis | None:
        """Return the analysis of a model, or None if it has no row sample."""
        # ``wider`` contains more eigenpairs of the same operator. Without it, they are computed
        # again, which is impossible for an operator built from the data. With ``size``, only that
        # many of the sampled rows are used, which is faster but less accurate. Passing
        # ``values`` and ``span`` saves time if they are known.
        sample = reduced_set.sample
        if sample is None or len(sample) == 0:
            return None
        sample = sample if size is None else sample.head(size)
        n = reduced_set.n_samples
        own = not system.exact and same_rows(system.centers, reduced_set.centers)
        represent = None if own else (span or _span(kernel, system)).project
        if not own:
            sample = sample.head(
                int(np.clip(_WORK / system.centers.shape[0] ** 2, 300, len(sample)))
            )
        rows = sample.rows.astype(np.float64)
        points = rows if system.exact else reduced_set.centers[sample.labels].astype(np.float64)
        wide = _wider(kernel, reduced_set, system, own) if wider is None else wider
        shared = values if values is not None and values.sample is reduced_set.sample else None
        found = kernel, sample, points, wide, represent, len(system.eigenvalues), n
        return cls(*found, values=shared, images=images)

    @property
    def center(self) -> bool:
        """True if the operator is centered in feature space."""
        return is_centered(self.system)

    @cached_property
    def pairs(self) -> FeaturePairs | ProjectedPairs:
        """Inner products between the features of the rows and their representations."""
        if self.represent is not None and self.system.exact:
            xx = None if self.values is None else self.values.leading(len(self.sample))
            return ProjectedPairs.of(self.kernel, self.sample, self.represent, self.total, xx)
        points, index = self._distinct
        of = self.kernel, self.sample, self.represent
        return FeaturePairs.of(*of, points, self.total, index)

    @cached_property
    def _distinct(self) -> tuple[Array, NDArray[np.intp] | None]:
        """The distinct points that represent the rows, and the index of each row's point."""
        if self.system.exact:
            return self.points, None
        _, first, index = np.unique(self.sample.labels, return_index=True, return_inverse=True)
        return self.points[first], index

    @property
    def missing(self) -> str:
        """The reason why there are no estimates, or an empty string."""
        if len(self.sample) < FEWEST and not self.complete:
            return f"the row sample has {len(self.sample)} rows, fewer than {FEWEST}"
        return ""

    @property
    def complete(self) -> bool:
        """True if the sample contains all rows, so that there is no sampling error."""
        return self.sample.complete

    def mmd(self, confidence: float) -> Estimate:
        """Estimate the maximum mean discrepancy between data and model."""
        return self.pairs.mmd(confidence)

    def operator(self, confidence: float) -> Estimate:
        """Estimate the Hilbert-Schmidt norm of the difference between the operators."""
        return self.pairs.operator(confidence, center=self.center)

    @cached_property
    def _sums(self) -> SampledSums:
        return self._sum()

    @property
    def _mu(self) -> Array:
        """The eigenvalues of the model, on the scale of those of the data."""
        return self.system.eigenvalues / self.total

    @cached_property
    def _coordinates(self) -> Array:
        """The coordinates of the sampled rows on the axes of the model."""
        rows = self.sample.rows.astype(np.float64)
        return self.system.extend(rows) * np.sqrt(self.system.eigenvalues)

    def _sum(self, *, fast: bool = False) -> SampledSums:
        fx, root = self._coordinates, np.sqrt(self.system.eigenvalues)
        exact, mu = self.system.exact, self._mu
        points, index = self._distinct
        fq = fx if exact else (self.system.extend(points) * root)[index]
        flags: Any = {"center": self.center, "quantized": self.center and not exact}
        flags["fast"] = fast
        pairs = self.pairs
        with single_threaded_blas():
            largest = self._largest(fx, mu)
        return SampledSums(pairs, fx, fq, mu, largest, **flags)

    def _sum_images(self, images: AxisImages, *, fast: bool) -> ImageSums:
        """Return sums in which the images of the axes are means over all rows."""
        assert isinstance(self.pairs, ProjectedPairs)
        rows = self.sample.rows.astype(np.float64)
        fx, mu = self._coordinates, self._mu
        with single_threaded_blas():
            largest = self._largest(fx, mu)
        flags: Any = {"center": self.center, "fast": fast}
        return ImageSums(self.pairs, fx, images.at(rows), mu, largest, **flags)

    def _largest(self, fx: Array, mu: Array) -> float:
        """Return a bound on the eigenvalues of the data in directions orthogonal to the axes.

        It is the part of the trace that the axes do not account for.
        """
        s, xx = self.pairs.shares, self.pairs.xx
        about = fx - s @ fx if self.center else fx
        trace = float(s @ np.diag(xx) - s @ (about**2).sum(axis=1))
        trace -= float(s @ xx @ s) if self.center else 0.0
        return max(trace, float(mu[-1]))

    @cached_property
    def _solved(self) -> tuple[Solution, Solution | None]:
        return self._solve(detailed=True)

    @cached_property
    def _unsampled(self) -> float:
        """The relative error caused by rows outside the span that are missing from the sample.

        The mean squared distance of all rows from the span is known from the traces. If it exceeds
        that of the sampled rows by more than can be explained by chance, a few rows far from the
        span were not sampled. They matter if they can have a component of their own. If the last
        component is as small as that of a single row, even a sample with such rows does not
        represent them.
        """
        if self._distances is None:
            return 0.0
        excess, seen, noise = self._distances
        values = self.system.eigenvalues[: self.n_components] / self.total
        single = float((np.diag(self.pairs.xx) * self.sample.weights).max()) / self.total
        if values[-1] > single:
            excess -= seen + _CHANCE * noise
        if excess < values[-1] / 2:
            return 0.0
        return math.sqrt(excess / (excess + float(values.sum())))

    @cached_property
    def _distances(self) -> tuple[float, float, float] | None:
        """Mean squared distances from the span (all rows, sampled rows), and a standard error."""
        if self.complete or not isinstance(self.pairs, ProjectedPairs):
            return None
        left, s = self.pairs.residuals, self.pairs.shares
        seen = float(s @ left)
        noise = math.sqrt(float(s**2 @ (left - seen) ** 2))
        return self.system.residual / self.total, seen, noise

    @property
    def _scarcity(self) -> float:
        """The factor that raises limits if the sample has few of the rows that cause the error."""
        # If a few rows far from the span cause the error, a sample often contains too few of them.
        # The mean distance of the sampled rows is then too small or inaccurate.
        if self._distances is None:
            return 1.0
        all_rows, seen, noise = self._distances
        if max(all_rows, seen) <= _ROUNDING * self._kappa:
            return 1.0
        seen = max(seen, _ROUNDING * self._kappa)
        return max(all_rows / seen, 1.0) * (1 + 3 * max(noise / seen - _RESOLVED, 0.0))

    @property
    def _kappa(self) -> float:
        return float(np.diag(self.pairs.xx).max())

    def _solve(
        self, *, fast: bool = False, detailed: bool = False
    ) -> tuple[Solution, Solution | None]:
        if self.complete:
            operator = SampleOperator.of(self.pairs.xx, self.pairs.shares, self.center)
            fx = self._coordinates
            with single_threaded_blas():
                return measure(operator, fx, self.n_components, detailed=detailed), None
        sums: Sums
        if self.images is not None:
            sums = self._sum_images(self.images, fast=fast)
        else:
            sums = self._sum(fast=True) if fast else self._sums
        with single_threaded_blas():
            return sums.solve(self.n_components, detailed=detailed)

    def limits(self, confidence: float) -> Limits | None:
        """Return limits for the eigenpairs; None for too few rows or too many components."""
        if self.missing or self.n_components > MOST_COMPONENTS:
            return None
        r = self.n_components
        used, allowance = _confidence_used(confidence), self._allowance
        solved = self._solved
        errors = self._error_limits(solved, used)
        sines = allowance * np.sqrt(self._limit(*_pick("sines", solved), used))
        angles = np.full(r, math.nan)
        angles[: len(sines)] = np.degrees(np.arcsin(np.minimum(sines, 1)))
        values, k = solved[0].eigenvalues[:r], solved[0].sizes.index(r)
        width = self._limit(*_pick("eigenvalues", solved), used)[:r] - values
        width += (allowance - 1) * np.abs(values - self._mu[:r])
        return Limits(
            self._embedding(solved, errors, k),
            np.stack([values - width, values + width], axis=1),
            angles,
            _better(solved[0].sizes, errors, k),
        )

    def embedding_limit(self, confidence: float, *, fast: bool = False) -> Estimate:
        """Return only the error of the coordinates, which is faster; 1 if it is unknown."""
        # If ``fast`` is True, fewer groups of rows are left out in turn, and the effect is computed
        # to first order, which makes limits a few percent wider on average.
        if self.missing or self.n_components > MOST_COMPONENTS:
            return Estimate(1.0, 1.0)
        solved = self._solve(fast=fast)
        errors = self._error_limits(solved, _confidence_used(confidence))
        return self._embedding(solved, errors, solved[0].sizes.index(self.n_components))

    def _error_limits(self, solved: tuple[Solution, Solution | None], confidence: float) -> Array:
        """Return limits for the error of the coordinates, for each number of components."""
        found, without = _pick("squares", solved)
        errors = np.sqrt(self._limit(np.maximum(found, 0.0), without, confidence))
        return np.hypot(self._allowance * self._scarcity * errors, self._unsampled)

    def _embedding(
        self, solved: tuple[Solution, Solution | None], errors: Array, k: int
    ) -> Estimate:
        """Return the estimate and the limit for the k-th number of components.

        If the estimated square is less than its standard error, it is replaced by the latter,
        because a smaller error cannot be distinguished from zero.
        """
        squares, without = _pick("squares", solved)
        least = 0.0 if without is None else self._standard_errors(without)[k]
        estimate = min(math.hypot(math.sqrt(max(squares[k], least)), self._unsampled), 1.0)
        unknown = errors[k] > _HOPELESS and not self.complete
        return Estimate(estimate, 1.0 if unknown else min(float(errors[k]), 1.0))

    @property
    def _allowance(self) -> float:
        return _SOLVED if self.complete else self._truncated

    def _limit(self, values: Array, without: Array | None, confidence: float) -> Array:
        """Return upper limits.

        Sampling noise inflates the estimated squares. It is not subtracted, which compensates for
        standard errors that are too small where noise dominates.
        """
        if without is None:
            return values
        quantile = float(stdtrit(len(without) - 1, confidence))
        return values + quantile * self._standard_errors(without)

    def _standard_errors(self, without: Array) -> Array:
        """Return standard errors from the jackknife over groups of rows."""
        n = len(without)
        squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        return np.sqrt(squares * (n - 1) / n * self.pairs.unseen)

    def coordinate_errors(self, X: Array) -> Array:
        """Estimate the coordinate error of each row of X."""
        blocks = [self._errors_of_block(X[i : i + _BLOCK]) for i in range(0, X.shape[0], _BLOCK)]
        return np.concatenate(blocks)

    def release(self) -> None:
        """Free the large matrices, after the limits have been computed from them."""
        if "_solved" in self.__dict__:
            self._sums.expand(self.n_components)  # the errors of rows need it later
            self._sums.xx = np.empty((0, 0))
        self.__dict__.pop("pairs", None)

    def _errors_of_block(self, X: Array) -> Array:
        X = X.astype(np.float64)
        coordinates = self.system.extend(X) * np.sqrt(self.system.eigenvalues)
        xx = gram(self.kernel, X, self.sample.rows.astype(np.float64))
        points, index = self._distinct
        if self.represent is None:
            xq = gram(self.kernel, X, points)
        else:
            xq = self.represent(X) @ self.represent(points).T
        xq = xq if index is None else xq[:, index]
        return self._sums.deviations(coordinates, xx, xq, self.n_components)


def is_centered(system: EigenSystem) -> bool:
    """Return True for centered kernel PCA; raise an error if the operator cannot be certified."""
    if not isinstance(system.operator, Plain | FittedCentered | Shifted):
        name = type(system.operator).__name__
        raise TypeError(
            f"Only plain or centered kernel PCA can be certified, got the operator {name}."
        )
    return not isinstance(system.operator, Plain)


def _span(kernel: RadialKernel, system: EigenSystem) -> Moments:
    """Return moments, initialized to zero, in the span of a system's centers."""
    return Moments.of(kernel, system.centers.astype(np.float64), system.subspace)


def _wider(
    kernel: RadialKernel, reduced_set: ReducedSet, system: EigenSystem, own: bool
) -> EigenSystem:
    """Return the eigensystem with more eigenpairs, if they can be computed."""
    r, m = len(system.eigenvalues), reduced_set.n_centers
    if system.exact or m > STORED_CENTERS or r > MOST_COMPONENTS:
        return system
    center = is_centered(system)
    if own:
        operator: Any = Centered() if center else Plain()
        return solve(operator, kernel, reduced_set, min(r + FURTHER_AXES, m))
    moments = _span(kernel, system).add(reduced_set.centers, reduced_set.weights)
    return ritz(moments, min(r + FURTHER_AXES, moments.basis.shape[0]), center=center)


def _confidence_used(confidence: float) -> float:
    """Return a confidence with half the risk, because the distribution of squares is skewed."""
    return (1 + confidence) / 2


def _pick(name: str, solved: tuple[Solution, Solution | None]) -> tuple[Array, Array | None]:
    """Return the estimates of one kind, from all rows and with each group left out."""
    found, without = solved
    return getattr(found, name), None if without is None else getattr(without, name)


def _better(sizes: list[int], errors: Array, k: int) -> int | None:
    """Return the best alternative number of components if the last and the next are nearly tied."""
    best = int(np.argmin(errors))
    tied = errors[k] > _TIE and errors[k] > _BETTER * errors[best]
    return sizes[best] if tied else None
