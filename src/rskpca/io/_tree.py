"""Convert between objects and a tree of JSON values with a list of arrays.

None, True, False, integers, finite numbers, strings and lists are stored as JSON values. Everything
else is stored as a JSON object with a single key, its tag::

    {"float": "inf"}  {"tuple": [...]}  {"dict": {...}}  {"names": [...]}
    {"array": 3}  {"scalar": 3}  {"ReducedSet": {"centers": {"array": 0}, ...}}

All other tags are names of allowed classes; nothing else can be created from a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import check
from ._container import DTYPES, MAX_AXES, ModelFileError, make_contiguous, refuse
from ._schema import CLASSES, check_values, class_of, make_object, take_values

MAX_DEPTH = 32
MAX_OBJECTS = 10_000
MAX_USES = 32  # per array, because each use may copy it in memory


class Encoder:
    """Convert a value to a tree that refers to ``arrays``.

    Paths such as "list[0]" identify parts of the value in error messages.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._indices: dict[int, tuple[int, int]] = {}  # (index, number of uses) by id
        self._alive: list[Any] = []  # keeps objects alive, so that their ids stay valid
        self._n_objects = 0

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Convert a value to a tree."""
        _check_depth(depth, where)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, np.generic):
            return {"scalar": self._index(np.asarray(value), where)}
        if isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                refuse(f"{where}={value} does not fit in 64 bits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype == object and value.ndim == 1 and all(isinstance(v, str) for v in value):
                return {"names": [str(name) for name in value]}
            return {"array": self._index(value, where)}
        if type(value) in (list, tuple, dict):
            return self._encode_container(value, where, depth)
        return self._encode_object(value, where, depth)

    def _index(self, value: NDArray[Any], where: str) -> int:
        """Return the index of an array, storing shared arrays only once."""
        index, uses = self._indices.get(id(value), (-1, MAX_USES))
        if uses == MAX_USES:
            if value.dtype.newbyteorder("<").str not in DTYPES or value.ndim > MAX_AXES:
                refuse(f"{where} is an array of dtype {value.dtype}, which cannot be saved")
            self.arrays.append(make_contiguous(value))
            self._alive.append(value)
            index, uses = len(self.arrays) - 1, 0
        self._indices[id(value)] = index, uses + 1
        return index

    def _encode_container(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                refuse(f"{where} must have only string keys")
            items = value.items()
            return {"dict": {k: self.encode(v, f"{where}[{k!r}]", depth + 1) for k, v in items}}
        tree = [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        return {"tuple": tree} if isinstance(value, tuple) else tree

    def _encode_object(self, value: Any, where: str, depth: int) -> Any:
        self._n_objects = _count_object(self._n_objects, where)
        cls = class_of(value, where)
        values = take_values(value)
        self._alive.append(values)
        tree = {
            name: self.encode(held, f"{where}.{name}", depth + 1) for name, held in values.items()
        }
        with _located(where):
            check_values(cls, values)
            check(value)
        return {cls.__name__: tree}


class Decoder:
    """Convert a tree to a value, checking each object and its values."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self._uses = [0] * len(arrays)
        self._n_objects = 0

    def decode(self, tree: Any, where: str, depth: int = 0) -> Any:
        """Convert a tree to a value."""
        _check_depth(depth, where)
        if isinstance(tree, list):
            return [self.decode(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(tree)]
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            refuse(f"{where} must have exactly one tag, got {list(tree)!r:.60}")
        ((tag, content),) = tree.items()
        if tag in CLASSES:
            return self._decode_object(CLASSES[tag], content, where, depth)
        if tag == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "tuple" and isinstance(content, list):
            return tuple(self.decode(content, where, depth))
        if tag == "dict":
            return self._decode_values(content, where, depth)
        if tag == "names" and isinstance(content, list) and all(type(v) is str for v in content):
            return np.array(content, dtype=object)
        if tag in ("array", "scalar"):
            return self._find_array(tag, content, where)
        return refuse(f"{where} is invalid: {tag!r:.60} with content {content!r:.60}")

    def has_used_all_arrays(self) -> bool:
        """Return True if every array has been used in a decoded value."""
        return all(self._uses)

    def _decode_values(self, content: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(content, dict):
            refuse(f"{where} must be a mapping of names to values, got {content!r:.60}")
        return {k: self.decode(v, f"{where}.{k:.60}", depth + 1) for k, v in content.items()}

    def _find_array(self, tag: str, index: Any, where: str) -> Any:
        if type(index) is not int or not 0 <= index < len(self.arrays):
            refuse(f"{where}: array {index!r:.60} does not exist")
        self._uses[index] += 1
        if self._uses[index] > MAX_USES:
            refuse(f"{where}: array {index} is used more than {MAX_USES} times")
        array = self.arrays[index]
        if tag == "scalar" and array.ndim:
            refuse(f"{where} must be a single number, got an array of shape {array.shape}")
        return array[()] if tag == "scalar" else array

    def _decode_object(self, cls: Any, content: Any, where: str, depth: int) -> Any:
        self._n_objects = _count_object(self._n_objects, where)
        values = self._decode_values(content, where, depth)
        with _located(where):
            check_values(cls, values)
            value = make_object(cls, values)
            check(value)
        return value


def _check_depth(depth: int, where: str) -> None:
    if depth > MAX_DEPTH:
        refuse(f"{where} is nested too deeply")


def _count_object(count: int, where: str) -> int:
    if count == MAX_OBJECTS:
        refuse(f"{where} exceeds the limit of {MAX_OBJECTS:,} objects per model file")
    return count + 1


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Add the path of an object to any error that its values cause."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ModelFileError(f"{where}: {error!s:.300}".rstrip(".")) from error
