"""Ways to spoil a model file."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from rskpca.io._container import DIGEST
from rskpca.io._schema import CLASSES
from tests.io.forge import Forged, resealed

ODD = [
    None, True, False, 0, 1, -1, 2, 7, 31, 2**31, 2**47, 2**63, 2**64 - 1, -(2**63), 0.0, -1.0,
    1e-300, 1e300, 0.5, "", "C", "F", "median", "auto", "<f8", "<f4", "|b1", "<c16", "<i8", [],
    [[]], {}, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"array": 0}, {"array": 1},
    {"scalar": 0}, {"tuple": []}, {"dict": {}}, {"names": ["a", "b", "c"]}, {"Plain": {}},
    {"Gaussian": {"bandwidth": 1e-200}}, {"Gaussian": {"bandwidth": "median"}},
    {"ShadowDensity": {}}, {"os.system": {}},
]  # fmt: skip
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e308, -1e308, 5e-324, 1e160, 2.0**53]

Mutation = Callable[[bytes, bytes, random.Random], bytes]


# ------------------------------------------------------------------ of bytes


def flipped(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Some bits."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def cut(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """The beginning."""
    return data[: rng.randrange(len(data))]


def extended(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """More at the end."""
    return data + rng.randbytes(rng.choice([1, 32, 1000]))


def spliced(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """The beginning of one and the end of another."""
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def overwritten(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A span of random bytes, of zeros, or of another file."""
    size = rng.choice([1, 4, 8, 64, 512])
    start, source = rng.randrange(len(data)), rng.randrange(len(other))
    span = rng.choice([rng.randbytes(size), bytes(size), b"\xff" * size, other[source:][:size]])
    return (data[:start] + span + data[start + len(span) :])[: len(data)]


def inserted(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Some bytes too many, or too few."""
    start, size = rng.randrange(len(data)), rng.choice([1, 8, 64])
    return data[:start] + rng.choice([rng.randbytes(size), b""]) + data[start + rng.randrange(9) :]


# ------------------------------------------------------------------ of what the bytes say


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree: what holds it, and its key."""
    found, todo = [], [tree]
    while todo:
        holder = todo.pop()
        keys = holder.keys() if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])
    return found


def _nudged(value: Any, rng: random.Random) -> Any:
    """A value near by, or an odd one."""
    if type(value) is int and rng.random() < 0.6:
        return value + rng.choice([-1, 1, 2, -2, 64, 2**32])
    if type(value) is float and rng.random() < 0.6:
        return rng.choice([-value, value * 2, value * 1e9, value / 1e9, float(int(value))])
    return copy.deepcopy(rng.choice(ODD))


