"""The shadow density estimate (section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._core.parallel import one_at_a_time
from .._core.progress import ProgressLine
from .._validation import Rows, validate_more_rows, validate_rows
from ..kernels import AnyKernel, RadialKernel
from ..reduced_set import ReducedSet
from ..row_sample import SIZE, RowSample, salt_of
from ._base import BaseDensity
from ._counting import (
    BoundedStream,
    Report,
    RowCover,
    count_rows,
    cover_radius,
    ell_of,
    extend_set,
    open_cover,
    too_many,
    watch_centers,
    withdraw,
)
from .tolerance import Goal, Limit


class ShadowDensity(BaseDensity):
    """The shadow density estimate: each row is closer than sigma / ell to a center.

    This is Algorithm 2 of the paper: each row joins the first center that is closer than
    epsilon = sigma / ell; if there is none, the row becomes a new center. The rows that join
    a center form its shadow, and their number is its weight.

    Parameters
    ----------
    kernel : RadialKernel, Kernel, "rbf", "gaussian", "laplacian" or None, default=None
        If None, a Gaussian with the median bandwidth is used. Omit it inside an embedding, which
        passes its own kernel. For a :class:`rskpca.kernels.Kernel`, distances are measured in its
        feature space. Epsilon is then the feature-space distance that corresponds to sigma / ell
        for a Gaussian, sqrt(2 kappa (1 - exp(-1 / ell^2))), where kappa is the mean of k(x, x) over
        the rows (for a stream, over the rows of the first chunk).
    ell : float or "auto", default=4.0
        A larger ell means more centers and a smaller error. ``np.inf`` keeps every row.
        ``"auto"`` increases ell until the error estimated from the data is below ``tol``.
    tol : float, default=None
        The largest acceptable error, used instead of a number for ``ell``. It applies to the
        theorem's bound or, with ``ell="auto"``, to the 95% limit of the estimate, which requires
        far fewer centers. For a stream, the first chunk fixes the radius.
    error : {None, "embedding", "operator", "mmd"}, default=None
        The error that ``tol`` bounds. ``"operator"`` is the Hilbert-Schmidt norm of K_n - K-bar_n
        (Theorem 5.3) and ``"mmd"`` the maximum mean discrepancy (Theorem 5.1). The theorem's bound
        is also valid for centered operators; ``ell="auto"`` estimates the error of the plain ones.
        ``"embedding"`` is the relative error of the coordinates, ``certificate_.embedding.limit``,
        and requires ``ell="auto"`` inside ReducedSetKernelPCA, where it is the default for up to
        100 components. Otherwise the default is ``"operator"``.
    sample_size : int, default=2000
        Number of rows kept as a uniform sample, from which the error is estimated; fewer are kept
        if there are more than 8,000 features. With 0, no sample is kept.
    random_state : int, RandomState or None, default=0
        Seed for this sample and for the sample from which the median bandwidth is computed.
    max_centers : int, default=None
        Maximum number of centers, to limit the memory use of a stream. When a row would open one
        center too many, the radius is increased just enough to reduce the number of centers to half
        of the limit, and the centers are covered again. The result does not depend on the chunks.
        The radius of ``reduced_set_`` remains a valid bound, but rows can no longer be forgotten.
    warm_start : bool, default=False
        If True, ``fit`` starts from the previous fit: a median bandwidth is kept, and rows join
        the previous centers before they open new ones. Centers that no row joins are dropped; the
        weights and the certificate describe only the new rows. This keeps models of similar data
        comparable.
    verbose : int, default=0
        If 1, show a progress line for fits that take more than a second.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights, radius and ``n_samples``.
    labels_ : ndarray of shape (n_samples,)
        The center of each row of the last ``fit`` or ``partial_fit``; -1 for rows with weight 0.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth; for a stream, it is fixed by the first chunk.
    ell_ : float
        The requested ell as a number. Once ``max_centers`` has made the radius grow, the
        effective value is ``kernel_.scale / reduced_set_.radius``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

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

    kernel_: AnyKernel
    ell_: float
    _takes_any_kernel = True
    _cover_: RowCover | None
    _merged_: bool = False

    def __init__(
        self,
        kernel: AnyKernel | str | None = None,
        ell: float | str = 4.0,
        *,
        tol: float | None = None,
        error: str | None = None,
        sample_size: int = SIZE,
        random_state: Any = 0,
        max_centers: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.ell = ell
        self.tol = tol
        self.error = error
        self.sample_size = sample_size
        self.random_state = random_state
        self.max_centers = max_centers
        self.warm_start = warm_start
        self.verbose = verbose

    def summarize(
        self,
        rows: Rows,
        kernel: RadialKernel,
        coordinate_limit: Limit | None = None,
        report: Report | None = None,
    ) -> Self:
        """Select centers for validated rows (Algorithm 2).

        Parameters
        ----------
        rows : Rows
            Validated rows with their weights.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.
        coordinate_limit : callable, default=None
            Function of a reduced set that returns the error limit of the coordinates. Passed only
            by an embedding.
        report : callable, default=None
            Function of the numbers of centers and rows that is called once if most rows become
            centers. None means a warning.

        Returns
        -------
        ShadowDensity
            The fitted estimator.
        """
        goal = self._check_parameters(rows.X.shape[1])
        self._check_kernel(kernel)
        X, weights = rows.positive
        sample = self._empty_sample(rows)
        radius = goal.radius(kernel, X, weights, sample, coordinate_limit)
        cover = open_cover(radius, X[:0], kernel)
        if self._is_warm and radius > 0:  # keep previous centers that are far enough apart
            cover.extend(self.reduced_set_.centers.astype(X.dtype))
        self._absorb(rows, None, cover, sample, report)
        self._cover_ = None  # a stream rebuilds it; a batch does not need it
        self.kernel_, self.ell_ = kernel, ell_of(kernel, radius, X, weights)
        self.__dict__.pop("_merged_", None)
        rows.name_features(self)
        return self

    def planned_radius(self, kernel: AnyKernel, rows: Rows | None = None) -> float | None:
        """Return the radius if ``ell`` fixes it, or None if it has to be searched for.

        Parameters
        ----------
        kernel : RadialKernel or Kernel
            The kernel with its bandwidth resolved.
        rows : Rows, default=None
            Validated rows, on which the radius depends if the kernel is not radial.

        Returns
        -------
        float or None
            The radius. It is also None if the kernel is not radial and no rows are given.
        """
        goal = Goal.checked(self.ell, self.tol, self.error)
        if goal.tol is not None:
            return None
        if isinstance(kernel, RadialKernel):
            return kernel.scale / float(goal.ell)
        return None if rows is None else cover_radius(kernel, float(goal.ell), *rows.positive)

    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. The reduced set is the same as for a single ``fit``, regardless of the chunks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        ShadowDensity
            The updated estimator.
        """
        if "kernel_" not in self.__dict__:
            rows = validate_rows(self, X, sample_weight, min_rows=1)
            return self.summarize(rows, self.resolve_kernel(rows))
        return self._extend(validate_more_rows(self, X, sample_weight))

    def _extend(self, rows: Rows, report: Report | None = None) -> Self:
        """Add validated rows; the parameter ``report`` is that of :meth:`summarize`."""
        self._check_limit()
        previous = self.reduced_set_
        self._absorb(rows, previous, self._take_cover(), previous.sample, report)
        return self

    @one_at_a_time
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows that were added before.

        A row is removed from the first center within the radius, which is the one that counted
        it. Centers without weight are dropped. Once ``max_centers`` has made the radius grow,
        the center of a row is no longer known, and nothing can be forgotten.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were passed to ``fit`` or ``partial_fit``.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which the rows were added.

        Returns
        -------
        ShadowDensity
            The updated estimator.

        Raises
        ------
        ValueError
            If a row is not in any shadow; if a center would lose more weight than it has, or (for
            fractional weights) retain less than 1e-18 of it; if no rows would be left; or if the
            radius has grown. Nothing is changed in these cases. Rows that lie in a shadow but were
            never added cannot be distinguished from rows that were.
        """
        check_is_fitted(self)
        return self._withdraw(validate_more_rows(self, X, sample_weight, all_zero=False))

    def _withdraw(self, rows: Rows) -> Self:
        """Remove validated rows."""
        self._check_not_grown()
        cover, previous = self._take_cover(), self.reduced_set_
        left = withdraw(previous, cover, rows.X, rows.weights)
        self.reduced_set_ = left
        self._cover_ = cover if cover.n_centers == left.n_centers else None
        self.__dict__.pop("labels_", None)  # labels refer to centers that may no longer exist
        return self

    def adopt(
        self, X: Any, kernel: RadialKernel, reduced_set: ReducedSet, *, merged: bool = False
    ) -> Self:
        """Use a reduced set that was computed elsewhere, such as on a cluster.

        Parameters
        ----------
        X : array-like of shape (any, n_features)
            Rows with the feature names of the data; may be empty.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.
        reduced_set : ReducedSet
            The reduced set of a cover; its spacing is the radius for future rows.
        merged : bool, default=False
            True if a row may have been counted at a center other than the first one within the
            spacing, so that rows cannot be forgotten.

        Returns
        -------
        ShadowDensity
            The fitted estimator, without ``labels_``.
        """
        self.kernel_, self.reduced_set_, self._cover_ = kernel, reduced_set, None
        self.ell_ = kernel.scale / reduced_set.spacing  # type: ignore[operator]
        self._merged_ = merged
        self.__dict__.pop("labels_", None)
        validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _merge(self, others: Sequence[ShadowDensity]) -> ShadowDensity:
        """Return the density of the combined data; see :func:`rskpca.merge`."""
        sets = [density.reduced_set_ for density in (self, *others)]
        merged = clone(self)
        merged.reduced_set_ = reduce(ReducedSet.merge, sets)
        spacing = merged.reduced_set_.spacing
        merged.kernel_, merged._merged_ = self.kernel_, True
        if isinstance(self.kernel_, RadialKernel):
            merged.ell_ = self.kernel_.scale / spacing if spacing else np.inf
        else:
            merged.ell_ = self.ell_
        return merged

    def _absorb(
        self,
        rows: Rows,
        previous: ReducedSet | None,
        cover: RowCover,
        sample: RowSample | None,
        report: Report | None,
    ) -> None:
        """Cover the rows with positive weight and count them; if this fails, nothing is changed."""
        X, weights = rows.positive
        line = ProgressLine(X.shape[0], type(self).__name__) if self.verbose else None
        if self.max_centers is None:
            report = report or _warning(previous, cover)
            watch = watch_centers(report, previous, cover, line)
            reduced_set, labels = extend_set(previous, cover, X, weights, sample, watch)
        else:
            stream = BoundedStream(self.max_centers, cover, previous, sample)
            labels = stream.extend(X, weights, line)
            reduced_set, cover = stream.reduced_set, stream.cover
        self.reduced_set_ = reduced_set
        self.labels_ = rows.labels(labels)
        self._cover_ = cover

    def _empty_sample(self, rows: Rows) -> RowSample | None:
        """Return an empty sample, whose hash depends on the first row with positive weight."""
        first = int(np.argmax(rows.weights > 0))
        salt = salt_of(rows.X[first : first + 1], self.random_state)
        return RowSample.empty(rows.X, self.sample_size, salt)

    # -------------------------------------------------------------- warm starts

    @property
    def _is_warm(self) -> bool:
        return self.warm_start and "reduced_set_" in self.__dict__

    @property
    def _previous_kernel(self) -> RadialKernel | None:
        return self.kernel_ if self._is_warm else None

    def _warm_up(self, fitted: BaseDensity) -> None:
        """Start from the centers and the kernel of a fitted density."""
        self.kernel_, self.reduced_set_ = fitted.kernel_, fitted.reduced_set_

    def _take_cover(self) -> RowCover:
        """Take the cached cover, or build one; the caller stores it again if no error occurs."""
        cover = self.__dict__.pop("_cover_", None)
        if cover is not None:
            return cover
        found = self.reduced_set_
        radius = found.radius if found.spacing is None else found.spacing
        return open_cover(radius, found.centers, self.kernel_)  # type: ignore[arg-type]

    def _branch(self) -> Self:
        cover = self.__dict__.pop("_cover_", None)  # only one branch can use it
        other = super()._branch()
        other._cover_ = cover
        return other

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_cover_", None)  # rebuilt from the reduced set
        return state

    # -------------------------------------------------------------- checks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_kernel(self, kernel: AnyKernel) -> None:
        if self.max_centers is not None and not isinstance(kernel, RadialKernel):
            raise ValueError(
                f"max_centers={self.max_centers} requires a radial kernel such as Gaussian(2.0), "
                f"got {kernel!r}. Use a smaller ell instead."
            )

    def _check_parameters(self, n_features: int) -> Goal:
        goal = Goal.checked(self.ell, self.tol, self.error)
        check.whole_number("sample_size", self.sample_size)
        self._check_limit()
        check.boolean("warm_start", self.warm_start)
        if self._is_warm and self.reduced_set_.n_features != n_features:
            raise ValueError(
                f"warm_start=True starts from centers with {self.reduced_set_.n_features} "
                f"features, but X has {n_features}; set warm_start=False to start over."
            )
        return goal

    def _check_limit(self) -> None:
        if self.max_centers is None:
            return
        check.positive_integer("max_centers", self.max_centers)
        if self.warm_start:
            raise ValueError(
                f"max_centers={self.max_centers} and warm_start=True cannot be combined, because "
                "the previous centers may already exceed the limit; omit one of them."
            )
        if not isinstance(self.ell, str) and np.isinf(self.ell):
            raise ValueError(
                f"max_centers={self.max_centers} requires a finite ell, because a radius of 0 "
                "cannot grow; use a large ell, such as 100.0, instead of inf."
            )

    def _check_not_grown(self) -> None:
        if self._merged_:
            raise ValueError(
                "forget: this model was merged, so it is not known which center counted a row; "
                "forget the rows before merging. Nothing was changed."
            )
        radius, spacing = self.reduced_set_.radius, self.reduced_set_.spacing
        if radius > spacing:  # type: ignore[operator]
            raise ValueError(
                "forget: max_centers made the radius grow, so it is no longer known which center "
                "counted a row; fit again without these rows, or with a larger max_centers. "
                "Nothing was changed."
            )


def _warning(previous: ReducedSet | None, cover: RowCover) -> Report:
    """Return a function that warns that most rows become centers, unless it was called before."""
    if previous is not None and too_many(previous.n_centers, count_rows(previous)):
        return lambda n_centers, n_rows: None
    return partial(_warn_of_centers, radial=not cover.in_feature_space)


def _warn_of_centers(n_centers: int, n_rows: int, *, radial: bool) -> None:
    advice = (
        "a larger bandwidth, a smaller ell, a limit such as max_centers=2000, or "
        "KMeansDensity(2000, max_iter=3)"
    )
    check.warn(
        f"The data do not compress at this radius: {n_centers:,} of the first {n_rows:,} rows "
        f"became centers. Use {advice if radial else 'a smaller ell'}."
    )
