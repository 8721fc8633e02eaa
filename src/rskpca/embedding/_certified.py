"""How wrong a kernel PCA on a reduced set can be."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..certificate import Certificate, certify
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem


class Certified:
    """A mixin for estimators with ``kernel_``, ``reduced_set_`` and ``eigensystem_``."""

    kernel_: RadialKernel
    reduced_set_: ReducedSet
    eigensystem_: EigenSystem
    model_: Any

    @property
    def certificate_(self) -> Certificate:
        """How far the model can be from exact kernel PCA, from what the fit has kept."""
        check_is_fitted(self)
        return self.model_.certificate

    def certify(
        self, X: Any = None, sample_weight: Any = None, *, confidence: float = 0.95
    ) -> Certificate:
        """The certificate at another confidence, or with the errors measured.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The fitted data, or a sample of them, to measure the errors on: exact, in O(n^2)
            time and memory of a few blocks.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row of X counts.
        confidence : float, default=0.95
            Of what is not certain, between 0 and 1.

        Returns
        -------
        Certificate
            With a level "measured" where X is given.
        """
        check_is_fitted(self)
        confidence = check.share("confidence", confidence)
        if X is None:
            return self._certificate(confidence)
        checked = validate_data(self, X, dtype=check.FLOATS, reset=False)
        weights = check.sample_weights(sample_weight, len(checked))
        return self._certificate(confidence, X=checked, sample_weight=weights)

    def _certificate(self, confidence: float, **data: Any) -> Certificate:
        return certify(
            self.kernel_,
            self.reduced_set_,
            self.eigensystem_,
            confidence=confidence,
            **data,
        )