def other_value(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Something else in a few places of the header."""
    file = Forged.of(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        holder, key = rng.choice(_nodes(file.header))
        holder[key] = _nudged(holder[key], rng)
    return file.sealed()


def dropped(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A key or an item that is gone, or there twice."""
    file = Forged.of(data)
    holder, key = rng.choice(_nodes(file.header))
    if isinstance(holder, list) and rng.random() < 0.5:
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        del holder[key]
    return file.sealed()


def renamed(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A key that is another: another class, another field."""
    file = Forged.of(data)
    holder, key = rng.choice([node for node in _nodes(file.header) if isinstance(node[0], dict)])
    name = rng.choice([*CLASSES, "tuple", "dict", "array", "__class__", "_system_", "kernel"])
    holder[name] = holder.pop(key)
    if key in CLASSES and file.header.get("class") == key:
        file.header["class"] = name
    return file.sealed()


def swapped(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Two places of the header that change theirs."""
    file = Forged.of(data)
    (a, i), (b, j) = rng.choices(_nodes(file.header), k=2)
    first, second = copy.deepcopy(a[i]), copy.deepcopy(b[j])
    a[i], b[j] = second, first
    return file.sealed()


def grafted(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A part of another model, with its arrays."""
    file, donor = Forged.of(data), Forged.of(other)
    shift = len(file.arrays)
    part = json.loads(json.dumps(rng.choice(_objects(donor.header))))
    for holder, key in _nodes(part):
        if key in ("array", "scalar") and type(holder[key]) is int:
            holder[key] += shift
    places = [n for n in _nodes(file.header["model"]) if isinstance(n[0][n[1]], dict)]
    if places:
        holder, key = rng.choice(places)
        holder[key] = part
    file.arrays += donor.arrays
    file.header["arrays"] += donor.header["arrays"]
    return _used(file).sealed()


def _objects(header: dict[str, Any]) -> list[Any]:
    """The parts of a model that are objects of a class."""
    nodes = [(header, "model"), *_nodes(header["model"])]
    found = [h[k] for h, k in nodes if isinstance(h[k], dict)]
    return [part for part in found if set(part) & set(CLASSES)] or found


def _used(file: Forged) -> Forged:
    """Without the arrays that belong to nothing."""
    tags = [n for n in _nodes(file.header["model"]) if n[1] in ("array", "scalar")]
    tags = [(h, k) for h, k in tags if type(h[k]) is int and 0 <= h[k] < len(file.arrays)]
    kept = sorted({h[k] for h, k in tags})
    for holder, key in tags:
        holder[key] = kept.index(holder[key])
    file.arrays = [file.arrays[place] for place in kept]
    file.header["arrays"] = [file.header["arrays"][place] for place in kept]
    return file


def other_numbers(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Odd numbers in an array."""
    file = Forged.of(data)
    full = [place for place, array in enumerate(file.arrays) if array]
    if full:
        place = rng.choice(full)
        dtype = np.dtype(file.header["arrays"][place][0])
        numbers = np.frombuffer(file.arrays[place], dtype=dtype).copy()
        with np.errstate(all="ignore"):
            odd = np.array(rng.choice(SPECIAL)).astype(dtype)
        numbers[rng.randrange(len(numbers))] = odd
        if rng.random() < 0.2:
            numbers[:] = odd
        file.arrays[place] = numbers.tobytes()
    return file.sealed()


def reshaped(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """An array of another shape, with the bytes that it needs."""
    file = Forged.of(data)
    if file.arrays:
        place = rng.randrange(len(file.arrays))
        layout = file.header["arrays"][place]
        shape = layout[1]
        if shape and rng.random() < 0.7:
            axis = rng.randrange(len(shape))
            shape[axis] = max(shape[axis] + rng.choice([-1, 1, 5, -shape[axis]]), 0)
        elif rng.random() < 0.5:
            shape.reverse()
        else:
            layout[0] = rng.choice(["<f4", "<f8", "<i8", "<c16", "|b1"])
        if rng.random() < 0.2:
            layout[2] = "F" if layout[2] == "C" else "C"
        size = int(layout[0][2:]) * int(np.prod(shape))
        file.arrays[place] = (file.arrays[place] * (size // max(len(file.arrays[place]), 1) + 1))[
            :size
        ]
    return file.sealed()


BYTES: list[Mutation] = [flipped, cut, extended, spliced, overwritten, inserted]
CONTENTS: list[Mutation] = [
    other_value, dropped, renamed, swapped, grafted, other_numbers, reshaped,
]  # fmt: skip


def resealed_bytes(mutation: Mutation) -> Mutation:
    """The same, with the checksum made right."""

    def mutate(data: bytes, other: bytes, rng: random.Random) -> bytes:
        return resealed(mutation(data, other, rng)[:-DIGEST])

    mutate.__name__ = f"{mutation.__name__}, resealed"
    return mutate


def resealed_headers(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Bits of the header, with the lengths and the checksum made right."""
    file = Forged.of(data)
    file.header = flipped(json.dumps(file.header).encode(), b"", rng)
    return file.sealed()


ALL: list[Mutation] = [*BYTES, *map(resealed_bytes, BYTES), resealed_headers, *CONTENTS]
