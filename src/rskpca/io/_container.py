"""The byte layout of model files: a prefix, a JSON header, arrays and a checksum.

======================  =====================================================================
bytes                   content
======================  =====================================================================
0 to 8                  magic number
8 to 12                 format version, unsigned; all numbers are little-endian
12 to 16                header length
16 to 24                file length
24 onward               header, as ASCII JSON
each multiple of 64     an array, in the order of the header's list, padded with zeros
last 32                 SHA-256 of all preceding bytes
======================  =====================================================================
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core.atomic import atomic_write

MAGIC = b"rskpca\x1a\n"
VERSION = 3
PREFIX = struct.Struct("<8sIIQ")
ALIGNMENT = 64
DIGEST = 32
MAX_HEADER = 2**22  # parsing a malicious header needs about 45 times this memory
MAX_AXES = 4
MAX_ENTRIES = 2**48
DTYPES = frozenset(
    ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "<c16")
)
_MAX_DIGITS = 20  # enough for a 64-bit integer


class ModelFileError(ValueError):
    """Raised for an invalid model file or a model that cannot be saved."""


def refuse(reason: str) -> NoReturn:
    """Raise a ModelFileError."""
    raise ModelFileError(reason)


class Layout(NamedTuple):
    """Dtype, shape, order ("C" or "F") and writeable flag of an array."""

    dtype: str
    shape: tuple[int, ...]
    order: str
    writeable: bool

    @property
    def n_bytes(self) -> int:
        """The size of the array in the file, in bytes."""
        return math.prod(self.shape) * int(self.dtype[2:])

    @classmethod
    def of(cls, array: NDArray[Any]) -> Layout:
        """Return the layout of an array returned by :func:`make_contiguous`."""
        order = "C" if array.flags.c_contiguous else "F"
        return cls(array.dtype.str, array.shape, order, bool(array.flags.writeable))

    @classmethod
    def parse(cls, entry: Any) -> Layout:
        """Parse an entry of an untrusted header."""
        if not isinstance(entry, list) or len(entry) != 4:
            refuse(f"an array must have a dtype, a shape, an order and a flag, got {entry!r:.60}")
        dtype, shape, order, writeable = entry
        if not isinstance(dtype, str) or dtype not in DTYPES:
            refuse(f"unsupported dtype {dtype!r:.60}")
        valid = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        if not valid or len(shape) > MAX_AXES or math.prod(max(s, 1) for s in shape) >= MAX_ENTRIES:
            refuse(f"invalid array shape {shape!r:.60}")
        if order not in ("C", "F") or type(writeable) is not bool:
            refuse(f"invalid array order {order!r:.60} or writeable flag {writeable!r:.60}")
        return cls(dtype, tuple(shape), order, writeable)


def make_contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous, little-endian array, keeping the memory order if possible."""
    kept = np.asarray(array, order="K").astype(array.dtype.newbyteorder("<"), copy=False)
    if not (kept.flags.c_contiguous or kept.flags.f_contiguous):
        kept = kept.copy(order="K")
    if not (kept.flags.c_contiguous or kept.flags.f_contiguous):  # permuted axes
        kept = np.ascontiguousarray(kept)
    return kept


def _padding(position: int) -> int:
    """Return the number of padding bytes before the next array."""
    return -position % ALIGNMENT


def _file_length(header_length: int, layouts: Sequence[Layout]) -> int:
    end = PREFIX.size + header_length
    for layout in layouts:
        end += _padding(end) + layout.n_bytes
    return end + DIGEST


