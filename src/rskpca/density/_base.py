"""What every density estimator shares: X -> ReducedSet."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._core import gram
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]


class BaseDensity(BaseEstimator):
    """A reduced set density estimate, equation (approxprob) of the paper.

    A subclass has ``kernel`` and ``random_state`` and its ``fit`` leaves ``kernel_``,
    ``reduced_set_`` and ``labels_``.
    """

    kernel: RadialKernel | str | None
    random_state: Any
    kernel_: RadialKernel
    reduced_set_: ReducedSet
    labels_: NDArray[np.intp]

    @property
    def own_kernel(self) -> RadialKernel | str | None:
        """The kernel that was given to it; None where none was."""
        return self.kernel

    def _use_kernel(self, kernel: RadialKernel, *, instead: bool = False) -> Self:
        """Take a kernel where none was given, or ``instead`` of the one that was."""
        return self.set_params(kernel=kernel if instead else self.kernel or kernel)

    def _branch(self) -> Self:
        """A density of its own from here on, which may go on with what this one has at hand."""
        return copy.copy(self)

    def _check_unchanged(self, begun: Any) -> None:
        """Whether a fitted density, which may be this one, can go on with these parameters."""
        if type(self) is not type(begun):
            raise ValueError(
                f"density is a {type(self).__name__}, but the model was fitted with a "
                f"{type(begun).__name__}; set it back, or call fit to start anew. Nothing was "
                "changed."
            )

    def _more_rows(self, X: Any) -> Array:
        """X as float32 or float64 rows with the features of the fitted ones."""
        return validate_data(self, X, dtype=check.FLOATS, reset=False)

    def _remember_features(self, X: Any) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)

    def _resolved_kernel(self, X: Array, sample_weight: Array | None) -> RadialKernel:
        return as_kernel(self.kernel).resolve(X, sample_weight, self.random_state)

    def _with_bandwidth_of(self, X: Any, sample_weight: Array | None) -> Self:
        """A copy whose bandwidth is a number, that of these rows, whatever comes first."""
        return clone(self).set_params(kernel=self._resolved_kernel(X, sample_weight))

    def score_samples(self, X: Any) -> Array:
        """Log of the density estimate at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            log((1/n) sum_j w_j k(c_j, x)), minus the log of the kernel's integral where that
            is known, so that the density integrates to one.
        """
        check_is_fitted(self)
        X = self._more_rows(X)
        kernel, reduced_set = self.kernel_, self.reduced_set_
        log_weights = np.log(reduced_set.weights)
        logs = gram.product(
            _Log(kernel),
            X,
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
        """Log of the density of all rows together.

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
    """A kernel whose values are taken as logs."""

    def __init__(self, kernel: RadialKernel) -> None:
        self.sign, self.smooth, self.scale = kernel.sign, kernel.smooth, kernel.scale
        self.evaluate = kernel.log_evaluate
