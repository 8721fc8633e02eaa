"""Consistency checks between the parts of loaded objects."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from .. import density, embedding, spectral
from .._validation import shapes
from ..certificate import Certificate
from ..density._expiring import ExpiringDensity
from ..embedding._walk import WalkEmbedding
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ._container import refuse
from ._schema import (
    DENSITIES,
    EMBEDDINGS,
    Array,
    check_value,
    current_model,
    is_fitted,
    reduced_set_of,
)

_MAX_LOGARITHM = 2 * 53 * math.log(2)  # twice the largest value; tiny weights are rounded
_SLACK = 2.0  # merging and forgetting round the sums, so only implausible sums are rejected
_MIN_PROBABILITY = 2.0**-55  # a quarter of the smallest value, to allow for rounding


@singledispatch
def check(value: Any) -> None:
    """Check that the parts of an object are consistent, beyond the checks in its constructor."""


@check.register
def _(moments: spectral.Moments) -> None:
    """Check the sums of b(x); the solver relies on ||b(x)||^2 <= k(x, x)."""
    first = 1.001 * math.sqrt(moments.total * moments.diagonal_sum)
    second = 1.001 * moments.diagonal_sum
    if not (np.abs(moments.first).max() <= first and np.abs(moments.second).max() <= second):
        refuse("the values of 'first' and 'second' are not sums of projections")


@check.register
def _(found: ReducedSet) -> None:
    """Check that no row is much farther from its center than the radius."""
    if found.radius is None or found.displacement is None or found.scatter is None:
        return
    limit = _SLACK * found.weights * found.radius
    if not ((found.displacement <= limit) & (found.scatter <= limit * found.radius)).all():
        refuse("displacement and scatter must not be larger than the radius allows")


@check.register
def _(sample: RowSample) -> None:
    """Check that each key is -log(u) / weight, where u is a multiple of 2^-53, up to rounding."""
    if len(sample) > sample.size:
        refuse(f"the sample has {len(sample)} rows, more than its size of {sample.size}")
    if sample.rows.shape[1] == 0:
        refuse("rows must have at least one feature")
    if not sample.threshold > 0 or not (sample.weights > 0).all():
        refuse("the threshold and the weights of the sampled rows must be positive")
    logarithms, kept = sample.weights * sample.keys, sample.probabilities
    if not ((logarithms <= _MAX_LOGARITHM) & (kept >= _MIN_PROBABILITY)).all():
        refuse("the keys of the sampled rows do not match their weights")


@check.register
def _(system: spectral.EigenSystem) -> None:
    n_centers = shapes(system, centers="md", functions="mr", eigenvalues="r")["m"]
    for name, value in vars(system.operator).items():
        if np.ndim(value) and len(value) != n_centers:
            refuse(f"{name} of the operator must have {n_centers} entries, got {len(value)}")


# ------------------------------------------------------------------ estimators


def _check_features(estimator: Any, **found: int) -> None:
    """Check that all parts of a fitted estimator have the same number of features."""
    names = vars(estimator).get("feature_names_in_")
    if names is not None:
        found["feature_names_in_"] = names.size if names.ndim == 1 else 0
    for name, n_features in found.items():
        if n_features != estimator.n_features_in_:
            refuse(
                f"{name} has {n_features} features, but n_features_in_ is "
                f"{estimator.n_features_in_}"
            )


@check.register
def _(estimator: density.BaseDensity) -> None:
    if isinstance(estimator, ExpiringDensity) and estimator.density is not None:
        estimator._check_density(estimator.density)
    if not is_fitted(estimator):
        return
    with np.errstate(over="raise", invalid="raise"):
        found, learned = estimator.reduced_set_, vars(estimator)
    d, m = found.n_features, found.n_centers
    _check_features(estimator, reduced_set_=d)
    if isinstance(estimator, density.ShadowDensity) and (
        found.radius is None or found.spacing is None or found.displacement is None
    ):
        refuse("the reduced set must have a radius, a spacing and displacements")
    if isinstance(estimator, ExpiringDensity):
        aging = estimator._stream_.aging
        _check_indices("_homes_", estimator._homes_, aging.n_rows, "rows")
        if np.count_nonzero(aging.alive) != m:
            refuse("all centers must have positive weights")
    _check_indices("labels_", learned.get("labels_"), m, "centers")
    for name, shape in (("covariances_", (m, d, d)), ("covariance_", (d, d))):
        if name in learned and learned[name].shape != shape:
            refuse(f"{name} must have shape {shape}, got {learned[name].shape}")


def _check_indices(name: str, values: Any, count: int, kind: str) -> None:
    if values is not None and not (values.ndim == 1 and -1 <= values.min() <= values.max() < count):
        refuse(f"{name} must contain indices of the {count} {kind}, or -1")


@check.register
def _(estimator: embedding.KernelEmbedding) -> None:
    if is_fitted(estimator):
        estimator._check_parameters()
        _check_features(estimator, reduced_set=reduced_set_of(estimator).n_features)
        if isinstance(estimator, embedding.NormalizedCut):
            labels = vars(estimator).get("_row_labels_")
            _check_indices("_row_labels_", labels, estimator._size, "clusters")
        if isinstance(estimator, embedding.NystromKernelPCA):
            _check_landmarks(estimator)
        model = current_model(estimator)
        if model is not None:
            _check_model(estimator, model)


def _check_landmarks(estimator: embedding.NystromKernelPCA) -> None:
    moments, centers = estimator._moments_, estimator._landmarks_.centers
    if estimator.landmarks_.shape != centers.shape:
        refuse(f"landmarks_ must have shape {centers.shape}, got {estimator.landmarks_.shape}")
    if moments is None and estimator._solved_ is None:
        refuse("model_ and _moments_ are both missing")
    if moments is not None:
        _check_features(estimator, _moments_=moments.basis.shape[1])


def _check_model(estimator: Any, model: FittedModel) -> None:
    """Check that the estimator and its model solve the same kind of problem."""
    if not isinstance(estimator, WalkEmbedding):
        _check_kernel_pca(model.system)
        _check_kernel_pca(model.evaluated)
    elif model.is_kernel_pca or model.system.centers.shape != model.reduced_set.centers.shape:
        refuse("the model must be a random walk on the centers")
    if isinstance(estimator, embedding.DiffusionMaps) and model.time is None:
        refuse("the model has no diffusion time")
    if isinstance(estimator, embedding.NormalizedCut) and model.partition is None:
        refuse("the model has no partition")


def _check_kernel_pca(system: spectral.EigenSystem) -> None:
    if isinstance(system.operator, spectral.FittedMarkov) or system.graph is not None:
        refuse("the operator of a kernel PCA model must not be a random walk")
    if not (system.eigenvalues > 0).all():
        refuse("the eigenvalues of a kernel PCA model must be positive")


@check.register
def _(estimator: embedding.KernelPCANovelty) -> None:
    if is_fitted(estimator):
        estimator._check_parameters()
        _check_features(estimator, embedding_=estimator.embedding_.n_features_in_)


@check.register
def _(estimator: embedding.CompressedKernelPCA) -> None:
    check_value("eigensystem", estimator.eigensystem, spectral.EigenSystem)
    check_value("axis_errors", estimator.axis_errors, Array)
    if estimator.axis_errors.shape != estimator.eigensystem.eigenvalues.shape:
        refuse("axis_errors must have one number per component")
    _check_kernel_pca(estimator.eigensystem)
    _check_features(estimator, eigensystem=estimator.eigensystem.centers.shape[1])


# ------------------------------------------------------------------ scikit-learn estimators


@check.register
def _(scaler: StandardScaler) -> None:
    if is_fitted(scaler):
        for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
            shape = np.shape(vars(scaler)[name])  # () for None and for a row count
            if shape:
                _check_features(scaler, **{name: shape[0] if len(shape) == 1 else 0})


@check.register
def _(pipeline: Pipeline) -> None:
    """Check that a pipeline consists of scalers followed by one rskpca estimator."""
    if pipeline.memory is not None or pipeline.transform_input is not None:
        refuse("memory and transform_input must be None")
    check_value("verbose", pipeline.verbose, bool)
    check_value("steps", pipeline.steps, list)
    for step in pipeline.steps:
        if type(step) is not tuple or len(step) != 2 or not isinstance(step[0], str):
            refuse(f"steps must be (name, estimator) pairs, got {step!r:.60}")
        allowed = (StandardScaler, *(DENSITIES + EMBEDDINGS) * (step is pipeline.steps[-1]))
        if not isinstance(step[1], allowed):
            refuse(f"steps must be StandardScalers and one rskpca estimator, got {step!r:.60}")
    fitted = [step for _, step in pipeline.steps if is_fitted(step)]
    for step in fitted:
        _check_features(step, previous_step=fitted[0].n_features_in_)


def sizes(model: Any) -> tuple[int | None, int | None]:
    """Return the number of features and the number of centers, each None if unknown."""
    if isinstance(model, ReducedSet):
        return model.n_features, model.n_centers
    if isinstance(model, spectral.EigenSystem):
        return model.centers.shape[1], len(model.centers)
    if isinstance(model, Certificate):
        return None, model.n_centers
    if isinstance(model, Pipeline):
        found = [sizes(step) for _, step in model.steps]
        return next((d for d, _ in found if d), None), next((m for _, m in found if m), None)
    if not isinstance(model, BaseEstimator) or not is_fitted(model):
        return None, None
    points = vars(model).get("embedding_", model)  # None for a precomputed kernel
    known = points is not None and isinstance(model, DENSITIES + EMBEDDINGS)
    return model.n_features_in_, reduced_set_of(model).n_centers if known else None
