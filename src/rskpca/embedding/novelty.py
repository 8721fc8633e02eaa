"""Novelty detection by the reconstruction error of kernel PCA."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._validation import FewComponentsWarning, Rows, validate_points, validate_rows
from ..density import merge
from ..model import FittedModel
from ._base import Array
from ._notebook import fitted_html
from .kernel_pca import ReducedSetKernelPCA
from .nystrom import NystromKernelPCA


def _embedding_can(verb: str) -> Callable[[KernelPCANovelty], bool]:
    """Return a check that the detector's embedding has a method; its error says why not."""

    def check_embedding(detector: KernelPCANovelty) -> bool:
        fitted = detector.__dict__.get("embedding_")
        getattr(detector._unfitted() if fitted is None else fitted, verb)
        return True

    return check_embedding


class KernelPCANovelty(OutlierMixin, BaseEstimator):
    """Novelty detector: outliers are the points that kernel PCA reconstructs worst.

    Hoffmann, Kernel PCA for novelty detection, Pattern Recognition, 2007: the score of a point
    is minus its squared distance from the principal subspace in feature space, see
    :meth:`ReducedSetKernelPCA.reconstruction_error`. On a reduced set a score costs m kernel
    values, where exact kernel PCA needs n.

    Parameters
    ----------
    embedding : kernel PCA, default=None
        For example ``ReducedSetKernelPCA(20, ell=2.0)``. None is ``ReducedSetKernelPCA(10)``, with
        fewer components if there are no more. Use fewer components than there are centers, or
        every center is reconstructed exactly.
    contamination : float, default=0.1
        The share of the training data that are outliers, above 0 and at most 0.5.

    Attributes
    ----------
    embedding_ : kernel PCA
        The fitted embedding.
    offset_ : float
        Scores below it are outliers. After ``fit`` it is a quantile of the scores of the
        training rows. A stream does not keep these: then it is a quantile of the scores of the
        weighted centers, or of the landmarks of a ``NystromKernelPCA``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

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

    embedding_: ReducedSetKernelPCA | NystromKernelPCA
    _offset_: float | None
    _solved_: tuple[FittedModel, FittedModel] | None = None

    def __init__(
        self,
        embedding: ReducedSetKernelPCA | NystromKernelPCA | None = None,
        *,
        contamination: float = 0.1,
    ) -> None:
        self.embedding = embedding
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the embedding, and the threshold to the scores of these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, most of which are not outliers.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. Integer weights equal repeated rows, except with a
            ``WindowDensity`` or ``FadingDensity``, where each is one row of the stream.

        Returns
        -------
        Self
            The fitted detector.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        embedding = self._unfitted()
        if "embedding_" in self.__dict__:
            _continue_from(embedding, self.embedding_)
        with self._any_number_of_components():
            embedding.fit(rows.X, sample_weight=rows.given_weights)
            model = embedding.model_
            offset = _threshold(model, rows.X, rows.weights, self.contamination)
        self._store(rows, embedding, offset)
        self._solved_ = model, model.with_offset(offset)
        return self

    @available_if(_embedding_can("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. From now on the threshold comes from the weighted centers.

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
        Self
            The detector; its eigenproblem is solved on first use.
        """
        self._check_parameters()
        if "embedding_" in self.__dict__:
            return self._update("partial_fit", X, sample_weight)
        rows = validate_rows(self, X, sample_weight, min_rows=1)
        embedding = self._unfitted().partial_fit(rows.X, sample_weight=rows.given_weights)
        return self._store(rows, embedding, None)

    @available_if(_embedding_can("forget"))
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows. From now on the threshold comes from the weighted centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of earlier calls.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that they were added with.

        Returns
        -------
        Self
            The detector. Rows outside every shadow raise an error, and nothing is changed.
            Rows that were never added but lie in a shadow cannot be distinguished from rows that
            were, except with a ``WindowDensity``, which keeps its rows.
        """
        check_is_fitted(self)
        return self._update("forget", X, sample_weight)

    def _update(self, verb: str, X: Any, sample_weight: Any) -> Self:
        rows = validate_data(self, X, dtype=check.FLOATS, reset=False)
        embedding = copy.copy(self.embedding_)  # a copy of this detector may share it
        getattr(embedding, verb)(rows, sample_weight=sample_weight)
        self.embedding_, self._offset_ = embedding, None
        return self

    def _merge(self, others: Sequence[KernelPCANovelty]) -> Self:
        """Return the detector of the combined data; see :func:`rskpca.merge`."""
        merged = clone(self)
        merged.embedding_ = merge(self.embedding_, *(other.embedding_ for other in others))
        merged._offset_ = merged._solved_ = None
        return merged

    def _check_parameters(self) -> None:
        share = self.contamination
        if not isinstance(share, Real) or isinstance(share, bool) or not 0 < share <= 0.5:
            raise ValueError(
                "contamination must be the share of outliers, above 0 and at most 0.5, "
                f"got {share!r}."
            )
        kinds = ReducedSetKernelPCA, NystromKernelPCA
        if self.embedding is not None and not isinstance(self.embedding, kinds):
            raise TypeError(
                "embedding must be a kernel PCA such as ReducedSetKernelPCA(10), "
                f"got {self.embedding!r}."
            )

    def _unfitted(self) -> Any:
        return ReducedSetKernelPCA(10) if self.embedding is None else clone(self.embedding)

    @contextmanager
    def _any_number_of_components(self) -> Iterator[None]:
        """Do not warn if the default number of components does not exist."""
        with warnings.catch_warnings():
            if self.embedding is None:
                warnings.simplefilter("ignore", FewComponentsWarning)
            yield

    def _fix_bandwidth(self, rows: Rows) -> Self:
        """Return an unfitted copy whose bandwidth is the one that these rows give."""
        return clone(self).set_params(embedding=self._unfitted()._fix_bandwidth(rows))

    def _store(self, rows: Rows, embedding: Any, offset: float | None) -> Self:
        rows.name_features(self)
        self.embedding_, self._offset_, self._solved_ = embedding, offset, None
        return self

    @property
    def model_(self) -> FittedModel:
        """The fitted model of the embedding, with the offset."""
        check_is_fitted(self)
        with self._any_number_of_components():
            embedded = self.embedding_.model_
        solved = self._solved_
        if solved is None or solved[0] is not embedded or self._offset_ is None:
            if self._offset_ is None:
                self._check_parameters()
                known = embedded.known
                self._offset_ = _threshold(
                    embedded, known.centers, known.weights, self.contamination
                )
            solved = self._solved_ = embedded, embedded.with_offset(self._offset_)
        return solved[1]

    @property
    def offset_(self) -> float:
        """The score that separates outliers from the rest; for streams, from the centers."""
        return cast(float, self.model_.offset)

    def score_samples(self, X: Any) -> Array:
        """Return minus the squared distance from the principal subspace in feature space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; lower for outliers.
        """
        check_is_fitted(self)
        with self._any_number_of_components():
            return self.embedding_.score_samples(validate_points(self, X))

    def decision_function(self, X: Any) -> Array:
        """Return the scores minus the offset.

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
        """Return whether each point is an outlier.

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

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram, followed by a summary of the fitted model."""
        fitted = "embedding_" in self.__dict__
        return str(super()._repr_html_inner()) + (fitted_html(self.model_) if fitted else "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast(dict[str, str], super()._repr_mimebundle_(**kwargs))
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def _continue_from(embedding: Any, fitted: Any) -> None:
    """Give an unfitted embedding what a warm start of its density continues from."""
    if isinstance(embedding, ReducedSetKernelPCA) and isinstance(fitted, ReducedSetKernelPCA):
        embedding.kernel_, embedding.density_ = fitted.kernel_, fitted.density_


def _threshold(model: FittedModel, X: Array, weights: Array, contamination: float) -> float:
    """Return the lowest score with at most this share of the weight below, minus rounding."""
    scores = -model.residuals(X)
    rounding = 64 * np.finfo(scores.dtype).eps * model.kernel.kappa
    order = np.argsort(scores, kind="stable")
    order = order[weights[order] > 0]
    below = np.cumsum(weights[order])
    first = np.searchsorted(below, contamination * below[-1] * (1 + 1e-9), side="right")
    return float(scores[order[first]] - rounding)
