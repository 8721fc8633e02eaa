"""Models on Dask collections: lazy, a block at a time."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ... import _validation as check
from ._blocks import in_block, is_frame, located, row_blocks
from ._stages import imported

Array = NDArray[Any]


def transform(model: Any, X: Any) -> Any:
    """Coordinates of the rows of a Dask collection.

    Parameters
    ----------
    model : fitted estimator
        With a ``transform``.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Points.

    Returns
    -------
    dask.array.Array or dask.dataframe.DataFrame
        Lazy, with the blocks of X; a data frame keeps its index. It is of the model as it is
        now: rows that the model is given later change nothing.
    """
    return _applied(model, "transform", X)


def predict(model: Any, X: Any) -> Any:
    """Clusters, or whether points are outliers, for the rows of a Dask collection.

    Parameters
    ----------
    model : fitted estimator
        With a ``predict``, such as NormalizedCut or KernelPCANovelty.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Points.

    Returns
    -------
    dask.array.Array or dask.dataframe.Series
        Lazy, a number a row.
    """
    return _applied(model, "predict", X)


def score_samples(model: Any, X: Any) -> Any:
    """Scores of the rows of a Dask collection.

    Parameters
    ----------
    model : fitted estimator
        With ``score_samples``, such as ShadowDensity or KernelPCANovelty.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Points.

    Returns
    -------
    dask.array.Array or dask.dataframe.Series
        Lazy, a number a row.
    """
    return _applied(model, "score_samples", X)


def _applied(model: Any, method: str, X: Any) -> Any:
    check_is_fitted(model)
    if not hasattr(model, method):
        raise TypeError(f"{type(model).__name__} has no {method}.")
    X = row_blocks(X)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} was fitted to "
            f"{model.n_features_in_}."
        )
    return _on_frame(model, method, X) if is_frame(X) else _on_array(model, method, X)


def _shared(model: Any) -> Any:
    """One node of the graph, with a copy that no later ``partial_fit`` changes."""
    name = f"rskpca-model-{uuid4().hex}"
    return imported().delayed(deepcopy(model), name=name, traverse=False)


def _on_array(model: Any, method: str, X: Any) -> Any:
    point = _known_point(model, np.empty((0, X.shape[1]), X.dtype))
    nothing = _no_answers(model, method, point)
    shape: Any = {"drop_axis": 1}
    if nothing.ndim == 2:
        shape = {"chunks": (X.chunks[0], nothing.shape[1:])}
    return X.map_blocks(
        _of_block, model=_shared(model), method=method, nothing=nothing, meta=nothing,
        dtype=nothing.dtype, name=f"rskpca-{method}-{uuid4().hex}", **shape,
    )  # fmt: skip


def _on_frame(model: Any, method: str, X: Any) -> Any:
    like = X._meta
    point = type(like)(_known_point(model, like), columns=like.columns)
    nothing = _no_answers(model, method, point)
    names = model.get_feature_names_out() if nothing.ndim == 2 else None
    meta = _framed(nothing, like, names)
    return X.map_partitions(rskpca_partition, _shared(model), method, nothing, names, meta=meta)


def _of_block(
    rows: Array, *, model: Any, method: str, nothing: Array, block_id: tuple[int, ...]
) -> Array:
    """The answers for one block, which may be empty."""
    return in_block(block_id[0], _answer, model, method, rows) if len(rows) else nothing


def rskpca_partition(frame: Any, model: Any, method: str, nothing: Array, names: Any) -> Any:
    """The answers for one partition; the dashboard shows the name of this function.

    Errors name its index: partitions have other numbers where only some are computed.
    """
    if len(frame) == 0:
        return _framed(nothing, frame, names)
    place = f"partition from index {frame.index[0]}"
    return _framed(located(place, _answer, model, method, frame), frame, names)


def _answer(model: Any, method: str, rows: Any) -> Array:
    """As an array, whatever ``set_output`` says."""
    check.block_rows(rows, model.n_features_in_)
    return np.asarray(getattr(model, method)(rows))


def _no_answers(model: Any, method: str, point: Any) -> Array:
    """The answers for no rows, by those for a point; of a pipeline it may be far from all."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "1 of 1 rows have coordinates 0")
        return _answer(model, method, point)[:0]


def _framed(answers: Array, like: Any, names: Any) -> Any:
    """A data frame, or a series, with the index of another."""
    if names is None:
        return like.iloc[:, 0]._constructor(answers, index=like.index)
    return type(like)(answers, index=like.index, columns=names)


def _known_point(model: Any, like: Any) -> Array:
    """A point that the model has an answer for, of the dtype that rows like these are read in."""
    dtype = check.block_rows(like, model.n_features_in_).dtype
    inside = getattr(model, "embedding_", model)
    if hasattr(inside, "basis_"):
        return inside.basis_[:1].astype(dtype)
    if hasattr(inside, "reduced_set_"):
        return inside.reduced_set_.centers[:1].astype(dtype)
    return np.zeros((1, model.n_features_in_), dtype)  # a pipeline, a scaler
