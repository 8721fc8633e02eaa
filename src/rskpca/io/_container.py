"""The bytes of a model file: a prefix, a JSON header, arrays, a checksum.

======================  =====================================================================
bytes                   what
======================  =====================================================================
0 to 8                  magic
8 to 12                 format version, unsigned, little-endian as all numbers here
12 to 16                length of the header
16 to 24                length of the file
24 and on               the header, JSON in ASCII
each multiple of 64     an array, in the order of the header's list, zeros between them
last 32                 SHA-256 of everything before
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
from .errors import ModelFileError, refuse

MAGIC = b"rskpca\x1a\n"
VERSION = 1
PREFIX = struct.Struct("<8sIIQ")
ALIGNMENT = 64
DIGEST = 32
LONGEST_HEADER = 2**22  # a hostile one takes some 45 times as much memory
MOST_AXES = 4
DTYPES = frozenset(
    ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "<c16")
)
_CHUNK = 2**20
_DIGITS = 20  # of the largest whole number of 64 bits


class Layout(NamedTuple):
    """An array in the file. ``order`` is C or F; ``writeable`` is as it was in memory."""

    dtype: str
    shape: tuple[int, ...]
    order: str
    writeable: bool

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype[2:])

    @classmethod
    def of(cls, array: NDArray[Any]) -> Layout:
        """Of an array as :func:`stored` makes it."""
        order = "C" if array.flags.c_contiguous else "F"
        return cls(array.dtype.str, array.shape, order, bool(array.flags.writeable))

    @classmethod
    def checked(cls, entry: Any) -> Layout:
        """From an entry of a header that nobody has vouched for."""
        if not isinstance(entry, list) or len(entry) != 4:
            refuse(f"an array is described by four things, got {entry!r:.60}")
        dtype, shape, order, writeable = entry
        if not isinstance(dtype, str) or dtype not in DTYPES:
            refuse(f"no array of dtype {dtype!r:.60}")
        if not isinstance(shape, list) or len(shape) > MOST_AXES:
            refuse(f"no array of shape {shape!r:.60}")
        if not all(type(size) is int and size >= 0 for size in shape):
            refuse(f"no array of shape {shape!r:.60}")
        if math.prod(max(size, 1) for size in shape) >= 2**48:
            refuse(f"no array of shape {shape!r:.60}")
        if order not in ("C", "F") or type(writeable) is not bool:
            refuse(f"no array of order {order!r:.60}, writeable {writeable!r:.60}")
        return cls(dtype, tuple(shape), order, writeable)


def stored(array: NDArray[Any]) -> NDArray[Any]:
    """The array in one piece, in its own order of axes, little-endian."""
    kept = np.asarray(array, order="K").astype(array.dtype.newbyteorder("<"), copy=False)
    if not (kept.flags.c_contiguous or kept.flags.f_contiguous):
        kept = kept.copy(order="K")
    if not (kept.flags.c_contiguous or kept.flags.f_contiguous):  # more than two axes, turned
        kept = np.ascontiguousarray(kept)
    return kept


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _end(header_length: int, layouts: Sequence[Layout]) -> int:
    """Where the arrays end."""
    end = PREFIX.size + header_length
    for layout in layouts:
        end = _aligned(end) + layout.n_bytes
    return end


# ------------------------------------------------------------------ writing


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: Sequence[NDArray[Any]]
) -> None:
    """A whole file in place of whatever was there, or an error and nothing changed."""
    layouts = [Layout.of(array) for array in arrays]
    text = json.dumps({**header, "arrays": layouts}, allow_nan=False, separators=(",", ":"))
    encoded = text.encode("ascii")
    if len(encoded) > LONGEST_HEADER:
        refuse(
            f"the header would have {len(encoded):,} bytes, more than {LONGEST_HEADER:,}; names "
            "of features and lists of numbers are in it, arrays are not: shorten the names, give "
            "arrays instead of lists."
        )
    length = _end(len(encoded), layouts) + DIGEST
    with atomic_write(path) as beside, open(beside, "xb") as file:
        out = _Hashed(file)
        out.write(PREFIX.pack(MAGIC, VERSION, len(encoded), length))
        out.write(encoded)
        for array in arrays:
            out.write(bytes(_aligned(out.position) - out.position))
            out.write_array(array)
        file.write(out.digest())


class _Hashed:
    """Bytes on their way out, counted and digested."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sha, self.position = file, hashlib.sha256(), 0

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._sha.update(data)
        self.position += len(data)

    def write_array(self, array: NDArray[Any]) -> None:
        if array.size:
            self.write(_raw(array))

    def digest(self) -> bytes:
        return self._sha.digest()


