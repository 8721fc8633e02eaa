"""Section 4: the shadow density estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.cover import Cover
from .._core.progress import ProgressLine
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet
from ..spectrum import Spectrum
from ._base import Array, BaseDensity
from ._bounded import BoundedStream
from ._rows import counted_rows, extended, located, with_rows, without_rows
from .tolerance import Goal

_SEEN = 1e-9  # of a smaller share of the weight sums at random frequencies keep no digits


class ShadowDensity(BaseDensity):
    """The shadow density estimate: one pass, and each point within sigma / ell of its center.

    Algorithm 2 of the paper, exactly: each row joins the first center that is closer than
    epsilon = sigma / ell, else it becomes a center. Weights count the rows of a center.

    Parameters
    ----------
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian with the median bandwidth, or the kernel of the estimator that
        this density is given to.
    ell : float or "auto", default=4.0
        The larger, the more centers and the smaller the error. ``np.inf`` keeps every row.
        ``"auto"`` refines until the error estimated from the data is below ``tol``.
    tol : float, default=None
        The largest error wanted, in place of a number for ``ell``: what the theorem promises,
        or with ``ell="auto"`` the 95% limit of what is estimated, which needs far fewer
        centers. On a stream the first chunk fixes the radius.
    error : {"operator", "mmd"}, default="operator"
        What ``tol`` bounds: the Hilbert-Schmidt norm of K_n - K-bar_n (Theorem 5.3), or the
        maximum mean discrepancy (Theorem 5.1). What the theorem promises holds of the operators
        about the mean too; what ``"auto"`` estimates is the error of the plain ones.
    n_frequencies : int, default=160
        Random frequencies of the kernel that the data are summed at, for the estimate of the
        error; taken in steps of 160. 0 keeps no sums and takes about half the time.
    random_state : int, RandomState or None, default=0
        Seed of the sample that the median bandwidth is taken from, and of the frequencies.
    max_centers : int, default=None
        Bounds the memory of a stream. The row that would open one center more makes the radius
        grow, by as little as leaves at most half of the limit, and the centers
        are covered anew. Whatever the chunks, the result is the same. The radius of
        ``reduced_set_`` stays a bound, and rows can no longer be forgotten then.
    warm_start : bool, default=False
        True lets ``fit`` start from the last one: a median bandwidth stays, and rows join the
        centers of that fit before they open others. Those that no row joins go; weights and
        certificate are of the new rows alone. So models of similar data stay comparable.
    verbose : int, default=0
        1 shows a progress line on fits of over a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights, radius, n_samples.
    labels_ : ndarray of shape (n_samples,)
        The center of each row of the last ``fit`` or ``partial_fit``; -1 for rows of weight 0.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth; on a stream the first chunk fixes it.
    ell_ : float
        The ell that was asked for, as a number. Where ``max_centers`` has made the radius grow
        it is ``kernel_.scale / reduced_set_.radius`` that counts.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Gaussian, ShadowDensity
    >>> X = np.array([[0.0], [0.1], [5.0], [0.2], [5.1]])
    >>> density = ShadowDensity(Gaussian(1.0), ell=4.0).fit(X)
    >>> density.reduced_set_
    ReducedSet(2 centers for 5 points, 1 features, radius 0.25)
    >>> density.reduced_set_.weights
    array([3., 2.])
    >>> density.labels_
    array([0, 0, 1, 0, 1])
    """

    _cover_: Cover | None
    _merged_: bool = False

    def __init__(
        self,
        kernel: RadialKernel | str | None = None,
        ell: float | str = 4.0,
        *,
        tol: float | None = None,
        error: str = "operator",
        n_frequencies: int = 160,
        random_state: Any = 0,
        max_centers: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.ell = ell
        self.tol = tol
        self.error = error
        self.n_frequencies = n_frequencies
        self.random_state = random_state
        self.max_centers = max_centers
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select the centers of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows. Their order matters, as in the paper.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts. Rows of weight 0 are left out.

        Returns
        -------
        ShadowDensity
            Itself.
        """
        return self._start(X, sample_weight, at_least=2)

    def _start(self, X: Any, sample_weight: Any, at_least: int) -> Self:
        checked = check.new_rows(self, X, at_least)
        weights = check.sample_weights(sample_weight, len(checked))
        kernel, goal, spectrum = self._fixed(checked, None if sample_weight is None else weights)
        rows, counts = counted_rows(checked, weights)
        spectrum = None if spectrum is None else spectrum.add(rows, counts)
        radius = goal.radius(kernel, rows, counts, spectrum)
        self._absorb(checked, weights, None, self._first_cover(radius, checked), spectrum)
        self._cover_ = None  # a stream builds it again; a batch does not need it
        self.kernel_, self.ell_ = kernel, kernel.scale / radius if radius else np.inf
        self.__dict__.pop("_merged_", None)
        self._remember_features(X)
        return self

    def _fixed(
        self, X: Array, sample_weight: Array | None
    ) -> tuple[RadialKernel, Goal, Spectrum | None]:
        """What the first rows fix for all that follow; the spectrum is of no data yet."""
        goal = Goal.checked(self.ell, self.tol, self.error)
        check.whole_number("n_frequencies", self.n_frequencies)
        self._check_limit()
        self._check_warm(X)
        before = self.kernel_ if self._is_warm else None
        kernel = as_kernel(self.kernel).resolve(X, sample_weight, self.random_state, before)
        first = X[0] if sample_weight is None else X[np.argmax(sample_weight > 0)]
        return kernel, goal, Spectrum.of(kernel, first, self.n_frequencies, self.random_state)

    @property
    def _is_warm(self) -> bool:
        return self.warm_start and hasattr(self, "reduced_set_")

    def _warm_up(self, fitted: BaseDensity) -> None:
        """Take over from a fitted density what ``warm_start`` starts from."""
        self.kernel_, self.reduced_set_ = fitted.kernel_, fitted.reduced_set_

    def _first_cover(self, radius: float, X: Array) -> Cover:
        """Of no rows; with the centers of the last fit, those far enough apart, if it is warm."""
        cover = Cover(radius, X[:0])
        if self._is_warm and radius > 0:
            cover.extend(self.reduced_set_.centers.astype(X.dtype))
        return cover

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. Any chunking of the same rows gives the same reduced set as one ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        ShadowDensity
            Itself.
        """
        if not hasattr(self, "reduced_set_"):
            return self._start(X, sample_weight, at_least=1)
        checked = self._more_rows(X)
        weights = check.sample_weights(sample_weight, len(checked), all_zero=True)
        self._check_limit()
        spectrum = self.reduced_set_.spectrum
        if spectrum is not None:
            spectrum = spectrum.add(*counted_rows(checked, weights))
        self._absorb(checked, weights, self.reduced_set_, self._take_cover(), spectrum)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again that were counted before.

        A row is taken from the first center within the radius, which is the one that it was
        counted in. A center without weight goes. Once ``max_centers`` made the radius grow,
        that is no longer known, and nothing can be forgotten.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of earlier ``fit`` or ``partial_fit`` calls.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that they were counted with.

        Returns
        -------
        ShadowDensity
            Itself.

        Raises
        ------
        ValueError
            If a row lies in no shadow, or a shadow would lose more than it holds, or be left with
            less than 1e-18 of it where weights are fractions, or nothing would be left, or the
            radius has grown. Nothing is changed then. Other rows that were never counted cannot
            be told from those that were.
        """
        check_is_fitted(self)
        checked = self._more_rows(X)
        weights = check.sample_weights(sample_weight, len(checked))
        self._check_not_grown()
        cover = self._take_cover()
        labels, squared = located(cover, checked, weights)
        left = without_rows(self.reduced_set_, labels, squared, weights)
        if left.spectrum is not None:
            rows, counts = counted_rows(checked, weights)
            spectrum = left.spectrum.add(rows, -counts)
            lost = left.n_samples < _SEEN * self.reduced_set_.n_samples
            left = replace(left, spectrum=None if lost else spectrum)
        self.reduced_set_ = left
        self._cover_ = cover if cover.n_centers == self.reduced_set_.n_centers else None
        self.__dict__.pop("labels_", None)  # they named centers that may be gone
        return self

    def adopt(
        self, X: Any, kernel: RadialKernel, reduced_set: ReducedSet, *, merged: bool = False
    ) -> Self:
        """Take a reduced set that was made elsewhere, such as from blocks on many machines.

        Parameters
        ----------
        X : array-like of shape (any, n_features)
            Rows, or none, whose features are named as those of the data.
        kernel : RadialKernel
            With a number for its bandwidth.
        reduced_set : ReducedSet
            Of a cover: its spacing is the radius for rows to come.
        merged : bool, default=False
            Whether a row may be counted elsewhere than at the first center within the spacing, so
            that it cannot be forgotten.

        Returns
        -------
        ShadowDensity
            Itself, fitted, without ``labels_``.
        """
        self.kernel_, self.reduced_set_, self._cover_ = kernel, reduced_set, None
        self.ell_ = kernel.scale / reduced_set.spacing  # type: ignore[operator]
        self._merged_ = merged
        self.__dict__.pop("labels_", None)
        self._remember_features(X)
        return self

    def _merged(self, others: Sequence[ShadowDensity]) -> ShadowDensity:
        """The density of the data of all; see :func:`rskpca.merge`."""
        sets = [density.reduced_set_ for density in (self, *others)]
        merged = clone(self)
        merged.reduced_set_ = reduce(ReducedSet.merge, sets)
        spacing = merged.reduced_set_.spacing
        merged.kernel_, merged._merged_ = self.kernel_, True
        merged.ell_ = self.kernel_.scale / spacing if spacing else np.inf
        return merged

    def _absorb(
        self,
        X: Array,
        weights: Array,
        previous: ReducedSet | None,
        cover: Cover,
        spectrum: Spectrum | None,
    ) -> None:
        """Cover the rows that have weight, and count them; all or nothing."""
        counted = weights > 0
        rows, counts = counted_rows(X, weights)
        line = ProgressLine(len(rows), type(self).__name__) if self.verbose else None
        if self.max_centers is None:
            reduced_set, found = extended(previous, cover, rows, counts, line)
        else:
            stream = BoundedStream(self.max_centers, with_rows, cover, previous)
            found = stream.extend(rows, counts, line)
            reduced_set, cover = stream.reduced_set, stream.cover
        labels = np.full(len(X), -1, dtype=np.intp)
        labels[counted] = found
        self.reduced_set_ = replace(reduced_set, spectrum=spectrum)
        self.labels_ = labels
        self._cover_ = cover

    def _check_limit(self) -> None:
        if self.max_centers is None:
            return
        check.positive_integer("max_centers", self.max_centers)
        if self.warm_start:
            raise ValueError(
                f"max_centers={self.max_centers} and warm_start=True do not go together, as "
                "centers to start from may be too many; leave one of them out."
            )
        if not isinstance(self.ell, str) and np.isinf(self.ell):
            raise ValueError(
                f"max_centers={self.max_centers} needs a finite ell, as a radius of 0 cannot "
                "grow; give a large ell, such as 100.0, instead of inf."
            )

    def _check_warm(self, X: Array) -> None:
        check.boolean("warm_start", self.warm_start)
        if self._is_warm and self.reduced_set_.n_features != X.shape[1]:
            raise ValueError(
                f"warm_start=True starts from centers of {self.reduced_set_.n_features} features, "
                f"but X has {X.shape[1]}; set warm_start=False to start anew."
            )

    def _check_not_grown(self) -> None:
        if self._merged_:
            raise ValueError(
                "forget: this model was merged, so it is not known which center a row was counted "
                "in; forget the rows before merging. Nothing was changed."
            )
        radius, spacing = self.reduced_set_.radius, self.reduced_set_.spacing
        if radius > spacing:  # type: ignore[operator]
            raise ValueError(
                "forget: max_centers made the radius grow, so it is not known any more which "
                "center a row was counted in; fit again without the rows, or with a larger "
                "max_centers. Nothing was changed."
            )

    def _take_cover(self) -> Cover:
        """The cover of the stream so far. Whoever takes it gives it back, if all went well."""
        cover = self.__dict__.pop("_cover_", None)
        spacing = self.reduced_set_.spacing
        return Cover(spacing, self.reduced_set_.centers) if cover is None else cover  # type: ignore[arg-type]

    def _branch(self) -> Self:
        cover = self.__dict__.pop("_cover_", None)  # one branch takes it, also among threads
        other = super()._branch()
        other._cover_ = cover
        return other

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cover_", None)  # made again from the reduced set
        return state
