"""What each kind of model answers, under the names of its methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..embedding import CompressedKernelPCA, KernelEmbedding, KernelPCANovelty, NormalizedCut
from ..spectral import EigenSystem, Multiplied
from .extension import Block
from .graph import Value

_LABEL = np.dtype(np.int64)
_WRITTEN = ("transform", "_coordinates", "predict", "decision_function", "score_samples")


class Answer(NamedTuple):
    """A value that equals what a method returns; ``columns`` is None for one number a row."""

    method: str
    value: Value
    columns: int | None = None


def system_of(model: Any) -> EigenSystem:
    """The eigensystem that new points go through."""
    if not isinstance(model, KernelEmbedding | CompressedKernelPCA | KernelPCANovelty):
        raise TypeError(
            "to_onnx takes a fitted embedding of rskpca such as ReducedSetKernelPCA, or a "
            f"Pipeline that ends in one, got {model!r}."
        )
    check_is_fitted(model)
    inner = model.embedding_ if isinstance(model, KernelPCANovelty) else model
    at_once = isinstance(model, CompressedKernelPCA | KernelPCANovelty)
    system: EigenSystem = inner.eigensystem_ if at_once else inner._evaluated
    if not _has_formula(model, inner) or not _has_operator_of_rskpca(system):
        raise TypeError(
            f"to_onnx writes the formulas of rskpca, and {type(inner).__name__} has methods or an "
            "operator of its own, which are Python code; export a model of one of its classes."
        )
    return system


def _has_formula(*models: Any) -> bool:
    """Whether no class outside of rskpca says what the answers are."""
    classes = [c for model in models for c in type(model).__mro__ if not _of_rskpca(c)]
    return not any(name in vars(c) for c in classes for name in _WRITTEN)


def _has_operator_of_rskpca(system: EigenSystem) -> bool:
    operator = type(system.operator)
    return _of_rskpca(operator) and operator is not Multiplied


def _of_rskpca(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "rskpca"


def answers_of(model: Any, block: Block) -> Iterator[Answer]:
    """Its answers, from the kernel values at new points."""
    if isinstance(model, KernelPCANovelty):
        scores = -block.residuals() - model.offset_
        yield Answer("decision_function", scores)
        yield Answer("predict", _sides(scores))
        return
    functions = block.functions()
    scale = _scale(model)
    yield Answer("transform", functions * scale, len(scale))
    if isinstance(model, NormalizedCut):
        yield Answer("predict", _clusters(model, block, functions))


def _scale(model: Any) -> Any:
    """The coordinates of functions that are 1: each is scaled by itself."""
    if isinstance(model, CompressedKernelPCA):
        return np.sqrt(model.eigenvalues_)
    ones = np.ones((1, len(model.eigenvalues_)))
    return model._coordinates(model.eigensystem_, ones)[0]


def _sides(scores: Value) -> Value:
    """1, or -1 where the score is negative."""
    out, kept = (scores.graph.constant(label, _LABEL) for label in (-1, 1))
    return (scores >= 0.0).node("Where", kept, out, dtype=_LABEL)


def _clusters(model: NormalizedCut, block: Block, functions: Value) -> Value:
    """The cluster of the largest score; of a row that is zero, that of the nearest center."""
    cut, graph = model._cut, functions.graph
    scores = functions.cast(np.float64) @ cut.directions + cut.offsets
    labels = (scores.node("Abs") if cut.absolute else scores).row_places()
    lost = _zero_rows(functions)
    nearest = block.nearest(model.reduced_set_.centers, lost)
    theirs = graph.constant(model.center_labels_, _LABEL).node("Gather", nearest)
    places = lost.node("NonZero", dtype=_LABEL).node("Transpose", perm=[1, 0])
    return labels.node("ScatterND", places, theirs)


def _zero_rows(functions: Value) -> Value:
    axis = functions.graph.constant([1], np.int64)
    largest = functions.node("Abs").node("ReduceMax", axis, keepdims=0)
    return largest <= 0.0
