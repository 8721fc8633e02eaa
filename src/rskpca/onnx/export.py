"""Convert fitted models to ONNX graphs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._format import missing_package
from ..embedding import CompressedKernelPCA, KernelEmbedding, KernelPCA, KernelPCANovelty
from ..model import FittedEstimator, FittedModel, unwrap
from ..spectral import Multiplied
from .extension import Extension, arithmetic
from .graph import Graph, Value
from .kernel_values import Features, check_kernel

Array = NDArray[np.floating]

_LABEL = np.dtype(np.int64)
_METHODS = (
    "transform", "_embed", "model_", "predict", "decision_function", "score_samples",
    "reconstruction_error",
)  # fmt: skip


def to_onnx(model: Any, *, dtype: Any = np.float32) -> Any:
    """Convert a fitted model to an ONNX graph, for runtimes without Python.

    The graph has one input, ``X`` of shape (rows, n_features) with any number of rows, and one
    output per method: ``transform`` for every embedding; also ``predict`` for
    :class:`~rskpca.NormalizedCut`; ``decision_function`` and ``predict`` for
    :class:`~rskpca.KernelPCANovelty`. It consists of standard operators from opset 18.

    Parameters
    ----------
    model : fitted estimator
        An embedding, a compressed kernel PCA or a novelty detector with a Gaussian or Laplacian
        kernel, or a :class:`~sklearn.pipeline.Pipeline` of scikit-learn scalers and one of these.
    dtype : numpy.float32 or numpy.float64, default=numpy.float32
        The dtype of the input, and of all outputs except labels.

    Returns
    -------
    onnx.ModelProto
        The validated graph, which ``onnx.save(graph, "model.onnx")`` writes to a file. Its
        metadata contain the class, the rskpca version, the kernel, the feature names and the
        dtype used for computations.

    Notes
    -----
    Outputs match those of the model to a relative accuracy of 1e-5 in float32 and 1e-10 in
    float64, even for data far from the origin. A float32 graph computes in float64 where float32
    is not accurate enough: for Laplacian kernels, neighbor graphs, and coefficients that cancel.
    The graph neither validates its input nor emits warnings: the coordinates of a row with NaN
    are NaN.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.onnx import to_onnx
    >>> X = load_digits().data.astype("float32")
    >>> model = ReducedSetKernelPCA(n_components=2, bandwidth=60.0).fit(X)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> (Z,) = session.run(["transform"], {"X": X})
    >>> bool(abs(Z - model.transform(X)).max() < 1e-5 * abs(Z).max())
    True
    """
    if find_spec("onnx") is None:
        raise missing_package("to_onnx", "onnx", "onnx")
    dtype = _check_dtype(dtype)
    fitted = _unwrap(model)
    system, features = fitted.model.evaluated, _features(fitted.preprocessing, dtype)
    check_kernel(system.kernel)
    graph, inside = Graph(), arithmetic(system, dtype)
    x = graph.input("X", dtype)
    extension = Extension.of(system, x.cast(inside), features)
    outputs = []
    for method, value, columns in _answers(fitted.model, extension):
        kind = np.int64 if value.dtype == np.int64 else dtype
        outputs.append((graph.output(value, method, kind), ["rows", *columns]))
    return graph.model((x, system.centers.shape[1]), outputs, _metadata(fitted, inside))


def _check_dtype(dtype: Any) -> np.dtype[Any]:
    try:
        found = np.dtype(object if dtype is None else dtype)
    except TypeError:
        found = np.dtype(object)
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}.")
    return found


def _metadata(fitted: FittedEstimator, inside: np.dtype[Any]) -> dict[str, str]:
    kernel, names = fitted.kernel, fitted.columns
    metadata = {
        "rskpca_version": version("rskpca"),
        "class": type(fitted.estimator).__name__,
        "kernel": f"{type(kernel).__name__}(bandwidth={kernel.scale!r})",
        "arithmetic": inside.name,
    }
    return metadata if names is None else metadata | {"feature_names": json.dumps(names)}


# ------------------------------------------------------------------ supported models


def _unwrap(model: Any) -> FittedEstimator:
    """Unwrap a model, or raise an error if it cannot be expressed as a graph."""
    if isinstance(model, Pipeline):
        steps = [step for step in model.steps if step[1] not in (None, "passthrough")]
        model = Pipeline(steps) if steps else model
    last = model[-1] if isinstance(model, Pipeline) else model
    kinds = KernelEmbedding | KernelPCA | CompressedKernelPCA | KernelPCANovelty
    if not isinstance(last, kinds):
        raise TypeError(
            "model must be a fitted rskpca embedding such as ReducedSetKernelPCA, or a Pipeline "
            f"that ends in one, got {model!r}."
        )
    fitted = unwrap(model)
    if isinstance(last, KernelPCA) and len(last.eigenvalues_) > len(fitted.model.eigenvalues):
        raise ValueError(
            "to_onnx cannot export components with zero eigenvalues. Set remove_zero_eig=True and "
            "call fit."
        )
    operator = type(fitted.model.evaluated.operator)
    known = all(map(_is_of_rskpca, (operator, type(fitted.model)))) and operator is not Multiplied
    if not known or _overrides_methods(fitted.estimator, fitted.embedding):
        raise TypeError(
            "to_onnx can export only rskpca classes, but "
            f"{type(fitted.embedding).__name__} has custom methods or a custom operator in Python; "
            "export a model of an rskpca class."
        )
    return fitted


def _overrides_methods(*estimators: Any) -> bool:
    """Return True if a class outside rskpca overrides how the outputs are computed."""
    classes = [c for model in estimators for c in type(model).__mro__ if not _is_of_rskpca(c)]
    return any(name in vars(c) for c in classes for name in _METHODS)


def _is_of_rskpca(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "rskpca"


# ------------------------------------------------------------------ pipeline scalers


def _features(preprocessing: Pipeline | None, dtype: np.dtype[Any]) -> Features:
    """Return the combined effect of all scalers on rows of the given dtype."""
    features = Features()
    for _, scaler in () if preprocessing is None else preprocessing.steps:
        features = _shift_and_factor(scaler, dtype).after(features)
    return features


def _shift_and_factor(scaler: Any, dtype: np.dtype[Any]) -> Features:
    if not isinstance(scaler, StandardScaler | RobustScaler | MaxAbsScaler | MinMaxScaler):
        raise TypeError(
            "the steps before the model must be StandardScaler, RobustScaler, MaxAbsScaler or "
            f"MinMaxScaler, got {scaler!r}; export the model alone with "
            "to_onnx(pipeline[-1]), and apply that step separately."
        )
    check_is_fitted(scaler)
    if isinstance(scaler, MinMaxScaler):
        if scaler.clip:
            raise ValueError(
                "MinMaxScaler(clip=True) cannot be exported because it clips; use clip=False."
            )
        return Features(-scaler.min_ / scaler.scale_, 1 / scaler.scale_)
    if isinstance(scaler, StandardScaler):
        mean = scaler.mean_ if scaler.with_mean else None
        used = dtype if _standard_scaler_rounds() else np.dtype(np.float64)
        return Features(_rounded(mean, 0.0, used), _rounded(scaler.scale_, 1.0, used))
    center = scaler.center_ if isinstance(scaler, RobustScaler) else None
    return Features(_rounded(center, 0.0), _rounded(scaler.scale_, 1.0))


@cache
def _standard_scaler_rounds() -> bool:
    """Return True if ``StandardScaler`` rounds its parameters to the dtype of the data.

    This depends on the version of scikit-learn.
    """
    scaler = StandardScaler(with_std=False).fit([[1.0], [1 + 2.0**-29]])
    return not scaler.transform(np.ones((1, 1), dtype=np.float32)).any()


def _rounded(value: Any, default: float, dtype: Any = np.float64) -> Array:
    """Round values to a dtype and return them as float64."""
    return np.asarray(default if value is None else value, dtype=dtype).astype(np.float64)


# ------------------------------------------------------------------ outputs


def _answers(model: FittedModel, extension: Extension) -> Iterator[tuple[str, Value, list[int]]]:
    """Yield the method, the values, and the shape of each output without its row axis."""
    if model.offset is not None:
        scores = -extension.residuals() - model.offset
        yield "decision_function", scores, []
        yield "predict", _inlier_or_outlier(scores), []
        return
    functions = extension.functions()
    yield "transform", functions * model.scale, [len(model.scale)]
    if model.partition is not None:
        yield "predict", _clusters(model, extension, functions), []


def _inlier_or_outlier(scores: Value) -> Value:
    """Return -1 where the score is negative, and 1 elsewhere."""
    outlier, inlier = (scores.graph.constant(label, _LABEL) for label in (-1, 1))
    return (scores >= 0.0).node("Where", inlier, outlier, dtype=_LABEL)


def _clusters(model: FittedModel, extension: Extension, functions: Value) -> Value:
    """Return the cluster with the largest score for each row.

    Rows at which all eigenfunctions are 0 get the cluster of their nearest center.
    """
    partition, graph = model.partition, functions.graph
    assert partition is not None
    scores = functions.cast(np.float64) @ partition.directions + partition.offsets
    labels = (scores.node("Abs") if partition.absolute else scores).row_argmax()
    unreached = functions.node("Abs").row_max(keepdims=0) <= 0.0
    nearest = extension.nearest(model.reduced_set.centers, unreached)
    replacements = graph.constant(model.center_labels, _LABEL).node("Gather", nearest)
    indices = unreached.node("NonZero", dtype=_LABEL).node("Transpose", perm=[1, 0])
    return labels.node("ScatterND", indices, replacements)
