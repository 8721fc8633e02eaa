"""Parsers for the publishers' file formats: text tables, idx, MATLAB and R."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import struct
import tarfile
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources import Table

MAGIC_CLASSES = {"g": 0, "h": 1}  # gamma, hadron


def parse_label_last(*files: bytes, delimiter: str | None = None) -> Table:
    """Concatenate text tables whose last column is the class."""
    rows = _read_tables(files, delimiter)
    return rows[:, :-1], rows[:, -1].astype(np.int64)


def parse_label_first(*files: bytes, delimiter: str | None = None) -> Table:
    """Concatenate text tables whose first column is the class."""
    rows = _read_tables(files, delimiter)
    return rows[:, 1:], rows[:, 0].astype(np.int64)


def _read_tables(files: tuple[bytes, ...], delimiter: str | None) -> np.ndarray:
    tables = [np.loadtxt(BytesIO(file), delimiter=delimiter, ndmin=2) for file in files]
    return np.concatenate(tables)


def parse_magic(text: bytes) -> Table:
    """Parse a table whose classes are letters."""
    for letter, number in MAGIC_CLASSES.items():
        text = text.replace(letter.encode(), str(number).encode())
    return parse_label_last(text, delimiter=",")


def parse_mnist(*files: bytes) -> Table:
    """Parse training images and labels, then test images and labels."""
    images, labels, test_images, test_labels = map(read_idx, files)
    X = np.concatenate([images, test_images])
    y = np.concatenate([labels, test_labels])
    return X.reshape(len(X), -1), y.astype(np.int64)


def parse_matlab(content: bytes) -> Table:
    """Parse ``fea`` (one image per row) and ``gnd`` (subjects)."""
    from scipy.io import loadmat

    found = loadmat(BytesIO(content), variable_names=["fea", "gnd"])
    return found["fea"], found["gnd"].ravel().astype(np.int64)


def parse_yale(package: bytes) -> Table:
    """Parse the object ``yale`` of the R package PPCI: a list of images and labels."""
    with tarfile.open(fileobj=BytesIO(package)) as archive:
        member = archive.extractfile("PPCI/data/yale.RData")
        assert member is not None, "yale.RData is a regular file"
        images, labels = read_rdata(member.read())["yale"].values()
    return images, np.asarray(labels).astype(np.int64)


UNSIGNED_BYTE = 8


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """Read an array of bytes in idx format.

    The header has two zero bytes, the type, the number of axes, and the length of each axis.
    """
    zeros, kind, n_axes = struct.unpack_from(">HBB", content)
    if zeros != 0 or kind != UNSIGNED_BYTE:
        raise ValueError(f"Not an idx file of unsigned bytes: it starts with {content[:4].hex()}.")
    shape = struct.unpack_from(f">{n_axes}I", content, 4)
    start = 4 + 4 * n_axes
    if len(content) - start != math.prod(shape):
        raise ValueError(f"The idx file has shape {shape} but {len(content) - start} values.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


DECOMPRESS = {b"\x1f\x8b": gzip.decompress, b"BZ": bz2.decompress, b"\xfd7": lzma.decompress}
NIL, REFERENCE, ALTREP = 254, 255, 238
SYMBOL, PAIRLIST, CHARACTERS = 1, 2, 9
LOGICAL, INTEGER, REAL, STRINGS, LIST = 10, 13, 14, 16, 19
HAS_ATTRIBUTES, HAS_TAG = 0x200, 0x400


def read_rdata(content: bytes) -> dict[str, Any]:
    """Read the objects written by R's ``save``, by name.

    Matrices become arrays and named lists become dictionaries. Types that none of the data
    sets use raise a ValueError.
    """
    plain = DECOMPRESS.get(content[:2], bytes)(content)
    if plain[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        raise ValueError(f"Not a file written by R's save(): it starts with {plain[:7]!r}.")
    return _RDataReader(plain).read_objects()


class _RDataReader:
    """Sequential reader that keeps a list of symbols, because later items refer to them."""

    def __init__(self, content: bytes) -> None:
        self.content, self.position = content, 7
        self.symbols: list[str] = []

    def read_objects(self) -> dict[str, Any]:
        version, _, _ = self._integers(3)
        if version >= 3:
            self._bytes(self._integer())  # the name of the encoding
        return self._item()

    def _bytes(self, count: int) -> bytes:
        start, self.position = self.position, self.position + count
        if self.position > len(self.content):
            raise ValueError(f"The R file is truncated after {len(self.content)} bytes.")
        return self.content[start : self.position]

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
        if kind == PAIRLIST:
            return self._pairlist(flags)
        if kind == ALTREP:
            return self._altrep()
        values = self._vector(kind)
        return _apply_attributes(values, self._item()) if flags & HAS_ATTRIBUTES else values

    def _pairlist(self, flags: int) -> dict[str, Any] | list[Any]:
        """Read a linked list of values, with or without names."""
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
        raise ValueError(f"R objects of type {kind} are not supported.")

    def _altrep(self) -> Any:
        """Read R's compact representations: an integer range or a wrapped vector."""
        (kind, *_), state, attributes = self._item(), self._item(), self._item()
        if kind == "compact_intseq":
            count, first, step = state
            values: Any = first + step * np.arange(count)
        elif kind.startswith("wrap_"):
            values = state[0]
        else:
            raise ValueError(f"R objects of class {kind} are not supported.")
        return values if attributes is None else _apply_attributes(values, attributes)


def _apply_attributes(values: Any, attributes: dict[str, Any]) -> Any:
    if "dim" in attributes:
        return values.reshape(attributes["dim"], order="F")
    if "names" in attributes and isinstance(values, list):
        return dict(zip(attributes["names"], values, strict=True))
    return values
