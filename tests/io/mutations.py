"""Functions that corrupt a model file."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from rskpca.io._container import DIGEST
from rskpca.io._schema import CLASSES
from tests.io.forge import ForgedFile, add_checksum

UNUSUAL_VALUES = [
    None, True, False, 0, 1, -1, 2, 7, 31, 2**31, 2**47, 2**63, 2**64 - 1, -(2**63), 0.0, -1.0,
    1e-300, 1e300, 0.5, "", "C", "F", "median", "auto", "<f8", "<f4", "|b1", "<c16", "<i8", [],
    [[]], {}, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"array": 0}, {"array": 1},
    {"scalar": 0}, {"tuple": []}, {"dict": {}}, {"names": ["a", "b", "c"]}, {"Plain": {}},
    {"Gaussian": {"bandwidth": 1e-200}}, {"Gaussian": {"bandwidth": "median"}},
    {"ShadowDensity": {}}, {"os.system": {}},
]  # fmt: skip
UNUSUAL_NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e308, -1e308, 5e-324, 1e160, 2.0**53]
OTHER_KEYS = ["tuple", "dict", "array", "__class__", "model_", "_solved_", "_system_", "kernel"]

Mutation = Callable[[bytes, bytes, random.Random], bytes]


# ------------------------------------------------------------------ bytes


def flip_bits(data: bytes, other: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncate(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def extend(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data + rng.randbytes(rng.choice([1, 32, 1000]))


def splice(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Join the start of one file with the end of another."""
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def overwrite(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Overwrite a span with random bytes, zeros, ones or bytes from another file."""
    size = rng.choice([1, 4, 8, 64, 512])
    start, source = rng.randrange(len(data)), rng.randrange(len(other))
    span = rng.choice([rng.randbytes(size), bytes(size), b"\xff" * size, other[source:][:size]])
    return (data[:start] + span + data[start + len(span) :])[: len(data)]


def insert(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Insert or remove a few bytes."""
    start, size = rng.randrange(len(data)), rng.choice([1, 8, 64])
    return data[:start] + rng.choice([rng.randbytes(size), b""]) + data[start + rng.randrange(9) :]


# ------------------------------------------------------------------ contents


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Return every node of a tree as a (container, key) pair."""
    found, todo = [], [tree]
    while todo:
        holder = todo.pop()
        keys = holder.keys() if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])
    return found


def _similar_value(value: Any, rng: random.Random) -> Any:
    """Return a number close to the value, or an unusual value."""
    if type(value) is int and rng.random() < 0.6:
        return value + rng.choice([-1, 1, 2, -2, 64, 2**32])
    if type(value) is float and rng.random() < 0.6:
        return rng.choice([-value, value * 2, value * 1e9, value / 1e9, float(int(value))])
    return copy.deepcopy(rng.choice(UNUSUAL_VALUES))


def change_values(data: bytes, other: bytes, rng: random.Random) -> bytes:
    file = ForgedFile.parse(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        holder, key = rng.choice(_nodes(file.header))
        holder[key] = _similar_value(holder[key], rng)
    return file.to_bytes()


def drop_or_repeat(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Remove a key or an item, or repeat an item."""
    file = ForgedFile.parse(data)
    holder, key = rng.choice(_nodes(file.header))
    if isinstance(holder, list) and rng.random() < 0.5:
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        del holder[key]
    return file.to_bytes()


def rename_key(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Change the name of a class or a field."""
    file = ForgedFile.parse(data)
    holder, key = rng.choice([node for node in _nodes(file.header) if isinstance(node[0], dict)])
    name = rng.choice([*CLASSES, *OTHER_KEYS])
    holder[name] = holder.pop(key)
    if key in CLASSES and file.header.get("class") == key:
        file.header["class"] = name
    return file.to_bytes()


def swap_values(data: bytes, other: bytes, rng: random.Random) -> bytes:
    file = ForgedFile.parse(data)
    (a, i), (b, j) = rng.choices(_nodes(file.header), k=2)
    first, second = copy.deepcopy(a[i]), copy.deepcopy(b[j])
    a[i], b[j] = second, first
    return file.to_bytes()


def graft_part(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Insert a part of another model, including its arrays."""
    file, donor = ForgedFile.parse(data), ForgedFile.parse(other)
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
    return _drop_unused_arrays(file).to_bytes()


def _objects(header: dict[str, Any]) -> list[Any]:
    """Return the parts of a model that represent class instances."""
    nodes = [(header, "model"), *_nodes(header["model"])]
    found = [h[k] for h, k in nodes if isinstance(h[k], dict)]
    return [part for part in found if set(part) & set(CLASSES)] or found


def _drop_unused_arrays(file: ForgedFile) -> ForgedFile:
    tags = [n for n in _nodes(file.header["model"]) if n[1] in ("array", "scalar")]
    tags = [(h, k) for h, k in tags if type(h[k]) is int and 0 <= h[k] < len(file.arrays)]
    kept = sorted({h[k] for h, k in tags})
    for holder, key in tags:
        holder[key] = kept.index(holder[key])
    file.arrays = [file.arrays[index] for index in kept]
    file.header["arrays"] = [file.header["arrays"][index] for index in kept]
    return file


def change_numbers(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Write an unusual number into an array, once or everywhere."""
    file = ForgedFile.parse(data)
    full = [index for index, array in enumerate(file.arrays) if array]
    if full:
        index = rng.choice(full)
        dtype = np.dtype(file.header["arrays"][index][0])
        numbers = np.frombuffer(file.arrays[index], dtype=dtype).copy()
        with np.errstate(all="ignore"):
            unusual = np.array(rng.choice(UNUSUAL_NUMBERS)).astype(dtype)
        numbers[rng.randrange(len(numbers))] = unusual
        if rng.random() < 0.2:
            numbers[:] = unusual
        file.arrays[index] = numbers.tobytes()
    return file.to_bytes()


def reshape_array(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Change the shape, dtype or order of an array, and adjust its number of bytes."""
    file = ForgedFile.parse(data)
    if file.arrays:
        index = rng.randrange(len(file.arrays))
        layout = file.header["arrays"][index]
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
        repeats = size // max(len(file.arrays[index]), 1) + 1
        file.arrays[index] = (file.arrays[index] * repeats)[:size]
    return file.to_bytes()


BYTES: list[Mutation] = [flip_bits, truncate, extend, splice, overwrite, insert]
CONTENTS: list[Mutation] = [
    change_values, drop_or_repeat, rename_key, swap_values, graft_part, change_numbers,
    reshape_array,
]  # fmt: skip


def with_checksum(mutation: Mutation) -> Mutation:
    """Return a mutation that also corrects the checksum."""

    def mutate(data: bytes, other: bytes, rng: random.Random) -> bytes:
        return add_checksum(mutation(data, other, rng)[:-DIGEST])

    mutate.__name__ = f"{mutation.__name__}, with checksum"
    return mutate


def flip_header_bits(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Flip bits in the header, and correct the lengths and the checksum."""
    file = ForgedFile.parse(data)
    file.header = flip_bits(json.dumps(file.header).encode(), b"", rng)
    return file.to_bytes()


ALL: list[Mutation] = [*BYTES, *map(with_checksum, BYTES), flip_header_bits, *CONTENTS]
