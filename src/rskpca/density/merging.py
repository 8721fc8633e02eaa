"""Merge fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from sklearn.utils.validation import check_is_fitted

Model = TypeVar("Model")


@runtime_checkable
class Mergeable(Protocol):
    """A density, embedding or detector whose fitted models can be merged."""

    def _merge(self, others: Sequence[Any]) -> Self: ...


def merge(first: Model, *others: Model) -> Model:
    """Merge fitted models into one model of their combined data, without needing the data.

    Each center of a later model joins the first center of an earlier model that is closer than the
    radius; the remaining centers are appended in order. Because the centers of ``first`` do not
    move, points are within twice the radius of their center, regardless of how many models are
    merged in one call. The certificate of the result uses the resulting radius.

    The sums of landmark models are added, so the result is that of a single fit to all rows, up
    to rounding.

    Parameters
    ----------
    first : density or embedding
        A fitted ``ShadowDensity``, an embedding based on one, a ``NystromKernelPCA`` with
        ``extension="landmarks"``, a ``KernelPCA`` that keeps such an embedding, or a
        ``KernelPCANovelty``. The result has the same parameters.
    *others : density or embedding
        Fitted models of the same class, with the same kernel and features, and with the same
        landmarks if they have any.

    Returns
    -------
    density or embedding
        A new model with the combined weights; the given models are not changed. ``partial_fit`` can
        continue from it, but ``forget`` is available only for landmark models, because it is no
        longer known which center counted a row.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ReducedSetKernelPCA, merge
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> parts = [ReducedSetKernelPCA(2, bandwidth=2.0).fit(part) for part in np.split(X, 4)]
    >>> merge(*parts).reduced_set_.n_samples
    1000.0
    """
    models: tuple[Any, ...] = (first, *others)
    _check_alike(models)
    merged = models[0]._merge(models[1:])
    merged.n_features_in_ = models[0].n_features_in_
    if "feature_names_in_" in vars(first):
        merged.feature_names_in_ = models[0].feature_names_in_
    return merged


def _check_alike(models: tuple[Any, ...]) -> None:
    if len(models) < 2:
        raise ValueError("merge takes at least two fitted models, got one.")
    for i, model in enumerate(models):
        if not isinstance(model, Mergeable):
            raise TypeError(
                f"{type(model).__name__} cannot be merged; merge takes a ShadowDensity, an "
                "embedding based on one, or a NystromKernelPCA."
            )
        if type(model) is not type(models[0]):
            raise TypeError(
                "merge requires models of the same class, but model 0 is a "
                f"{type(models[0]).__name__} and model {i} is a {type(model).__name__}."
            )
        check_is_fitted(model)
        _check_features(models[0], model, i)
        _check_kernels(models[0], model, i)


def _check_features(first: Any, other: Any, i: int) -> None:
    if _features(first) != _features(other):
        raise ValueError(
            f"merge requires models with the same features, but model 0 has {_features(first)} and "
            f"model {i} has {_features(other)}."
        )


def _features(model: Any) -> str:
    names = vars(model).get("feature_names_in_")
    return f"{model.n_features_in_} without names" if names is None else str(list(names))


def _check_kernels(first: Any, other: Any, i: int) -> None:
    kernels = [vars(model).get("kernel_") for model in (first, other)]
    if kernels[0] is not None and not kernels[0].same_as(kernels[1]):
        raise ValueError(
            f"merge requires models with the same kernel, but model 0 has {kernels[0]!r} and model "
            f"{i} has {kernels[1]!r}; fit all of them with the same parameters, such as "
            f"kernel={kernels[0]!r}."
        )