def _raw(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array without copying."""
    contiguous: Any = array if array.flags.c_contiguous else array.T
    return memoryview(contiguous).cast("B")


# ------------------------------------------------------------------ writing


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: Sequence[NDArray[Any]]
) -> None:
    """Write a file atomically, leaving an existing file unchanged if anything fails."""
    layouts = [Layout.of(array) for array in arrays]
    text = json.dumps({**header, "arrays": layouts}, allow_nan=False, separators=(",", ":"))
    encoded = text.encode("ascii")
    if len(encoded) > MAX_HEADER:
        refuse(
            f"the header would have {len(encoded):,} bytes, more than {MAX_HEADER:,}; it contains "
            "feature names and lists but no arrays. Shorten the names, or store lists as arrays."
        )
    length = _file_length(len(encoded), layouts)
    prefix = PREFIX.pack(MAGIC, VERSION, len(encoded), length)
    digest = hashlib.sha256()
    with atomic_write(path) as temporary, open(temporary, "wb") as file:
        for piece in _pieces(prefix + encoded, arrays):
            file.write(piece)
            digest.update(piece)
        file.write(digest.digest())


def _pieces(start: bytes, arrays: Sequence[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the file up to the checksum."""
    yield start
    position = len(start)
    for array in arrays:
        padding = bytes(_padding(position))
        yield padding
        if array.size:
            yield _raw(array)
        position += len(padding) + array.nbytes


# ------------------------------------------------------------------ reading


class Contents(NamedTuple):
    """The version, header, array layouts and length of a file."""

    version: int
    header: dict[str, Any]
    layouts: list[Layout]
    length: int


def read_header(path: str | os.PathLike[str]) -> Contents:
    """Read the header and check all lengths, without verifying the checksum."""
    with _open(path) as (file, length):
        return _read_contents(_Reader(file), length)


def read(path: str | os.PathLike[str]) -> tuple[Contents, list[NDArray[Any]]]:
    """Read the header and the arrays, which are read-only; verify all lengths and the checksum."""
    with _open(path) as (file, length):
        reader = _Reader(file)
        contents = _read_contents(reader, length)
        arrays = [reader.read_array(layout) for layout in contents.layouts]
        if reader.digest() != file.read():
            refuse("the checksum does not match; the file was modified or corrupted")
    return contents, arrays


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and yield it with its length."""
    with open(path, "rb", opener=_open_nonblocking) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            refuse("not a regular file")
        yield file, status.st_size


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file without blocking if it is a named pipe."""
    return os.open(path, flags | (os.O_NONBLOCK if os.name == "posix" else 0))


class _Reader:
    """Sequential file reader that computes a checksum."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sha, self._position = file, hashlib.sha256(), 0

    def read(self, count: int) -> bytes:
        """Read exactly ``count`` bytes."""
        data = bytearray(count)
        self._fill(memoryview(data))
        return bytes(data)

    def read_array(self, layout: Layout) -> NDArray[Any]:
        """Read the next array; the caller has checked that the file is long enough."""
        self.read(_padding(self._position))
        try:
            array: NDArray[Any] = np.empty(layout.shape, layout.dtype, layout.order)  # type: ignore[call-overload]
        except (MemoryError, ValueError) as error:
            raise ModelFileError(f"out of memory for an array of shape {layout.shape}") from error
        if array.size:
            self._fill(_raw(array))
        array.flags.writeable = False
        return array

    def _fill(self, part: memoryview) -> None:
        if self._file.readinto(part) != len(part):  # type: ignore[attr-defined]
            refuse("the file ended unexpectedly")
        self._sha.update(part)
        self._position += len(part)

    def digest(self) -> bytes:
        """Return the checksum of all bytes read so far."""
        return self._sha.digest()


def _read_contents(reader: _Reader, length: int) -> Contents:
    if length < PREFIX.size + DIGEST:
        refuse(f"a file of {length} bytes is too short for a model file")
    magic, version, header_length, recorded = PREFIX.unpack(reader.read(PREFIX.size))
    if magic != MAGIC:
        refuse("not an rskpca model file")
    if version > VERSION:
        refuse(
            f"it has format version {version}, but this version of rskpca reads only versions up "
            f"to {VERSION}; upgrade rskpca"
        )
    if version < 1:
        refuse(f"invalid format version {version}")
    if recorded != length:
        refuse(f"it has {length:,} bytes instead of {recorded:,}, so it was truncated or extended")
    if header_length > min(MAX_HEADER, length - PREFIX.size - DIGEST):
        refuse(f"invalid header length {header_length:,}")
    header = _parse_header(reader.read(header_length))
    entries = header.pop("arrays", None)
    if not isinstance(entries, list):
        refuse("the header does not contain a list of arrays")
    layouts = [Layout.parse(entry) for entry in entries]
    needed = _file_length(header_length, layouts)
    if needed != length:
        refuse(f"its arrays require {needed:,} bytes, but the file has {length:,}")
    return Contents(version, header, layouts, length)


def _parse_header(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(
            data.decode("ascii"),
            object_pairs_hook=_parse_object,
            parse_constant=_parse_float,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header is not valid JSON: {error!s:.100}") from error
    if not isinstance(header, dict):
        refuse("the header is not a JSON object")
    return header


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else refuse("the header has a duplicate key")


def _parse_float(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else refuse(f"invalid number {text:.40} in header")


def _parse_int(text: str) -> int:
    value = int(text) if len(text) <= _MAX_DIGITS else 2**64
    return value if -(2**63) <= value < 2**64 else refuse(f"invalid number {text:.40} in header")
