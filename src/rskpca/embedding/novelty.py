"""Novelty detection by the reconstruction error of kernel PCA."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..density import merge
from ..model import FittedModel
from ._base import Array, ReducedSetEmbedding
from ._notebook import NotebookTables
from ._principal import PrincipalComponents
from .kernel_pca import ReducedSetKernelPCA


def _embedding_can(verb: str) -> Callable[[KernelPCANovelty], bool]:
    """Whether a detector's embedding has this method; an error that says so where it has not."""

    def check_embedding(detector: KernelPCANovelty) -> bool:
        default = _AtMostTen(10) if detector.embedding is None else detector.embedding
        getattr(getattr(detector, "embedding_", default), verb)  # its error says why not
        return True

    return check_embedding


class KernelPCANovelty(NotebookTables, OutlierMixin, BaseEstimator):
    """Outliers are the points that kernel PCA reconstructs worst in feature space.

    Hoffmann, Kernel PCA for novelty detection, Pattern Recognition, 2007: the score of a point
    is minus its squared distance from the principal subspace, see
    :meth:`ReducedSetKernelPCA.reconstruction_error`. On a reduced set a score costs m kernel
    values where exact kernel PCA needs n.

    Parameters
    ----------
    embedding : kernel PCA, default=None
        Such as ``ReducedSetKernelPCA(20, ell=2.0)``. None is ``ReducedSetKernelPCA(10)``, with
        fewer components where there are no more. Ask for fewer components than there are
        centers, or every center is reconstructed whole.
    contamination : float, default=0.1
        The share of the training data to call outliers, above 0 and at most 0.5.

    Attributes
    ----------
    embedding_ : kernel PCA
        The fitted embedding.
    offset_ : float
        Scores below it are outliers. After ``fit`` it is the quantile of the scores of the
        training rows. Of a stream these are gone: it is that of the weighted centers, each
        with the weight of its rows, or of the landmarks of a ``NystromKernelPCA``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import KernelPCANovelty, ReducedSetKernelPCA
    >>> angle = np.linspace(0, 6, 500)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = KernelPCANovelty(ReducedSetKernelPCA(5), contamination=0.01).fit(ring)
    >>> model.predict([[1.0, 0.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    embedding_: Any
    _offset_: float | None
    _model_: FittedModel

    def __init__(
        self, embedding: PrincipalComponents | None = None, *, contamination: float = 0.1
    ) -> None:
        self.embedding = embedding
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the embedding, and the threshold to the scores of these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, most of them not outliers.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; whole numbers equal repeated rows, but for a
            ``WindowDensity`` or ``FadingDensity``, where a row is one row of the stream.

        Returns
        -------
        Self
            The fitted detector.
        """
        self._check_parameters()
        checked = check.new_rows(self, X, at_least=2)
        weights = check.sample_weights(sample_weight, len(checked))
        embedding = self._unfitted()
        if hasattr(self, "embedding_") and isinstance(embedding, ReducedSetEmbedding):
            embedding._warm_up(self.embedding_)
        embedding.fit(checked, sample_weight=None if sample_weight is None else weights)
        self._adopt(X, embedding, _threshold(embedding, checked, weights, self.contamination))
        return self

    @available_if(_embedding_can("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. The threshold comes from the weighted centers from now on.

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
        Self
            The detector; its eigenproblem is solved when an answer is asked for.
        """
        self._check_parameters()
        if not hasattr(self, "embedding_"):
            checked = check.new_rows(self, X, at_least=1)
            embedding = self._unfitted().partial_fit(checked, sample_weight=sample_weight)
            self._adopt(X, embedding, None)
        else:
            self._change("partial_fit", X, sample_weight)
        return self

    @available_if(_embedding_can("forget"))
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again. The threshold comes from the weighted centers from now on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of earlier calls.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that they were counted with.

        Returns
        -------
        Self
            The detector. Rows that lie in no shadow are an error, and nothing is changed then;
            others that were never fitted cannot be told from fitted ones. A ``WindowDensity``
            has its rows, and knows them all.
        """
        check_is_fitted(self)
        self._change("forget", X, sample_weight)
        return self

    def _change(self, verb: str, X: Any, sample_weight: Any) -> None:
        embedding = copy.copy(self.embedding_)  # a copy of this detector may share it
        getattr(embedding, verb)(self._more_rows(X), sample_weight=sample_weight)
        self.embedding_, self._offset_ = embedding, None

    def _merged(self, others: Sequence[KernelPCANovelty]) -> Self:
        """The detector of the data of all; see :func:`rskpca.merge`."""
        merged = clone(self)
        merged.embedding_ = merge(self.embedding_, *(other.embedding_ for other in others))
        merged._offset_ = None
        return merged

    def _check_parameters(self) -> None:
        share = self.contamination
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 < share <= 0.5:
            raise ValueError(
                "contamination must be the share of outliers, above 0 and at most 0.5, "
                f"got {share!r}."
            )
        if self.embedding is not None and not isinstance(self.embedding, PrincipalComponents):
            raise TypeError(
                "embedding must be a kernel PCA such as ReducedSetKernelPCA(10), "
                f"got {self.embedding!r}."
            )

    def _unfitted(self) -> Any:
        return _AtMostTen(10) if self.embedding is None else clone(self.embedding)

    def _with_bandwidth_of(self, X: Any, sample_weight: Any) -> Self:
        """A copy whose bandwidth is a number, that of these rows, whatever comes first."""
        return clone(self).set_params(
            embedding=self._unfitted()._with_bandwidth_of(X, sample_weight)
        )

    def _adopt(self, X: Any, embedding: Any, offset: float | None) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self.embedding_, self._offset_ = embedding, offset

    def _more_rows(self, X: Any) -> Array:
        return validate_data(self, X, dtype=check.FLOATS, reset=False)

    @property
    def model_(self) -> FittedModel:
        """The fitted model of the embedding, with the offset."""
        offset, embedded = self.offset_, self.embedding_.model_
        found: FittedModel | None = self.__dict__.get("_model_")
        if found is None or found.system is not embedded.system or found.offset != offset:
            found = self._model_ = embedded.with_offset(offset)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_model_"}

    @property
    def offset_(self) -> float:
        """The score that parts outliers from the others; taken from the centers of a stream."""
        check_is_fitted(self)
        if self._offset_ is None:
            self._check_parameters()
            left = self.embedding_._known_points()
            self._offset_ = _threshold(
                self.embedding_, left.centers, left.weights, self.contamination
            )
        return self._offset_

    def score_samples(self, X: Any) -> Array:
        """Minus the squared distance from the principal subspace in feature space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The lower, the more of an outlier.
        """
        check_is_fitted(self)
        return self.embedding_.score_samples(self._more_rows(X))

    def decision_function(self, X: Any) -> Array:
        """The scores less the offset.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Negative for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Is each point an outlier?

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)


class _AtMostTen(ReducedSetKernelPCA):
    """Ten components, or as many as there are: nobody has asked for ten."""

    def _check_found(self, found: int, n_points: int, points: str = "centers") -> None:
        if found == 0:
            super()._check_found(found, n_points, points)


def _threshold(embedding: Any, rows: Array, weights: Array, contamination: float) -> float:
    """The lowest score with at most this share of the weight below it, less its rounding."""
    scores = embedding.score_samples(rows)
    rounding = 64 * np.finfo(scores.dtype).eps * embedding.kernel_.kappa
    order = np.argsort(scores, kind="stable")
    order = order[weights[order] > 0]
    below = np.cumsum(weights[order])
    first = np.searchsorted(below, contamination * below[-1] * (1 + 1e-9), side="right")
    return float(scores[order[first]] - rounding)