def _raw(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in one piece, not copied."""
    pieces: Any = array if array.flags.c_contiguous else array.T
    return memoryview(pieces).cast("B")


# ------------------------------------------------------------------ reading


class Contents(NamedTuple):
    """What a file says before its arrays are read."""

    header: dict[str, Any]
    layouts: list[Layout]
    length: int


def read_header(path: str | os.PathLike[str]) -> Contents:
    """The header alone: its lengths are checked against the file, its checksum is not."""
    with _opened(path) as (file, length):
        return _contents(_Digested(file), length)


def read(path: str | os.PathLike[str]) -> tuple[Contents, list[NDArray[Any]]]:
    """Header and arrays, read-only, after all lengths and the checksum were found right."""
    with _opened(path) as (file, length):
        source = _Digested(file)
        contents = _contents(source, length)
        arrays = [source.array(layout) for layout in contents.layouts]
        if source.digest() != file.read():
            refuse("the checksum is another: the file was altered, or damaged on its way here")
    return contents, arrays


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """The file and its length; an error that names it where it is not sound."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                refuse("no regular file")
            yield file, status.st_size
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}.") from error.__cause__


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody to write, as a pipe would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


class _Digested:
    """Bytes on their way in, counted and digested."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._sha, self.position = file, hashlib.sha256(), 0

    def read(self, count: int) -> bytes:
        """Exactly so many bytes; few, as they are held twice."""
        data = self._file.read(count)
        if len(data) != count:
            refuse("the file ended early")
        self._sha.update(data)
        self.position += count
        return data

    def array(self, layout: Layout) -> NDArray[Any]:
        """The array that comes next. The file is known to be as long as all of them."""
        self.read(_aligned(self.position) - self.position)
        array = _empty(layout)
        if array.size:
            raw = _raw(array)
            for start in range(0, len(raw), _CHUNK):
                self._fill(raw[start : start + _CHUNK])
        array.flags.writeable = False
        return array

    def _fill(self, part: memoryview) -> None:
        if self._file.readinto(part) != len(part):  # type: ignore[attr-defined]
            refuse("the file ended early")
        self._sha.update(part)
        self.position += len(part)

    def digest(self) -> bytes:
        return self._sha.digest()


def _empty(layout: Layout) -> NDArray[Any]:
    try:
        return np.empty(layout.shape, dtype=layout.dtype, order=layout.order)  # type: ignore[call-overload]
    except (MemoryError, ValueError) as error:
        raise ModelFileError(f"no memory for an array of shape {layout.shape}") from error


def _contents(source: _Digested, length: int) -> Contents:
    if length < PREFIX.size + DIGEST:
        refuse(f"{length} bytes are too few for a model file")
    magic, version, header_length, said = PREFIX.unpack(source.read(PREFIX.size))
    if magic != MAGIC:
        refuse("not a model file of rskpca")
    if version > VERSION:
        refuse(
            f"its format is {version}, and this rskpca reads up to {VERSION}; it was written by a "
            "newer one: upgrade rskpca"
        )
    if version < 1:
        refuse(f"no format {version}")
    if said != length:
        refuse(f"it has {length:,} bytes where {said:,} were written: cut short, or added to")
    if header_length > min(LONGEST_HEADER, length - PREFIX.size - DIGEST):
        refuse(f"no header of {header_length:,} bytes")
    header = _parsed(source.read(header_length))
    layouts = _layouts(header, header_length, length)
    return Contents(header, layouts, length)


def _layouts(header: dict[str, Any], header_length: int, length: int) -> list[Layout]:
    entries = header.pop("arrays", None)
    if not isinstance(entries, list):
        refuse("the header has no list of arrays")
    layouts = [Layout.checked(entry) for entry in entries]
    end = _end(header_length, layouts) + DIGEST
    if end != length:
        refuse(f"its arrays would take {end:,} bytes, but it has {length:,}")
    return layouts


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(
            data.decode("ascii"),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is no JSON: {error!s:.100}") from error
    if not isinstance(header, dict):
        refuse("its header is no JSON object")
    return header


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("its header names a thing twice")
    return found


def _no_constant(word: str) -> NoReturn:
    refuse(f"its header has {word}, which is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        refuse(f"its header has the number {digits:.40}")
    return value


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        refuse(f"its header has the number {digits:.40}...")
    return int(digits)
