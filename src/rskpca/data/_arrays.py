"""Tables for arrays in memory and in .npy, .npz, HDF5 and Zarr files."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._format import import_optional
from ._table import (
    Batch,
    Field,
    Rows,
    Selection,
    SourceError,
    Table,
    file_errors,
    file_identity,
)

# Number of scattered rows to read from one memory map. The system may load 64 kB for each.
_ROWS_AT_ONCE = 1_000


@runtime_checkable
class ArrayLike(Protocol):
    """Protocol for any object with a shape and a dtype."""

    shape: Any
    dtype: Any


class ArrayTable(Table):
    """A two-dimensional array with unnamed columns, read in slices of rows."""

    missing = "is NaN"

    def __init__(self, array: Any, name: str = "the array") -> None:
        self._array = array
        self._describe(array, name)

    def _describe(self, array: ArrayLike, name: str) -> None:
        _check_matrix(array.shape, array.dtype, name)
        self.name, self.shape, self.n_rows = name, tuple(array.shape), int(array.shape[0])
        self.fields = (Field(None, np.dtype(array.dtype)),) * int(array.shape[1])

    def _open(self) -> AbstractContextManager[Any]:
        return nullcontext(self._array)

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        with self._open() as array:
            for first in range(start, self.shape[0], size):
                rows = np.asarray(array[first : first + size])
                yield self._batch(rows, range(first, first + len(rows)), selection)

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        distinct, index = np.unique(rows, return_inverse=True)  # HDF5 does not allow repeated rows
        with self._open() as array:
            taken = np.asarray(array[distinct])[index]
        yield self._batch(taken, rows, selection)

    def _batch(self, rows: NDArray[Any], numbers: Any, selection: Selection) -> Batch:
        columns = selection.positions
        selected = rows if columns == tuple(range(self.shape[1])) else rows[:, list(columns)]
        return Batch(selected, self, numbers)


class ArrayFile(ArrayTable):
    """An array in a file that is opened only while rows are being read.

    Other arrays in the file with one value per row, such as labels, are added as named columns.
    """

    def __init__(
        self,
        open_array: Callable[[], AbstractContextManager[Any]],
        path: Path,
        member: str | None = None,
    ) -> None:
        self.path, self.member, self._open_array = path, member, open_array
        with open_array() as array:
            self._describe(array, repr(str(path)))
        self._added: dict[int, str] = {}

    def add_columns(
        self, dtypes: Mapping[str, np.dtype[Any]], read: Callable[[str], NDArray[Any]]
    ) -> None:
        """Add columns, which are loaded when they are needed."""
        self._added, self._read = dict(enumerate(dtypes, start=len(self.fields))), cache(read)
        self.fields += tuple(
            Field(name, dtype if dtype.kind in "fiub" else None, is_index=True)
            for name, dtype in dtypes.items()
        )

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with file_errors(self.name), self._open_array() as array:
            if tuple(array.shape) != self.shape:
                raise ValueError(f"{self.name} has changed since it was opened; reopen it.")
            yield array

    def _batch(self, rows: NDArray[Any], numbers: Any, selection: Selection) -> Batch:
        if self._added.keys().isdisjoint(selection.positions):
            return super()._batch(rows, numbers, selection)
        columns = [
            self._read(self._added[j])[np.asarray(numbers)] if j in self._added else rows[:, j]
            for j in selection.positions
        ]
        return Batch(columns, self, numbers)

    def identity(self) -> Any:
        if self.path.is_dir():
            return [self.path.name, self.member, _folder_digest(self.path)]
        return [*file_identity(self.path), self.member]


class _MappedFile(ArrayFile):
    """A memory map that is reopened for each batch, so that pages are released."""

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        for first in range(start, self.shape[0], size):
            yield next(super().batches(selection, first, size))

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            yield from super().take(selection, rows[first : first + _ROWS_AT_ONCE], size)


class _CompressedFile(ArrayFile):
    """A compressed array in a .npz file, decompressed sequentially."""

    take = Table.take


class _CompressedArray:
    """A compressed array read row by row from a stream positioned at its header."""

    def __init__(self, stream: Any, name: str) -> None:
        self.shape, by_column, self.dtype = _read_header(stream)
        if by_column:
            raise ValueError(
                f"{name} contains a compressed array in column-major order, which cannot be read "
                "row by row; save it with np.savez, or convert it with np.ascontiguousarray first."
            )
        self._stream, self._name, self._start = stream, name, stream.tell()

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(self.shape[0])
        row_bytes = self.shape[1] * self.dtype.itemsize
        try:
            self._stream.seek(self._start + start * row_bytes)
            content = self._stream.read((stop - start) * row_bytes)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise ValueError(f"{self._name} is corrupted: {error}") from error
        if len(content) < (stop - start) * row_bytes:
            raise ValueError(f"{self._name} is truncated: it ends before its last row.")
        return np.frombuffer(content, self.dtype).reshape(stop - start, self.shape[1])


def open_npy(path: Path) -> Table:
    """Open a .npy file as a memory map."""
    try:
        return _MappedFile(lambda: nullcontext(np.load(path, "r", allow_pickle=False)), path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a .npy file: {error}") from error


def open_npz(path: Path, dataset: str | None = None) -> Table:
    """Open an array in a .npz file, using a memory map unless it is compressed.

    Other arrays with one value per row become named columns.
    """
    name = repr(str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            headers = _read_headers(archive)
            matrices = [name for name, header in headers.items() if len(header.shape) == 2]
            chosen = _choose_array(path, matrices or list(headers), dataset)
            info = archive.getinfo(f"{chosen}.npy")
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"cannot read {name} as a .npz file: {error}") from error
    shape, by_column, dtype, header_size = headers[chosen]
    _check_matrix(shape, dtype, name)

    @contextmanager
    def decompress() -> Iterator[Any]:
        with zipfile.ZipFile(path) as archive, archive.open(info.filename) as stream:
            yield _CompressedArray(stream, name)

    array: ArrayFile
    if info.compress_type != zipfile.ZIP_STORED or 0 in shape:  # an empty array cannot be mapped
        array = _CompressedFile(decompress, path, info.filename)
    else:
        offset, order = _content_offset(path, info) + header_size, "F" if by_column else "C"
        array = _MappedFile(
            lambda: nullcontext(np.memmap(path, dtype, "r", offset, shape, order)),  # type: ignore[call-overload]
            path,
            info.filename,
        )
    others = {
        other: header.dtype
        for other, header in headers.items()
        if header.shape == shape[:1] and not header.dtype.hasobject
    }
    array.add_columns(others, lambda other: np.load(path)[other])
    return array


class _Header(NamedTuple):
    """The header of an array in a .npz file."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]
    size: int


