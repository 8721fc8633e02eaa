"""Fit an estimator to a source, block by block."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from .. import _validation as check
from .._validation import Rows
from ..data import Source, open_source, read_ahead
from ..density import BaseDensity, FadingDensity, ShadowDensity, WindowDensity
from ..embedding import KernelEmbedding, KernelPCA, KernelPCANovelty
from ..embedding.landmark_blocks import (
    choose_landmarks,
    chooses_landmarks,
    find_more_landmarks,
    with_basis,
)
from ._checkpoint import Checkpoint, check_checkpoint_path
from ._passes import Progress, check_readable_again, name_features, show_progress
from .standardizing import standardized


def fit(
    estimator: Any,
    source: Any,
    *,
    checkpoint: Any = None,
    checkpoint_every: float = 30.0,
    progress: Progress = None,
) -> Any:
    """Fit an estimator to data of any size, in as few passes as it needs.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        ``KernelPCA`` with an integer for ``n_components``, a density, an embedding based on a
        shadow density or on landmarks, a novelty detector, or a ``Pipeline`` of a
        ``StandardScaler`` and one of these. The scaler is fitted in an additional pass, unless it
        is wrapped in a ``FrozenEstimator``. The estimator itself is not modified, and any earlier
        fit is ignored, even with ``warm_start=True``.
    source : Source, or any input of :func:`rskpca.data.open_source`
        The data. If a weight column was selected, it provides the sample weights.
    checkpoint : str or path, default=None
        A file for saving the state. If it exists, the fit resumes from it, which requires the
        same estimator and source. The file is kept when the fit is complete, so a later call
        returns the model without reading the data again, except for the second pass of
        ``refine="nystrom"``.
    checkpoint_every : float, default=30.0
        Seconds between checkpoints.
    progress : bool or callable, default=None
        If None, a progress line is shown on terminals only. A function is called with the
        number of rows and the number of centers so far.

    Returns
    -------
    estimator
        A fitted copy. Its centers and weights are bit-identical to those of ``fit`` on all rows.
        A landmark model with the same landmarks agrees up to rounding errors.

    Notes
    -----
    If the source can be read again, a median bandwidth is computed from the same sample of rows
    as in ``fit``, which requires an additional pass over files without random access. For an
    iterator that can be read only once, the bandwidth is computed from the first block. With
    ``ell="auto"``, the radius is always chosen from the first block.

    The landmarks of a ``NystromKernelPCA`` are chosen in the same way. If the result misses its
    ``max_error``, more landmarks are chosen and the data are read again. A ``KernelPCA`` is always
    fitted in this way, even if ``fit`` would compute exact kernel PCA.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ReducedSetKernelPCA, scaling
    >>> X = np.random.default_rng(0).normal(size=(5000, 3))
    >>> model = scaling.fit(ReducedSetKernelPCA(2), X)
    >>> model.reduced_set_ == ReducedSetKernelPCA(2).fit(X).reduced_set_
    True
    """
    source = open_source(source)
    check_checkpoint_path(checkpoint)
    steps = []
    if isinstance(estimator, Pipeline):
        scaler, estimator, names = _split(estimator)
        streamed = _checked(estimator, source)
        scaler, source = standardized(source, scaler)
        steps = [(names[0], scaler)]
    else:
        streamed = _checked(estimator, source)
    state = Checkpoint(checkpoint, checkpoint_every, streamed, source)
    if not state.resume():
        state.check_writable()
        state.start(_without_refine(prepare(streamed, source)))
    if not state.finished:
        _stream(state, source, progress)
        while (larger := _with_more_landmarks(state.model, streamed, source)) is not None:
            state.start(larger)
            _stream(state, source, progress)
        state.finish()
    model = _complete(state.model, streamed, source)
    if isinstance(estimator, KernelPCA):
        model = clone(estimator)._adopt(model)
    return Pipeline([*steps, (names[1], model)]) if steps else model


# ------------------------------------------------------------------ before the pass


def _split(pipeline: Pipeline) -> tuple[Any, Any, list[str]]:
    """Return the scaler, the estimator and their names, or raise an error for other pipelines."""
    kinds = [type(step).__name__ for _, step in pipeline.steps]
    first = pipeline[0].estimator if isinstance(pipeline[0], FrozenEstimator) else pipeline[0]
    if len(kinds) != 2 or not isinstance(first, StandardScaler):
        raise TypeError(
            "a pipeline that is fitted block by block must have two steps, a StandardScaler and "
            f"an rskpca estimator, got {', '.join(kinds)}."
        )
    return pipeline[0], pipeline[1], [name for name, _ in pipeline.steps]


def _checked(estimator: Any, source: Source) -> Any:
    """Return the estimator to fit block by block, or raise an error if it is not supported."""
    if isinstance(estimator, KernelPCA):
        estimator = estimator._as_landmark_model(source.n_features)
    _check_streams(estimator, source)
    two_rows = np.eye(2, source.n_features)
    clone(estimator)._fix_bandwidth(Rows(two_rows, np.ones(2)))  # raises if invalid
    return estimator


def _check_streams(estimator: Any, source: Source) -> None:
    name = type(estimator).__name__
    if not isinstance(estimator, BaseDensity | KernelEmbedding | KernelPCANovelty):
        raise TypeError(
            f"{name} cannot be fitted block by block because it is not a density, an embedding or "
            "a detector from rskpca; pass the blocks of open_source(...) to its own partial_fit."
        )
    if _embedding(estimator) is not estimator:
        _check_streams(_embedding(estimator), source)
    if isinstance(estimator, ShadowDensity):
        clone(estimator)._check_parameters(source.n_features)
    elif isinstance(estimator, WindowDensity | FadingDensity | KernelEmbedding | KernelPCANovelty):
        estimator._check_parameters()
    if _refines(estimator):
        check_readable_again(source, 'refine="nystrom"')
    try:
        _ = _without_refine(clone(estimator)).partial_fit  # the error explains why it is missing
    except AttributeError as error:
        # Only errors from densities have no cause.
        reason = error.__cause__ or "it does not support partial_fit. Use a ShadowDensity."
        raise TypeError(f"{name} cannot be fitted block by block: {reason}") from error


def _embedding(estimator: Any) -> Any:
    """Return the embedding inside a detector, or the estimator itself otherwise."""
    if isinstance(estimator, KernelPCANovelty) and estimator.embedding is not None:
        return estimator.embedding
    return estimator


def _refines(estimator: Any) -> bool:
    return _embedding(estimator).get_params(deep=False).get("refine") is not None


def _without_refine(estimator: Any) -> Any:
    """Remove the second pass from an estimator in place, and return the estimator."""
    if _refines(estimator):
        embedding = _embedding(estimator)
        density = embedding._new_density()  # the density that a refined model uses
        embedding.set_params(refine=None, density=density, ell=None)
    return estimator


def prepare(estimator: Any, source: Source) -> Any:
    """Return an unfitted copy, with settings chosen from all rows if they can be read again."""
    if not source.again:
        return clone(estimator)
    rows = cache(partial(_all_rows, source))
    fixed = _fix_bandwidth(estimator, source, rows)
    embedding = _embedding(fixed)
    if not chooses_landmarks(embedding):
        return fixed
    return _replace_embedding(fixed, choose_landmarks(embedding, rows()))


def _all_rows(source: Source) -> Rows:
    """Return all rows of a source as a lazy array, which reads only the rows that are indexed."""
    weights = source.weights()
    if weights is not None:
        check.sample_weights(weights, len(weights))
    rows: Any = _LazyRows(source)
    return Rows(rows, weights, weights is not None)  # type: ignore[arg-type]


def _fix_bandwidth(estimator: Any, source: Source, rows: Callable[[], Rows]) -> Any:
    """Return an unfitted copy, with a bandwidth computed from all rows unless it is a number."""
    try:  # a numeric bandwidth does not require rows
        empty = Rows(np.empty((0, source.n_features)), np.empty(0))
        return clone(estimator)._fix_bandwidth(empty)
    except ValueError:
        return clone(estimator)._fix_bandwidth(rows())


def _replace_embedding(estimator: Any, embedding: Any) -> Any:
    """Return a detector with another embedding, or the embedding itself if there is no detector."""
    if isinstance(estimator, KernelPCANovelty):
        return estimator.set_params(embedding=embedding)
    return embedding


class _LazyRows:
    """An array-like view of a source that reads only the rows that are indexed."""

    def __init__(self, source: Source, numbers: NDArray[np.intp] | None = None) -> None:
        self._source, self._numbers = source, numbers
        n_rows = source.counted() if numbers is None else len(numbers)
        self.shape = n_rows, source.n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: NDArray[Any] | slice) -> Any:
        """Return a view for a mask, or the rows themselves for row numbers or a slice."""
        rows = np.arange(len(self))[rows] if isinstance(rows, slice) else rows
        if rows.dtype == np.bool_:
            return _LazyRows(self._source, np.flatnonzero(rows))
        return self._source.take(rows if self._numbers is None else self._numbers[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[np.arange(len(self))], dtype=dtype)


# ------------------------------------------------------------------ the passes


def _stream(state: Checkpoint, source: Source, progress: Progress) -> None:
    """Fit the model to all rows that it has not seen yet, and save checkpoints periodically."""
    model = state.model
    with (
        closing(read_ahead(source.blocks(state.rows))) as blocks,
        show_progress(progress, source, type(model).__name__, state.rows) as show,
        config_context(assume_finite=True),  # the source has validated the blocks
    ):
        for block in blocks:
            if block.counts:
                model.partial_fit(block.rows, sample_weight=block.weights)
            show(block.stop, _count_centers(model))
            state.advance(block.stop)
    if not _count_centers(model):  # all weights were zero
        check.sample_weights(np.zeros(1), 1)  # raises the same error as fit


def _with_more_landmarks(model: Any, estimator: Any, source: Source) -> Any:
    """Return an unfitted copy with more landmarks, or None if the model is accurate enough."""
    asked, fitted = _embedding(estimator), _fitted_embedding(model)
    if not chooses_landmarks(asked):
        return None
    basis = find_more_landmarks(asked, fitted, partial(_all_rows, source) if source.again else None)
    return None if basis is None else _replace_embedding(clone(model), with_basis(fitted, basis))


def _count_centers(model: Any) -> int:
    """Return the number of centers so far, without solving the eigenproblem."""
    if "n_features_in_" not in vars(model):
        return 0
    inner = _fitted_embedding(model)
    return inner.reduced_set_.n_centers if isinstance(inner, BaseDensity) else inner.n_centers_


def _fitted_embedding(model: Any) -> Any:
    """Return the fitted embedding inside a detector, or the model itself otherwise."""
    return model.embedding_ if isinstance(model, KernelPCANovelty) else model


def _complete(model: Any, estimator: Any, source: Source) -> Any:
    """Restore the original parameters, and refine the model if they require it."""
    model.set_params(**clone(estimator).get_params(deep=False))
    inner = _fitted_embedding(model)
    density = vars(inner).get("density_", inner)
    vars(density).pop("labels_", None)  # labels of the last block only
    if _refines(model):
        given = _embedding(model)
        inner.set_params(refine=given.refine, density=given.density, ell=given.ell)
        with closing(read_ahead(source.blocks())) as blocks:
            inner.refine_on((block.rows, block.weights) for block in blocks if block.counts)
    name_features(model, source)
    return model
