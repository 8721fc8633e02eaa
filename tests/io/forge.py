"""Forged model files with invalid contents and a valid checksum, as written by an attacker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rskpca.io._container import ALIGNMENT, DIGEST, MAGIC, PREFIX, VERSION


@dataclass
class ForgedFile:
    """A file header, as JSON or as bytes, and the bytes of the arrays."""

    header: Any
    arrays: list[bytes]
    version: int = VERSION
    magic: bytes = MAGIC

    @classmethod
    def parse(cls, data: bytes) -> ForgedFile:
        """Split a file into its header and its arrays."""
        _, version, length, _ = PREFIX.unpack_from(data)
        header = json.loads(data[PREFIX.size : PREFIX.size + length])
        position, arrays = PREFIX.size + length, []
        for dtype, shape, *_ in header["arrays"]:
            position += -position % ALIGNMENT
            size = int(dtype[2:])
            for axis in shape:
                size *= axis
            arrays.append(data[position : position + size])
            position += size
        return cls(header, arrays, version)

    def find(self, path: Sequence[str]) -> Any:
        """Return the part of the header at the given path of keys."""
        tree = self.header
        for key in path:
            tree = tree[key]
        return tree

    def replace(self, path: Sequence[str], new: Any) -> None:
        """Replace the value at the given path of keys, or remove it if the value is ``...``."""
        *holder, last = path
        tree = self.find(holder)
        if new is Ellipsis:
            del tree[last]
        else:
            tree[last] = new

    def index_of(self, path: Sequence[str]) -> int:
        """Return the index of an array in the file."""
        return self.find(path)["array"]

    def with_numbers(self, path: Sequence[str], places: int | slice, value: float) -> ForgedFile:
        """Overwrite selected numbers in an array."""
        index = self.index_of(path)
        numbers = np.frombuffer(self.arrays[index], dtype=self.header["arrays"][index][0]).copy()
        numbers[places] = value
        self.arrays[index] = numbers.tobytes()
        return self

    def to_bytes(self) -> bytes:
        """Return the file with correct lengths and a valid checksum."""
        header = self.header
        if not isinstance(header, bytes):
            header = json.dumps(header, separators=(",", ":")).encode()
        body = header
        for array in self.arrays:
            body += bytes(-(PREFIX.size + len(body)) % ALIGNMENT) + array
        length = PREFIX.size + len(body) + DIGEST
        return add_checksum(PREFIX.pack(self.magic, self.version, len(header), length) + body)


def add_checksum(data: bytes) -> bytes:
    """Append the checksum."""
    return data + hashlib.sha256(data).digest()
