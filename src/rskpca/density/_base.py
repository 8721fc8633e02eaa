"""Base class for density estimators, which turn rows into a reduced set."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._core import gram
from .._validation import Rows, validate_points, validate_rows
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]
Labels = NDArray[np.intp]


class BaseDensity(BaseEstimator):
    """Base class for reduced-set density estimates, eq. (approxprob) of the paper.

    A subclass has the parameters ``kernel`` and ``random_state`` and implements ``fit`` or
    :meth:`summarize`, which set ``kernel_``, ``reduced_set_`` and ``labels_``.
    """

    kernel: RadialKernel | str | None
    random_state: Any
    kernel_: RadialKernel
    reduced_set_: ReducedSet
    labels_: Labels
    _takes_any_kernel = False  # True if the kernel need not be radial

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose centers for the rows of X and compute their weights.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            At least two rows. For shadow densities, the order of the rows matters, as in the paper.
            Sparse rows are accepted by :class:`ShadowDensity`.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. Rows with weight 0 are ignored.

        Returns
        -------
        Self
            The fitted estimator.
        """
        rows = validate_rows(self, X, sample_weight)
        return self.summarize(rows, self.resolve_kernel(rows))

    def summarize(self, rows: Rows, kernel: RadialKernel) -> Self:
        """Fit the reduced set to validated rows, with a kernel chosen by the caller.

        The default implementation calls ``fit``, for subclasses that implement only ``fit``.

        Parameters
        ----------
        rows : Rows
            Validated rows with their weights.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.

        Returns
        -------
        Self
            The fitted estimator. If an exception is raised, the estimator is unchanged.
        """
        if type(self).fit is BaseDensity.fit:
            raise NotImplementedError(f"{type(self).__name__} must implement fit or summarize.")
        return self.set_params(kernel=kernel).fit(rows.X, sample_weight=rows.given_weights)

    @property
    def own_kernel(self) -> RadialKernel | str | None:
        """The kernel passed to this density or to a density inside it; None if there is none."""
        return self.kernel

    def resolve_kernel(self, rows: Rows) -> RadialKernel:
        """Return the kernel with a numeric bandwidth.

        Parameters
        ----------
        rows : Rows
            The rows to which a bandwidth rule such as ``"median"`` is applied.

        Returns
        -------
        RadialKernel
            The resolved kernel.
        """
        kernel = as_kernel(self.own_kernel, radial=not self._takes_any_kernel)
        return kernel.resolve(rows.X, rows.given_weights, self.random_state, self._previous_kernel)

    @property
    def _previous_kernel(self) -> RadialKernel | None:
        """The kernel of the previous fit, if a warm start keeps its bandwidth."""
        return None

    def _drop_kernel(self) -> Self:
        """Drop the density's own kernel, because the embedding provides one; return self."""
        return self.set_params(kernel=None)

    def _fix_bandwidth(self, rows: Rows) -> Self:
        """Return an unfitted copy with the bandwidth computed from these rows."""
        kernel = self.resolve_kernel(rows)
        return clone(self)._drop_kernel().set_params(kernel=kernel)

    def _branch(self) -> Self:
        """Return a copy to update; it may take over cached state that cannot be shared."""
        return copy.copy(self)

    def _check_unchanged(self, begun: Any) -> None:
        """Raise an error if changed parameters prevent the stream from continuing."""
        if type(self) is not type(begun):
            raise ValueError(
                f"density is a {type(self).__name__}, but the model was fitted with a "
                f"{type(begun).__name__}; restore the original density, or call fit to start over. "
                "Nothing was changed."
            )

    def score_samples(self, X: Any) -> Array:
        """Return the log of the density estimate at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            log((1/n) sum_j w_j k(c_j, x)), minus the log of the kernel's integral if it is known,
            so that the density integrates to one.
        """
        check_is_fitted(self)
        kernel, reduced_set = as_kernel(self.kernel_), self.reduced_set_
        log_weights = np.log(reduced_set.weights)
        logs = gram.product(
            _Log(kernel),
            validate_points(self, X),
            reduced_set.centers,
            lambda block: logsumexp(block + log_weights, axis=1)[:, None],
            1,
        )[:, 0]
        return logs - np.log(reduced_set.n_samples) - self._log_integral()

    def _log_integral(self) -> float:
        if self.kernel_.log_integral is None:
            return 0.0
        n_features = self.reduced_set_.n_features
        return self.kernel_.log_integral(n_features) + n_features * np.log(self.kernel_.scale)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the total log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : None
            Not used.

        Returns
        -------
        float
            The sum of :meth:`score_samples`.
        """
        return float(np.sum(self.score_samples(X)))


class _Log:
    """The logarithm of a kernel, in the form used to compute kernel blocks."""

    def __init__(self, kernel: RadialKernel) -> None:
        self.sign, self.smooth, self.scale = kernel.sign, kernel.smooth, kernel.scale
        self.evaluate = kernel.log_evaluate


def claim_kernel(
    density: BaseDensity,
    asked: tuple[Any, Any, Any],
    owner: str,
    rule: str = "median",
    *,
    radial: bool = True,
) -> tuple[Any, bool]:
    """Return the kernel of an estimator that uses a density, and whether the density provides it.

    A density's kernel is used only if the estimator has none. If both have a kernel and the two
    differ, an error is raised. ``rule`` is the default bandwidth of the estimator's kernel, which
    must be radial if ``radial`` is True or the density requires it.
    """
    own, radial = density.own_kernel, radial or not density._takes_any_kernel
    if own is None:
        return as_kernel(*asked, rule, radial=radial), False
    if asked == (None, None, None):
        return as_kernel(own, radial=radial), True
    kernel = as_kernel(*asked, rule, radial=radial)
    if not kernel.same_as(as_kernel(own, radial=radial)):
        raise ValueError(
            f"the density has its own kernel {own!r}, but the {owner} uses {kernel!r}; "
            f"omit the kernel of the density, because the {owner} passes its own."
        )
    return kernel, False
