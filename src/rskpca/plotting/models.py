"""What a picture needs to know of a fitted model, whichever it is."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, resample
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel

Array = NDArray[np.floating]


class Points(NamedTuple):
    """The few points of a model, and their weights where they have any."""

    centers: Array
    weights: Array | None


def split(model: Any) -> tuple[Any, Any]:
    """What comes before the embedding (or density), or None, and the fitted embedding itself."""
    before = None
    if isinstance(model, Pipeline):
        before, model = (model[:-1] if len(model) > 1 else None), model[-1]
    check_is_fitted(model)
    model = getattr(model, "embedding_", model)
    if not hasattr(model, "kernel_"):
        raise TypeError(
            "the model must be an embedding or a density of rskpca, or a pipeline that ends in "
            f"one, got {type(model).__name__}."
        )
    return before, model


def has_coordinates(embedding: Any) -> None:
    """An error for a density, which has no eigenfunctions."""
    if isinstance(embedding, BaseDensity):
        raise TypeError(
            f"{type(embedding).__name__} is a density and has no components; fit an embedding "
            "such as ReducedSetKernelPCA(density=...)."
        )


def points_of(embedding: Any) -> Points:
    """Centers with their weights; landmarks or a basis without."""
    if hasattr(embedding, "reduced_set_"):
        return Points(embedding.reduced_set_.centers, embedding.reduced_set_.weights)
    return Points(getattr(embedding, "landmarks_", embedding.basis_), None)


def n_samples_of(embedding: Any) -> float | None:
    """n, where the model knows it."""
    return embedding.reduced_set_.n_samples if hasattr(embedding, "reduced_set_") else None


def ell_of(embedding: Any) -> float | None:
    """The ell of a shadow density, as it is now; None of any other."""
    density = getattr(embedding, "density_", embedding)
    if not hasattr(density, "ell_"):
        return None
    spacing = density.reduced_set_.spacing
    return float(density.kernel_.scale / spacing) if spacing else np.inf


def kernel_of(embedding: Any) -> RadialKernel:
    """With a number for its bandwidth."""
    return embedding.kernel_


def some_rows(X: Any, count: int, random_state: Any, *columns: Any) -> list[Any]:
    """At most so many rows of X and of columns beside it, drawn at random."""
    check.positive_integer("n_rows", count)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    for column in columns:
        if len(column) != n:
            raise ValueError(f"a colour needs one value a row, {n:,}, got {len(column):,}.")
    if n <= count:
        return [X, *columns]
    chosen = resample(X, *columns, replace=False, n_samples=count, random_state=random_state)
    return chosen if columns else [chosen]


def numbers(before: Any, X: Any) -> Array:
    """Rows as the embedding sees them."""
    rows = X if before is None else before.transform(X)
    return check_array(rows, dtype=check.FLOATS, input_name="X")


def embedded(embedding: Any, rows: Array) -> Array:
    """Coordinates as an array, of rows whose columns need no names to be known."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(embedding.transform(rows))


def feature_names(embedding: Any, given: Any = None) -> list[str]:
    """The names given, or those of the fit, or numbers."""
    count = int(embedding.n_features_in_)
    names = getattr(embedding, "feature_names_in_", None) if given is None else given
    if names is None:
        return [f"feature {j + 1}" for j in range(count)]
    if len(names) != count:
        raise ValueError(
            f"feature_names must be {count} names, one for each feature, got {len(names)}."
        )
    return [str(name) for name in names]
