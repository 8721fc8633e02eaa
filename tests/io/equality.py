"""Bitwise comparison of the states of two objects."""

from typing import Any

import numpy as np
from scipy.spatial import KDTree

from rskpca.density.window import concatenate

COMPUTED_AGAIN = {
    "_cache", "_cover", "_cover_", "_model_", "_set_", "_step", "analysis", "center_labels",
    "certificate", "feature_space",
}  # fmt: skip


def differences(a: Any, b: Any, where: str = "") -> list[str]:
    """Return the paths at which two objects differ."""
    if type(a) is not type(b):
        return [f"{where}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, np.ndarray):
        return _array_differences(a, b, where)
    if isinstance(a, dict):
        if a.keys() != b.keys():
            return [f"{where}: {sorted(a)} and {sorted(b)}"]
        return [found for k in a for found in differences(a[k], b[k], f"{where}.{k}")]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{where}: {len(a)} and {len(b)}"]
        pairs = enumerate(zip(a, b, strict=True))
        return [found for i, (x, y) in pairs for found in differences(x, y, f"{where}[{i}]")]
    if isinstance(a, KDTree):
        return differences(np.asarray(a.data), np.asarray(b.data), f"{where}.data")
    if hasattr(a, "__dict__"):
        return differences(_state(a), _state(b), f"{where}.{type(a).__name__}")
    return [] if a == b or (a != a and b != b) else [f"{where}: {a!r} and {b!r}"]


def _state(value: Any) -> dict[str, Any]:
    if hasattr(value, "compacted"):
        value = value.compacted()  # drops expired centers
    state = {k: v for k, v in vars(value).items() if k not in COMPUTED_AGAIN}
    if "embedding_" in state:
        state.pop("_solved_", None)  # derived from the model in the embedding
    solved = state.get("_solved_")
    if solved is not None and solved[0] is not value._summary():
        state["_solved_"] = None  # the data have changed since the last solution
    if "segments" in state:
        state["segments"] = concatenate(state["segments"])  # the split into segments may differ
    return state


def _array_differences(a: np.ndarray, b: np.ndarray, where: str) -> list[str]:
    if a.dtype == object:
        return [] if a.tolist() == b.tolist() else [f"{where}: names"]
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return [f"{where}: {a.dtype} {a.shape} and {b.dtype} {b.shape}"]
    if a.flags.writeable != b.flags.writeable:
        return [f"{where}: writeable"]
    return [] if a.tobytes() == b.tobytes() else [f"{where}: values"]