def _read_headers(archive: zipfile.ZipFile) -> dict[str, _Header]:
    headers = {}
    for member in archive.namelist():
        if member.endswith(".npy"):
            with archive.open(member) as stream:
                headers[member.removesuffix(".npy")] = _Header(*_read_header(stream), stream.tell())
    return headers


def open_hdf5(path: Path, dataset: str | None = None) -> Table:
    """Open a dataset in an HDF5 file."""
    h5py = import_optional("reading an HDF5 file", "h5py", "files")
    names: list[str] = []
    elsewhere: list[str] = []  # a malicious file could refer to any file on this machine

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2:
            names.append(name)
            if item.external or item.is_virtual:
                elsewhere.append(name)

    try:
        with h5py.File(path, "r") as file:
            file.visititems(collect)
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r} as an HDF5 file: {error}") from error
    member = _choose_array(path, names, dataset)
    if member in elsewhere:
        raise ValueError(
            f"the dataset {member!r} of {str(path)!r} is stored in other files, which are not "
            "read; copy it into one file."
        )

    @contextmanager
    def open_member() -> Iterator[Any]:
        with h5py.File(path, "r") as file:
            yield file[member]

    return ArrayFile(open_member, path, member)


def open_zarr(path: Path, dataset: str | None = None) -> Table:
    """Open a Zarr array, or an array in a Zarr group."""
    zarr = import_optional("reading a Zarr folder", "zarr", "files")
    try:
        array = zarr.open(str(path), mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"cannot read {str(path)!r} as a Zarr folder: {error}") from error
    member = None
    if isinstance(array, zarr.Group):
        found = array.members(max_depth=None)
        names = [name for name, item in found if isinstance(item, zarr.Array) and item.ndim == 2]
        member = _choose_array(path, names, dataset)
        array = array[member]
    return ArrayFile(lambda: nullcontext(array), path, member)


def _choose_array(path: Path, names: Sequence[str], wanted: str | None) -> str:
    """Return the name of the requested array, defaulting to X or to the only array."""
    if not names:
        raise ValueError(f"{str(path)!r} is empty: it contains no arrays.")
    if wanted is None and (len(names) == 1 or "X" in names):
        return "X" if "X" in names else names[0]
    if wanted not in names:
        requested = "" if wanted is None else f", but not {wanted!r}"
        problem = f"{str(path)!r} contains {', '.join(names)}{requested}"
        fix = f"choose one, for example with dataset={names[0]!r}, or name the array X."
        raise SourceError(f"{problem}; {fix}", problem, remedy="dataset", example=names[0])
    return str(wanted)


def _check_matrix(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise ValueError(f"{name} contains complex numbers; only real numbers are supported.")
    if dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {dtype}, which is not numeric; convert it to numbers.")
    if len(shape) != 2:
        raise ValueError(
            f"{name} has shape {tuple(shape)}, but must have two dimensions; reshape it to "
            "(n_samples, n_features)."
        )


def _read_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, a column-major flag, and the dtype from a .npy header."""
    first = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    try:
        return read(stream)
    except TokenError as error:  # raised by NumPy since Python 3.12
        raise ValueError(f"the header is damaged: {error.args[0]}") from error


def _content_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Return the offset of a zip member's content, which follows its local header.

    The local header has 30 fixed bytes, the last four of which are the lengths of the name and the
    extra field that follow.
    """
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        return info.header_offset + 30 + sum(struct.unpack("<2H", file.read(4)))


def _folder_digest(path: Path) -> str:
    """Return a digest of the names, sizes and modification times of all files in a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    found = [[str(file.relative_to(path)), *file_identity(file)] for file in files]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()
