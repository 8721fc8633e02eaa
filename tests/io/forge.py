"""Files as an attacker would make them: with a right checksum over wrong contents."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

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
