"""The classes that a model file can contain, and the values stored for their objects.

The stored values are derived from the class definitions. An object is stored as the arguments of
its constructor, and an estimator as its parameters and annotated attributes. Each value must match
its annotation, and numbers must be finite and in range. Constructors check that the values of an
object are consistent.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from functools import cache
from numbers import Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from .. import baselines, certificate, density, embedding, kernels, spectral
from .._core.partition import Partition
from .._core.sparse import is_sparse
from .._core.subspace import Subspace
from ..baselines.sparse import SparseModel
from ..density._aging import AgingCover
from ..density.fading import FadingStream
from ..density.window import WindowRows, WindowStream
from ..embedding._precomputed import PrecomputedSystem
from ..model import FittedModel
from ..pairs import Estimate
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample
from ..spectral.means import Basis
from ..spectral.neighbours import NeighbourGraph
from ..spectral.operators import Extensible
from ._container import refuse

Array = NDArray[np.floating]

_OPERATORS = (
    spectral.Plain, spectral.FittedCentered, spectral.Shifted, spectral.FittedMarkov,
)  # fmt: skip
DENSITIES = (
    baselines.UniformDensity, density.FadingDensity, density.FastParzenDensity,
    density.HerdingDensity, density.KMeansDensity, density.ParingDensity,
    density.ReweightedDensity, density.ShadowDensity, density.WindowDensity,
)  # fmt: skip
EMBEDDINGS = (
    baselines.SparseKernelPCA, baselines.SubsampledKernelPCA, baselines.WeightedNystromKernelPCA,
    embedding.CompressedKernelPCA, embedding.DiffusionMaps, embedding.KernelPCA,
    embedding.KernelPCANovelty, embedding.LaplacianEigenmaps, embedding.NormalizedCut,
    embedding.NystromKernelPCA, embedding.ReducedSetKernelPCA,
)  # fmt: skip
_OTHERS = (
    AgingCover, Basis, Estimate, FadingStream, KDTree, NeighbourGraph, Partition, Pipeline,
    PrecomputedSystem, ReducedSet, RowSample, StandardScaler, Statistics, Subspace, WindowRows,
    WindowStream,
    certificate.Certificate, certificate.Level, kernels.Gaussian, kernels.Laplacian,
    kernels.NamedKernel, spectral.EigenSystem, spectral.Moments,
)  # fmt: skip

# No other classes are ever instantiated from a file.
CLASSES: dict[str, Any] = {
    cls.__name__: cls for cls in (*_OPERATORS, *DENSITIES, *EMBEDDINGS, *_OTHERS)
}

# Attributes that are recomputed when needed, and attributes that may be missing.
_DERIVED = frozenset({"_cover_", "_model_", "_set_", "_sklearn_version", "_solved_"})
_OPTIONAL = frozenset(
    {
        "feature_names_in_", "labels_", "_row_labels_", "covariance_", "covariances_", "_merged_",
        "subspace", "kind", "alpha", "dual_coef_", "X_transformed_fit_", "diagonal_sum",
        "in_feature_space",
        "removed", "expected",  # missing from samples in older files
        "cut", "labels", "method",  # missing from older certificates
    }
)  # fmt: skip
_FEATURES = {"n_features_in_": int, "feature_names_in_": NDArray[np.object_]}
_OF_SCALER = dict.fromkeys(("mean_", "var_", "scale_"), Array | None)
_COUNTS = float | Array | NDArray[np.integer]
# Types for classes without annotations.
_TYPES: dict[type, dict[str, Any]] = {
    KDTree: {"data": Array},
    Pipeline: {},
    StandardScaler: {**_FEATURES, **_OF_SCALER, "n_samples_seen_": _COUNTS},
}

# Arrays that can be float32, like the data; all other real arrays are float64.
_DATA = frozenset(
    {"X", "basis", "centers", "landmarks_", "points", "rows", *_OF_SCALER, "n_samples_seen_"}
)
_MAY_BE_INFINITE = frozenset((
    "ell", "ell_", "mmd", "operator", "eigenvalue", "time",
    "threshold",  # infinite if the sample contains all rows
    "certain_angles", "likely_angles",  # can also be NaN
))  # fmt: skip
_NOT_NEGATIVE = (
    "confidence", "diagonal_sum", "ell", "ell_", "estimate", "expected", "half_life", "keys",
    "limit", "lost", "n_isolated", "n_samples", "n_samples_seen_", "noise", "position", "radius",
    "removed", "salt", "squared", "threshold", "time", "total", "weights",
)  # fmt: skip
_POSITIVE = (
    "better_components", "n_centers", "n_features", "n_features_in_", "n_rows", "patience", "size",
)  # fmt: skip
_LEAST = {**dict.fromkeys(_NOT_NEGATIVE, 0), **dict.fromkeys(_POSITIVE, 1)}
# Differences of row numbers must fit into 64 bits, and the square of a total must be finite.
_LARGEST = {
    "n_rows": 2**61, "patience": 2**62, "position": 2**61, "salt": 2**64 - 1, "size": 2**61,
    "total": 1e150,
}  # fmt: skip


def class_of(value: Any, where: str) -> Any:
    """Return the class of an object, or raise an error if it cannot be saved."""
    cls = type(value)
    if CLASSES.get(cls.__name__) is cls:
        return cls
    if isinstance(value, kernels.AnyKernel):
        refuse(
            f"{where} is a {cls.__name__} with a custom function, but a model file cannot contain "
            "code. Use Gaussian, Laplacian or NamedKernel, or save the model with pickle"
        )
    if isinstance(value, np.random.RandomState | np.random.Generator):
        refuse(f"{where} is a {cls.__name__}, which cannot be saved; use an integer seed")
    if is_sparse(value):
        refuse(
            f"{where} is a sparse array, but a model file can contain only dense points. Fit the "
            "model with dense rows, for example X.toarray(), or save it with pickle"
        )
    if callable(value):
        refuse(f"{where} is a function, but a model file cannot contain code")
    refuse(f"{where} is a {cls.__module__}.{cls.__name__}, which cannot be saved")


# ------------------------------------------------------------------ types


@cache
def _parameters(cls: Any) -> frozenset[str]:
    return frozenset(cls._get_param_names()) if issubclass(cls, BaseEstimator) else frozenset()


@cache
def value_types(cls: Any) -> dict[str, Any]:
    """Return the types of the stored values of an object, excluding parameters."""
    if cls in _TYPES:
        return _TYPES[cls]
    if issubclass(cls, tuple):
        return get_type_hints(cls)
    if dataclasses.is_dataclass(cls):
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.init}
    if not issubclass(cls, BaseEstimator):
        return {k: v for k, v in get_type_hints(cls.restored).items() if k != "return"}
    learned = {
        name: hint
        for name, hint in get_type_hints(cls).items()
        if name.endswith("_")
        and name not in _DERIVED
        and not isinstance(inspect.getattr_static(cls, name, None), property)
    }
    if issubclass(cls, embedding.KernelEmbedding):
        learned["model_"] = dict[str, Any] | None
    if issubclass(cls, embedding.NystromKernelPCA):
        del learned["density_"]
    return {} if issubclass(cls, kernels.AnyKernel) else {**_FEATURES, **learned}


def check_values(cls: Any, values: dict[str, Any]) -> None:
    """Check the names and types of an object's values, excluding parameters."""
    types, names = value_types(cls), set(values) - _parameters(cls)
    if issubclass(cls, BaseEstimator) and "_sklearn_output_config" in names:
        _check_output_config(values["_sklearn_output_config"])
        names.remove("_sklearn_output_config")
    if unknown := names - set(types):
        refuse(f"unknown attribute {', '.join(sorted(unknown)):.100}")
    missing = set(types) - _OPTIONAL - names
    if missing and (names or not issubclass(cls, BaseEstimator)):  # otherwise it is not fitted
        refuse(f"{', '.join(sorted(missing))} is missing")
    for name, hint in types.items():
        if name in names:
            check_value(name, values[name], hint, empty=cls is RowSample)


