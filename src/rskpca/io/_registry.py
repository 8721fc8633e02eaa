"""Every class that a model file may hold, and what its objects must be like.

A new estimator needs an entry: its class, and a field for each name that its
``fit`` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import baselines, density, embedding, kernels
from ..density.fading import FadingStream
from ..density.window import WindowStream
from ..embedding import NystromKernelPCA
from ..model import FittedModel
from ._entries import (
    ALWAYS,
    FEATURES,
    Entry,
    EstimatorEntry,
    estimator,
    restored,
    sound_parameters,
    state_of,
)
from ._fields import (
    Field,
    Sizes,
    array,
    doubles,
    every,
    flag,
    floats,
    having,
    is_of,
    labels,
    maybe,
    nothing,
    number,
    sequence,
    text,
    thing,
)
from ._parts import PARTS, fitted_kernel
from ._streams import STREAMS, passing
from .errors import refuse

# ------------------------------------------------------------------ solved embeddings


def _embedding_state(embedding: Any) -> dict[str, Any]:
    """Return the state with the model alone, or without one that the data have outdated."""
    values = state_of(embedding)
    solved = values.get("_solved_")
    if solved is not None:
        values["_solved_"] = solved[1] if solved[0] is embedding._summary() else None
    return values


def _bind_model(embedding: Any) -> None:
    """Check the parameters, and let the model share the reduced set of the embedding."""
    sound_parameters(embedding)
    model = vars(embedding).get("_solved_")
    if isinstance(model, FittedModel):
        landmarks = isinstance(embedding, NystromKernelPCA)
        own = embedding._landmarks_ if landmarks else embedding.density_.reduced_set_
        if not landmarks and "_stream_" in vars(embedding.density_) and model.reduced_set == own:
            own = embedding.density_._set_ = model.reduced_set  # the centers are shared
        known: Any = None if model.known is model.reduced_set else model.known
        if known is not None and np.array_equal(known.centers, own.centers):
            known = own
        embedding.model_ = replace(model, kernel=embedding.kernel_, reduced_set=own, known=known)


_DENSITIES = (*(n for n in density.__all__ if n not in ("BaseDensity", "merge")), "UniformDensity")
_density = thing(*_DENSITIES, m="m", d="d")


def _walker(cls: type, wanted: str, holds: Callable[[Any], bool]) -> EstimatorEntry:
    """Return the entry of an embedding by a random walk."""
    model = every(
        thing("FittedModel", d="d"),
        having("the operator of a walk", lambda m: not m.is_kernel_pca),
        having(wanted, holds),
    )
    learnt = {"kernel_": fitted_kernel, "density_": _density, "_solved_": maybe(model)}
    return estimator(cls, learnt, settle=_bind_model, take=_embedding_state)


_WALKS = (
    _walker(embedding.DiffusionMaps, "a time", lambda m: m.time is not None),
    _walker(embedding.LaplacianEigenmaps, "no partition", lambda m: m.partition is None),
    _walker(embedding.NormalizedCut, "a partition", lambda m: m.partition is not None),
)


# ------------------------------------------------------------------ densities and kernel PCA


_components = every(
    having("the operator of a kernel PCA", lambda s: not is_of(s.operator, "FittedMarkov")),
    having("positive eigenvalues", lambda s: (s.eigenvalues > 0).all()),
    having("no graph", lambda s: s.graph is None),
)


def _model(name: str = "FittedModel") -> Field:
    """Return the field of a model of a kernel PCA."""

    def check(model: Any, sizes: Sizes) -> None:
        _components(model.system, sizes)
        _components(model.evaluated, sizes)

    return maybe(every(thing(name, d="d"), check))


_counted = having(
    "a radius, a spacing, and sums over the points",
    lambda s: s.radius is not None and s.spacing is not None and s.displacement is not None,
)
_reduced_set = thing("ReducedSet", m="m", d="d")
_CHOSEN: dict[str, Field] = {"kernel_": fitted_kernel, "reduced_set_": _reduced_set}
_LABELS: dict[str, Field] = {"labels_": labels}
_EMBEDDED: dict[str, Field] = {
    "kernel_": fitted_kernel,
    "density_": _density,
    "_solved_": _model(),
}
_LANDMARKS: dict[str, Field] = {
    "kernel_": fitted_kernel,
    "landmarks_": floats("m", "d"),
    "_landmarks_": _reduced_set,
    "_moments_": maybe(thing("Moments", d="d")),
    "_solved_": _model(),
}
_COMPONENTS = (
    "ReducedSetKernelPCA", "NystromKernelPCA", "WeightedNystromKernelPCA", "SubsampledKernelPCA",
    "SparseKernelPCA",
)  # fmt: skip


def _solvable(model: Any) -> None:
    _bind_model(model)
    if hasattr(model, "n_features_in_") and model._solved_ is None and model._moments_ is None:
        refuse("neither the eigenproblem nor what it is solved from is there")


def _embedding(cls: type, learnt: dict[str, Field], settle: Any) -> EstimatorEntry:
    return estimator(cls, learnt, settle=settle, take=_embedding_state)


def _detector_state(detector: Any) -> dict[str, Any]:
    return {name: value for name, value in state_of(detector).items() if name != "_solved_"}


_MODELS = (
    estimator(
        density.ShadowDensity,
        {"kernel_": fitted_kernel, "ell_": number(0, infinite=True),
         "reduced_set_": every(_reduced_set, _counted)},
        {**_LABELS, "_merged_": flag},
    ),
    passing(density.WindowDensity, WindowStream),
    passing(density.FadingDensity, FadingStream),
    estimator(density.KMeansDensity, _CHOSEN, _LABELS),
    estimator(baselines.UniformDensity, _CHOSEN, _LABELS),
    estimator(density.ParingDensity, _CHOSEN, _LABELS),
    estimator(density.HerdingDensity, _CHOSEN, _LABELS),
    estimator(
        density.FastParzenDensity,
        _CHOSEN,
        {**_LABELS, "covariances_": doubles("m", "d", "d")},
    ),
    estimator(density.ReweightedDensity, _CHOSEN, {**_LABELS, "covariance_": doubles("d", "d")}),
    _embedding(embedding.ReducedSetKernelPCA, _EMBEDDED, _bind_model),
    _embedding(baselines.SubsampledKernelPCA, _EMBEDDED, _bind_model),
    _embedding(
        baselines.SparseKernelPCA,
        {**_EMBEDDED, "_solved_": _model("SparseModel")},
        _bind_model,
    ),
    _embedding(embedding.NystromKernelPCA, _LANDMARKS, _solvable),
    _embedding(baselines.WeightedNystromKernelPCA, _LANDMARKS, _solvable),
    estimator(
        embedding.KernelPCANovelty,
        {"embedding_": thing(*_COMPONENTS, m="m", d="d"), "_offset_": maybe(number())},
        settle=sound_parameters,
        take=_detector_state,
    ),
    estimator(
        embedding.CompressedKernelPCA,
        {"eigensystem": every(thing("EigenSystem", m="m", d="d", r="r"), _components),
         "axis_errors": floats("r")},
    ),
)  # fmt: skip


# ------------------------------------------------------------------ scikit-learn's own


def _vars(value: Any) -> dict[str, Any]:
    return dict(vars(value))


def _steps(value: Any, sizes: Sizes) -> None:
    """Scalers, then one of ours; those that are fitted have the same features."""
    sequence(list, having("a name and an estimator", lambda s: type(s) is tuple and len(s) == 2))(
        value, sizes
    )
    for place, (name, step) in enumerate(value):
        text(name, sizes)
        ours = place == len(value) - 1 and is_of(step, *_ESTIMATORS)
        if not ours and not is_of(step, "StandardScaler"):
            refuse(f"may have StandardScalers, and at last one of rskpca's, got {step!r:.60}")
        for size in {"d", "m"} & set(sizes.of(step)):
            sizes.tie(size, sizes.of(step)[size])


def _samples_seen(value: Any, sizes: Sizes) -> None:
    """How many rows, or how many of each feature."""
    (array("iqfd", "d") if np.ndim(value) else number(0))(value, sizes)


_THEIRS = (
    EstimatorEntry(
        "sklearn.preprocessing",
        "StandardScaler",
        {
            **FEATURES,
            "mean_": maybe(floats("d")),
            "var_": maybe(floats("d")),
            "scale_": maybe(floats("d")),
            "n_samples_seen_": _samples_seen,
        },
        ALWAYS,
        _vars,
        restored,
    ),
    EstimatorEntry(
        "sklearn.pipeline",
        "Pipeline",
        {"steps": _steps, "memory": nothing, "transform_input": nothing, "verbose": flag},
        {"_sklearn_output_config": ALWAYS["_sklearn_output_config"]},
        _vars,
        restored,
    ),
)

_ALL = (*PARTS, *STREAMS, *_WALKS, *_MODELS, *_THEIRS)
REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ALL}
_ESTIMATORS = tuple(entry.name for entry in (*_WALKS, *_MODELS))


def entry_of(value: Any, where: str) -> Entry:
    """The entry of an object's class; an error that says what to do where there is none."""
    cls = type(value)
    entry = REGISTRY.get(cls.__name__)
    if entry is not None and entry.cls is cls:
        return entry
    if isinstance(value, kernels.RadialKernel):
        refuse(
            f"{where} is a {cls.__name__} with a function of your own, and a model file holds no "
            "code. Gaussian and Laplacian can be saved; for others keep the data, or use pickle"
        )
    if isinstance(value, np.random.RandomState | np.random.Generator):
        refuse(f"{where} is a {cls.__name__}, which no model file takes; give a whole number")
    if callable(value):
        refuse(f"{where} is a function, and a model file holds no code")
    refuse(f"{where} is a {cls.__module__}.{cls.__name__}, which no model file takes")
