"""``to_onnx``: the answers of a fitted model, as a graph."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from .answers import answers_of, system_of
from .extension import Block, arithmetic
from .graph import Graph
from .kernel_values import refuse_unknown
from .scalers import features_of, steps_of


def to_onnx(model: Any, *, dtype: Any = np.float32) -> Any:
    """A fitted model as an ONNX graph, for runtimes without Python.

    The graph has one input, ``X`` of shape (rows, n_features) with any number of rows, and one
    output for each method that it stands for, under the name of that method: ``transform`` of
    every embedding; also ``predict`` of :class:`~rskpca.NormalizedCut`; ``decision_function`` and
    ``predict`` of :class:`~rskpca.KernelPCANovelty`. It is made of standard operators of opset 18.

    Parameters
    ----------
    model : fitted estimator
        An embedding, a compressed kernel PCA or a novelty detector with a Gaussian or Laplacian
        kernel; or a :class:`~sklearn.pipeline.Pipeline` that ends in one, after scalers of
        scikit-learn.
    dtype : numpy.float32 or numpy.float64, default=numpy.float32
        Of the input and of the outputs that are not labels.

    Returns
    -------
    onnx.ModelProto
        Checked; ``onnx.save(graph, "model.onnx")`` writes it. Its metadata name the class, the
        version of rskpca, the kernel, the features and the dtype of the arithmetic.

    Notes
    -----
    Outputs equal those of the model to 1e-5 of their size in float32 and to 1e-10 in float64, also
    for data that are far from the origin. A float32 graph computes in float64 where float32 is
    not enough: Laplacian kernels, graphs of neighbours, and coefficients that cancel.
    A graph neither checks its input nor warns: a row with NaN has NaN for coordinates.

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
        raise ImportError('to_onnx needs the package onnx; run: pip install "rskpca[onnx]"')
    asked = _checked(dtype)
    scalers, estimator = steps_of(model)
    system, features = system_of(estimator), features_of(scalers, asked)
    refuse_unknown(system.kernel)
    graph, inside = Graph(), arithmetic(system, asked)
    x = graph.input("X", asked)
    block = Block.of(system, x.cast(inside), features)
    outputs = []
    for method, value, columns in answers_of(estimator, block):
        kind = np.int64 if value.dtype == np.int64 else asked
        shape = ["rows"] if columns is None else ["rows", columns]
        outputs.append((graph.output(value, method, kind), shape))
    about = _metadata(model, estimator, inside)
    return graph.model((x, system.centers.shape[1]), outputs, about)


def _checked(dtype: Any) -> np.dtype[Any]:
    try:
        asked = np.dtype(object if dtype is None else dtype)
    except TypeError:
        asked = np.dtype(object)
    if asked not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}.")
    return asked


def _metadata(model: Any, estimator: Any, inside: np.dtype[Any]) -> dict[str, str]:
    kernel = system_of(estimator).kernel
    about = {
        "rskpca_version": version("rskpca"),
        "class": type(estimator).__name__,
        "kernel": f"{type(kernel).__name__}(bandwidth={kernel.scale!r})",
        "arithmetic": inside.name,
    }
    names = getattr(model, "feature_names_in_", None)
    return about if names is None else about | {"feature_names": json.dumps(list(names))}