def _check_output_config(config: Any) -> None:
    """Check the configuration stored by ``set_output``."""
    allowed = ({}, *({"transform": kind} for kind in ("default", "pandas", "polars")))
    if config not in allowed:
        refuse(f"_sklearn_output_config must be a set_output configuration, got {config!r:.60}")


def check_value(name: str, value: Any, hint: Any, *, empty: bool = False) -> None:
    """Check the type of a value. Numbers must be finite and in range, and kernels resolved.

    An array must not be empty unless ``empty`` is True.
    """
    if not _matches(value, hint):
        wanted = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
        refuse(f"{name} must be of type {wanted:.80}, got {value!r:.60}")
    if isinstance(value, kernels.RadialKernel):
        _ = value.scale  # raises unless the bandwidth is a number
    elif isinstance(value, kernels.NamedKernel):
        value.check()
    elif isinstance(value, BaseEstimator) and not is_fitted(value):
        refuse(f"{name} must be fitted")
    elif isinstance(value, Real | np.ndarray):
        _check_numbers(name, np.asarray(value), empty)


def _check_numbers(name: str, numbers: NDArray[Any], empty: bool) -> None:
    if numbers.dtype.kind not in "iufc":
        return
    if 0 in numbers.shape and not empty:
        refuse(f"{name} must not be empty, got shape {numbers.shape}")
    if name not in _MAY_BE_INFINITE and not np.isfinite(numbers).all():
        refuse(f"{name} must be finite, but contains NaN or infinity")
    if name in _LEAST and not (numbers >= _LEAST[name]).all():
        refuse(f"{name} must be at least {_LEAST[name]}, got {numbers.min()!r}")
    if name in _LARGEST and not (numbers <= _LARGEST[name]).all():
        refuse(f"{name} must be at most {_LARGEST[name]}, got {numbers.max()!r}")
    if numbers.dtype == np.float32 and name not in _DATA:
        refuse(f"{name} must be float64, got float32")


