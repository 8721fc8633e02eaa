"""Apply models to Dask collections lazily, block by block."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ... import _validation as check
from .._passes import unwrap_known
from ._blocks import import_dask, in_block, is_frame, row_blocks, with_location

Array = NDArray[Any]


def transform(model: Any, X: Any) -> Any:
    """Return the coordinates of the rows of a Dask collection.

    Parameters
    ----------
    model : fitted estimator
        Any estimator with a ``transform`` method.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The points to transform.

    Returns
    -------
    dask.array.Array or dask.dataframe.DataFrame
        The lazily computed coordinates, with the same blocks (and index) as X. They use a copy of
        the model, so later changes to the model have no effect.
    """
    return _apply(model, "transform", X)


def predict(model: Any, X: Any) -> Any:
    """Return the cluster of each row of a Dask collection, or 1 for inliers and -1 for outliers.

    Parameters
    ----------
    model : fitted estimator
        Any estimator with a ``predict`` method, such as NormalizedCut or KernelPCANovelty.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The points to label.

    Returns
    -------
    dask.array.Array or dask.dataframe.Series
        One lazily computed number per row.
    """
    return _apply(model, "predict", X)


def score_samples(model: Any, X: Any) -> Any:
    """Return the scores of the rows of a Dask collection.

    Parameters
    ----------
    model : fitted estimator
        Any estimator with a ``score_samples`` method, such as ShadowDensity or KernelPCANovelty.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The points to score.

    Returns
    -------
    dask.array.Array or dask.dataframe.Series
        One lazily computed number per row.
    """
    return _apply(model, "score_samples", X)


def _apply(model: Any, method: str, X: Any) -> Any:
    check_is_fitted(model)
    if not hasattr(model, method):
        raise TypeError(f"{type(model).__name__} has no {method} method.")
    X = row_blocks(X)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} was fitted with "
            f"{model.n_features_in_}."
        )
    return _apply_to_frame(model, method, X) if is_frame(X) else _apply_to_array(model, method, X)


def _shared(model: Any) -> Any:
    """Return a graph node with a copy of the model, which a later ``partial_fit`` cannot change."""
    name = f"rskpca-model-{uuid4().hex}"
    return import_dask().delayed(deepcopy(model), name=name, traverse=False)


def _apply_to_array(model: Any, method: str, X: Any) -> Any:
    point = _known_point(model, np.empty((0, X.shape[1]), X.dtype))
    empty = _empty_answer(model, method, point)
    shape: Any = {"drop_axis": 1}
    if empty.ndim == 2:
        shape = {"chunks": (X.chunks[0], empty.shape[1:])}
    return X.map_blocks(
        _answer_block, model=_shared(model), method=method, empty=empty, meta=empty,
        dtype=empty.dtype, name=f"rskpca-{method}-{uuid4().hex}", **shape,
    )  # fmt: skip


def _apply_to_frame(model: Any, method: str, X: Any) -> Any:
    like = X._meta
    point = type(like)(_known_point(model, like), columns=like.columns)
    empty = _empty_answer(model, method, point)
    names = model.get_feature_names_out() if empty.ndim == 2 else None
    meta = _as_frame(empty, like, names)
    return X.map_partitions(rskpca_partition, _shared(model), method, empty, names, meta=meta)


def _answer_block(
    rows: Array, *, model: Any, method: str, empty: Array, block_id: tuple[int, ...]
) -> Array:
    """Apply the model to one block, which may be empty."""
    return in_block(block_id[0], _answer, model, method, rows) if len(rows) else empty


def rskpca_partition(frame: Any, model: Any, method: str, empty: Array, names: Any) -> Any:
    """Apply the model to one partition. The Dask dashboard displays the name of this function.

    Errors name the first index of the partition, because partitions are renumbered if only some of
    them are computed.
    """
    if len(frame) == 0:
        return _as_frame(empty, frame, names)
    place = f"partition from index {frame.index[0]}"
    return _as_frame(with_location(place, _answer, model, method, frame), frame, names)


def _answer(model: Any, method: str, rows: Any) -> Array:
    """Return the model's output as an array, regardless of ``set_output``."""
    check.block_rows(rows, model.n_features_in_)
    return np.asarray(getattr(model, method)(rows))


def _empty_answer(model: Any, method: str, point: Any) -> Array:
    """Return an output with no rows, with the dtype and columns of the output for one point."""
    with warnings.catch_warnings():  # after scaling, the point may be far from all centers
        warnings.filterwarnings("ignore", "1 of 1 rows have coordinates 0")
        return _answer(model, method, point)[:0]


def _as_frame(answers: Array, like: Any, names: Any) -> Any:
    """Return a data frame or series with the same index as ``like``."""
    if names is None:
        return like.iloc[:, 0]._constructor(answers, index=like.index)
    return type(like)(answers, index=like.index, columns=names)


def _known_point(model: Any, like: Any) -> Array:
    """Return a valid input point for the model, in the same dtype as ``like``."""
    dtype = check.block_rows(like, model.n_features_in_).dtype
    known = unwrap_known(model)
    if known is None or known.preprocessing is not None:
        return np.zeros((1, model.n_features_in_), dtype)
    return known.reduced_set.centers[:1].astype(dtype)
