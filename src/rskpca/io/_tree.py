"""Objects as a tree of JSON and a list of arrays, and back.

JSON has None, True, False, whole numbers, finite numbers, strings and lists. What it has not is
an object of one key, its tag::

    {"float": "inf"}  {"tuple": [...]}  {"dict": {...}}  {"names": [...]}
    {"array": 3}  {"scalar": 3}  {"ReducedSet": {"centers": {"array": 0}, ...}}

A tag that is no other names a class of the registry. Nothing else can be made from a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._container import DTYPES, MOST_AXES, stored
from ._fields import Sizes
from ._registry import REGISTRY, entry_of
from .errors import ModelFileError, refuse

DEEPEST = 32
MOST_OBJECTS = 10_000
MOST_USES = 32  # of one array: what is made from it in memory may be as large again
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Encoder:
    """From a value to its tree; ``arrays`` are what the tree refers to."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.sizes: dict[int, dict[str, int]] = {}
        self._places: dict[int, tuple[int, int]] = {}  # of an array, and how often it is used
        self._alive: list[Any] = []  # what an id stands for must not go
        self._count = 0

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """The tree of a value; ``where`` names it in an error."""
        if depth > DEEPEST:
            refuse(f"{where} is nested too deep")
        if value is None or isinstance(value, bool | str):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, np.generic):
            return {"scalar": self._place(np.asarray(value), where)}
        if isinstance(value, int):
            return _bounded(value, where)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, list | tuple | dict):
            return self._container(value, where, depth)
        return self._object(value, where, depth)

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype == object and value.ndim == 1 and all(isinstance(v, str) for v in value):
            return {"names": [str(name) for name in value]}
        return {"array": self._place(value, where)}

    def _place(self, value: NDArray[Any], where: str) -> int:
        """Where the array is in the list. One that is shared is stored once."""
        place, uses = self._places.get(id(value), (-1, MOST_USES))
        if uses == MOST_USES:
            if value.dtype.newbyteorder("<").str not in DTYPES or value.ndim > MOST_AXES:
                refuse(f"{where} is an array of {value.dtype}, which no model file takes")
            self.arrays.append(stored(value))
            self._alive.append(value)
            place, uses = len(self.arrays) - 1, 0
        self._places[id(value)] = place, uses + 1
        return place

    def _container(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, dict):
            if type(value) is not dict or not all(isinstance(name, str) for name in value):
                refuse(f"{where} must be a dict with strings for keys")
            items = value.items()
            return {"dict": {k: self.encode(v, f"{where}[{k!r}]", depth + 1) for k, v in items}}
        if type(value) not in (list, tuple):
            refuse(f"{where} is a {type(value).__name__}; no model file takes it")
        tree = [self.encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        return {"tuple": tree} if isinstance(value, tuple) else tree

    def _object(self, value: Any, where: str, depth: int) -> Any:
        self._count = _counted(self._count, where)
        entry = entry_of(value, where)
        values = entry.take(value)
        self._alive.append(values)
        tree = {
            name: self.encode(held, f"{where}.{name}", depth + 1) for name, held in values.items()
        }
        sizes = Sizes(self.sizes)
        _located(where, lambda: entry.check(values, sizes))
        _located(where, lambda: entry.settle(value))
        self.sizes[id(value)] = sizes.found
        return {type(value).__name__: tree}


class Decoder:
    """From a tree to its value; every object is checked before it is made, and after."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self.sizes: dict[int, dict[str, int]] = {}
        self._uses = [0] * len(arrays)
        self._alive: list[Any] = []
        self._count = 0

    def decode(self, tree: Any, where: str, depth: int = 0) -> Any:
        """The value of a tree; ``where`` names it in an error."""
        if depth > DEEPEST:
            refuse(f"{where} is nested too deep")
        if isinstance(tree, list):
            return [self.decode(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(tree)]
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            refuse(f"{where} must have one tag, got {list(tree)!r:.60}")
        ((tag, held),) = tree.items()
        if tag in REGISTRY:
            return self._object(tag, held, where, depth)
        if tag not in self._tags:
            refuse(f"{where} is of a class that no model file has, {tag!r:.60}")
        return self._tags[tag](self, held, where, depth)

    def all_used(self) -> bool:
        """Whether every array belongs to something."""
        return all(self._uses)

    def _float(self, held: Any, where: str, depth: int) -> float:
        if not isinstance(held, str) or held not in _NOT_FINITE:
            refuse(f"{where} is no number: {held!r:.60}")
        return _NOT_FINITE[held]

    def _tuple(self, held: Any, where: str, depth: int) -> tuple[Any, ...]:
        if not isinstance(held, list):
            refuse(f"{where} is no tuple: {held!r:.60}")
        return tuple(self.decode(held, where, depth))

    def _dict(self, held: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(held, dict):
            refuse(f"{where} holds no values: {held!r:.60}")
        return {k: self.decode(v, f"{where}.{k:.60}", depth + 1) for k, v in held.items()}

    def _names(self, held: Any, where: str, depth: int) -> NDArray[Any]:
        if not isinstance(held, list) or not all(isinstance(name, str) for name in held):
            refuse(f"{where} must be names: {held!r:.60}")
        return np.array(held, dtype=object)

    def _array(self, held: Any, where: str, depth: int) -> NDArray[Any]:
        if type(held) is not int or not 0 <= held < len(self.arrays):
            refuse(f"{where}: there is no array {held!r:.60}")
        self._uses[held] += 1
        if self._uses[held] > MOST_USES:
            refuse(f"{where}: array {held} is used more than {MOST_USES} times")
        return self.arrays[held]

    def _scalar(self, held: Any, where: str, depth: int) -> Any:
        array = self._array(held, where, depth)
        if array.ndim:
            refuse(f"{where} must be one number, got shape {array.shape}")
        return array[()]

    def _object(self, name: str, held: Any, where: str, depth: int) -> Any:
        self._count = _counted(self._count, where)
        entry, values = REGISTRY[name], self._dict(held, where, depth)
        sizes = Sizes(self.sizes)
        _located(where, lambda: entry.check(values, sizes))
        value = _located(where, lambda: entry.make(values))
        _located(where, lambda: entry.settle(value))
        self.sizes[id(value)] = sizes.found
        self._alive.append(value)
        return value

    _tags: ClassVar[dict[str, Callable[..., Any]]] = {
        "float": _float,
        "tuple": _tuple,
        "dict": _dict,
        "names": _names,
        "array": _array,
        "scalar": _scalar,
    }


def _counted(count: int, where: str) -> int:
    if count == MOST_OBJECTS:
        refuse(f"{where} is one object too many: a model file takes {MOST_OBJECTS:,}")
    return count + 1


def _bounded(value: int, where: str) -> int:
    if not -(2**63) <= value < 2**64:
        refuse(f"{where}={value} is beyond 64 bits; no model file takes it")
    return value


def _located(where: str, step: Callable[[], Any]) -> Any:
    """Run a check of an object; its error says where the object is."""
    try:
        return step()
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ModelFileError(f"{where}: {error!s:.300}".rstrip(".")) from error
