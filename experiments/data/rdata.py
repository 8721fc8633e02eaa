"""The binary format of R's ``save``, as far as data sets need it: lists, matrices, labels."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from typing import Any

import numpy as np

UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZ": bz2.decompress, b"\xfd7": lzma.decompress}
NIL, REFERENCE, ALTERNATIVE = 254, 255, 238
SYMBOL, PAIRS, CHARACTERS = 1, 2, 9
LOGICAL, INTEGER, REAL, STRINGS, LIST = 10, 13, 14, 16, 19
HAS_ATTRIBUTES, HAS_TAG = 0x200, 0x400


def read_rdata(content: bytes) -> dict[str, Any]:
    """The objects of a file by name.

    Matrices come as arrays, lists with names as dictionaries.
    """
    plain = UNPACK.get(content[:2], bytes)(content)
    if plain[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise ValueError(f"no file of R's save(): it starts with {plain[:7]!r}.")
    return _Reader(plain).objects()


class _Reader:
    """Reads items one after the other; symbols are kept, as later ones refer to them."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 7
        self.symbols: list[str] = []

    def objects(self) -> dict[str, Any]:
        version, _, _ = self._integers(3)
        if version >= 3:
            self._bytes(self._integer())  # the name of the encoding
        return self._item()

    def _bytes(self, count: int) -> bytes:
        start, self.place = self.place, self.place + count
        if self.place > len(self.content):
            raise ValueError(f"the file ends after {len(self.content)} bytes, in an object.")
        return self.content[start : self.place]

    def _integers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f">{count}i", self._bytes(4 * count))

    def _integer(self) -> int:
        return self._integers(1)[0]

    def _array(self, dtype: str) -> np.ndarray:
        count = self._integer()
        return np.frombuffer(self._bytes(np.dtype(dtype).itemsize * count), dtype)

    def _item(self) -> Any:
        flags = self._integer()
        kind = flags & 0xFF
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self.symbols[(flags >> 8 or self._integer()) - 1]
        if kind == SYMBOL:
            self.symbols.append(self._item())
            return self.symbols[-1]
        if kind == CHARACTERS:
            return self._bytes(max(self._integer(), 0)).decode("latin-1")
        if kind == PAIRS:
            return self._pairs(flags)
        if kind == ALTERNATIVE:
            return self._alternative()
        values = self._vector(kind)
        return _dressed(values, self._item()) if flags & HAS_ATTRIBUTES else values

    def _pairs(self, flags: int) -> dict[str, Any] | list[Any]:
        """A linked list: a value with or without a name, then the rest of it."""
        if flags & HAS_ATTRIBUTES:
            self._item()
        name = self._item() if flags & HAS_TAG else None
        value, rest = self._item(), self._item()
        if name is None:
            return [value, *(rest if isinstance(rest, list) else [])]
        return {name: value} | (rest or {})

    def _vector(self, kind: int) -> Any:
        if kind in (LOGICAL, INTEGER):
            return self._array(">i4")
        if kind == REAL:
            return self._array(">f8")
        if kind in (STRINGS, LIST):
            return [self._item() for _ in range(self._integer())]
        raise ValueError(f"an R object of type {kind} is not read here.")

    def _alternative(self) -> Any:
        """A vector that R keeps in few words: a range, or a vector with notes."""
        (kind, *_), state, attributes = self._item(), self._item(), self._item()
        if kind == "compact_intseq":
            count, first, step = state
            values: Any = first + step * np.arange(count)
        elif kind.startswith("wrap_"):
            values = state[0]
        else:
            raise ValueError(f"an R object of class {kind} is not read here.")
        return values if attributes is None else _dressed(values, attributes)


def _dressed(values: Any, attributes: dict[str, Any]) -> Any:
    if "dim" in attributes:
        return values.reshape(attributes["dim"], order="F")
    if "names" in attributes and isinstance(values, list):
        return dict(zip(attributes["names"], values, strict=True))
    return values
