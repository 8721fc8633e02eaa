"""Files as an attacker would make them: with a right checksum over wrong contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rskpca.io._container import ALIGNMENT, DIGEST, MAGIC, PREFIX, VERSION


@dataclass
class Forged:
    """The header of a file, as JSON or as bytes, and what follows it."""

    header: Any
    arrays: list[bytes]
    version: int = VERSION
    magic: bytes = MAGIC

    @classmethod
    def of(cls, data: bytes) -> Forged:
        """Taken apart."""
        _, _, length, _ = PREFIX.unpack_from(data)
        header = json.loads(data[PREFIX.size : PREFIX.size + length])
        position, arrays = PREFIX.size + length, []
        for dtype, shape, *_ in header["arrays"]:
            position += -position % ALIGNMENT
            size = int(dtype[2:])
            for axis in shape:
                size *= axis
            arrays.append(data[position : position + size])
            position += size
        return cls(header, arrays)

    def _at(self, path: Sequence[str]) -> Any:
        tree = self.header
        for key in path:
            tree = tree[key]
        return tree

    def replace(self, path: Sequence[str], new: Any) -> None:
        """Put a value at a path of keys in place of what was there; ... takes it away."""
        *holder, last = path
        tree = self._at(holder)
        if new is Ellipsis:
            del tree[last]
        else:
            tree[last] = new

    def array_of(self, path: Sequence[str]) -> int:
        """The place of an array in the file."""
        return self._at(path)["array"]

    def with_numbers(self, path: Sequence[str], places: int | slice, value: float) -> Forged:
        """With other numbers in one of its arrays."""
        place = self.array_of(path)
        numbers = np.frombuffer(self.arrays[place], dtype=self.header["arrays"][place][0]).copy()
        numbers[places] = value
        self.arrays[place] = numbers.tobytes()
        return self

    def sealed(self) -> bytes:
        """Put together, with all lengths and the checksum as they must be."""
        header = self.header
        if not isinstance(header, bytes):
            header = json.dumps(header, separators=(",", ":")).encode()
        body = header
        for array in self.arrays:
            body += bytes(-(PREFIX.size + len(body)) % ALIGNMENT) + array
        length = PREFIX.size + len(body) + DIGEST
        return resealed(PREFIX.pack(self.magic, self.version, len(header), length) + body)


def resealed(data: bytes) -> bytes:
    """With a checksum at the end."""
    return data + hashlib.sha256(data).digest()