def _matches(value: Any, hint: Any) -> bool:
    """Return True if a value matches a type annotation."""
    origin, arguments = get_origin(hint), get_args(hint)
    alias = getattr(origin, "__value__", None)  # NDArray is a type alias from NumPy 2.5 on
    if alias is not None:
        return _matches(value, alias[arguments])
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_matches(value, option) for option in arguments)
    if origin is np.ndarray:
        kind = get_args(arguments[1])[0]
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, kind)
    if origin is tuple:
        return type(value) is tuple and all(_matches(item, arguments[0]) for item in value)
    if origin is dict:
        return type(value) is dict and all(_matches(item, arguments[1]) for item in value.values())
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _OPERATORS if hint is Extensible else hint)


# ------------------------------------------------------------------ objects and values


def take_values(value: Any) -> dict[str, Any]:
    """Return the values to store for an object."""
    if isinstance(value, WindowStream | FadingStream):
        value = value.compacted()
    cls: Any = type(value)
    if not issubclass(cls, BaseEstimator):
        return {name: getattr(value, name) for name in value_types(cls)}
    values = {k: held for k, held in value.__getstate__().items() if k not in _DERIVED}
    if isinstance(value, embedding.KernelEmbedding) and is_fitted(value):
        model = current_model(value)
        values["model_"] = None if model is None else _model_values(model)
    return values


def make_object(cls: Any, values: dict[str, Any]) -> Any:
    """Create an object from validated values."""
    if not issubclass(cls, BaseEstimator):
        return cls.restored(**values) if "restored" in vars(cls) else cls(**values)
    made = cls(**{name: held for name, held in values.items() if name in _parameters(cls)})
    vars(made).update({name: held for name, held in values.items() if name != "model_"})
    if "model_" in values:
        made._solved_ = None
        if values["model_"] is not None:
            made.model_ = _make_model(made, values["model_"])
    return made


def is_fitted(estimator: Any) -> bool:
    """Return True if an estimator has been fitted."""
    return "n_features_in_" in vars(estimator)


def reduced_set_of(estimator: Any) -> ReducedSet:
    """Return the reduced set of a fitted estimator, or its landmarks."""
    if isinstance(estimator, embedding.KernelPCANovelty | embedding.KernelPCA):
        return reduced_set_of(estimator.embedding_)
    if isinstance(estimator, embedding.CompressedKernelPCA):
        return estimator.model_.reduced_set
    if isinstance(estimator, embedding.NystromKernelPCA):
        return estimator._landmarks_
    holder = estimator.density_ if isinstance(estimator, embedding.KernelEmbedding) else estimator
    return holder.reduced_set_


def current_model(estimator: Any) -> FittedModel | None:
    """Return the model of an embedding, or None if it is outdated because the data have changed."""
    solved = estimator._solved_
    return None if solved is None or solved[0] is not estimator._summary() else solved[1]


def _model_values(model: FittedModel) -> dict[str, Any]:
    """Return the model fields that the estimator does not store; None marks a repeated object."""
    cls: Any = type(model)
    shared = ("kernel", "reduced_set")
    values = {name: getattr(model, name) for name in value_types(cls) if name not in shared}
    values["evaluated"] = None if model.evaluated is model.system else model.evaluated
    values["known"] = None if model.known is model.reduced_set else model.known
    return values


def _make_model(estimator: Any, values: dict[str, Any]) -> FittedModel:
    cls = SparseModel if isinstance(estimator, baselines.SparseKernelPCA) else FittedModel
    own = reduced_set_of(estimator)
    values = {**values, "kernel": estimator.kernel_, "reduced_set": own}
    for name, same in (("evaluated", values.get("system")), ("known", own)):
        values[name] = same if values.get(name) is None else values[name]
    check_values(cls, values)
    return cls(**values)
