"""What an object of a model file may hold: kinds, shapes that agree, numbers in their range.

A field takes a value and the sizes found so far, and raises where the value cannot be. Sizes have
the letters of the paper: m centers, d features, r components.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import refuse


class Sizes:
    """The sizes that the fields of one object share; ``known`` are those of objects inside."""

    def __init__(self, known: Mapping[int, dict[str, int]]) -> None:
        self.found: dict[str, int] = {}
        self._known = known

    def tie(self, name: str, size: int) -> None:
        """From now on this is the size; an error where it was another."""
        if self.found.setdefault(name, size) != size:
            refuse(f"{name} is {size} here and {self.found[name]} elsewhere")

    def of(self, value: Any) -> dict[str, int]:
        """The sizes of an object that was checked before."""
        return self._known[id(value)]


Field = Callable[[Any, Sizes], None]


def is_of(value: Any, *names: str) -> bool:
    """Whether the class of a value has one of these names."""
    return type(value).__name__ in names


def nothing(value: Any, sizes: Sizes) -> None:
    """None."""
    if value is not None:
        refuse(f"must be None, got {value!r:.60}")


def text(value: Any, sizes: Sizes) -> None:
    """A string."""
    if not isinstance(value, str):
        refuse(f"must be a string, got {value!r:.60}")


def flag(value: Any, sizes: Sizes) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        refuse(f"must be True or False, got {value!r:.60}")


def number(low: float = -math.inf, *, infinite: bool = False) -> Field:
    """A number of at least ``low``, never NaN."""

    def check(value: Any, sizes: Sizes) -> None:
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not value >= low:
            refuse(f"must be a number of at least {low:g}, got {value!r:.60}")
        if math.isinf(value) and not infinite:
            refuse(f"must be finite, got {value!r:.60}")

    return check


def whole(low: int, size: str | None = None) -> Field:
    """A whole number of at least ``low``, which may be a size."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            refuse(f"must be a whole number of at least {low}, got {value!r:.60}")
        if size is not None:
            sizes.tie(size, int(value))

    return check


def array(dtypes: str, *shape: str | int, finite: bool = True) -> Field:
    """An array of one of the dtypes, by their letters; no size in its shape is zero."""
    allowed = {np.dtype(letter) for letter in dtypes}

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype not in allowed:
            names = ", ".join(sorted(map(str, allowed)))
            refuse(f"must be an array of {names}, got {value!r:.60}")
        if value.ndim != len(shape) or 0 in value.shape:
            refuse(f"must have the shape {shape}, got {value.shape}")
        for axis, size in zip(shape, value.shape, strict=True):
            if isinstance(axis, str):
                sizes.tie(axis, size)
            elif axis != size:
                refuse(f"must have the shape {shape}, got {value.shape}")
        if finite and value.dtype.kind in "fc" and not np.isfinite(value).all():
            refuse("must be finite, but holds NaN or infinity")

    return check


def floats(*shape: str | int, finite: bool = True) -> Field:
    """An array of float32 or float64."""
    return array("fd", *shape, finite=finite)


def doubles(*shape: str | int) -> Field:
    """An array of float64, which is what weights and sums are kept in."""
    return array("d", *shape)


def feature_names(value: Any, sizes: Sizes) -> None:
    """One string a feature."""
    if not isinstance(value, np.ndarray) or value.dtype != object or value.ndim != 1:
        refuse(f"must be an array of strings, got {value!r:.60}")
    sizes.tie("d", len(value))


def labels(value: Any, sizes: Sizes) -> None:
    """Places of centers, or -1."""
    array("iq", "n")(value, sizes)
    if not (value >= -1).all() or not (value < sizes.found["m"]).all():
        refuse(f"must be places of the {sizes.found['m']} centers, or -1")


def maybe(field: Field) -> Field:
    """None, or the field."""
    return lambda value, sizes: None if value is None else field(value, sizes)


def every(*fields: Field) -> Field:
    """All of the fields."""

    def check(value: Any, sizes: Sizes) -> None:
        for field in fields:
            field(value, sizes)

    return check


def having(wanted: str, holds: Callable[[Any], Any]) -> Field:
    """A value for which something holds."""

    def check(value: Any, sizes: Sizes) -> None:
        if not holds(value):
            refuse(f"must have {wanted}")

    return check


def thing(*names: str, **tied: str) -> Field:
    """An object of one of these classes, whose sizes are tied to those of its owner."""

    def check(value: Any, sizes: Sizes) -> None:
        if not is_of(value, *names):
            refuse(f"must be of {' or '.join(names)}, got {value!r:.60}")
        for inner, outer in tied.items():
            if inner not in sizes.of(value):
                refuse(f"must be fitted, but {value!r:.60} is not")
            sizes.tie(outer, sizes.of(value)[inner])

    return check


def sequence(kind: type[list[Any]] | type[tuple[Any, ...]], field: Field) -> Field:
    """A list or a tuple of such."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not kind:
            refuse(f"must be a {kind.__name__}, got {value!r:.60}")
        for item in value:
            field(item, sizes)

    return check


def numbers_by_name(value: Any, sizes: Sizes) -> None:
    """A dict from strings to numbers."""
    if type(value) is not dict:
        refuse(f"must be a dict, got {value!r:.60}")
    for item in value.values():
        number(infinite=True)(item, sizes)


def settings(value: Any, sizes: Sizes) -> None:
    """What ``set_output`` leaves: the kind of container that ``transform`` gives."""
    words = ("default", "pandas", "polars")
    if type(value) is not dict or set(value) - {"transform"}:
        refuse(f"must be a dict of the key transform, got {value!r:.60}")
    if not all(isinstance(word, str) and word in words for word in value.values()):
        refuse(f"must have one of {', '.join(words)}, got {value!r:.60}")


def same_everywhere(values: NDArray[Any]) -> bool:
    """Whether all values of an array are one."""
    return bool((values == values.flat[0]).all())
