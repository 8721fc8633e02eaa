"""Conversion of objects to a tree of JSON values and a list of arrays, and back.

None, True, False, integers, finite numbers, strings and lists are JSON values. Everything else is
a JSON object with one key, its tag::

    {"float": "inf"}  {"tuple": [...]}  {"dict": {...}}  {"names": [...]}
    {"array": 3}  {"scalar": 3}  {"ReducedSet": {"centers": {"array": 0}, ...}}

All other tags are names of allowed classes. Nothing else can be created from a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._checks import check
from ._container import DTYPES, MAX_AXES, ModelFileError, make_contiguous, refuse
from ._schema import CLASSES, check_values, class_of, make_object, take_values

MAX_DEPTH = 32
MAX_OBJECTS = 10_000
MAX_USES = 32  # of one array, because each use may make a copy of it in memory
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Encoder:
    """Converts a value to a tree that refers to ``arrays``; paths such as "list[0]" name parts."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._indices: dict[int, tuple[int, int]] = {}  # index of an array, number of its uses
        self._alive: list[Any] = []  # keeps the ids above valid
        self._n_objects = 0

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the tree of a value."""
        _check_depth(depth, where)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, np.generic):
            return {"scalar": self._index(np.asarray(value), where)}
        if isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                refuse(f"{where}={value} does not fit into 64 bits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype == object and value.ndim == 1 and all(isinstance(v, str) for v in value):
                return {"names": [str(name) for name in value]}
            return {"array": self._index(value, where)}
        if isinstance(value, list | tuple | dict):
            return self._encode_container(value, where, depth)
        return self._encode_object(value, where, depth)

    def _index(self, value: NDArray[Any], where: str) -> int:
        """Return the index of an array in the list; an array that is shared is stored once."""
        index, uses = self._indices.get(id(value), (-1, MAX_USES))
        if uses == MAX_USES:
            if value.dtype.newbyteorder("<").str not in DTYPES or value.ndim > MAX_AXES:
                refuse(f"{where} is an array of {value.dtype}, which cannot be saved")
            self.arrays.append(make_contiguous(value))
            self._alive.append(value)
            index, uses = len(self.arrays) - 1, 0
        self._indices[id(value)] = index, uses + 1
        return index

    def _encode_container(self, value: Any, where: str, depth: int) -> Any:
        if type(value) not in (list, tuple, dict):
            refuse(f"{where} is a {type(value).__name__}, which cannot be saved")
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                refuse(f"{where} must have strings as keys")
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
        _locate(where, lambda: check_values(cls, values))
        _locate(where, lambda: check(value))
        return {cls.__name__: tree}


class Decoder:
    """Converts a tree to a value; checks the values of an object, and the object itself."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self._uses = [0] * len(arrays)
        self._n_objects = 0

    def decode(self, tree: Any, where: str, depth: int = 0) -> Any:
        """Return the value of a tree."""
        _check_depth(depth, where)
        if isinstance(tree, list):
            return [self.decode(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(tree)]
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            refuse(f"{where} must have one tag, got {list(tree)!r:.60}")
        ((tag, content),) = tree.items()
        if tag in CLASSES:
            return self._object(tag, content, where, depth)
        if tag not in self._tags:
            refuse(f"{where} has the unknown class {tag!r:.60}")
        return self._tags[tag](self, content, where, depth)

    def has_used_all_arrays(self) -> bool:
        """Return True if every array belongs to a value."""
        return all(self._uses)

    def _float(self, content: Any, where: str, depth: int) -> float:
        if not isinstance(content, str) or content not in _NOT_FINITE:
            refuse(f"{where} is not a number: {content!r:.60}")
        return _NOT_FINITE[content]

    def _tuple(self, content: Any, where: str, depth: int) -> tuple[Any, ...]:
        if not isinstance(content, list):
            refuse(f"{where} is not a tuple: {content!r:.60}")
        return tuple(self.decode(content, where, depth))

    def _dict(self, content: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(content, dict):
            refuse(f"{where} is not an object with named values: {content!r:.60}")
        return {k: self.decode(v, f"{where}.{k:.60}", depth + 1) for k, v in content.items()}

    def _names(self, content: Any, where: str, depth: int) -> NDArray[Any]:
        if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
            refuse(f"{where} is not a list of names: {content!r:.60}")
        return np.array(content, dtype=object)

    def _array(self, content: Any, where: str, depth: int) -> NDArray[Any]:
        if type(content) is not int or not 0 <= content < len(self.arrays):
            refuse(f"{where}: there is no array {content!r:.60}")
        self._uses[content] += 1
        if self._uses[content] > MAX_USES:
            refuse(f"{where}: array {content} is used more than {MAX_USES} times")
        return self.arrays[content]

    def _scalar(self, content: Any, where: str, depth: int) -> Any:
        array = self._array(content, where, depth)
        if array.ndim:
            refuse(f"{where} must be a single number, got an array of shape {array.shape}")
        return array[()]

    def _object(self, name: str, content: Any, where: str, depth: int) -> Any:
        self._n_objects = _count_object(self._n_objects, where)
        cls, values = CLASSES[name], self._dict(content, where, depth)
        _locate(where, lambda: check_values(cls, values))
        value = _locate(where, lambda: make_object(cls, values))
        _locate(where, lambda: check(value))
        return value

    _tags: ClassVar[dict[str, Callable[..., Any]]] = {
        "float": _float,
        "tuple": _tuple,
        "dict": _dict,
        "names": _names,
        "array": _array,
        "scalar": _scalar,
    }


def _check_depth(depth: int, where: str) -> None:
    if depth > MAX_DEPTH:
        refuse(f"{where} is nested too deeply")


def _count_object(count: int, where: str) -> int:
    if count == MAX_OBJECTS:
        refuse(f"{where} is one object too many; a model file can hold {MAX_OBJECTS:,}")
    return count + 1


def _locate(where: str, step: Callable[[], Any]) -> Any:
    """Run a step; its error names the object."""
    try:
        return step()
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(f"{where}: {error!s:.300}".rstrip(".")) from error
