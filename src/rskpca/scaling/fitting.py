"""Fit an estimator to a source, block by block."""

from __future__ import annotations

from contextlib import closing
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
from ._checkpoint import Checkpoint, check_place
from ._progress import Progress, shown
from .standardizing import standardized


def fit(
    estimator: Any,
    source: Any,
    *,
    checkpoint: Any = None,
    checkpoint_every: float = 30.0,
    progress: Progress = None,
) -> Any:
    """Fit an estimator to data of any size in one pass, or two with ``refine="nystrom"``.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        An embedding on a shadow density, a novelty detector or a density; or a ``Pipeline`` of a
        ``StandardScaler``, which is fitted in a pass before unless it is in a ``FrozenEstimator``,
        and one of these. It is not changed, and nothing of an earlier fit of it is taken up, also
        with ``warm_start=True``.
    source : Source, or what :func:`rskpca.data.open_source` opens
        The data. A weight column, if named when it was opened, is the sample weight.
    checkpoint : str or path, default=None
        A file to note the state in. Where it exists, the fit goes on from there; it must be of
        the same estimator and the same source. It stays when the fit is done, and gives the model
        back without reading, but for the second pass of ``refine="nystrom"``.
    checkpoint_every : float, default=30.0
        Seconds between two notes.
    progress : bool or callable, default=None
        None shows a line on a terminal; a function is called with rows and centers so far.

    Returns
    -------
    estimator
        A fitted copy. Centers and weights are those of ``fit`` on the whole data, bit for bit.

    Notes
    -----
    A median bandwidth is that of the rows that ``fit`` would take, wherever the source can be
    read again; this reads files that cannot jump once more. Of an iterator that can be read only
    once the first block fixes it. ``ell="auto"`` is fixed by the first block too, and so are the
    landmarks of a ``NystromKernelPCA``.

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
    check_place(checkpoint)
    if isinstance(estimator, Pipeline):
        _check(estimator[-1], source)
        scaler, source = standardized(source, _scaler(estimator))
        last = fit(
            estimator[-1], source, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
            progress=progress,
        )  # fmt: skip
        names = [name for name, _ in estimator.steps]
        return Pipeline(list(zip(names, (scaler, last), strict=True)))
    _check(estimator, source)
    notes = Checkpoint(checkpoint, checkpoint_every, estimator, source)
    state = notes.read()
    if state is None:
        notes.try_out(estimator)
        state = _started(clone(estimator), source), 0
        notes.write(*state)
    if not notes.finished:
        _stream(*state, source, notes, progress)
    return _finished(state[0], estimator, source)


def _scaler(pipeline: Pipeline) -> Any:
    """The first of two steps; an error for pipelines of others."""
    steps = [type(step).__name__ for _, step in pipeline.steps]
    first = pipeline[0].estimator if isinstance(pipeline[0], FrozenEstimator) else pipeline[0]
    if len(steps) != 2 or not isinstance(first, StandardScaler):
        raise TypeError(
            "a pipeline that is fitted block by block has two steps, a StandardScaler and an "
            f"estimator of rskpca, got {', '.join(steps)}."
        )
    return pipeline[0]


def _inside(estimator: Any) -> Any:
    """The embedding that a detector was given, else the estimator."""
    inner = getattr(estimator, "embedding", None)
    return estimator if inner is None else inner


def _refines(estimator: Any) -> bool:
    return getattr(_inside(estimator), "refine", None) is not None


def _in_one_pass(estimator: Any) -> Any:
    """The estimator, which is changed, without its second pass."""
    if _refines(estimator):
        _inside(estimator).set_params(refine=None)
    return estimator


def _check(estimator: Any, source: Source) -> None:
    _check_streams(estimator, source)
    two_rows = np.eye(2, source.n_features)
    clone(estimator)._fix_bandwidth(Rows(two_rows, np.ones(2)))  # report a bad bandwidth early


def _check_streams(estimator: Any, source: Source) -> None:
    if getattr(estimator, "embedding", None) is not None:
        _check_streams(estimator.embedding, source)
    if hasattr(estimator, "_check_parameters"):
        estimator._check_parameters()
    if _refines(estimator) and not source.again:
        raise ValueError(
            f'refine="nystrom" reads the data twice, but {source.name} can be read only once; '
            "give a function that makes the iterator."
        )
    try:
        _ = _in_one_pass(clone(estimator)).partial_fit  # where it is missing its error says why
    except AttributeError as error:
        name, reason = type(estimator).__name__, error.__cause__ or error
        raise TypeError(f"{name} cannot be fitted block by block: {reason}") from error
    if not hasattr(estimator, "_fix_bandwidth"):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted block by block: it is no estimator of "
            "rskpca; give its own partial_fit the blocks of open_source(...)."
        )


def _started(estimator: Any, source: Source) -> Any:
    """A copy for the stream: its bandwidth is that of the whole data, where it can be."""
    return _in_one_pass(_settled(estimator, source) if source.again else clone(estimator))


def _settled(estimator: Any, source: Source) -> Any:
    try:  # a bandwidth that is a number needs no rows
        empty = Rows(np.empty((0, source.n_features)), np.empty(0))
        return estimator._fix_bandwidth(empty)
    except ValueError:
        weights = source.weights()
        if weights is not None:
            check.sample_weights(weights, len(weights))
        rows: Any = _RowsOf(source)
        return estimator._fix_bandwidth(Rows(rows, weights, weights is not None))  # type: ignore[arg-type]


class _RowsOf:
    """The rows of a source as an array, of which those are read that are asked for."""

    def __init__(self, source: Source, numbers: NDArray[np.intp] | None = None) -> None:
        self._source, self._numbers = source, numbers
        n_rows = source.counted() if numbers is None else len(numbers)
        self.shape = n_rows, source.n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: NDArray[Any]) -> Any:
        """A view of some rows by a mask; the rows themselves by their numbers."""
        if rows.dtype == np.bool_:
            return _RowsOf(self._source, np.flatnonzero(rows))
        return self._source.take(rows if self._numbers is None else self._numbers[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[np.arange(len(self))], dtype=dtype)


def _stream(model: Any, start: int, source: Source, notes: Checkpoint, progress: Progress) -> None:
    """Count all rows from ``start`` on."""
    rows, blocks = start, read_ahead(source.blocks(start))
    with (
        closing(blocks),
        shown(progress, source, type(model).__name__, start) as show,
        config_context(assume_finite=True),  # a source checks its blocks
    ):
        for block in blocks:
            if block.counts:
                model.partial_fit(block.rows, sample_weight=block.weights)
            rows = block.stop
            show(rows, n_centers(model))
            notes.offer(model, rows)
    if not hasattr(model, "n_features_in_"):  # no block had weight
        check.sample_weights(np.zeros(1), 1)  # so that the error is that of fit
    notes.write(model, rows, finished=True)


def n_centers(model: Any) -> int:
    """How many centers a model has so far."""
    last = model[-1] if isinstance(model, Pipeline) else model
    inner = getattr(last, "embedding_", last)
    if hasattr(inner, "n_centers_"):
        return int(inner.n_centers_)
    return int(inner.reduced_set_.n_centers) if hasattr(inner, "reduced_set_") else 0


def _finished(model: Any, estimator: Any, source: Source) -> Any:
    """The model with the parameters that were asked for, refined if they say so."""
    model.set_params(**clone(estimator).get_params(deep=False))
    embedding = getattr(model, "embedding_", model)
    getattr(embedding, "density_", embedding).__dict__.pop("labels_", None)  # of the last block
    if _refines(model):
        embedding.set_params(refine=_inside(model).refine)
        with closing(read_ahead(source.blocks())) as blocks:
            embedding.refine_on((block.rows, block.weights) for block in blocks if block.counts)
    if source.feature_names is not None:
        model.feature_names_in_ = np.array(source.feature_names, dtype=object)
    return model
